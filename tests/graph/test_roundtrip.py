"""Run -> graph -> Run, and the bytes of a graph."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trace_prov.errors import GraphError
from trace_prov.graph import iris
from trace_prov.graph.read import run_from_nquads, run_from_quads
from trace_prov.graph.write import quads_to_trig, run_to_nquads, run_to_quads, write_nquads
from trace_prov.model import Run

from .strategies import examples, visible_runs

N_QUADS = pyoxigraph.RdfFormat.N_QUADS


@examples(80)
@given(visible_runs())
def test_a_run_comes_back_equal(run: Run) -> None:
    back = run_from_nquads(run_to_nquads(run))
    assert back == run
    assert back.diagnostics == run.diagnostics
    assert [action.records for action in back.actions] == [action.records for action in run.actions]


@examples(25)
@given(visible_runs(), st.randoms(use_true_random=False))
def test_the_order_of_quads_does_not_matter(run: Run, random: object) -> None:
    quads = list(run_to_quads(run))
    random.shuffle(quads)  # type: ignore[attr-defined]
    assert run_from_quads(quads) == run


@examples(25)
@given(visible_runs())
def test_bytes_are_canonical_sorted_and_the_same_each_time(run: Run) -> None:
    data = run_to_nquads(run)
    assert data == run_to_nquads(replace(run))
    lines = data.splitlines(keepends=True)
    assert lines == sorted(set(lines), key=lambda line: line.decode())
    again = pyoxigraph.serialize(pyoxigraph.parse(data, format=N_QUADS), format=N_QUADS)
    assert again == data


@examples(25)
@given(visible_runs())
def test_every_iri_is_the_runs_and_plain_ascii(run: Run) -> None:
    for quad in run_to_quads(run):
        assert isinstance(quad.subject, pyoxigraph.NamedNode)
        assert isinstance(quad.graph_name, pyoxigraph.NamedNode)
        assert quad.graph_name.value in (run.id, iris.account_bundle(run.id))
        assert quad.subject.value.startswith(run.id)
        if isinstance(quad.object, pyoxigraph.NamedNode):
            assert quad.object.value.startswith((run.id, iris.TRACE, iris.PROV))
            assert quad.object.value.isascii()


@examples(25)
@given(visible_runs())
def test_no_derivation_is_ever_stated(run: Run) -> None:
    assert b"wasDerivedFrom" not in run_to_nquads(run)


@examples(25)
@given(visible_runs())
def test_what_the_agent_wrote_stays_in_its_bundle(run: Run) -> None:
    claims = {"Account", "Note", "Basis", "Citation", "accountText", "noteText", "basisText", "basisState"}
    for quad in run_to_quads(run):
        in_bundle = quad.graph_name.value == iris.account_bundle(run.id)  # type: ignore[union-attr]
        names = {
            term.value.removeprefix(iris.TRACE) for term in (quad.predicate, quad.object) if hasattr(term, "value")
        }
        if quad.predicate.value == iris.RDF_TYPE or quad.predicate.value.startswith(iris.TRACE):
            names = {quad.predicate.value.removeprefix(iris.TRACE)}
            if quad.predicate.value == iris.RDF_TYPE:
                names = {quad.object.value.removeprefix(iris.TRACE)}  # type: ignore[union-attr]
            if names & claims:
                assert in_bundle


@examples(20)
@given(visible_runs())
def test_trig_holds_the_same_quads(run: Run) -> None:
    trig = quads_to_trig(run_to_quads(run))
    assert set(pyoxigraph.parse(trig, format=pyoxigraph.RdfFormat.TRIG)) == set(run_to_quads(run))


@examples(20)
@given(visible_runs())
def test_runs_are_streamed_one_after_the_other(run: Run) -> None:
    other = replace(run, id=f"urn:trace-prov:run:{'f' * 32}")
    output = BytesIO()
    write_nquads(iter([run, other]), output)
    assert output.getvalue() == run_to_nquads(run) + run_to_nquads(other)


def test_two_runs_are_no_run_graph() -> None:
    with pytest.raises(GraphError, match="expected the graph of one run, found 0"):
        run_from_nquads(b"")


def test_broken_quads_are_named_by_their_line() -> None:
    with pytest.raises(GraphError, match="N-Quads, line 2"):
        run_from_nquads(b"<urn:a> <urn:b> <urn:c> .\n<urn:a> <urn:b> .\n")
