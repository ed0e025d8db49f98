"""Annotations in a store: written beside the run graphs, listed, and taken out again without a trace.

What an annotation is about, a run graph, is neither changed by writing nor by removing it. That is checked each time:
its canonical hash (RDF Dataset Canonicalization, RDFC-1.0; SHA-256) stands in the annotation.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import pyoxigraph
import shacl_rust  # type: ignore[import-untyped]
from pyoxigraph import NamedNode, Quad

from trace_prov.errors import GraphError, UsageError
from trace_prov.graph import iris
from trace_prov.graph.literals import from_rdf
from trace_prov.graph.store import TraceStore
from trace_prov.watermark.annotation import MARK, PREFIX, PREFIXES, Annotation, annotation, to_nquads
from trace_prov.watermark.places import places
from trace_prov.watermark.trajectory import Run
from trace_prov.watermark.truth import Truth
from trace_prov.watermark.verdict import Verdict

NEW, REPLACED, UNCHANGED = "new", "replaced", "already there"


@dataclass(frozen=True, slots=True)
class Written:
    """An annotation in the store: its IRI, whether it is new, what each decision is about, and what is not placed."""

    annotation: str
    state: str
    about: dict[tuple[str, int], str]
    unplaced: Counter[str]


@dataclass(frozen=True, slots=True)
class Listed:
    """An annotation as the store has it. `evidence` is "unchanged", "changed" or "gone" since the detection."""

    annotation: str
    outcome: str
    key_id: str
    scheme_digest: str
    tool_version: str
    runs: tuple[str, ...]
    decisions: int
    placed: int
    attacks: tuple[str, ...]
    evidence: str


def canonical_hash(quads: Iterable[Quad]) -> str:
    """SHA-256 (hex) of the canonical N-Quads (RDFC-1.0) of a dataset."""
    given = tuple(quads)
    if any(isinstance(term, pyoxigraph.BlankNode) for quad in given for term in quad):
        dataset = pyoxigraph.Dataset(given)
        dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
        given = tuple(dataset)
    # Without blank nodes there is nothing to name: the canonical form is the sorted N-Quads.
    return hashlib.sha256(to_nquads(given)).hexdigest()


def evidence_hash(store: TraceStore, run: str) -> str:
    """The canonical hash of a run's two graphs, what was observed and what the agent wrote."""
    return canonical_hash(store.quads(run))


def open_existing(folder: Path) -> TraceStore:
    """The store in this folder, for writing; raises SourceError when it is none, and makes none."""
    TraceStore.open(folder).close()
    return TraceStore.create(folder)


def annotate(
    store: TraceStore,
    verdicts: Sequence[Verdict],
    runs: Sequence[Run],
    truth: Truth | None = None,
    *,
    disclose: bool = False,
) -> list[Written]:
    """Write each verdict over `runs` as a graph of its own into a store that is open for writing.

    The same verdict again changes nothing; one of the same test that says more (since a run was loaded, or with the
    truth of an attack) takes the place of the earlier one. Raises GraphError, and writes nothing, when a graph would
    not be well formed.
    """
    found = places(runs, store, truth)
    hashes = {run: evidence_hash(store, run) for run in found.runs}
    about = {decision: iris.action(spot.run, spot.action) for decision, spot in found.at.items()}
    made = [annotation(verdict, found, hashes, truth, disclose=disclose) for verdict in verdicts]
    for item in made:
        check(item)
    written = [Written(item.name, _put(store, item), about, found.unplaced) for item in made]
    for run, digest in hashes.items() if any(item.state != UNCHANGED for item in written) else ():
        if evidence_hash(store, run) != digest:
            raise GraphError(run, expected=f"evidence with canonical hash {digest}", found="another hash after writing")
    return written


def _put(store: TraceStore, item: Annotation) -> str:
    """Put a graph in its place: first what is new, then away with what is old, so that a crash loses nothing."""
    there = set(store.database.quads_for_pattern(None, None, None, NamedNode(item.name)))
    as_stored = pyoxigraph.Store()  # which spells numbers in its own way
    as_stored.extend(item.quads)
    wanted = set(as_stored)
    if there == wanted:
        return UNCHANGED
    store.database.extend(wanted)
    for quad in there - wanted:
        store.database.remove(quad)
    return REPLACED if there else NEW


def check(item: Annotation) -> None:
    """Raise GraphError when an annotation is not as shapes/watermark.ttl has it."""
    results = violations(item.quads)
    if results:
        node, path, message = results[0]
        raise GraphError(node, place=path, expected="an annotation as shapes/watermark.ttl has it", found=message)


