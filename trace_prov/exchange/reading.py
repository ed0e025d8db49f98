"""Files of others -> what goes into the store, counted in against out; what would be lost is refused by name."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pyoxigraph

from trace_prov.case.extra import payload_findings
from trace_prov.case.findings import ERROR
from trace_prov.case.reading import FORMATS as CASE_ENDINGS
from trace_prov.case.reading import CaseFile, read_case
from trace_prov.case.triples import Triples
from trace_prov.errors import FormatError, GraphError, SourceError, UsageError
from trace_prov.exchange import case_foreign, case_own, prov_foreign
from trace_prov.exchange.counting import COUNTERS, strict_json
from trace_prov.exchange.custody import as_quads, custody
from trace_prov.exchange.foreign import ForeignRun, UnorderedError, to_run
from trace_prov.exchange.index import Index
from trace_prov.exchange.prov_rdf import about_bundle, document_quads
from trace_prov.export.prov_document import is_ours, is_run_bundle, prov_library, run_quads_of, to_document
from trace_prov.export.prov_quads import CUSTODY, run_quads
from trace_prov.graph import iris
from trace_prov.graph.read import run_from_quads
from trace_prov.graph.write import run_to_quads
from trace_prov.model import Run, Source
from trace_prov.prov_constraints.reading import ENDINGS as PROV_ENDINGS

DOCUMENT = "urn:trace-prov:document:"
COMPLETED = "https://w3id.org/trace-prov/document/"
_RDF = {
    "turtle": pyoxigraph.RdfFormat.TURTLE,
    "trig": pyoxigraph.RdfFormat.TRIG,
    "nt": pyoxigraph.RdfFormat.N_TRIPLES,
    "nquads": pyoxigraph.RdfFormat.N_QUADS,
    "xml-rdf": pyoxigraph.RdfFormat.RDF_XML,
}


@dataclass(frozen=True)
class Imported:
    """A file as it goes into the store: the runs in it, and the document itself in graphs of its own.

    `read` and `kept` count the statements (triples, or PROV records); they are equal, or the file was refused.
    """

    name: str
    format: str
    document: str
    read: int
    kept: int
    runs: tuple[Run, ...]
    quads: tuple[pyoxigraph.Quad, ...]
    notes: tuple[str, ...] = ()


def read_document(path: Path, format_name: str | None = None, *, accept_losses: bool = False) -> Imported:
    """Read a CASE bundle or a PROV document.

    `format_name` is `case`, `prov` or None: by the ending and content. Raises SourceError, FormatError with what
    would be lost, UsageError for an unknown format. With `accept_losses` what a JSON-LD reader drops is a note.
    """
    name = format_name or _guess(path)
    if name not in READERS:
        raise UsageError(f"no format {name!r} to import; known: {', '.join(READERS)}")
    try:
        return READERS[name](path, accept_losses)
    except RecursionError:
        raise FormatError(str(path), expected="a document", found="values nested too deeply") from None


def _guess(path: Path) -> str:
    text = _text(path)
    if path.suffix.lower() not in CASE_ENDINGS or "ontology.unifiedcyberontology.org" not in text:
        return "prov"
    # What the field's own mapping derives from CASE is PROV that still names CASE terms; so does our own PROV view.
    if text.lstrip().startswith(("{", "[")):
        return "case" if '"@context"' in text and "prov-jsonld" not in text else "prov"
    return "prov" if iris.PROV in text else "case"


def _data(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SourceError(str(path), expected="a readable file", found=error.strerror or str(error)) from None


def _text(path: Path) -> str:
    try:
        # Not read_text: a carriage return in a PROV-N or Turtle string is content.
        return _data(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(str(path), place=f"byte {error.start}", expected="UTF-8", found=error.reason) from None


def _source(path: Path, kind: str) -> Source:
    data = _data(path)
    return Source(path.name, kind, hashlib.sha256(data).hexdigest(), len(data))


def _document_name(source: Source) -> str:
    return f"{DOCUMENT}{source.sha256[:32]}"


def _base(document: str) -> str:
    """What relative names are completed with: not the place of the file, which is this machine's and tells nothing."""
    return f"{COMPLETED}{document.removeprefix(DOCUMENT)}/"


