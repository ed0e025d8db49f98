"""A CASE file -> triples, and what reading it as RDF loses or bends without a word.

case_validate reads with rdflib, and so does this, to judge the same triples; but a JSON-LD reader may drop
unprefixed keys, nulls, odd addresses and whole named graphs. These are looked up in the JSON itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import rdflib

from trace_prov.case.findings import ERROR, WARNING, Finding
from trace_prov.errors import FormatError, SourceError
from trace_prov.rdf_reading import quietly, refuse_remote_contexts

FORMATS: dict[str, str] = {
    ".json": "json-ld",
    ".jsonld": "json-ld",
    ".ttl": "turtle",
    ".nt": "nt",
    ".rdf": "xml",
    ".xml": "xml",
    ".trig": "trig",
    ".nq": "nquads",
}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
#: Schemes that a node name or key may use in full; any other word before a colon is taken for a prefix.
_KNOWN_SCHEMES = frozenset({"http", "https", "urn", "tag", "file", "mailto", "info", "did", "ni", "data", "_"})
_NOT_IN_IRI = re.compile(r"[\x00-\x20<>\"{}|^`\\]")
_DATETIME = re.compile(
    r"-?([1-9]\d{3,}|0\d{3})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
    r"T(([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?|24:00:00(\.0+)?)(?P<zone>Z|[+-]((0\d|1[0-3]):[0-5]\d|14:00))?"
)
XSD_DATETIME = "http://www.w3.org/2001/XMLSchema#dateTime"


@dataclass(frozen=True)
class CaseFile:
    """The triples that are validated, and what was found on the way to them.

    `times_checked`: the written form of times was judged already (rdflib rewrites it, so JSON is judged itself).
    """

    path: Path
    graph: rdflib.Graph
    losses: tuple[Finding, ...]
    times_checked: bool


def read_case(path: Path, base: str | None = None) -> CaseFile:
    """Read a CASE graph; relative names are completed with `base`, as case_validate does with the place of the file.

    Raises SourceError when the file cannot be opened, FormatError when it is no RDF or has its context elsewhere.
    """
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        endings = ", ".join(sorted(FORMATS))
        raise FormatError(str(path), expected=f"a file name that ends in {endings}", found=path.suffix or "none")
    try:
        # Not read_text: a carriage return in a Turtle string is content.
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SourceError(str(path), found=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        place = f"byte {error.start}"
        raise SourceError(str(path), place=place, expected="UTF-8 text", found=error.reason) from error
    losses: list[Finding] = []
    if kind == "json-ld":
        try:
            losses.extend(_json_losses(path, text))
        except RecursionError:
            raise FormatError(str(path), expected="JSON", found="objects nested too deeply") from None
    if kind in ("trig", "nquads"):
        graph, named = _default_graph(path, text, kind, base)
        losses.extend(named)
    else:
        graph = _parse(rdflib.Graph(), path, text, kind, base)
    if len(graph) == 0:
        message = "no statement reaches validation, and an empty graph conforms to everything"
        losses.append(Finding(ERROR, "no-triples", "the file", message))
    return CaseFile(path, graph, tuple(losses), times_checked=kind == "json-ld")


def _parse(graph: rdflib.Graph, path: Path, text: str, kind: str, base: str | None) -> Any:
    with quietly():
        try:
            return graph.parse(data=text, format=kind, publicID=base or path.absolute().as_uri())
        except Exception as error:  # rdflib's parsers raise what their libraries raise
            lines = getattr(error, "lines", None)
            place = f"line {lines + 1}" if isinstance(lines, int) else None
            found = " ".join(str(error).split())[:300] or type(error).__name__
            raise FormatError(str(path), place=place, expected=f"RDF in {kind}", found=found) from error


def _default_graph(path: Path, text: str, kind: str, base: str | None) -> tuple[rdflib.Graph, list[Finding]]:
    dataset = _parse(rdflib.Dataset(), path, text, kind, base)
    default = rdflib.Graph()
    for triple in dataset.default_graph:
        default.add(triple)
    named = [
        Finding(ERROR, "named-graph", str(graph.identifier), f"{len(graph)} statements stand in a named graph")
        for graph in dataset.graphs()
        if graph.identifier != dataset.default_graph.identifier and len(graph)
    ]
    return default, named


def _json_losses(path: Path, text: str) -> list[Finding]:
    findings: list[Finding] = []

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(members)
        if len(value) != len(members):
            keys = [key for key, _ in members]
            twice = sorted({key for key in keys if keys.count(key) > 1})
            place = str(value.get("@id", "an object without @id"))
            message = f"{', '.join(twice)} is written more than once; only the last value is read"
            findings.append(Finding(ERROR, "key-repeated", place, message))
        return value

    try:
        document = json.loads(text, object_pairs_hook=pairs)
    except ValueError as error:
        place = f"line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else None
        found = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise FormatError(str(path), place=place, expected="JSON", found=found) from error
    if not isinstance(document, dict | list):
        raise FormatError(str(path), expected="a JSON-LD object or array", found=type(document).__name__)
    refuse_remote_contexts(str(path), document)
    findings.extend(_Losses(path).of(document))
    return findings


class _Losses:
    """Walks a JSON-LD document with the contexts in force."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.findings: list[Finding] = []
        self.described: dict[str, str] = {}

    def of(self, document: Any) -> list[Finding]:
        self._node(document, "$", {}, top=True)
        return self.findings

    def _report(self, level: str, check: str, place: str, message: str) -> None:
        self.findings.append(Finding(level, check, place, message))

    def _context(self, value: Any, context: dict[str, Any], place: str) -> dict[str, Any]:
        """Return the context with a local one put on top."""
        for part in value if isinstance(value, list) else [value]:
            if part is None:
                context = {}
                continue
            if not isinstance(part, dict):
                raise FormatError(
                    str(self.path),
                    place=f"{place}, @context",
                    expected="a context inside the file",
                    found=type(part).__name__,
                )
            context = {**context, **part}
        return context

    def _node(self, value: Any, place: str, context: dict[str, Any], *, top: bool = False) -> None:
        if isinstance(value, list):
            for number, item in enumerate(value):
                self._node(item, f"{place}[{number}]", context, top=top)
            return
        if not isinstance(value, dict):
            return
        if "@context" in value:
            context = self._context(value["@context"], context, place)
        if "@value" in value:
            self._value(value, place, context)
            return
        name = _alias(value, "@id", context)
        place = str(name) if isinstance(name, str) else place
        rest = [key for key in value if key != "@context" and self._meaning(key, context) != "@id"]
        graph = next((key for key in rest if self._meaning(key, context) == "@graph"), None)
        if graph is not None and (not top or name is not None or len(rest) > 1):
            message = "@graph beside other keys of a node makes a named graph; what is in it is not validated"
            self._report(ERROR, "named-graph", place, message)
        if name is not None:
            self._name(name, place, context, describes=bool(rest) and graph is None)
        for key in rest:
            self._member(key, value[key], place, context)

    def _member(self, key: str, value: Any, place: str, context: dict[str, Any]) -> None:
        meaning = self._meaning(key, context)
        if meaning is None:
            message = f"the key {key!r} has no prefix and is not in the context: its value is lost"
            self._report(ERROR, "key-dropped", place, message)
            return
        if meaning == "@graph":
            self._node(value, place, context, top=True)
            return
        if meaning == "@type":
            for type_ in value if isinstance(value, list) else [value]:
                if not isinstance(type_, str) or self._iri(type_, context) is None:
                    self._report(ERROR, "value-dropped", place, f"the type {type_!r} is no term of the context")
                else:
                    self._prefix(type_, place, context)
            return
        if meaning.startswith("@"):
            if meaning in ("@reverse", "@included"):
                self._node(value, place, context)
            return
        self._prefix(key, place, context)
        self._values(key, value, place, context)

    def _values(self, key: str, value: Any, place: str, context: dict[str, Any]) -> None:
        if value is None or value in ([], {}):
            self._report(ERROR, "value-dropped", place, f"{key} is {json.dumps(value)}: the statement is lost")
            return
        definition = context.get(key)
        coerced = definition.get("@type") if isinstance(definition, dict) else None
        for item in value if isinstance(value, list) else [value]:
            if item is None or item == {}:
                self._report(ERROR, "value-dropped", place, f"{key} holds {json.dumps(item)}, which is lost")
            elif isinstance(item, dict) and any(word in item for word in ("@list", "@set")):
                self._node(item.get("@list", item.get("@set")), place, context)
            elif isinstance(item, dict | list):
                self._node(item, place, context)
            elif isinstance(item, str) and coerced in ("@id", "@vocab"):
                self._name(item, place, context, describes=False)
            elif isinstance(item, str) and coerced and self._iri(coerced, context) == XSD_DATETIME:
                self._time(item, place)

    def _value(self, value: dict[str, Any], place: str, context: dict[str, Any]) -> None:
        if value["@value"] is None:
            self._report(ERROR, "value-dropped", place, "a value object holds null, so the statement is lost")
        type_ = value.get("@type")
        if isinstance(type_, str):
            self._prefix(type_, place, context)
            if self._iri(type_, context) == XSD_DATETIME:
                self._time(value["@value"], place)

    def _time(self, text: Any, place: str) -> None:
        for finding in time_findings(str(text), place):
            self.findings.append(finding)

    def _name(self, name: Any, place: str, context: dict[str, Any], *, describes: bool) -> None:
        if not isinstance(name, str):
            self._report(ERROR, "value-dropped", place, f"@id is {json.dumps(name)}, not a text")
            return
        iri = self._iri(name, context, vocabulary=False)
        if iri is None or _NOT_IN_IRI.search(iri):
            message = f"{name!r} is not a possible address (it has a blank or the like): what names it is lost"
            self._report(ERROR, "value-dropped", place, message)
        elif not _SCHEME.match(iri):
            message = f"the name {name!r} is relative: it is completed with the place of the file"
            self._report(ERROR, "id-relative", place, message)
        else:
            self._prefix(name, place, context)
        if describes and iri is not None:
            if iri in self.described:
                self._report(WARNING, "node-merged", place, f"{name} is described more than once; it is read as one")
            self.described[iri] = place

    def _prefix(self, term: str, place: str, context: dict[str, Any]) -> None:
        prefix, colon, rest = term.partition(":")
        if not colon or term in context or prefix in context or rest.startswith("//"):
            return
        if prefix.lower() not in _KNOWN_SCHEMES:
            message = f"the prefix of {term} is not declared, so it is not the term meant"
            self._report(ERROR, "prefix-undeclared", place, message)

    def _meaning(self, key: str, context: dict[str, Any]) -> str | None:
        """Return the keyword or IRI that a key stands for; None when the reader drops it."""
        if key.startswith("@"):
            return key
        return self._iri(key, context)

    def _iri(self, term: str, context: dict[str, Any], *, vocabulary: bool = True, depth: int = 0) -> str | None:
        if vocabulary or depth:
            definition = context.get(term)
            if isinstance(definition, dict):
                definition = definition.get("@id", term if ":" in term else None)
            if term in context and definition is None:
                return None
            if isinstance(definition, str) and definition != term and depth < 10:
                return definition if definition.startswith("@") else self._iri(definition, context, depth=depth + 1)
        prefix, colon, rest = term.partition(":")
        if colon:
            start = context.get(prefix)
            start = start.get("@id") if isinstance(start, dict) else start
            return f"{start}{rest}" if isinstance(start, str) and not rest.startswith("//") else term
        if vocabulary or depth:
            vocab = context.get("@vocab")
            return f"{vocab}{term}" if isinstance(vocab, str) else None
        base = context.get("@base")
        return f"{base}{term}" if isinstance(base, str) else term


def _alias(value: dict[str, Any], keyword: str, context: dict[str, Any]) -> Any:
    for key, member in value.items():
        if key == keyword or context.get(key) == keyword:
            return member
    return None


def time_findings(text: str, place: str) -> Iterator[Finding]:
    """Yield what is wrong with the written form of an xsd:dateTime (XML Schema 1.1 part 2, 3.3.7)."""
    match = _DATETIME.fullmatch(text)
    if match is None or not _on_the_calendar(text):
        yield Finding(ERROR, "time-form", place, f"{text!r} is no xsd:dateTime")
    elif match["zone"] is None:
        yield Finding(ERROR, "time-zone", place, f"{text} has no zone, so it is no point in time")


def _on_the_calendar(text: str) -> bool:
    """Say whether the month has that day; years that Python does not know are judged as leap years."""
    try:
        datetime.fromisoformat(text.lstrip("-")[:10])
    except ValueError:
        return len(text.lstrip("-").partition("-")[0]) > 4 or text.lstrip("-").startswith("0000")
    return True
