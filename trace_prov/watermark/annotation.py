"""A verdict as a named graph of its own: what was detected, on which decisions, after which attacks (PROV-O).

Terms: ontology/watermark.ttl. Form: shapes/watermark.ttl. Nothing here is a statement about a node of a run graph: the
annotation points at actions and never the other way. Neither keys nor, unless disclosed, scores are in it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyoxigraph
from pyoxigraph import Literal, NamedNode, Quad

from trace_prov import __version__
from trace_prov.graph import iris
from trace_prov.graph.literals import to_rdf
from trace_prov.model import Locator
from trace_prov.watermark.places import Places, Spot
from trace_prov.watermark.trajectory import canonical_json
from trace_prov.watermark.truth import Truth
from trace_prov.watermark.verdict import ChannelResult, DecisionEvidence, Verdict

MARK = "https://w3id.org/trace-prov/watermark#"
PREFIX = "urn:trace-prov:watermark:"
PREFIXES = {**iris.PREFIXES, "mark": MARK}
TOOL = "trace-prov watermark detect"
#: the spellings of a channel's part in a decision
SCORED, AGREES, DISAGREES, SKIPPED, COUNTED = "scored", "agrees", "disagrees", "skipped", "counted"
LOST, CHANGED, INSERTED = "lost", "changed", "inserted"

_TYPE = NamedNode(iris.RDF_TYPE)
_DOUBLE = NamedNode(f"{iris.XSD}double")
_N_QUADS = pyoxigraph.RdfFormat.N_QUADS


@dataclass(frozen=True, slots=True)
class Annotation:
    """A verdict's graph: its name, and its quads in a fixed order."""

    name: str
    quads: tuple[Quad, ...]


def name_of(verdict: Verdict) -> str:
    """The IRI of a verdict's annotation: from what was tested and with what, so that the same test has the same one."""
    ledger = None if verdict.ledger is None else verdict.ledger.entries
    parts = [__version__, verdict.key_id, verdict.scheme_digest, verdict.keys_tried, verdict.committed, ledger]
    text = canonical_json([*parts, sorted(verdict.runs), sorted(digest for _, digest in verdict.inputs)])
    return PREFIX + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def annotation(
    verdict: Verdict,
    places: Places,
    evidence_hashes: Mapping[str, str],
    truth: Truth | None = None,
    *,
    disclose: bool = False,
) -> Annotation:
    """Return the graph of a verdict. Equal arguments give equal graphs.

    `evidence_hashes` has the canonical hash of each run graph in which `places` places a decision.
    """
    graph = _Graph(name_of(verdict))
    _frame(graph, verdict, evidence_hashes, disclose)
    _verdict(graph, verdict)
    for position, row in enumerate(verdict.evidence, 1):
        _decision(graph, position, row, places, disclose)
    for position, finding in enumerate(verdict.findings, 1):
        node = graph.part("finding", position)
        graph.types(node, "Finding", "Entity")
        _made(graph, node)
        graph.texts(node, check=finding.check, runId=finding.run, place=finding.place)
        graph.texts(node, what=finding.what, certainty=finding.sure)
    if truth is not None:
        _attacks(graph, truth, places)
    return Annotation(graph.name, tuple(sorted(set(graph.quads), key=str)))