def _completed(quads: Iterable[pyoxigraph.Quad], document: str) -> list[str]:
    """A note on the names that were relative in the file."""
    base = _base(document)
    terms = {getattr(term, "value", "") for quad in quads for term in (quad.subject, quad.predicate, quad.object)}
    count = sum(term.startswith(base) for term in terms)
    return [f"{count} relative names were completed with {base}"] if count else []


def read_case_document(path: Path, accept_losses: bool = False) -> Imported:
    """A CASE bundle: its triples, the custody that they state as PROV, and the runs of agents in it."""
    source = _source(path, "case")
    document = _document_name(source)
    file = read_case(path, _base(document))
    notes = _losses(path, file, accept_losses, allowed=("no-triples",))
    if not len(file.graph):
        raise FormatError(str(path), expected="at least one statement", found="none")
    data = file.graph.serialize(format="nt", encoding="utf-8")
    graph = pyoxigraph.NamedNode(document)
    quads = [
        pyoxigraph.Quad(quad.subject, quad.predicate, quad.object, graph)
        for quad in pyoxigraph.parse(data, format=pyoxigraph.RdfFormat.N_TRIPLES)
    ]
    if len(quads) != len(file.graph):
        raise FormatError(str(path), expected=f"{len(file.graph)} triples stored", found=str(len(quads)))
    index = Index.of(quads)
    contradictions = [f"{item.place}: {item.message}" for item in payload_findings(Triples(file.graph))]
    if case_own.is_ours(index):
        if contradictions:
            raise FormatError(
                str(path), expected="contents with the hash and size that are stated", found=contradictions[0]
            )
        try:
            runs = case_own.own_runs(index)
        except GraphError as error:
            raise FormatError(str(path), place=_place(error), expected=error.expected, found=error.found) from None
    else:
        runs = _foreign_case_runs(index, source, notes)
        notes += [f"a contradiction, {item}" for item in contradictions]
    notes += _completed(quads, document)
    custody_graph = list(as_quads(custody(quads), f"{document}:custody"))
    return Imported(
        path.name, "CASE", document, len(file.graph), len(quads), tuple(runs), (*quads, *custody_graph), tuple(notes)
    )


def _foreign_case_runs(index: Index, source: Source, notes: list[str]) -> list[Run]:
    """The runs of agents; where a tool call contradicts itself none is mapped, and a note says why."""
    try:
        found, others = case_foreign.foreign_runs(index)
    except GraphError as error:
        notes.append(f"no run is mapped, for one contradiction: {error}")
        return []
    notes += others
    return list(_mapped(found, source, notes))


def _mapped(found: list[ForeignRun], source: Source, notes: list[str]) -> Iterator[Run]:
    for foreign in found:
        try:
            yield to_run(foreign, source)
        except UnorderedError as error:
            notes.append(str(error))
    if not found:
        notes.append("no agent's tool call is in it: the three questions do not apply, SPARQL does")


def _losses(path: Path, file: CaseFile, accept: bool, *, allowed: tuple[str, ...] = ()) -> list[str]:
    """What reading the JSON lost: a FormatError, or notes where losses are accepted."""
    losses = [loss for loss in file.losses if loss.level == ERROR and loss.check not in allowed]
    if losses and not accept:
        raise FormatError(
            str(path),
            place=losses[0].place,
            expected="a file that is read whole",
            found=losses[0].message,
            hint=f"{len(losses)} such places; --accept-losses loads the rest",
        )
    return [f"lost in reading, {loss.place}: {loss.message}" for loss in losses]


