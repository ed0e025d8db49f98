"""What a well-formed run graph is: the fast engine gives pySHACL's verdict, on sound graphs and on damaged ones."""

from __future__ import annotations

import random
from functools import cache

import pyoxigraph
import pyshacl
import pytest
import rdflib
from hypothesis import given

from trace_prov.graph import iris
from trace_prov.graph.check import GRAPHS_AT_ONCE, damaged, error_in, shapes, violations
from trace_prov.graph.store import TraceStore
from trace_prov.graph.write import run_to_nquads
from trace_prov.model import Run

from .mutations import Mutation, mutations
from .samples import RUN_ID, full_run
from .strategies import examples, visible_runs

FULL = run_to_nquads(full_run())
ALL_MUTATIONS = tuple(mutations(FULL))


@cache
def shapes_graph() -> rdflib.Graph:
    return rdflib.Graph().parse(data=shapes(), format="turtle")


def conforms_by_pyshacl(graph: bytes) -> bool:
    triples = rdflib.Graph()
    for quad in pyoxigraph.parse(graph, format=pyoxigraph.RdfFormat.N_QUADS):
        triple = pyoxigraph.Triple(quad.subject, quad.predicate, quad.object)
        triples.parse(data=f"{triple} .", format="nt")
    conforms, _, _ = pyshacl.validate(triples, shacl_graph=shapes_graph())
    return bool(conforms)


def nquads(mutation: Mutation) -> bytes:
    data = pyoxigraph.serialize(mutation.quads, format=pyoxigraph.RdfFormat.N_QUADS)
    assert data is not None
    return data


def test_the_run_with_every_kind_of_node_is_well_formed() -> None:
    assert list(violations(FULL)) == []
    assert conforms_by_pyshacl(FULL)


@examples(30)
@given(visible_runs())
def test_every_graph_that_is_written_is_well_formed(run: Run) -> None:
    assert error_in(run_to_nquads(run)) is None


@pytest.mark.parametrize("mutation", random.Random(42).sample(ALL_MUTATIONS, 40), ids=lambda mutation: mutation.name)
def test_the_fast_engine_gives_the_verdict_of_pyshacl(mutation: Mutation) -> None:
    graph = nquads(mutation)
    assert (list(violations(graph)) == []) == conforms_by_pyshacl(graph)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_fast_engine_gives_the_verdict_of_pyshacl_on_all_damage() -> None:
    different = [
        mutation.name
        for mutation in ALL_MUTATIONS
        if (list(violations(nquads(mutation))) == []) != conforms_by_pyshacl(nquads(mutation))
    ]
    assert different == []


#: The only damage that no shape sees: free texts and optional statements that are gone or others.
UNSEEN = ("another string", "left out", "another number", "a number")


@pytest.mark.slow
def test_damage_that_no_shape_sees_is_free_text_or_optional() -> None:
    unseen = [mutation.name for mutation in ALL_MUTATIONS if error_in(nquads(mutation)) is None]
    assert len(unseen) < len(ALL_MUTATIONS) / 10
    assert [name for name in unseen if not name.endswith(UNSEEN)] == []
    assert not [name for name in unseen if "type" in name.split(":")[0].split()]


def test_every_shape_is_broken_by_some_damage() -> None:
    """A shape that nothing breaks checks nothing."""
    targets = {str(target).removeprefix(iris.TRACE) for target in shapes_graph().objects(None, rdflib.SH.targetClass)}
    for target in sorted(targets):
        assert any(
            target in node_classes(mutation, node)
            for mutation in ALL_MUTATIONS
            if concerns(mutation, target)
            for node, _, _ in violations(nquads(mutation))
        ), target


def concerns(mutation: Mutation, target: str) -> bool:
    """Whether the damage is to a node of this class, by its name: the class that comes last in the alphabet."""
    last = {"ExternalRecord": "Result", "ListResult": "Result", "ListElement": "Record"}.get(target, target)
    return mutation.name.startswith(f"{last} ")


def node_classes(mutation: Mutation, node: str) -> set[str]:
    return {
        str(quad.object.value).removeprefix(iris.TRACE)  # type: ignore[union-attr]
        for quad in mutation.quads
        if quad.subject == pyoxigraph.NamedNode(node) and quad.predicate.value == iris.RDF_TYPE
    }


def test_a_stated_derivation_is_refused() -> None:
    result, argument = f"{RUN_ID}:act-01.result", f"{RUN_ID}:act-03.argument:1"
    line = f"<{argument}> <{iris.PROV}wasDerivedFrom> <{result}> <{RUN_ID}> .\n".encode()
    messages = {message for _, _, message in violations(FULL + line)}
    assert any("states none" in message for message in messages)
    assert not conforms_by_pyshacl(FULL + line)


def test_what_the_agent_wrote_may_not_stand_in_the_run_graph() -> None:
    moved = FULL.replace(b" <" + RUN_ID.encode() + b":account> .\n", b" <" + RUN_ID.encode() + b"> .\n")
    error = error_in(moved)
    assert error is not None
    assert "in its account bundle" in str(error)


def test_a_statement_in_a_strange_graph_is_refused() -> None:
    error = error_in(FULL.replace(b" <" + RUN_ID.encode() + b"> .\n", b" <urn:other> .\n", 1))
    assert error is not None
    assert "urn:other" in str(error)


def test_damaged_graphs_are_found_among_sound_ones_and_the_rest_is_stored() -> None:
    ids = [f"urn:trace-prov:run:{number:032x}" for number in range(GRAPHS_AT_ONCE * 2 + 3)]
    graphs = [run_to_nquads(full_run(run_id)) for run_id in ids]
    bad = {1, GRAPHS_AT_ONCE, len(ids) - 1}
    graphs = [
        graph.replace(b'"Pay the bill."', b'"Pay the bill."@en', 1) if index in bad else graph
        for index, graph in enumerate(graphs)
    ]
    assert set(damaged(graphs)) == bad


def test_a_refused_run_is_told_and_the_others_are_stored() -> None:
    runs = [full_run(f"urn:trace-prov:run:{number:032x}") for number in range(3)]
    refused = error_in(FULL.replace(b"trace-prov/ontology#Present>", b"trace-prov/ontology#Shown>", 1))
    assert refused is not None
    store = TraceStore.in_memory()
    added = list(store.add(runs, lambda graphs: {1: refused}))
    assert [outcome.error for outcome in added] == [None, refused, None]
    assert store.runs() == [runs[0].id, runs[2].id]
    assert "shapes/graph.ttl" in str(refused)