@dataclass
class _Graph:
    """The quads of one named graph; predicates and classes are names of our vocabulary unless they are PROV's."""

    name: str
    quads: list[Quad] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._node = NamedNode(self.name)

    def part(self, kind: str, position: int | None = None) -> str:
        return f"{self.name}:{kind}" if position is None else f"{self.name}:{kind}:{position}"

    def _add(self, subject: str, predicate: str, value: NamedNode | Literal) -> None:
        self.quads.append(Quad(NamedNode(subject), NamedNode(predicate), value, self._node))

    def types(self, subject: str, own: str, *prov: str) -> None:
        for term in (MARK + own, *(iris.PROV + name for name in prov)):
            self.quads.append(Quad(NamedNode(subject), _TYPE, NamedNode(term), self._node))

    def prov(self, subject: str, name: str, target: str) -> None:
        self._add(subject, iris.PROV + name, NamedNode(target))

    def link(self, subject: str, name: str, target: str) -> None:
        self._add(subject, MARK + name, NamedNode(target))

    def texts(self, subject: str, **values: str | None) -> None:
        for name, value in values.items():
            if value is not None:
                self._add(subject, MARK + name, Literal(to_rdf(value)))

    def numbers(self, subject: str, **values: int | None) -> None:
        """Whole numbers and truth values."""
        for name, value in values.items():
            if value is not None:
                self._add(subject, MARK + name, Literal(value))

    def reals(self, subject: str, **values: float | None) -> None:
        """Doubles; they may be infinite or no number."""
        for name, value in values.items():
            if value is not None:
                self._add(subject, MARK + name, Literal(_double(float(value)), datatype=_DOUBLE))

    def trace(self, subject: str, name: str, value: str | int) -> None:
        """A property that files, agents and parts of a run graph have as well."""
        self._add(subject, iris.TRACE + name, Literal(to_rdf(value)) if isinstance(value, str) else Literal(value))


