"""Data that tests read: small real samples, and the whole shared corpora where they lie beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

#: real servers: neo4j_server, sparql_server, fuseki_server
pytest_plugins = ("tests.servers.fixtures",)

# A busy machine is no failure. In CI the examples are the same each time; elsewhere every run tries new ones.
settings.register_profile(
    "trace-prov",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    derandomize=bool(os.environ.get("CI")),
    print_blob=True,
)
settings.load_profile("trace-prov")

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
