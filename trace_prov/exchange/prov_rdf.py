"""A PROV document of the `prov` library -> PROV-O quads, directly: each statement once, none dropped.

An element is a node; a relation is its direct property and, where it has an identifier, a third place, a time or
attributes, a qualified node as well (PROV-O 3.3). Statements that RDF would merge into one are refused by name.
Square brackets, which locators have and IRIs may not have here (RFC 3986, 3.2.2), are written %5B and %5D.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyoxigraph

from trace_prov.errors import FormatError
from trace_prov.export.prov_quads import CUSTODY
from trace_prov.graph import iris
from trace_prov.graph.literals import to_rdf

_NOT_IN_IRI = re.compile(r"[\x00-\x20<>\"{}|^`\\\ud800-\udfff]")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")

#: kind of record -> direct property, qualifying property, then the property of each place after the first.
RELATIONS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "Usage": ("used", "qualifiedUsage", ("entity", "atTime")),
    "Generation": ("wasGeneratedBy", "qualifiedGeneration", ("activity", "atTime")),
    "Invalidation": ("wasInvalidatedBy", "qualifiedInvalidation", ("activity", "atTime")),
    "Communication": ("wasInformedBy", "qualifiedCommunication", ("activity",)),
    "Start": ("wasStartedBy", "qualifiedStart", ("entity", "hadActivity", "atTime")),
    "End": ("wasEndedBy", "qualifiedEnd", ("entity", "hadActivity", "atTime")),
    "Derivation": ("wasDerivedFrom", "qualifiedDerivation", ("entity", "hadActivity", "hadGeneration", "hadUsage")),
    "Attribution": ("wasAttributedTo", "qualifiedAttribution", ("agent",)),
    "Association": ("wasAssociatedWith", "qualifiedAssociation", ("agent", "hadPlan")),
    "Delegation": ("actedOnBehalfOf", "qualifiedDelegation", ("agent", "hadActivity")),
    "Influence": ("wasInfluencedBy", "qualifiedInfluence", ("influencer",)),
}
#: relations that PROV-O has as a property only
UNQUALIFIED = {"Specialization": "specializationOf", "Alternate": "alternateOf", "Membership": "hadMember"}
_TIMES = ("startedAtTime", "endedAtTime")


#: The Python types in which `prov` gives values, bool before int as it is one.
_DATATYPES = ((bool, "boolean"), (int, "integer"), (float, "double"), (datetime, "dateTime"))


@dataclass
class Written:
    """The quads, and how many records of the document they state."""

    quads: list[pyoxigraph.Quad] = field(default_factory=list)
    records: int = 0
    #: every IRI as written -> the identifier it stands for
    encoded: dict[str, str] = field(default_factory=dict)


def document_quads(
    document: Any, name: str, source: str, leave_out: Callable[[str], bool] = lambda bundle: False
) -> Written:
    """The document's own records in the graph `name`, each bundle's in `name:bundle:N`, which says what it is.

    `leave_out` tells the bundles that are read in another way. Raises FormatError for an identifier that is no IRI and
    for statements that RDF cannot keep apart.
    """
    written = Written()
    _Writer(written, name, name, source).records(document.get_records())
    bundles = (bundle for bundle in document.bundles if not leave_out(bundle.identifier.uri))
    for number, bundle in enumerate(bundles, start=1):
        is_custody = bundle.identifier.uri == CUSTODY
        graph = f"{name}:custody" if is_custody else f"{name}:bundle:{number}"
        writer = _Writer(written, name, graph, source)
        about = about_bundle(pyoxigraph.NamedNode(graph), writer.iri(bundle.identifier.uri), pyoxigraph.NamedNode(name))
        written.quads.extend(about)
        writer.records(bundle.get_records())
    return written


def about_bundle(
    graph: pyoxigraph.NamedNode, named: pyoxigraph.NamedNode | pyoxigraph.BlankNode, top: pyoxigraph.NamedNode
) -> Iterator[pyoxigraph.Quad]:
    """What the document's own graph says of a graph that holds a bundle: what the file calls it."""
    bundle = pyoxigraph.NamedNode(f"{iris.PROV}Bundle")
    yield pyoxigraph.Quad(graph, pyoxigraph.NamedNode(iris.RDF_TYPE), bundle, top)
    yield pyoxigraph.Quad(graph, pyoxigraph.NamedNode(f"{iris.PROV}specializationOf"), named, top)


