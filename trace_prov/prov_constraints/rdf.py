"""A normal form as RDF, and the constraints said a second time as SHACL over it (shapes/prov-constraints/*.ttl).

Two wordings of one Recommendation that were written apart: the shapes for reading, for other tools, and to test
the checker; the checker for speed and for verdicts in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from urllib.parse import quote

import rdflib
from rdflib import RDF, SH, Literal, Namespace, URIRef
from rdflib.term import Node

from trace_prov.errors import UsageError
from trace_prov.prov_constraints.check import Report
from trace_prov.prov_constraints.impossibility import DECLARED_OBJECTS, DECLARED_RELATIONS, PROV
from trace_prov.prov_constraints.normal_form import NormalForm
from trace_prov.prov_constraints.statements import (
    DISJOINT_RELATIONS,
    IDENTIFIED,
    OBJECTS,
    Instance,
    Statement,
)
from trace_prov.prov_constraints.terms import Name, Placeholder, Term, Variable
from trace_prov.prov_constraints.violations import Violation, violation

PC = Namespace("https://w3id.org/trace-prov/prov-constraints#")

#: Relation -> the property for each of its places.
PROPERTIES: dict[str, tuple[str, ...]] = {
    "entity": (),
    "activity": ("startTime", "endTime"),
    "agent": (),
    "wasGeneratedBy": ("entity", "activity", "time"),
    "used": ("activity", "entity", "time"),
    "wasInformedBy": ("informed", "informant"),
    "wasStartedBy": ("activity", "trigger", "starter", "time"),
    "wasEndedBy": ("activity", "trigger", "ender", "time"),
    "wasInvalidatedBy": ("entity", "activity", "time"),
    "wasDerivedFrom": ("generatedEntity", "usedEntity", "activity", "generation", "usage"),
    "wasAttributedTo": ("entity", "agent"),
    "wasAssociatedWith": ("activity", "agent", "plan"),
    "actedOnBehalfOf": ("delegate", "responsible", "activity"),
    "wasInfluencedBy": (),
    "alternateOf": ("alternate1", "alternate2"),
    "specializationOf": ("specific", "general"),
    "hadMember": ("collection", "member"),
    "mentionOf": ("specific", "general", "bundle"),
}


def normal_form_graph(form: NormalForm) -> rdflib.Graph:
    """Return the statements of a normal form as RDF, one node a statement, variables as nodes of their own."""
    graph = rdflib.Graph()
    for relation in OBJECTS:
        graph.add((PC[relation], RDF.type, PC.ObjectRelation))
    for relation in IDENTIFIED:
        graph.add((PC[relation], RDF.type, PC.IdentifiedRelation))
    for relation in DISJOINT_RELATIONS:
        graph.add((PC[relation], RDF.type, PC.DisjointRelation))
    for number, statement in enumerate(form.statements):
        node = URIRef(f"urn:trace-prov:statement:{number}")
        for predicate, object_ in _triples(statement):
            graph.add((node, predicate, object_))
    return graph


def check_with_shapes(instance: Instance) -> list[Violation]:
    """Return what the shapes find in an instance; needs pyshacl (slow: for comparison and small documents)."""
    try:
        import pyshacl
    except ImportError as error:
        raise UsageError("the engine shapes needs the package pyshacl: pip install 'trace-prov[shacl]'") from error
    form = NormalForm(instance)
    written = [violation for violation in form.violations if violation.constraint == 0]
    shapes = _shapes()
    _, report, _ = pyshacl.validate(normal_form_graph(form), shacl_graph=shapes, advanced=True, inplace=True)
    return [*written, *_violations(form, shapes, report)]


def check_document_with_shapes(instances: Iterable[Instance]) -> list[Report]:
    """Return one verdict an instance, as `check_document` does, found by the shapes."""
    return [
        Report(
            None if instance.name is None else str(instance.name),
            len(instance.statements),
            tuple(check_with_shapes(instance)),
        )
        for instance in instances
    ]


@lru_cache(maxsize=1)
def _shapes() -> rdflib.Graph:
    graph = rdflib.Graph()
    for file in files("trace_prov.shapes").joinpath("prov-constraints").iterdir():
        if file.name.endswith(".ttl"):
            graph.parse(data=file.read_text(encoding="utf-8"), format="turtle")
    return graph


def _violations(form: NormalForm, shapes: rdflib.Graph, report: rdflib.Graph) -> Iterator[Violation]:
    for result in report.subjects(RDF.type, SH.ValidationResult):
        number = shapes.value(report.value(result, SH.sourceShape), PC.constraint)
        focus, value = str(report.value(result, SH.focusNode)), report.value(result, SH.value)
        message = f"{report.value(result, SH.resultMessage)} ({value})"
        _, _, place = focus.partition("urn:trace-prov:statement:")
        sources = form.statements[int(place)].sources if place else (focus,)
        assert isinstance(number, Literal)
        yield violation(int(number.value), message, sources)


def _triples(statement: Statement) -> Iterator[tuple[Node, Node]]:
    relation = statement.relation
    yield RDF.type, PC[relation]
    if relation in OBJECTS:
        yield RDF.type, PC.Object
    if relation in IDENTIFIED:
        yield RDF.type, PC.Identified
        yield PC.influencee, _node(statement.args[0])
        yield PC.influencer, _node(statement.args[1])
    if relation in DISJOINT_RELATIONS:
        yield RDF.type, PC.Disjoint
    if statement.id is not None:
        yield PC.id, _node(statement.id)
    for name, term in zip(PROPERTIES[relation], statement.args, strict=False):
        yield PC[name], _node(term)
    for uri in statement.types:
        yield PC.type, URIRef(_safe(uri))
        name = uri.removeprefix(PROV)
        if uri.startswith(PROV) and name in DECLARED_OBJECTS:
            yield PC.declares, PC[DECLARED_OBJECTS[name].capitalize()]
        elif uri.startswith(PROV) and name in DECLARED_RELATIONS:
            yield PC.declares, PC[DECLARED_RELATIONS[name]]


def _node(term: Term) -> Node:
    if isinstance(term, Name):
        return URIRef(_safe(term.uri))
    if isinstance(term, Variable):
        return URIRef(f"urn:trace-prov:variable:{term.number}")
    if isinstance(term, Placeholder):
        return PC.none
    # One time, one lexical form: 09:00Z and 10:00+01:00 are the same instant.
    return Literal(f"{term.timestamp()}Z" if isinstance(term, datetime) and term.tzinfo else str(term))


def _safe(uri: str) -> str:
    """Return an IRI without the characters that RDF does not allow in one."""
    return quote(uri, safe=":/?#[]@!$&'()*+,;=%~") if not uri.isascii() or " " in uri else uri
