"""The ontology: every term is defined and explained, every term is used, its documentation is current."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import pyoxigraph
import rdflib
from rdflib.namespace import OWL, PROV, RDF, RDFS, SKOS

from trace_prov.graph import iris
from trace_prov.graph.queryfiles import queries
from trace_prov.graph.write import run_to_nquads
from trace_prov.model import BasisState, RecordState, Severity, TableState
from trace_prov.ontology.docs import html, mapping, mapping_table, with_table

from .samples import full_run

ROOT = Path(__file__).parent.parent.parent
ONTOLOGY = rdflib.Graph().parse(data=(files("trace_prov.ontology") / "trace.ttl").read_text("utf-8"), format="turtle")
IRI = rdflib.URIRef("https://w3id.org/trace-prov/ontology")
UCO = "https://ontology.unifiedcyberontology.org/uco/"


def defined() -> set[str]:
    return {
        str(term).removeprefix(iris.TRACE)
        for term in ONTOLOGY.subjects(RDFS.isDefinedBy, IRI)
        if str(term).startswith(iris.TRACE)
    }


def used() -> set[str]:
    """Every term of ours in the graph of a run that has every kind of node, and every state there can be."""
    terms: set[str] = set()
    for quad in pyoxigraph.parse(run_to_nquads(full_run()), format=pyoxigraph.RdfFormat.N_QUADS):
        terms.update(str(getattr(term, "value", "")) for term in (quad.predicate, quad.object))
    names = {term.removeprefix(iris.TRACE) for term in terms if term.startswith(iris.TRACE)}
    for prefix, states in {
        "": RecordState,
        "Basis": BasisState,
        "Table": TableState,
        "Severity": Severity,
    }.items():
        names.update(prefix + state.value.capitalize() for state in states)
    return names


def test_every_term_that_graphs_use_is_defined_and_no_other_is() -> None:
    # The classes of the states are only named as ranges.
    assert used() | {"RecordState", "BasisState", "TableState", "Severity"} == defined()


def test_every_term_has_one_label_and_one_definition() -> None:
    for name in defined():
        term = rdflib.URIRef(iris.TRACE + name)
        assert len(list(ONTOLOGY.objects(term, RDFS.label))) == 1, name
        (definition,) = ONTOLOGY.objects(term, SKOS.definition)
        assert str(definition).endswith((".", "…")), name
        assert set(ONTOLOGY.objects(term, RDF.type)) & {
            OWL.Class,
            OWL.ObjectProperty,
            OWL.DatatypeProperty,
            OWL.NamedIndividual,
        }, name


def test_every_class_of_a_run_stands_below_a_class_of_prov() -> None:
    for term in ONTOLOGY.subjects(RDF.type, OWL.Class):
        above = set(ONTOLOGY.transitive_objects(term, RDFS.subClassOf))
        assert any(str(item).startswith((str(PROV), str(SKOS))) for item in above), term


def test_terms_of_other_vocabularies_exist_there() -> None:
    """PROV-O as rdflib knows it; UCO by its namespaces."""
    for _, predicate, term in ONTOLOGY:
        if str(term).startswith(str(PROV)) and predicate in (RDFS.subClassOf, RDFS.subPropertyOf):
            assert str(term).removeprefix(str(PROV)) in PROV.__annotations__, term
        if str(term).startswith("https://ontology."):
            assert str(term).startswith(UCO), term


def test_the_context_names_every_term() -> None:
    text = (files("trace_prov.ontology") / "context.jsonld").read_text("utf-8")
    context = json.loads(text)["@context"]
    ours = {
        key: value["@id"] if isinstance(value, dict) else value for key, value in context.items() if key[0] not in "@"
    }
    assert {value.removeprefix("trace:") for value in ours.values() if value.startswith("trace:")} == defined()
    document = {
        "@context": context,
        "@id": "urn:x",
        "@type": "Action",
        "step": 2,
        "tool": "urn:t",
        "state": "Present",
    }
    graph = rdflib.Graph().parse(data=json.dumps(document), format="json-ld")
    trace = rdflib.Namespace(iris.TRACE)
    x = rdflib.URIRef("urn:x")
    assert (x, RDF.type, trace.Action) in graph
    assert (x, trace.step, rdflib.Literal(2)) in graph
    assert (x, trace.state, trace.Present) in graph
    assert (x, trace.tool, rdflib.URIRef("urn:t")) in graph


def test_the_mapping_table_names_terms_that_exist() -> None:
    header, *rows = mapping()
    assert all(len(row) == len(header) for row in rows)
    named = set(re.findall(r"trace:(\w+)", " ".join(row[2] for row in rows)))
    assert named - defined() == set()
    classes = {str(term).removeprefix(iris.TRACE) for term in ONTOLOGY.subjects(RDF.type, OWL.Class)}
    left_out = classes - named - {"Record", "RecordState", "BasisState", "TableState", "Severity"}
    assert left_out == set()


def test_queries_name_terms_that_exist() -> None:
    for file in queries():
        assert set(re.findall(r"trace:(\w+)", file.text)) - defined() == set(), file.name


def test_the_page_of_the_ontology_has_every_term() -> None:
    page = html()
    assert "trace: provenance of LLM-agent runs" in page
    for term in defined():
        assert iris.TRACE + term in page


def test_the_table_in_the_docs_is_current() -> None:
    page = (ROOT / "docs" / "graph.md").read_text("utf-8")
    assert mapping_table() in page, "make ontology-docs writes it"
    assert with_table(page) == page
