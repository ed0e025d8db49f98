"""Session-wide fixtures; tests/conftest.py makes them known to every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.neo4j import Neo4jServer, neo4j_community
from tests.servers.sparql import SparqlServer, fuseki, oxigraph


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A real Neo4j Community with authentication on; the database is shared, so a test cleans up what it loads."""
    with neo4j_community(tmp_path_factory.mktemp("neo4j")) as server:
        yield server


@pytest.fixture(scope="session")
def sparql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparqlServer]:
    """A real Oxigraph server."""
    with oxigraph(tmp_path_factory.mktemp("oxigraph")) as server:
        yield server


@pytest.fixture(scope="session")
def fuseki_server() -> Iterator[SparqlServer]:
    """A real Apache Jena Fuseki server."""
    with fuseki() as server:
        yield server
