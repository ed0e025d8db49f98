"""Data that tests read: small real samples, and the whole shared corpora where they lie beside the checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

#: real servers: neo4j_server, sparql_server, fuseki_server
pytest_plugins = ("tests.servers.fixtures",)

DATA = Path(__file__).parent / "data"
SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def data() -> Path:
    return DATA


@pytest.fixture
def shared_data() -> Path:
    """The shared corpora; tests that need them are skipped in a checkout that stands alone."""
    if not SHARED.is_dir():
        pytest.skip("the shared corpora are not beside this checkout")
    return SHARED