def violations(quads: Iterable[Quad]) -> list[tuple[str, str | None, str]]:
    """(node, property, message) of each violation of a shape in an annotation graph, sorted."""
    triples = (pyoxigraph.Triple(quad.subject, quad.predicate, quad.object) for quad in quads)
    data = pyoxigraph.serialize(triples, format=pyoxigraph.RdfFormat.N_TRIPLES)
    assert data is not None
    report = shacl_rust.validate(data.decode(), shapes(), data_format="nt")
    rows = []
    for result in report["results"]:
        message = "; ".join(result.get("messages") or [result["sourceConstraintComponent"]])
        rows.append((result["focusNode"].strip("<>"), result.get("resultPath"), message))
    return sorted(rows, key=lambda row: (row[0], row[1] or "", row[2]))


@cache
def shapes() -> str:
    """The text of shapes/watermark.ttl."""
    return (files("trace_prov.shapes") / "watermark.ttl").read_text("utf-8")


def annotation_graphs(store: TraceStore) -> list[str]:
    """The IRIs of all watermark annotations in a store, sorted."""
    names = (str(graph.value) for graph in store.database.named_graphs() if isinstance(graph, NamedNode))
    return sorted(name for name in names if name.startswith(PREFIX))


def remove(store: TraceStore, names: Iterable[str]) -> int:
    """Take annotations out of a store that is open for writing; returns how many. Raises UsageError for others."""
    there = annotation_graphs(store)
    wanted = sorted(set(names))
    unknown = [name for name in wanted if name not in there]
    if unknown:
        raise UsageError(f"no annotation {unknown[0]} in the store; it holds {', '.join(there) or 'none'}")
    for name in wanted:
        store.database.remove_graph(NamedNode(name))
    return len(wanted)


def listed(store: TraceStore) -> list[Listed]:
    """What annotations a store holds, and whether the evidence that they are about is still the same."""
    return [_listed(store, name) for name in annotation_graphs(store)]


def _listed(store: TraceStore, name: str) -> Listed:
    graph = _Read(store, name)
    verdict, detection = f"{name}:verdict", f"{name}:detection"
    tested = {node: graph.one(node, MARK + "ofRun") for node in graph.of_class("TestedRun")}
    attacks = sorted(graph.of_class("Attack"), key=lambda node: int(graph.one(node, iris.TRACE + "position")))
    states = {_state(store, run, graph.one(node, MARK + "canonicalHash")) for node, run in tested.items()}
    return Listed(
        name,
        graph.one(verdict, MARK + "outcome"),
        graph.one(detection, MARK + "keyId"),
        graph.one(detection, MARK + "schemeDigest"),
        graph.one(f"{name}:tool", MARK + "version"),
        tuple(sorted(tested.values())),
        len(graph.of_class("Decision")),
        sum(1 for node in graph.of_class("Decision") if graph.all(node, MARK + "about")),
        tuple(graph.one(node, iris.TRACE + "name") for node in attacks),
        next((state for state in ("gone", "changed", "unchanged") if state in states), "not in the store"),
    )


def _state(store: TraceStore, run: str, digest: str) -> str:
    if run not in store:
        return "gone"
    return "unchanged" if evidence_hash(store, run) == digest else "changed"


class _Read:
    """The values in one annotation graph."""

    def __init__(self, store: TraceStore, name: str) -> None:
        self._store, self._graph = store.database, NamedNode(name)

    def of_class(self, name: str) -> list[str]:
        kind = NamedNode(MARK + name)
        quads = self._store.quads_for_pattern(None, NamedNode(iris.RDF_TYPE), kind, self._graph)
        return sorted(str(quad.subject.value) for quad in quads if isinstance(quad.subject, NamedNode))

    def all(self, node: str, predicate: str) -> list[str]:
        quads = self._store.quads_for_pattern(NamedNode(node), NamedNode(predicate), None, self._graph)
        return [from_rdf(str(getattr(quad.object, "value", ""))) for quad in quads]

    def one(self, node: str, predicate: str) -> str:
        values = self.all(node, predicate)
        if len(values) != 1:
            place = predicate.rpartition("#")[2]
            raise GraphError(node, place=place, expected="one value", found=str(len(values)))
        return values[0]


def to_trig(store: TraceStore, names: Iterable[str]) -> str:
    """Annotations as TriG."""
    quads = [q for name in names for q in store.database.quads_for_pattern(None, None, None, NamedNode(name))]
    data = pyoxigraph.serialize(sorted(quads, key=str), format=pyoxigraph.RdfFormat.TRIG, prefixes=PREFIXES)
    assert data is not None
    return data.decode()
