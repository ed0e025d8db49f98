"""The custody in a CASE graph as PROV: what the field's own mapping derives (case_prov, casework/CASE-Implementation-
PROV-O), stated directly.

Only InvestigativeActions and ProvenanceRecords are custody. An action that takes nothing used the empty collection;
every result is derived from every object; the instrument acts for the performer and stands in its place; an action
that takes a record and one of its members was informed by the action that gave the record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import pyoxigraph

from trace_prov.graph import iris

UCO = "https://ontology.unifiedcyberontology.org/uco/"
INVESTIGATION = "https://ontology.caseontology.org/case/investigation/"
EMPTY = f"{iris.PROV}EmptyCollection"

_COPIED = {
    f"{UCO}action/startTime": f"{iris.PROV}startedAtTime",
    f"{UCO}action/endTime": f"{iris.PROV}endedAtTime",
}
_NAMES = (f"{UCO}core/name", f"{INVESTIGATION}exhibitNumber")

Triple = tuple[str, str, "str | pyoxigraph.Literal"]


def custody_quads(nodes: list[dict[str, Any]], graph: str) -> Iterator[pyoxigraph.Quad]:
    """The custody of a CASE bundle that is still in our hands, as JSON-LD nodes, in a graph of that name."""
    from trace_prov.export.case.nodes import CONTEXT

    data = orjson.dumps({"@context": CONTEXT, "@graph": nodes})
    quads = pyoxigraph.parse(data, format=pyoxigraph.RdfFormat.JSON_LD)
    yield from as_quads(custody(quads), graph)


def as_quads(triples: Iterable[Triple], graph: str) -> Iterator[pyoxigraph.Quad]:
    name = pyoxigraph.NamedNode(graph)
    for subject, predicate, value in triples:
        term = pyoxigraph.NamedNode(value) if isinstance(value, str) else value
        yield pyoxigraph.Quad(pyoxigraph.NamedNode(subject), pyoxigraph.NamedNode(predicate), term, name)


def custody(quads: Iterable[pyoxigraph.Quad]) -> list[Triple]:
    """The custody triples of a CASE graph, sorted and without repetition; blank nodes have no part in it."""
    case = _Case()
    for quad in quads:
        case.add(quad)
    found = dict.fromkeys([*_actions(case), *_records(case), *_people(case), *_stated(case)])
    return sorted(found, key=lambda triple: (triple[0], triple[1], str(triple[2])))


@dataclass
class _Case:
    links: dict[str, dict[str, list[str]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    literals: dict[str, dict[str, list[pyoxigraph.Literal]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    classes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, quad: pyoxigraph.Quad) -> None:
        subject, predicate, term = quad.subject, quad.predicate.value, quad.object
        if not isinstance(subject, pyoxigraph.NamedNode):
            return
        if isinstance(term, pyoxigraph.Literal):
            self.literals[subject.value][predicate].append(term)
        elif isinstance(term, pyoxigraph.NamedNode):
            if predicate == iris.RDF_TYPE:
                self.classes[term.value].append(subject.value)
            else:
                self.links[subject.value][predicate].append(term.value)

    def all(self, node: str, predicate: str) -> list[str]:
        return self.links[node][predicate] if node in self.links and predicate in self.links[node] else []

    def of_class(self, iri: str) -> list[str]:
        return self.classes.get(iri, [])

    def copied(self, node: str) -> Iterator[Triple]:
        values = self.literals.get(node, {})
        for predicate in _NAMES:
            for literal in values.get(predicate, []):
                yield node, predicate, literal


def _actions(case: _Case) -> Iterator[Triple]:
    for action in case.of_class(f"{INVESTIGATION}InvestigativeAction"):
        objects = case.all(action, f"{UCO}action/object")
        results = case.all(action, f"{UCO}action/result")
        performers = case.all(action, f"{UCO}action/performer")
        instruments = case.all(action, f"{UCO}action/instrument")
        yield action, iris.RDF_TYPE, f"{iris.PROV}Activity"
        yield from case.copied(action)
        for predicate, prov in _COPIED.items():
            for literal in case.literals.get(action, {}).get(predicate, []):
                yield action, prov, literal
        for node in [*objects, *results]:
            yield node, iris.RDF_TYPE, f"{iris.PROV}Entity"
            yield from case.copied(node)
        for used in objects or [EMPTY]:
            yield action, f"{iris.PROV}used", used
        if not objects:
            yield EMPTY, iris.RDF_TYPE, f"{iris.PROV}Entity"
        for result in results:
            yield result, f"{iris.PROV}wasGeneratedBy", action
            for source in objects or [EMPTY]:
                yield result, f"{iris.PROV}wasDerivedFrom", source
        yield from _agents(case, action, performers, instruments, results)


def _agents(
    case: _Case, action: str, performers: list[str], instruments: list[str], results: list[str]
) -> Iterator[Triple]:
    for agent in [*performers, *instruments]:
        yield agent, iris.RDF_TYPE, f"{iris.PROV}Agent"
        yield from case.copied(agent)
    for instrument in instruments:
        yield instrument, iris.RDF_TYPE, f"{iris.PROV}SoftwareAgent"
        for performer in performers:
            yield instrument, f"{iris.PROV}actedOnBehalfOf", performer
    for agent in instruments or performers:
        yield action, f"{iris.PROV}wasAssociatedWith", agent
        for result in results:
            yield result, f"{iris.PROV}wasAttributedTo", agent


def _records(case: _Case) -> Iterator[Triple]:
    records = set(case.of_class(f"{INVESTIGATION}ProvenanceRecord"))
    users: dict[str, list[str]] = defaultdict(list)
    makers: dict[str, list[str]] = defaultdict(list)
    for action, links in case.links.items():
        for used in links.get(f"{UCO}action/object", []):
            users[used].append(action)
        for result in links.get(f"{UCO}action/result", []):
            makers[result].append(action)
    for record in records:
        members = case.all(record, f"{UCO}core/object")
        if members:
            yield record, iris.RDF_TYPE, f"{iris.PROV}Collection"
            yield record, iris.RDF_TYPE, f"{iris.PROV}Entity"
            yield from case.copied(record)
        for member in members:
            yield record, f"{iris.PROV}hadMember", member
            yield member, iris.RDF_TYPE, f"{iris.PROV}Entity"
        for user in users[record]:
            if set(members) & set(case.all(user, f"{UCO}action/object")):
                for maker in makers[record]:
                    yield user, f"{iris.PROV}wasInformedBy", maker


def _people(case: _Case) -> Iterator[Triple]:
    named = set(case.of_class(f"{UCO}identity/SimpleNameFacet"))
    for person in case.of_class(f"{UCO}identity/Person"):
        if named & set(case.all(person, f"{UCO}core/hasFacet")):
            yield person, iris.RDF_TYPE, f"{iris.PROV}Person"
            yield person, iris.RDF_TYPE, f"{iris.PROV}Agent"


def _stated(case: _Case) -> Iterator[Triple]:
    for node, links in case.links.items():
        for other in links.get(f"{INVESTIGATION}wasDerivedFrom", []):
            yield node, f"{iris.PROV}wasDerivedFrom", other
            yield from ((end, iris.RDF_TYPE, f"{iris.PROV}Entity") for end in (node, other))
        for other in links.get(f"{INVESTIGATION}wasInformedBy", []):
            yield node, f"{iris.PROV}wasInformedBy", other
            yield from ((end, iris.RDF_TYPE, f"{iris.PROV}Activity") for end in (node, other))