class _Writer:
    def __init__(self, written: Written, document: str, graph: str, source: str) -> None:
        self._written = written
        self._graph = pyoxigraph.NamedNode(graph)
        self._base = graph
        self._source = source
        self._times: dict[str, tuple[Any, ...]] = {}
        self._kinds: dict[str, Any] = {}

    def records(self, records: list[Any]) -> None:
        for number, record in enumerate(records, start=1):
            kind = record.get_type().localpart
            if kind in RELATIONS:
                self._relation(record, kind, number)
            elif kind in UNQUALIFIED:
                first, second = self._ends(record)
                self._add(first, iris.PROV + UNQUALIFIED[kind], second)
            elif kind == "Mention":
                self._mention(record)
            else:
                self._element(record, kind)
            self._written.records += 1

    def _element(self, record: Any, kind: str) -> None:
        node = self.iri(record.identifier.uri)
        self._add(node, iris.RDF_TYPE, pyoxigraph.NamedNode(iris.PROV + kind))
        times = tuple(value for _, value in record.formal_attributes)
        for predicate, value in zip(_TIMES, times, strict=False):
            before = dict(zip(_TIMES, self._times.get(node.value, ()), strict=False)).get(predicate)
            if value is not None and before is not None and before != value:
                raise FormatError(
                    self._source,
                    place=f"activity {record.identifier}",
                    expected="one time an activity, which RDF cannot keep apart from another",
                    found=f"{before.isoformat()} and {value.isoformat()} in two statements",
                )
            if value is not None:
                self._add(node, iris.PROV + predicate, self._literal(value, record))
        if any(times):
            self._times[node.value] = times
        self._attributes(node, record)

    def _relation(self, record: Any, kind: str, number: int) -> None:
        direct, qualifying, places = RELATIONS[kind]
        values = [value for _, value in record.formal_attributes]
        if values[0] is None:
            raise FormatError(self._source, place=str(record), expected="what the statement is about", found="nothing")
        subject = self.iri(values[0].uri)
        if values[1] is not None:
            self._add(subject, iris.PROV + direct, self.iri(values[1].uri))
        plain = record.identifier is None and not any(values[2:]) and not record.extra_attributes
        if plain and values[1] is not None:
            return
        if record.identifier is None:
            node = pyoxigraph.NamedNode(f"{self._base}:statement:{number}")
        else:
            node = self.iri(record.identifier.uri)
        self._add(subject, iris.PROV + qualifying, node)
        self._add(node, iris.RDF_TYPE, pyoxigraph.NamedNode(iris.PROV + kind))
        for place, value in zip(places, values[1:], strict=False):
            if value is not None:
                term = self.iri(value.uri) if hasattr(value, "uri") else self._literal(value, record)
                self._add(node, iris.PROV + place, term)
        self._attributes(node, record)

    def _mention(self, record: Any) -> None:
        specific, general, bundle = (value for _, value in record.formal_attributes)
        node = self.iri(specific.uri)
        self._add(node, f"{iris.PROV}mentionOf", self.iri(general.uri))
        self._add(node, f"{iris.PROV}asInBundle", self.iri(bundle.uri))

    def _ends(self, record: Any) -> tuple[pyoxigraph.NamedNode, pyoxigraph.NamedNode]:
        values = [value for _, value in record.formal_attributes]
        if any(value is None for value in values):
            raise FormatError(self._source, place=str(record), expected="both ends of the statement", found="one")
        first, second = values
        return self.iri(first.uri), self.iri(second.uri)

    def _attributes(self, node: pyoxigraph.NamedNode, record: Any) -> None:
        for key, value in record.extra_attributes:
            predicate = self.iri(key.uri).value
            if predicate == f"{iris.PROV}type" and hasattr(value, "uri"):
                predicate = iris.RDF_TYPE
            elif predicate == f"{iris.PROV}label":
                predicate = "http://www.w3.org/2000/01/rdf-schema#label"
            elif predicate == f"{iris.PROV}location":
                predicate = f"{iris.PROV}atLocation"
            term = self.iri(value.uri) if hasattr(value, "uri") else self._literal(value, record)
            self._add(node, predicate, term)

    def _add(self, subject: pyoxigraph.NamedNode, predicate: str, term: Any) -> None:
        self._written.quads.append(pyoxigraph.Quad(subject, pyoxigraph.NamedNode(predicate), term, self._graph))

    def iri(self, uri: str) -> pyoxigraph.NamedNode:
        found = _NOT_IN_IRI.search(uri)
        if found is not None or not _ABSOLUTE.match(uri):
            raise FormatError(
                self._source,
                place=f"identifier {uri!r}",
                expected="an identifier that is an IRI",
                found="a relative name" if found is None else f"the character U+{ord(found[0]):04X} in it",
                hint="RDF has no name for it, so nothing could be found under it",
            )
        scheme, colon, rest = uri.partition(":")
        encoded = scheme + colon + rest.replace("[", "%5B").replace("]", "%5D")
        before = self._written.encoded.setdefault(encoded, uri)
        if before != uri:
            expected = "names that stay apart when brackets are written as %5B and %5D"
            raise FormatError(
                self._source, place=f"identifier {uri!r}", expected=expected, found=f"{before!r} beside it"
            )
        return pyoxigraph.NamedNode(encoded)

    def _literal(self, value: Any, record: Any) -> pyoxigraph.Literal:
        kind = next((name for class_, name in _DATATYPES if isinstance(value, class_)), None)
        if kind is not None:
            return pyoxigraph.Literal(_written(value), datatype=pyoxigraph.NamedNode(iris.XSD + kind))
        if not hasattr(value, "langtag"):
            return pyoxigraph.Literal(to_rdf(str(value)))
        text = to_rdf(str(value.value))
        if value.langtag:
            return pyoxigraph.Literal(text, language=self._language(str(value.langtag), record))
        datatype = None if value.datatype is None else self.iri(value.datatype.uri)
        return pyoxigraph.Literal(text, datatype=datatype)

    def _language(self, tag: str, record: Any) -> str:
        if _LANGUAGE.fullmatch(tag) is None:
            raise FormatError(self._source, place=str(record), expected="a language tag", found=repr(tag))
        return tag


def _written(value: bool | float | datetime) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    # XML Schema's words for what Python calls nan and inf.
    return {"nan": "NaN", "inf": "INF", "-inf": "-INF"}.get(repr(value), repr(value))