def _double(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"


def _frame(graph: _Graph, verdict: Verdict, evidence_hashes: Mapping[str, str], disclose: bool) -> None:
    """The bundle, the detection, the tool as its agent, the logs it read, the runs they are of."""
    tool, detection = graph.part("tool"), graph.part("detection")
    graph.types(graph.name, "Annotation", "Bundle", "Entity")
    graph.prov(graph.name, "wasAttributedTo", tool)
    graph.types(tool, "Tool", "Agent", "SoftwareAgent")
    graph.trace(tool, "name", TOOL)
    graph.texts(tool, version=__version__)
    graph.types(detection, "Detection", "Activity")
    graph.prov(detection, "wasAssociatedWith", tool)
    graph.texts(detection, keyId=verdict.key_id, schemeDigest=verdict.scheme_digest, committed=verdict.committed)
    graph.numbers(detection, keysTried=verdict.keys_tried, disclosed=disclose)
    if verdict.ledger is not None:
        graph.numbers(detection, ledgerEntries=verdict.ledger.entries, ledgerRuns=verdict.ledger.runs)
    for position, (name, digest) in enumerate(verdict.inputs, 1):
        _log(graph, graph.part("log", position), name, digest)
        graph.prov(detection, "used", graph.part("log", position))
    for position, (run, digest) in enumerate(sorted(evidence_hashes.items()), 1):
        node = graph.part("run", position)
        graph.types(node, "TestedRun", "Entity")
        graph.link(node, "ofRun", run)
        graph.texts(node, canonicalHash=digest)
        graph.prov(detection, "used", node)
        graph.prov(detection, "wasInformedBy", run)


def _log(graph: _Graph, node: str, name: str, digest: str) -> None:
    graph.types(node, "TestedLog", "Entity")
    graph.trace(node, "name", Path(name).name)
    graph.trace(node, "sha256", digest)


def _made(graph: _Graph, node: str) -> None:
    """A part of the verdict, generated by the detection."""
    graph.prov(node, "wasGeneratedBy", graph.part("detection"))
    graph.link(node, "partOf", graph.part("verdict"))


def _verdict(graph: _Graph, verdict: Verdict) -> None:
    node = graph.part("verdict")
    graph.types(node, "Verdict", "Entity")
    graph.prov(node, "wasGeneratedBy", graph.part("detection"))
    graph.texts(node, outcome=verdict.decision, reason=verdict.reason, keyId=verdict.key_id, owner=verdict.owner)
    graph.texts(node, schemeDigest=verdict.scheme_digest, powerBasis=verdict.power.basis)
    graph.reals(node, alpha=verdict.scheme.alpha, power=verdict.power.joint, logE=verdict.log_e)
    graph.reals(node, logP=verdict.log_p_joint, logPCorrected=verdict.log_p_corrected)
    for channel in (verdict.selection, verdict.tally):
        _channel(graph, channel)


def _channel(graph: _Graph, channel: ChannelResult) -> None:
    node = graph.part(channel.name)
    graph.types(node, "Channel", "Entity")
    _made(graph, node)
    graph.trace(node, "name", channel.name)
    graph.texts(node, test=channel.test)
    graph.numbers(node, seen=channel.seen, scored=channel.scored)
    graph.reals(node, logP=channel.log_p, z=channel.z, statistic=channel.statistic, expected=channel.expected)


def _decision(graph: _Graph, position: int, row: DecisionEvidence, places: Places, disclose: bool) -> None:
    node, place = graph.part("decision", position), (row.run, row.group)
    graph.types(node, "Decision", "Entity")
    _made(graph, node)
    graph.trace(node, "position", position)
    graph.texts(node, runId=row.run)
    graph.numbers(node, group=row.group)
    if place in places.at:
        graph.link(node, "about", _action(places.at[place]))
    graph.texts(node, notPlaced=places.reasons.get(place))
    tally = SKIPPED if row.match is None else AGREES if row.match else DISAGREES
    selection = SCORED if row.skipped is None else SKIPPED
    graph.texts(node, selection=selection, selectionReason=row.skipped, selectionContext=row.context)
    graph.texts(node, tally=tally, tallyReason=row.tally_skipped, tallyContext=row.tally_context)
    graph.texts(node, standing=SKIPPED if selection == tally == SKIPPED else COUNTED)
    if disclose:
        graph.reals(node, u=row.u, score=row.score, logLikelihoodRatio=row.log_likelihood_ratio)


def _action(spot: Spot) -> str:
    return iris.action(spot.run, spot.action)


def _attacks(graph: _Graph, truth: Truth, places: Places) -> None:
    """The attacks as a chain of activities between the original logs and the one that was tested, and the fates."""
    last = graph.part("attack", len(truth.steps))
    for position, (name, digest) in enumerate(truth.inputs, 1):
        _log(graph, graph.part("original", position), name, digest)
    for position, step in enumerate(truth.steps, 1):
        node = graph.part("attack", position)
        graph.types(node, "Attack", "Activity")
        graph.trace(node, "name", step)
        graph.trace(node, "position", position)
        graph.numbers(node, seed=truth.seed)
        if position > 1:
            graph.prov(node, "wasInformedBy", graph.part("attack", position - 1))
        else:
            for number in range(1, len(truth.inputs) + 1):
                graph.prov(node, "used", graph.part("original", number))
    graph.prov(graph.part("log", 1), "wasGeneratedBy", last)
    position = 0
    for fate in truth.fates:
        told = LOST if fate.new is None else INSERTED if fate.old is None else CHANGED if fate.changed else None
        if told is None:
            continue
        position += 1
        node = graph.part("fate", position)
        graph.types(node, "RecordFate", "Entity")
        graph.prov(node, "wasGeneratedBy", last)
        graph.trace(node, "position", position)
        graph.texts(node, fate=told)
        for name, place in (("old", fate.old), ("new", fate.new)):
            if place is not None:
                graph.texts(node, **{f"{name}RunId": place[0]})
                graph.numbers(node, **{f"{name}Group": place[1], f"{name}Record": place[2]})
        spot = None if fate.old is None else places.old.get(fate.old[:2])
        if fate.old is not None and spot is not None:
            # Index 0 is the decision, 1 what the call gave back; a second record stands in no run graph.
            result = iris.record(spot.run, Locator(spot.action))
            if fate.old[2] <= 1:
                graph.link(node, "about", result if fate.old[2] else _action(spot))


def to_nquads(quads: tuple[Quad, ...]) -> bytes:
    """Quads as sorted canonical N-Quads."""
    data = pyoxigraph.serialize(set(quads), format=_N_QUADS)
    assert data is not None
    return b"".join(sorted(data.splitlines(keepends=True)))