def read_prov_document(path: Path, accept_losses: bool = False) -> Imported:
    """A PROV document in any of its forms."""
    text = _text(path)
    kind = PROV_ENDINGS.get(path.suffix.lower()) or _content_format(path, text)
    if kind in _RDF or kind == "json-ld":
        return _read_rdf(path, text, kind, accept_losses)
    # Counted before it is parsed: the count knows the place of what a parser only calls invalid.
    stated = COUNTERS[kind](str(path), text) if kind in COUNTERS else None
    document = _parsed(path, text, kind)
    records = len(document.get_records()) + sum(len(bundle.get_records()) for bundle in document.bundles)
    if stated not in (None, records):
        raise FormatError(str(path), expected=f"{stated} statements, as many as the file makes", found=str(records))
    source = _source(path, kind)
    name = _document_name(source)
    if records == 0:
        raise FormatError(str(path), expected="at least one statement", found="none")
    written = document_quads(document, name, str(path), leave_out=is_run_bundle)
    notes: list[str] = []
    if is_ours(document):
        runs = _own_runs(path, run_quads_of(document))
        own = _same_records(path, document, runs)
    else:
        own = 0
        found, notes = prov_foreign.foreign_runs(written.quads)
        runs = list(_mapped(found, source, notes))
    return Imported(
        path.name, kind, name, records, own + written.records, tuple(runs), tuple(written.quads), tuple(notes)
    )


def _own_runs(path: Path, quads: Iterable[pyoxigraph.Quad]) -> list[Run]:
    """The runs whose graphs these are. Raises FormatError when the run does not say all that its graph says: it is the
    run that is stored, so the rest would be lost."""
    graphs: dict[str, list[pyoxigraph.Quad]] = {}
    for quad in quads:
        graphs.setdefault(getattr(quad.graph_name, "value", "").removesuffix(":account"), []).append(quad)
    runs = []
    for name, own in graphs.items():
        try:
            run = run_from_quads(own)
        except GraphError as error:
            raise FormatError(
                str(path), place=_place(error), expected=error.expected, found=error.found, hint=f"in the graph {name}"
            ) from None
        stated, told = set(own), set(run_quads(run))
        # With or without what the PROV view adds to a run graph.
        missing = set() if stated == told else set(run_to_quads(run)) - stated
        _refuse_difference(path, f"graph {name}", stated - told, missing)
        runs.append(run)
    return runs


def _refuse_difference(path: Path, place: str, added: Iterable[Any], missing: Iterable[Any]) -> None:
    more, less = sorted(map(str, added)), sorted(map(str, missing))
    if more or less:
        raise FormatError(
            str(path),
            place=place,
            expected="a run as trace-prov writes it, with nothing added or left out",
            found=f"also {more[0]}" if more else f"one without {less[0]}",
        )


def _place(error: GraphError) -> str:
    return error.source if error.place is None else f"{error.source}, {error.place}"


def _same_records(path: Path, document: Any, runs: Sequence[Run]) -> int:
    """How many records the run bundles of a document hold, all of which the runs tell; raises FormatError otherwise."""
    told = {
        bundle.identifier.uri: Counter(bundle.get_records())
        for bundle in to_document(quad for run in runs for quad in run_quads(run)).bundles
    }
    stated = {
        bundle.identifier.uri: Counter(bundle.get_records())
        for bundle in document.bundles
        if is_run_bundle(bundle.identifier.uri)
    }
    for name in sorted(told.keys() | stated.keys()):
        found, expected = stated.get(name, Counter()), told.get(name, Counter())
        _refuse_difference(path, f"bundle {name}", found - expected, expected - found)
    return sum(counter.total() for counter in stated.values())


