"""The store: in memory, on disk, as an rdflib Dataset; loading twice changes nothing; dumps are the bytes written."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pyoxigraph
import pytest
import rdflib

from trace_prov.errors import SourceError, UsageError
from trace_prov.graph.queryfiles import query
from trace_prov.graph.store import MARKER, TraceStore
from trace_prov.graph.write import run_to_nquads

from .samples import IBAN, RUN_ID, full_run

RUNS = [full_run(f"urn:trace-prov:run:{number:032x}") for number in (3, 1, 2)]


def test_runs_come_back_from_disk_as_they_were(tmp_path: Path) -> None:
    with TraceStore.create(tmp_path / "store") as store:
        assert [outcome.new for outcome in store.add(RUNS)] == [True] * 3
    with TraceStore.open(tmp_path / "store") as store:
        assert store.runs() == sorted(run.id for run in RUNS)
        for run in RUNS:
            assert store.run(run.id) == run
            assert store.nquads(run.id) == run_to_nquads(run)


@pytest.mark.parametrize("text", ["a\x85b", "a\u2028b", "\u2029", "a\x0b\x0c\x1c\r\nb"])
def test_only_line_feeds_end_a_line_of_nquads(text: str) -> None:
    run = replace(RUNS[0], task=text)
    assert TraceStore.in_memory([run]).nquads(run.id) == run_to_nquads(run)


def test_loading_twice_changes_nothing(tmp_path: Path) -> None:
    with TraceStore.create(tmp_path) as store:
        list(store.add(RUNS))
        before, again = BytesIO(), BytesIO()
        store.dump(before)
        assert [outcome.new for outcome in store.add([*RUNS, *RUNS])] == [False] * 6
        store.dump(again)
    assert again.getvalue() == before.getvalue()


def test_a_dump_is_the_same_whatever_the_order_of_loading() -> None:
    dumps = []
    for runs in (RUNS, RUNS[::-1]):
        output = BytesIO()
        TraceStore.in_memory(runs).dump(output)
        dumps.append(output.getvalue())
    assert dumps[0] == dumps[1] == b"".join(run_to_nquads(run) for run in sorted(RUNS, key=lambda run: run.id))


def test_a_trig_dump_loads_into_the_same_store() -> None:
    store, output = TraceStore.in_memory(RUNS), BytesIO()
    store.dump(output, trig=True)
    other = pyoxigraph.Store()
    other.load(output.getvalue(), format=pyoxigraph.RdfFormat.TRIG)
    assert set(other) == set(store.database)


def test_an_rdflib_user_sees_one_named_graph_a_run() -> None:
    dataset = TraceStore.in_memory(RUNS).dataset()
    names = {str(graph.identifier) for graph in dataset.graphs()}
    assert {run.id for run in RUNS} <= names
    graph = dataset.graph(rdflib.URIRef(RUNS[0].id))
    trace = rdflib.Namespace("https://w3id.org/trace-prov/ontology#")
    assert {str(text) for text in graph.objects(None, trace.actionId)} == {f"act-0{n}" for n in range(1, 7)}
    bound = {"run": rdflib.URIRef(RUNS[0].id), "action": rdflib.Literal("act-03"), "literal": rdflib.Literal(IBAN)}
    rows = [str(row.locator) for row in dataset.query(query("h").text, initBindings=bound)]
    assert rows == ["act-01.result[2]"]


def test_rdflibs_own_engine_answers_the_same(tmp_path: Path) -> None:
    """The query files are plain SPARQL 1.1: an engine that is not Oxigraph reads them alike."""
    plain = rdflib.Dataset()
    plain.parse(data=run_to_nquads(full_run()), format="nquads")
    store = TraceStore.in_memory([full_run()])
    terms = {"run": rdflib.URIRef(RUN_ID), "action": rdflib.Literal("act-06"), "literal": rdflib.Literal(IBAN)}
    for name, given in {
        "h": ("run", "action", "literal"),
        "q1": ("run", "action", "literal"),
        "j": ("run", "action", "literal"),
        "basis": ("run", "action"),
        "unbound_citations": ("run",),
        "actions_by_tool": ("run",),
    }.items():
        rows = plain.query(query(name).text, initBindings={key: terms[key] for key in given})
        ours = store.dataset().query(query(name).text, initBindings={key: terms[key] for key in given})
        assert sorted(map(_row, rows)) == sorted(map(_row, ours)), name


def _row(row: object) -> tuple[str, ...]:
    return tuple(str(term) for term in row)  # type: ignore[attr-defined]


def test_an_unknown_run_is_a_users_error() -> None:
    store = TraceStore.in_memory(RUNS)
    with pytest.raises(UsageError, match="no run"):
        store.run(RUN_ID)


def test_a_parameter_that_the_query_does_not_select_is_a_users_error() -> None:
    store = TraceStore.in_memory(RUNS)
    with pytest.raises(UsageError, match="literal"):
        store.query("SELECT ?s WHERE { GRAPH ?g { ?s ?p ?o } }", {"literal": pyoxigraph.Literal("x")})


def test_a_store_of_another_layout_is_refused(tmp_path: Path) -> None:
    (tmp_path / MARKER).write_text('{"layout": 99}')
    with pytest.raises(SourceError, match="expected a store of layout 1, found 99"):
        TraceStore.open(tmp_path)


def test_a_writer_has_the_store_alone_and_lets_go_of_it(tmp_path: Path) -> None:
    with TraceStore.create(tmp_path):
        with pytest.raises(SourceError, match="in use"):
            TraceStore.create(tmp_path)
        with pytest.raises(SourceError, match="in use"):
            TraceStore.open(tmp_path)
    with TraceStore.open(tmp_path), TraceStore.open(tmp_path), pytest.raises(SourceError, match="in use"):
        TraceStore.create(tmp_path)


def test_a_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SourceError, match="a folder that can be written"):
        TraceStore.create(tmp_path / "file")
