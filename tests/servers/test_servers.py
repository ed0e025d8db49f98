"""The servers that other tests rely on: they answer, ask for a password, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

import neo4j
import pytest
from neo4j.exceptions import AuthError

from tests.servers.neo4j import Neo4jServer
from tests.servers.sparql import SparqlServer

ROOT = Path(__file__).resolve().parents[2]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (
        stat.exists() and stat.read_text(encoding="ascii", errors="replace").rsplit(")", 1)[1].split()[0] == "Z"
    )


def _gone_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not _alive(pid):
            return True
        time.sleep(0.1)
    return False


def test_neo4j_is_the_community_server_of_the_long_term_line(neo4j_server: Neo4jServer) -> None:
    with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        records = driver.execute_query("CALL dbms.components() YIELD name, versions, edition RETURN *").records
    assert [(r["edition"], r["versions"]) for r in records] == [("community", [neo4j_server.version])]
    assert neo4j_server.version.startswith("5.26.")


def test_neo4j_refuses_a_wrong_password(neo4j_server: Neo4jServer) -> None:
    with (
        neo4j.GraphDatabase.driver(neo4j_server.uri, auth=("neo4j", "not the password")) as driver,
        pytest.raises(AuthError),
    ):
        driver.verify_connectivity()


@pytest.mark.parametrize("name", ["sparql_server", "fuseki_server"])
def test_sparql_servers_answer(name: str, request: pytest.FixtureRequest) -> None:
    server = request.getfixturevalue(name)
    assert isinstance(server, SparqlServer)
    turtle = b'<urn:a> <urn:b> "caf\xc3\xa9" .'
    url = f"{server.data}?graph=urn:test-servers"
    upload = urllib.request.Request(url, turtle, {"Content-Type": "text/turtle"}, method="PUT")
    assert urllib.request.urlopen(upload, timeout=20).status in (200, 201, 204)
    query = urllib.parse.urlencode({"query": "SELECT ?o { GRAPH <urn:test-servers> { ?s ?p ?o } }"})
    ask = urllib.request.Request(f"{server.query}?{query}", headers={"Accept": "text/csv"})
    assert urllib.request.urlopen(ask, timeout=20).read().decode().split() == ["o", "café"]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_test_run_leaves_no_server(how: signal.Signals, tmp_path: Path) -> None:
    """The holder stands for pytest: it starts a server like the fixture does and is then ended from outside."""
    holder = (
        "import sys, time; from pathlib import Path\n"
        "from tests.servers.sparql import fuseki\n"
        "with fuseki() as server:\n"
        "    print(server.pid, flush=True)\n"
        "    time.sleep(120)\n"
    )
    with subprocess.Popen([sys.executable, "-c", holder], cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        pid = int(run.stdout.readline())
        assert _alive(pid)
        run.send_signal(how)
    assert _gone_within(pid, 20)
