"""A PROV file -> instances: PROV-N, PROV-JSON, PROV-JSONLD and PROV-XML through `prov`, PROV-O directly."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

from trace_prov.errors import FormatError, SourceError, UsageError
from trace_prov.prov_constraints.prov_o import instances_of_dataset, parse_dataset
from trace_prov.prov_constraints.statements import Instance, Statement, stated
from trace_prov.prov_constraints.terms import PLACEHOLDER, Name, Term

#: File name ending -> format; `.json`, `.jsonld`, `.xml` and unknown endings are decided by their content.
ENDINGS: dict[str, str] = {
    ".provn": "provn",
    ".asn": "provn",
    ".provx": "xml",
    ".provjson": "json",
    ".ttl": "turtle",
    ".provo": "turtle",
    ".trig": "trig",
    ".nt": "nt",
    ".nq": "nquads",
    ".rdf": "xml-rdf",
    ".owl": "xml-rdf",
}
RDF_FORMATS = frozenset({"turtle", "trig", "nt", "nquads", "xml-rdf", "json-ld"})
WORDS = {
    "provn": "PROV-N",
    "json": "PROV-JSON",
    "jsonld": "PROV-JSONLD",
    "xml": "PROV-XML",
    "json-ld": "PROV-O in JSON-LD",
}

#: The record types of `prov`, by the local name of their PROV class, and the relation each stands for.
RELATIONS: dict[str, str] = {
    "Entity": "entity",
    "Activity": "activity",
    "Agent": "agent",
    "Generation": "wasGeneratedBy",
    "Usage": "used",
    "Communication": "wasInformedBy",
    "Start": "wasStartedBy",
    "End": "wasEndedBy",
    "Invalidation": "wasInvalidatedBy",
    "Derivation": "wasDerivedFrom",
    "Attribution": "wasAttributedTo",
    "Association": "wasAssociatedWith",
    "Delegation": "actedOnBehalfOf",
    "Influence": "wasInfluencedBy",
    "Alternate": "alternateOf",
    "Specialization": "specializationOf",
    "Membership": "hadMember",
    "Mention": "mentionOf",
}


@dataclass(frozen=True, slots=True)
class ProvFile:
    """What was read: the instances, the format, and what the reader had to leave out or guess, in words."""

    format: str
    instances: tuple[Instance, ...]
    notes: tuple[str, ...] = ()


def read_prov(path: Path) -> ProvFile:
    """Read a PROV file.

    Raises SourceError when the file cannot be opened or decoded, FormatError when it is not PROV.
    """
    text = _text(path)
    kind = _format(path, text)
    if kind == "json":
        _refuse_repeated_keys(path, text)
    if kind in RDF_FORMATS:
        dataset = parse_dataset(path, text, kind.removesuffix("-rdf"))
        instances = tuple(instances_of_dataset(dataset))
        if not any(instance.statements for instance in instances):
            # Without this any RDF file would be valid PROV.
            found = f"no statement of PROV among {len(dataset)} triples"
            raise FormatError(str(path), expected="PROV-O", found=found)
        return ProvFile(WORDS.get(kind, "PROV-O"), instances)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        document = _document(path, text, kind)
    notes = dict.fromkeys(str(warning.message).split("\n")[0] for warning in caught)
    return ProvFile(WORDS[kind], tuple(instances_of_document(document)), tuple(notes))


def read_instances(path: Path) -> tuple[Instance, ...]:
    """Return the top level of the document and each of its bundles (7.3: each is an instance of its own)."""
    return read_prov(path).instances


def instances_of_document(document: Any) -> Iterator[Instance]:
    """Yield the instances of a `prov.model.ProvDocument`."""
    yield Instance(None, tuple(_statements(document.get_records())))
    for bundle in document.bundles:
        yield Instance(_name(bundle.identifier), tuple(_statements(bundle.get_records())))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SourceError(str(path), found=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise SourceError(str(path), place=f"byte {error.start}", expected="UTF-8 text", found=error.reason) from error


def _format(path: Path, text: str) -> str:
    known = ENDINGS.get(path.suffix.lower())
    if known is not None:
        return known
    start = text.lstrip()
    if start.startswith("<"):
        return "xml-rdf" if "http://www.w3.org/1999/02/22-rdf-syntax-ns#" in start[:4000] else "xml"
    if start.startswith(("{", "[")):
        return _json_format(path, text)
    if start.startswith(("document", "//", "/*")):
        return "provn"
    raise FormatError(
        str(path),
        expected="PROV-N, PROV-JSON, PROV-XML or PROV-O in RDF",
        found=f"text that starts with {start[:20]!r}" if start else "an empty file",
        hint="name the file with the ending of its format, such as .provn or .ttl",
    )


def _json_format(path: Path, text: str) -> str:
    value = _json(path, text)
    if isinstance(value, dict) and "@context" not in value and "@graph" not in value and "@id" not in value:
        return "json"
    context = json.dumps(value.get("@context", "")) if isinstance(value, dict) else ""
    return "jsonld" if "prov-jsonld" in context else "json-ld"


def _refuse_repeated_keys(path: Path, text: str) -> None:
    """PROV-JSON keys are identifiers: of two equal ones JSON readers keep the last, and a statement is lost."""

    def once(members: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in members]
        twice = next((key for key in keys if keys.count(key) > 1), None) if len(set(keys)) < len(keys) else None
        if twice is not None:
            raise FormatError(
                str(path),
                place=f"key {twice}",
                expected="each key of a JSON object once",
                found="the same key twice",
                hint="PROV-JSON gives several statements with one identifier as an array under that key",
            )
        return dict(members)

    _json(path, text, once)


def _json(path: Path, text: str, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise FormatError(str(path), place=place, expected="JSON", found=error.msg) from error
    except (ValueError, RecursionError) as error:
        raise FormatError(str(path), expected="JSON", found=str(error)) from error


def _document(path: Path, text: str, kind: str) -> Any:
    try:
        from prov.model import ProvDocument
    except ImportError as error:
        raise UsageError(f"reading {WORDS[kind]} needs the package prov: pip install 'trace-prov[prov]'") from error
    try:
        if kind == "xml":  # lxml refuses text with an encoding declaration
            return ProvDocument.deserialize(content=text.encode("utf-8"), format=kind)
        return ProvDocument.deserialize(StringIO(text), format=kind)
    except Exception as error:  # prov's readers raise what their parsers raise, of many classes
        place = None
        if hasattr(error, "line") and hasattr(error, "column"):
            place = f"line {error.line}, column {error.column}"
        elif hasattr(error, "lineno"):
            place = f"line {error.lineno}"
        found = str(getattr(error, "message", None) or error) or type(error).__name__
        raise FormatError(str(path), place=place, expected=WORDS[kind], found=found) from error


def _statements(records: Iterable[Any]) -> Iterator[Statement]:
    for record in records:
        relation = RELATIONS[record.get_type().localpart]
        identifier = None if record.identifier is None else _name(record.identifier)
        args = tuple(_term(value) for _, value in record.formal_attributes)
        types = frozenset(_types(record.extra_attributes))
        yield stated(relation, identifier, args, types)


def _name(identifier: Any) -> Name:
    return Name(identifier.uri, str(identifier))


def _term(value: Any) -> Term:
    if value is None:
        return PLACEHOLDER
    if isinstance(value, datetime):
        return value
    return _name(value) if hasattr(value, "uri") else str(value)


def _types(attributes: Iterable[tuple[Any, Any]]) -> Iterator[str]:
    """Yield the URIs among the prov:type values: qualified names and xsd:anyURI; a string is no type name."""
    for key, value in attributes:
        if key.uri == "http://www.w3.org/ns/prov#type" and hasattr(value, "uri"):
            yield value.uri
