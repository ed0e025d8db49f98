"""Loading into the real server: the same graph, once; resumed after a kill; hostile text stays text."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.servers.neo4j import neo4j_community
from trace_prov.graph.write import run_to_nquads, run_to_quads
from trace_prov.load import load_paths
from trace_prov.model import Content, Run
from trace_prov.neo4j import load as loading
from trace_prov.neo4j.connection import Connection, Target, connected
from trace_prov.neo4j.errors import (
    AddressError,
    ContentError,
    CredentialsError,
    DatabaseNameError,
    InterruptedLoad,
)
from trace_prov.neo4j.load import Graph, graphs_of_runs, load, prepare, remove
from trace_prov.neo4j.mapping import LABELS
from trace_prov.neo4j.readback import quads_of_run, runs_loaded


def _counts(connection: Connection) -> tuple[int, int]:
    with connection.session() as session:
        nodes = session.run("MATCH (n:Trace) RETURN count(n) AS n").single(strict=True)["n"]
        edges = session.run("MATCH (:Trace)-[e]->(:Trace) RETURN count(e) AS n").single(strict=True)["n"]
    return int(nodes), int(edges)


def _expected(runs: list[Run]) -> tuple[int, int]:
    rows = [graph.rows() for graph in graphs_of_runs(runs)]
    return sum(r.node_count for r in rows), sum(r.edge_count for r in rows)


def test_all_real_runs_come_back_as_the_same_rdf(database: Connection, real_runs: list[Run]) -> None:
    done = load(database, graphs_of_runs(real_runs))
    assert (done.runs, done.nodes, done.relationships) == (len(real_runs), *_expected(real_runs))
    assert _counts(database) == _expected(real_runs)
    assert runs_loaded(database) == sorted(run.id for run in real_runs)
    for run in real_runs:
        assert quads_of_run(database, run.id) == set(run_to_quads(run)), run.source.name


@pytest.mark.slow
def test_all_shared_runs_come_back_as_the_same_rdf(database: Connection, shared_data: Path) -> None:
    folders = [shared_data / name for name in ("agentdojo/runs", "agentdojo_public/runs", "tricky", "logs")]
    runs = [run for run in load_paths(folders) if isinstance(run, Run)]
    assert len(runs) > 400
    load(database, graphs_of_runs(runs))
    assert _counts(database) == _expected(runs)
    for run in runs:
        assert quads_of_run(database, run.id) == set(run_to_quads(run)), run.source.name


def test_loading_twice_changes_nothing(database: Connection, real_runs: list[Run]) -> None:
    some = real_runs[:6]
    load(database, graphs_of_runs(some))
    before = _counts(database)
    again = load(database, graphs_of_runs(some))
    assert (again.runs, again.unchanged, again.nodes) == (0, 6, 0)
    assert _counts(database) == before


def test_merging_over_a_half_loaded_run_doubles_nothing(database: Connection, real_runs: list[Run]) -> None:
    some = real_runs[:4]
    load(database, graphs_of_runs(some))
    with database.session() as session:
        session.run("MATCH (i:Import) SET i.complete = false").consume()
        session.run("MATCH (n:Result) WITH n LIMIT 2 DETACH DELETE n").consume()
    assert load(database, graphs_of_runs(some)).runs == 4
    assert _counts(database) == _expected(some)


def test_a_run_that_changed_replaces_the_old_one(database: Connection, real_runs: list[Run]) -> None:
    old = next(run for run in real_runs if len(run.actions) > 1)
    new = replace(old, actions=old.actions[:1], table=replace(old.table, rows=()), inputs=())
    load(database, graphs_of_runs([old]))
    assert load(database, graphs_of_runs([new])).replaced == 1
    assert quads_of_run(database, old.id) == set(run_to_quads(new))


def test_a_big_run_goes_in_several_transactions(
    database: Connection, real_runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "TRANSACTION_ROWS", 50)
    monkeypatch.setattr(loading, "STATEMENT_ROWS", 7)
    some = real_runs[:3]
    load(database, graphs_of_runs(some))
    assert _counts(database) == _expected(some)
    assert all(quads_of_run(database, run.id) == set(run_to_quads(run)) for run in some)


def test_two_different_graphs_of_one_name_are_refused(database: Connection, real_runs: list[Run]) -> None:
    run = real_runs[0]
    graphs = [Graph(run.id, run_to_nquads(run)), Graph(run.id, run_to_nquads(replace(run, task="another")))]
    with pytest.raises(ContentError, match="two different graphs"):
        load(database, graphs)


def test_removing_a_run_leaves_the_others(database: Connection, real_runs: list[Run]) -> None:
    first, second = real_runs[:2]
    load(database, graphs_of_runs([first, second]))
    assert remove(database, [first.id]) == _expected([first])[0]
    assert _counts(database) == _expected([second])


HOSTILE = (
    "'}) DETACH DELETE n //",
    '"`); MATCH (n) DETACH DELETE n; //',
    "`) REMOVE n:Trace //",
    "$rows UNWIND {} \\u0027 \\",
    "${jndi:ldap://localhost/x}",
    "\x00 nul, \x85 next line, \u2028, \ufeff, \ud800 a lone surrogate, \U0010f040 its stand-in, e\u0301",
    "é" * 20_000,  # longer than what the TEXT index and the unique key take
)


def test_text_with_cypher_in_it_stays_text(database: Connection, real_runs: list[Run]) -> None:
    model = next(run for run in real_runs if run.actions and run.actions[0].result and run.turns)
    first = model.actions[0]
    assert first.result is not None
    runs = [
        replace(
            model,
            id=f"urn:trace-prov:run:{number:032x}",
            task=text,
            agent=text,
            turns=(replace(model.turns[0], content=Content(text)),),
            actions=(
                replace(
                    first, tool=text, native_id=text, result=replace(first.result, content=Content(text), elements=None)
                ),
            ),
            table=replace(model.table, rows=()),
            inputs=(),
        )
        for number, text in enumerate(HOSTILE)
    ]
    load(database, graphs_of_runs([*real_runs[:2], *runs]))
    assert _counts(database) == _expected([*real_runs[:2], *runs])
    for run in runs:
        assert quads_of_run(database, run.id) == set(run_to_quads(run))
    with database.session() as session:
        labels = set(session.run("CALL db.labels() YIELD label RETURN collect(label) AS l").single(strict=True)["l"])
    assert labels <= {"Import", "Annotation", *LABELS}


def test_driver_errors_are_said_in_words(target: Target) -> None:
    cases: list[tuple[Target, type[Exception], str]] = [
        (replace(target, password="wrong password"), CredentialsError, "password is wrong"),
        (replace(target, database="nowhere"), DatabaseNameError, "no database 'nowhere'"),
        (replace(target, uri="bolt://127.0.0.1:1"), AddressError, "is the server running"),
        (replace(target, uri="http://127.0.0.1:7474"), AddressError, "not a Bolt address"),
        (replace(target, uri="localhost:7687"), AddressError, "not a Bolt address"),
        (replace(target, uri="bolt://me:secret@127.0.0.1:7687"), AddressError, "do not belong in the address"),
        (replace(target, uri=target.uri.replace("bolt:", "bolt+s:")), AddressError, "without TLS"),
    ]
    for wrong, kind, words in cases:
        with pytest.raises(kind, match=words) as caught, connected(wrong):
            pass
        assert "secret" not in str(caught.value)
        assert "wrong password" not in str(caught.value)


def _load_slowly(target: Target, runs: list[Run], retry_seconds: float, told: multiprocessing.Queue[str]) -> None:
    """In a process of its own: load run by run, telling after each, and how it ended."""
    loading.TRANSACTION_ROWS = 60

    def progress(_done: object) -> None:
        told.put("batch")

    try:
        with connected(target, retry_seconds=retry_seconds) as connection:
            prepare(connection)
            load(connection, graphs_of_runs(runs), progress)
        told.put("done")
    except InterruptedLoad as error:
        told.put(f"interrupted: {error}")


@pytest.mark.slow
def test_a_server_killed_during_a_load_loses_and_doubles_nothing(tmp_path: Path, real_runs: list[Run]) -> None:
    """Kill -9 the server while it writes, start it again on the same files, run the same load again."""
    context = multiprocessing.get_context("spawn")
    told: multiprocessing.Queue[str] = context.Queue()
    with neo4j_community(tmp_path) as server:
        target = Target(server.uri, server.user, server.password)
        loader = context.Process(target=_load_slowly, args=(target, real_runs, 3.0, told))
        loader.start()
        for _ in range(3):
            assert told.get(timeout=120) == "batch"
        os.kill(server.pid, signal.SIGKILL)
        loader.join(120)
    ending = _drained(told)[-1]
    assert ending.startswith("interrupted: "), ending
    assert "run the same command again" in ending
    with neo4j_community(tmp_path) as server:
        target = Target(server.uri, server.user, server.password)
        with connected(target) as connection:
            half = _counts(connection)
            assert half[0] < _expected(real_runs)[0]
            prepare(connection)
            again = load(connection, graphs_of_runs(real_runs))
            assert again.unchanged > 0
            assert _counts(connection) == _expected(real_runs)
            for run in real_runs[::5]:
                assert quads_of_run(connection, run.id) == set(run_to_quads(run))


@pytest.mark.slow
def test_a_load_waits_for_a_server_that_comes_back(tmp_path: Path, real_runs: list[Run]) -> None:
    """The same, but the server is there again within the time that the driver tries: the load just ends well."""
    context = multiprocessing.get_context("spawn")
    told: multiprocessing.Queue[str] = context.Queue()
    with neo4j_community(tmp_path) as server:
        target = Target(server.uri, server.user, server.password)
        port = int(server.uri.rpartition(":")[2])
        loader = context.Process(target=_load_slowly, args=(target, real_runs, 200.0, told))
        loader.start()
        assert told.get(timeout=120) == "batch"
        os.kill(server.pid, signal.SIGKILL)
        time.sleep(1)
    with neo4j_community(tmp_path, bolt_port=port):
        loader.join(250)
        assert _drained(told)[-1] == "done"
        with connected(target) as connection:
            assert _counts(connection) == _expected(real_runs)


def _drained(told: multiprocessing.Queue[str]) -> list[str]:
    found: list[str] = []
    while not told.empty() or not found:
        found.append(told.get(timeout=30))
    return found


def test_quads_without_a_run_are_not_there(database: Connection) -> None:
    assert quads_of_run(database, "urn:trace-prov:run:" + "0" * 32) == set()
