"""The package vocabulary, ontology/package.ttl: all that packages say is defined there or in trace.ttl."""

from __future__ import annotations

import re
from importlib.resources import files

import rdflib
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib.namespace import OWL, PROV, RDF, RDFS, SKOS

from tests.package.cases import package_of, small_run
from tests.strategies import runs
from trace_prov.finding import NotApplicable
from trace_prov.graph import iris
from trace_prov.model import TableState
from trace_prov.ontology.docs import html
from trace_prov.package.build import build
from trace_prov.package.condition import BUILT_IN, Condition, Labels
from trace_prov.package.graph import PACKAGE, package_to_quads
from trace_prov.package.model import Package


def ontology(name: str) -> rdflib.Graph:
    return rdflib.Graph().parse(data=(files("trace_prov.ontology") / name).read_text("utf-8"), format="turtle")


VOCABULARY, TRACE = ontology("package.ttl"), ontology("trace.ttl")
IRI = rdflib.URIRef(PACKAGE.removesuffix("#"))
DEFINED = {str(term) for term in VOCABULARY.subjects(RDFS.isDefinedBy, IRI)}
KNOWN = DEFINED | {str(term) for term in TRACE.subjects(RDFS.isDefinedBy)} | {str(RDF.type)}


def terms_of(package: Package) -> set[str]:
    """Predicates, and the classes and individuals that a package names."""
    terms = set()
    for quad in package_to_quads(package):
        terms.add(quad.predicate.value)
        name = getattr(quad.object, "value", "")
        if quad.predicate.value == iris.RDF_TYPE or str(name).startswith((iris.TRACE, PACKAGE)):
            terms.add(str(name))
    return terms


def every_kind() -> set[str]:
    """The terms of packages that together say all that a package can."""
    own = Condition("own", account=True, request=True, inputs=True, labels=Labels.OPAQUE, declare_elements=True)
    part = Condition("part", account=True, table=TableState.PARTIAL, rows=("in-2",))
    terms = terms_of(package_of(small_run(), own, "act-02.result", "act-03.argument.body", "request.user"))
    conditions: tuple[str | Condition, ...] = (*BUILT_IN, part)
    return terms.union(*(terms_of(package_of(small_run(), condition)) for condition in conditions))


def is_known(term: str) -> bool:
    return term in KNOWN or (term.startswith(str(PROV)) and term.removeprefix(str(PROV)) in PROV.__annotations__)


def test_every_term_of_the_vocabulary_is_used_and_no_other() -> None:
    assert {term for term in every_kind() if term.startswith(PACKAGE)} == DEFINED
    assert [term for term in every_kind() if not is_known(term)] == []


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(runs(hidden=True), st.sampled_from(sorted(BUILT_IN)))
def test_a_package_of_any_run_says_nothing_that_is_not_defined(run: object, condition: str) -> None:
    built = build(run, BUILT_IN[condition])  # type: ignore[arg-type]
    if not isinstance(built, NotApplicable):
        assert [term for term in terms_of(built.package) if not is_known(term)] == []


def test_every_term_has_one_label_and_one_definition() -> None:
    for term in map(rdflib.URIRef, DEFINED):
        assert len(list(VOCABULARY.objects(term, RDFS.label))) == 1, term
        (definition,) = VOCABULARY.objects(term, SKOS.definition)
        assert str(definition).endswith("."), term
        kinds = {OWL.Class, OWL.ObjectProperty, OWL.DatatypeProperty}
        assert len(kinds.intersection(VOCABULARY.objects(term, RDF.type))) == 1, term


def test_classes_stand_below_prov_and_properties_between_known_terms() -> None:
    for term in VOCABULARY.subjects(RDF.type, OWL.Class):
        assert any(str(above).startswith(str(PROV)) for above in VOCABULARY.objects(term, RDFS.subClassOf)), term
    for _, _, term in VOCABULARY.triples((None, RDFS.domain, None)):
        assert str(term) in DEFINED
    for _, _, term in VOCABULARY.triples((None, RDFS.range, None)):
        assert is_known(str(term)) or str(term).startswith(iris.XSD)


def test_the_shapes_name_terms_that_exist() -> None:
    folder = files("trace_prov.shapes") / "contract"
    for file in folder.iterdir():
        text = file.read_text("utf-8") if file.name.endswith(".ttl") else ""
        for prefix, name in re.findall(r"\b(package|trace):(\w+)", text):
            known = {"package": PACKAGE, "trace": iris.TRACE}[prefix] + name
            assert known in KNOWN, f"{file.name}: {prefix}:{name}"


def test_the_vocabulary_has_a_page() -> None:
    page = html("package.ttl")
    for term in ("EvidencePackage", "hiddenAs", "keptPattern"):
        assert term in page
    assert "stands as it was written" in page
