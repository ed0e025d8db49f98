"""What the tests of this folder share: real runs, and a connection to the real server whose database ends empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.neo4j import Neo4jServer
from trace_prov.load import load_paths
from trace_prov.model import Run
from trace_prov.neo4j.annotate import remove_annotations
from trace_prov.neo4j.connection import Connection, Target, connected
from trace_prov.neo4j.load import prepare, remove
from trace_prov.neo4j.readback import runs_known

DATA = Path(__file__).resolve().parents[1] / "data"
FOLDERS = [DATA / "agentdojo" / "runs", DATA / "agentdojo_public" / "runs", DATA / "tricky"]


@pytest.fixture(scope="session")
def real_runs() -> list[Run]:
    """All runs of the logs in tests/data."""
    return [run for run in load_paths(FOLDERS) if isinstance(run, Run)]


@pytest.fixture
def target(neo4j_server: Neo4jServer) -> Target:
    return Target(neo4j_server.uri, neo4j_server.user, neo4j_server.password, neo4j_server.database)


@pytest.fixture
def database(target: Target) -> Iterator[Connection]:
    """A connection to the prepared, empty server; what the test loaded is taken out again."""
    with connected(target) as connection:
        prepare(connection)
        _remove_all(connection)  # the README's commands use the same server
        yield connection
        _remove_all(connection)
        with connection.session() as session:
            assert session.run("MATCH (n) RETURN count(n) AS left").single(strict=True)["left"] == 0


def _remove_all(connection: Connection) -> None:
    remove_annotations(connection)
    remove(connection, runs_known(connection))
