"""Checks that case_validate lacks, on the triples: hashes, sizes, times, results, custody, list elements.

Errors are contradictions; warnings are what a lab would expect and the ontology does not ask for.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from rdflib import OWL, RDF, RDFS, XSD, Literal, Namespace, URIRef
from rdflib.term import Node

from trace_prov.case.findings import ERROR, WARNING, Finding
from trace_prov.case.ontology import Ontology
from trace_prov.case.reading import CaseFile, time_findings
from trace_prov.case.triples import Triples

UCO = "https://ontology.unifiedcyberontology.org/uco/"
ACTION, CORE = Namespace(UCO + "action/"), Namespace(UCO + "core/")
OBSERVABLE, TYPES = Namespace(UCO + "observable/"), Namespace(UCO + "types/")
VOCABULARY = Namespace(UCO + "vocabulary/")
INVESTIGATION = Namespace("https://ontology.caseontology.org/case/investigation/")

#: The kind of relationship that UCO's vocabularies lack and our own bundles use (docs/conformance-case.md).
OWN_KINDS = frozenset({"Has_Basis"})
KNOWN_NAMESPACES = (
    "https://ontology.unifiedcyberontology.org/",
    "https://ontology.caseontology.org/",
    "http://purl.org/co/",
    str(RDF),
    str(RDFS),
    str(OWL),
    str(XSD),
)
_ELEMENT = re.compile(r"(.+)\[(\d+)\]")


def extra_findings(file: CaseFile, ontology: Ontology, data: Triples, merged: Triples) -> list[Finding]:
    """Return all findings on the triples of a file; `merged` holds the ontology too, for the class hierarchy."""
    found: list[Finding] = []
    found.extend(payload_findings(data))
    if not file.times_checked:
        found.extend(_time_forms(data))
    found.extend(_time_orders(data))
    found.extend(_actions(data, merged))
    found.extend(_lists(data))
    found.extend(_relationship_kinds(data, ontology))
    found.extend(_surroundings(data))
    return found


def _name(node: Node) -> str:
    return str(node).rpartition("/")[2] or str(node)


def _subjects(data: Triples, predicate: Node) -> Iterator[tuple[Node, list[Node]]]:
    """Yield each subject of the predicate with its objects, in order of appearance."""
    for subject, properties in data.by_subject.items():
        if predicate in properties:
            yield subject, properties[predicate]


def payload_findings(data: Triples) -> Iterator[Finding]:
    """Yield the hashes and sizes that are not those of the payload beside them."""
    for facet, payloads in _subjects(data, OBSERVABLE.dataPayload):
        contents = [content for payload in payloads for content in _contents(str(payload))]
        for hash_ in data.objects(facet, OBSERVABLE.hash):
            yield from _hash(data, facet, hash_, contents)
        for size in data.objects(facet, OBSERVABLE.sizeInBytes):
            sizes = [len(content) for content in contents]
            if isinstance(size, Literal) and isinstance(size.value, int) and size.value not in sizes:
                message = f"sizeInBytes is {size}, the payload has {sizes[0]} bytes in UTF-8"
                yield Finding(ERROR, "size", _name(facet), message)


def _contents(payload: str) -> list[bytes]:
    """Return the bytes that a payload may stand for: its text in UTF-8, and what it holds when it is base64."""
    contents = [payload.encode("utf-8", "surrogatepass")]
    with contextlib.suppress(binascii.Error, ValueError):
        contents.append(base64.b64decode(payload, validate=True))
    return contents


def _hash(data: Triples, facet: Node, hash_: Node, contents: list[bytes]) -> Iterator[Finding]:
    for method in data.objects(hash_, TYPES.hashMethod):
        algorithm = str(method).lower().replace("-", "_")
        algorithm = re.sub(r"^sha_?(1|224|256|384|512)$", r"sha\1", algorithm)
        if algorithm not in hashlib.algorithms_available or algorithm.startswith("shake"):
            continue
        computed = [hashlib.new(algorithm, content).hexdigest() for content in contents]
        for value in data.objects(hash_, TYPES.hashValue):
            if str(value).lower() not in computed:
                message = f"the {method} {value} is not that of the payload, {computed[0].upper()}"
                yield Finding(ERROR, "hash", _name(facet), message)


def _time_forms(data: Triples) -> Iterator[Finding]:
    for subject, properties in data.by_subject.items():
        for objects in properties.values():
            for value in objects:
                if isinstance(value, Literal) and value.datatype == XSD.dateTime:
                    yield from time_findings(str(value), _name(subject))


def _time_orders(data: Triples) -> Iterator[Finding]:
    """Any pair of startX and endX properties of one namespace: startTime, startDate, …"""
    for subject, properties in data.by_subject.items():
        for predicate, starts in properties.items():
            head, slash, local = str(predicate).rpartition("/")
            if not local.startswith("start"):
                continue
            ends = properties.get(URIRef(f"{head}{slash}end{local.removeprefix('start')}"), [])
            for start in starts:
                for end in ends:
                    if _before(end, start):
                        yield Finding(
                            ERROR, "time-order", _name(subject), f"it ends at {end}, before its start {start}"
                        )


def _before(first: Node, second: Node) -> bool:
    earlier = first.value if isinstance(first, Literal) else None
    later = second.value if isinstance(second, Literal) else None
    if not isinstance(earlier, datetime) or not isinstance(later, datetime):
        return False
    try:
        return earlier < later
    except TypeError:  # one has a zone and the other has none: no order
        return False


def _actions(data: Triples, merged: Triples) -> Iterator[Finding]:
    makers: dict[tuple[Node, bool], list[Node]] = defaultdict(list)
    for action in data.by_subject:
        if not merged.is_instance(action, ACTION.Action):
            continue
        investigative = merged.is_instance(action, INVESTIGATION.InvestigativeAction)
        results = data.objects(action, ACTION.result)
        for result in results:
            makers[result, investigative].append(action)
            if merged.is_instance(result, ACTION.Action):
                message = f"its result {_name(result)} is an action; an action is no thing that another yields"
                yield Finding(ERROR, "action-as-result", _name(action), message)
        if investigative and not any(merged.is_instance(r, INVESTIGATION.ProvenanceRecord) for r in results):
            message = "no ProvenanceRecord is among its results, so custody ends here"
            yield Finding(ERROR, "provenance-record", _name(action), message)
        if not data.objects(action, ACTION.performer):
            yield Finding(WARNING, "performer", _name(action), "the action has no performer")
        missing = [name for name in ("startTime", "endTime") if not data.objects(action, ACTION[name])]
        if missing:
            yield Finding(WARNING, "times", _name(action), f"the action has no {' and no '.join(missing)}")
    for (result, _), actions in makers.items():
        if len(actions) > 1:
            names = ", ".join(sorted(map(_name, actions)))
            yield Finding(ERROR, "result-of-two", _name(result), f"it is the result of more than one action: {names}")


def _lists(data: Triples) -> Iterator[Finding]:
    """List elements carry their locator (`act-01.result[2]`) as an external reference and lie in their list."""
    groups: dict[tuple[Node | None, str], list[tuple[int, Node]]] = defaultdict(list)
    containers: dict[Node, Node] = {}
    for relationship in data.subjects(CORE.kindOfRelationship, Literal("Contained_Within")):
        for source in data.objects(relationship, CORE.source):
            for target in data.objects(relationship, CORE.target):
                containers[source] = target
    for node, references in _subjects(data, CORE.externalReference):
        for reference in references:
            if Literal("evidence locator") not in data.objects(reference, CORE.definingContext):
                continue
            for identifier in data.objects(reference, CORE.externalIdentifier):
                match = _ELEMENT.fullmatch(str(identifier))
                if match:
                    groups[containers.get(node), match[1]].append((int(match[2]), node))
    for (_, base), elements in groups.items():
        found = sorted(number for number, _ in elements)
        expected = list(range(1, len(found) + 1))
        if found != expected:
            message = f"elements {', '.join(map(str, found))} are not numbered 1 to {len(found)}"
            yield Finding(ERROR, "list-index", base, message)


def _relationship_kinds(data: Triples, ontology: Ontology) -> Iterator[Finding]:
    rules = ontology.triples
    known = set(OWN_KINDS)
    for vocabulary in ("ObservableObjectRelationshipVocab", "ActionRelationshipTypeVocab"):
        for listing in rules.objects(VOCABULARY[vocabulary], OWL.equivalentClass):
            for head in rules.objects(listing, OWL.oneOf):
                known |= {str(item) for item in rules.items(head)}
    for subject, kinds in _subjects(data, CORE.kindOfRelationship):
        for kind in kinds:
            if str(kind) not in known:
                message = f"the kind {kind} is in no vocabulary of UCO"
                yield Finding(WARNING, "relationship-kind", _name(subject), message)


def _surroundings(data: Triples) -> Iterator[Finding]:
    if data.by_subject and not data.subjects(RDF.type, CORE.Bundle):
        yield Finding(WARNING, "bundle", "the file", "there is no uco-core:Bundle around the content")
    used: dict[str, list[str]] = defaultdict(list)
    for properties in data.by_subject.values():
        for predicate, objects in properties.items():
            for term in map(str, objects if predicate == RDF.type else [predicate]):
                if not term.startswith(KNOWN_NAMESPACES):
                    local = re.split(r"[#/:]", term)[-1]
                    used[term.removesuffix(local)].append(local)
    for foreign, names in sorted(used.items()):
        terms = sorted(set(names))
        shown = ", ".join(terms[:5]) + (", …" if len(terms) > 5 else "")
        message = f"{len(names)} uses of {len(terms)} terms of {foreign}, which nothing checks: {shown}"
        yield Finding(WARNING, "foreign-terms", "the file", message)
