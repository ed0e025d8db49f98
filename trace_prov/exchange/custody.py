"""The custody in a CASE graph as PROV: what the field's own mapping derives (case_prov, casework/CASE-Implementation-
PROV-O), stated directly.

Only InvestigativeActions and ProvenanceRecords are custody. An action that takes nothing used the empty collection;
every result is derived from every object; the instrument acts for the performer and stands in its place; an action
that takes a record and one of its members was informed by the action that gave the record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import orjson
import pyoxigraph

from trace_prov.exchange.index import CASE, UCO, Index
from trace_prov.graph import iris

EMPTY = f"{iris.PROV}EmptyCollection"

_TIMES = {"action:startTime": "startedAtTime", "action:endTime": "endedAtTime"}
_NAMES = {"core:name": f"{UCO}core/name", "investigation:exhibitNumber": f"{CASE}investigation/exhibitNumber"}

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
        term = _node(value) if isinstance(value, str) else value
        yield pyoxigraph.Quad(_node(subject), pyoxigraph.NamedNode(predicate), term, name)


def _node(value: str) -> pyoxigraph.NamedNode | pyoxigraph.BlankNode:
    return pyoxigraph.NamedNode(value) if ":" in value else pyoxigraph.BlankNode(value)


def custody(quads: Iterable[pyoxigraph.Quad]) -> list[Triple]:
    """The custody triples of a CASE graph, sorted and without repetition; blank nodes keep their labels."""
    case = Index.of(quads)
    found = dict.fromkeys([*_actions(case), *_records(case), *_people(case), *_stated(case)])
    return sorted(found, key=lambda triple: (triple[0], triple[1], str(triple[2])))


def _actions(case: Index) -> Iterator[Triple]:
    for action in case.of_class("investigation:InvestigativeAction"):
        objects = case.all(action, "action:object")
        results = case.all(action, "action:result")
        performers = case.all(action, "action:performer")
        instruments = case.all(action, "action:instrument")
        yield action, iris.RDF_TYPE, f"{iris.PROV}Activity"
        yield from _copied(case, action)
        for name, prov in _TIMES.items():
            for literal in case.literals.get(action, {}).get(name, []):
                yield action, iris.PROV + prov, literal
        for node in [*objects, *results]:
            yield node, iris.RDF_TYPE, f"{iris.PROV}Entity"
            yield from _copied(case, node)
        for used in objects or [EMPTY]:
            yield action, f"{iris.PROV}used", used
        if not objects:
            yield EMPTY, iris.RDF_TYPE, f"{iris.PROV}Entity"
        for result in results:
            yield result, f"{iris.PROV}wasGeneratedBy", action
            for source in objects or [EMPTY]:
                yield result, f"{iris.PROV}wasDerivedFrom", source
        yield from _agents(case, action, performers, instruments, results)


def _copied(case: Index, node: str) -> Iterator[Triple]:
    values = case.literals.get(node, {})
    for name, predicate in _NAMES.items():
        for literal in values.get(name, []):
            yield node, predicate, literal


def _agents(
    case: Index, action: str, performers: list[str], instruments: list[str], results: list[str]
) -> Iterator[Triple]:
    for agent in [*performers, *instruments]:
        yield agent, iris.RDF_TYPE, f"{iris.PROV}Agent"
        yield from _copied(case, agent)
    for instrument in instruments:
        yield instrument, iris.RDF_TYPE, f"{iris.PROV}SoftwareAgent"
        for performer in performers:
            yield instrument, f"{iris.PROV}actedOnBehalfOf", performer
    for agent in instruments or performers:
        yield action, f"{iris.PROV}wasAssociatedWith", agent
        for result in results:
            yield result, f"{iris.PROV}wasAttributedTo", agent


def _records(case: Index) -> Iterator[Triple]:
    records = set(case.of_class("investigation:ProvenanceRecord"))
    users: dict[str, list[str]] = defaultdict(list)
    makers: dict[str, list[str]] = defaultdict(list)
    for action, links in case.links.items():
        for used in links.get("action:object", []):
            users[used].append(action)
        for result in links.get("action:result", []):
            makers[result].append(action)
    for record in records:
        members = case.all(record, "core:object")
        if members:
            yield record, iris.RDF_TYPE, f"{iris.PROV}Collection"
            yield record, iris.RDF_TYPE, f"{iris.PROV}Entity"
            yield from _copied(case, record)
        for member in members:
            yield record, f"{iris.PROV}hadMember", member
            yield member, iris.RDF_TYPE, f"{iris.PROV}Entity"
        for user in users[record]:
            if set(members) & set(case.all(user, "action:object")):
                for maker in makers[record]:
                    yield user, f"{iris.PROV}wasInformedBy", maker


def _people(case: Index) -> Iterator[Triple]:
    named = set(case.of_class("identity:SimpleNameFacet"))
    for person in case.of_class("identity:Person"):
        if named & set(case.all(person, "core:hasFacet")):
            yield person, iris.RDF_TYPE, f"{iris.PROV}Person"
            yield person, iris.RDF_TYPE, f"{iris.PROV}Agent"


def _stated(case: Index) -> Iterator[Triple]:
    for node, links in case.links.items():
        for other in links.get("investigation:wasDerivedFrom", []):
            yield node, f"{iris.PROV}wasDerivedFrom", other
            yield from ((end, iris.RDF_TYPE, f"{iris.PROV}Entity") for end in (node, other))
        for other in links.get("investigation:wasInformedBy", []):
            yield node, f"{iris.PROV}wasInformedBy", other
            yield from ((end, iris.RDF_TYPE, f"{iris.PROV}Activity") for end in (node, other))