def _read_rdf(path: Path, text: str, kind: str, accept_losses: bool) -> Imported:
    """PROV-O, or the quads of a store: run graphs become runs, everything else stays in graphs of the document."""
    source = _source(path, kind)
    name = _document_name(source)
    lost = (
        _losses(path, read_case(path, _base(name)), accept_losses, allowed=("named-graph",))
        if kind == "json-ld"
        else []
    )
    format_ = pyoxigraph.RdfFormat.JSON_LD if kind == "json-ld" else _RDF[kind]
    try:
        parsed = list(pyoxigraph.parse(text, format=format_, base_iri=_base(name), rename_blank_nodes=True))
    except SyntaxError as error:
        place = None if error.lineno is None else f"line {error.lineno}"
        raise FormatError(str(path), place=place, expected=f"RDF in {kind}", found=error.msg) from None
    if not parsed:
        raise FormatError(str(path), expected="at least one statement", found="none")
    own: list[pyoxigraph.Quad] = []
    rest: list[pyoxigraph.Quad] = []
    for quad in parsed:
        (own if is_run_bundle(getattr(quad.graph_name, "value", "")) else rest).append(quad)
    runs = _own_runs(path, own)
    quads, graphs = _renamed(rest, name)
    notes = lost + _completed(quads, name)
    if not runs:
        found, others = prov_foreign.foreign_runs(quads)
        notes += others
        runs = list(_mapped(found, source, notes))
    kept = len(own) + len(quads)
    return Imported(path.name, kind, name, len(parsed), kept, tuple(runs), (*quads, *graphs), tuple(notes))


def _renamed(quads: list[pyoxigraph.Quad], document: str) -> tuple[list[pyoxigraph.Quad], list[pyoxigraph.Quad]]:
    """(the quads in graphs of the document, what is said of these graphs).

    A graph gets a name of the document's own, so that it never mixes with a graph that another file calls the same.
    """
    top = pyoxigraph.NamedNode(document)
    names: dict[Any, pyoxigraph.NamedNode] = {pyoxigraph.DefaultGraph(): top}
    about = []
    for graph in dict.fromkeys(quad.graph_name for quad in quads):
        if isinstance(graph, pyoxigraph.DefaultGraph):
            continue
        is_custody = getattr(graph, "value", "") == CUSTODY
        own = f"{document}:custody" if is_custody else f"{document}:bundle:{len(names)}"
        names[graph] = pyoxigraph.NamedNode(own)
        about += list(about_bundle(names[graph], graph, top))
    kept = [pyoxigraph.Quad(quad.subject, quad.predicate, quad.object, names[quad.graph_name]) for quad in quads]
    return kept, about


def _content_format(path: Path, text: str) -> str:
    start = text.lstrip()
    if start.startswith("<"):
        return "xml-rdf" if "http://www.w3.org/1999/02/22-rdf-syntax-ns#" in start[:4000] else "xml"
    if start.startswith(("{", "[")):
        value = strict_json(str(path), text)
        if isinstance(value, dict) and "@context" not in value and "@graph" not in value and "@id" not in value:
            return "json"
        context = json.dumps(value.get("@context", "")) if isinstance(value, dict) else ""
        return "jsonld" if "prov-jsonld" in context else "json-ld"
    if start.startswith(("document", "//", "/*")):
        return "provn"
    raise FormatError(
        str(path),
        expected="CASE, PROV-N, PROV-JSON, PROV-XML or PROV-O in RDF",
        found=f"text that starts with {start[:20]!r}" if start else "an empty file",
    )


def _parsed(path: Path, text: str, kind: str) -> Any:
    model = prov_library()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if kind == "xml":  # lxml refuses text with an encoding declaration
                return model.ProvDocument.deserialize(content=text.encode(), format=kind)
            return model.ProvDocument.deserialize(StringIO(text), format=kind)
    except Exception as error:  # prov's readers raise what their parsers raise, of many classes
        line = getattr(error, "line", None)
        place = None if line is None else f"line {line}, column {getattr(error, 'column', 0)}"
        found = str(getattr(error, "message", None) or error) or type(error).__name__
        raise FormatError(str(path), place=place, expected=f"PROV ({kind})", found=found) from None


READERS: dict[str, Callable[[Path, bool], Imported]] = {"case": read_case_document, "prov": read_prov_document}
