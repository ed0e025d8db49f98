"""Findings and watermark verdicts as annotations beside the graph: own labels, own key, removable without a trace.

An annotation points at nodes of the record and never changes them. All have the label `Annotation`, which no node of
a run has.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, LiteralString

import neo4j

from trace_prov.errors import FormatError, UsageError
from trace_prov.graph import iris
from trace_prov.graph.literals import to_rdf
from trace_prov.model import Locator
from trace_prov.neo4j.connection import Connection, in_words
from trace_prov.neo4j.errors import ContentError

Json = dict[str, Any]

#: what an annotation of each kind is: label -> what it says
KINDS = {
    "Finding": "the answers to the three questions for one target",
    "WatermarkVerdict": "the outcome of a watermark detection for one key",
    "WatermarkDecision": "the part of one action in that outcome",
}
#: relationship type -> what it joins; the statements name no other
LINKS: dict[str, LiteralString] = {
    "ABOUT": "MERGE (n)-[e:ABOUT]->(t)",
    "IN_REQUEST": "MERGE (n)-[e:IN_REQUEST]->(t)",
    "HELD_BY": "MERGE (n)-[e:HELD_BY]->(t)",
    "PERHAPS_HELD_BY": "MERGE (n)-[e:PERHAPS_HELD_BY]->(t)",
    "CITED_HOLDER": "MERGE (n)-[e:CITED_HOLDER]->(t)",
    "PART_OF": "MERGE (n)-[e:PART_OF]->(t)",
}
_NODES: dict[str, LiteralString] = {
    "Finding": "UNWIND $rows AS row MERGE (n:Annotation {uri: row.uri}) SET n = row, n:Finding",
    "WatermarkVerdict": "UNWIND $rows AS row MERGE (n:Annotation {uri: row.uri}) SET n = row, n:WatermarkVerdict",
    "WatermarkDecision": "UNWIND $rows AS row MERGE (n:Annotation {uri: row.uri}) SET n = row, n:WatermarkDecision",
}
_TO_RECORD: LiteralString = "UNWIND $rows AS row MATCH (n:Annotation {uri: row.start}) MATCH (t:Trace {uri: row.end}) "
_TO_ANNOTATION: LiteralString = (
    "UNWIND $rows AS row MATCH (n:Annotation {uri: row.start}) MATCH (t:Annotation {uri: row.end}) "
)
_DELETE: LiteralString = (
    "MATCH (n:Annotation) WHERE $kind IS NULL OR $kind IN labels(n) "
    "WITH n LIMIT $limit DETACH DELETE n RETURN count(n) AS deleted"
)
AT_ONCE = 5_000


@dataclass
class _Annotations:
    """Rows to write: nodes by label, relationships by type."""

    nodes: dict[str, list[Json]] = field(default_factory=lambda: defaultdict(list))
    links: dict[str, list[Json]] = field(default_factory=lambda: defaultdict(list))

    def node(self, label: str, properties: Json) -> str:
        """Add a node under a key drawn from all that it says, so that the same annotation is one node."""
        text = json.dumps([label, properties], sort_keys=True, ensure_ascii=True)
        uri = f"urn:trace-prov:annotation:{hashlib.sha256(text.encode()).hexdigest()[:32]}"
        kept = {name: _value(value) for name, value in properties.items() if value is not None}
        self.nodes[label].append({"uri": uri, **kept})
        return uri

    def link(self, type_: str, start: str, end: str, **properties: Any) -> None:
        self.links[type_].append({"start": start, "end": end, "properties": properties})


@dataclass(frozen=True, slots=True)
class Annotated:
    """How many annotations were written, and how many watermark decisions are of runs that are not loaded."""

    annotations: int
    elsewhere: int = 0


def annotate(connection: Connection, lines: Iterable[tuple[str, Json]]) -> Annotated:
    """Write findings (of `derive --format jsonl`) and verdicts (of `watermark detect --format jsonl`) as annotations.

    `lines` are pairs of a place, for errors, and the object that stands there. Writing the same twice changes nothing.
    Raises ContentError when a finding is about a run that is not loaded.
    """
    made = _Annotations()
    about: set[str] = set()
    for place, body in lines:
        if "applicable" in body:
            if body["applicable"]:
                about.add(_finding(made, body, place))
        elif "decision" in body and "evidence" in body:
            _verdict(made, body)
        else:
            expected = "a finding (derive) or a verdict (watermark detect)"
            raise FormatError(place, expected=expected, found=f"an object with {', '.join(sorted(body)[:5])}")
    with in_words(connection.target), connection.session() as session:
        missing = session.execute_read(_missing, sorted(about))
        if missing:
            hint = "load its log first: trace-prov neo4j load"
            raise ContentError(connection.target.shown, f"run {missing[0]} is not in the database", hint)
        elsewhere = session.execute_write(_write, made)
    return Annotated(sum(map(len, made.nodes.values())), elsewhere)


def remove_annotations(connection: Connection, kind: str | None = None) -> int:
    """Delete all annotations, or those of one label; return how many."""
    if kind is not None and kind not in KINDS:
        raise UsageError(f"no annotations {kind!r}; known: {', '.join(KINDS)}")
    deleted = 0
    with in_words(connection.target), connection.session() as session:
        while some := session.execute_write(_delete_some, kind):
            deleted += some
    return deleted


def _finding(made: _Annotations, body: Json, place: str) -> str:
    """Add a finding; returns its run."""
    try:
        run, q1, q2, q3 = body["run"], body["q1"], body["q2"], body["q3"]
        uri = made.node(
            "Finding",
            {
                "run": run,
                "log": body["log"],
                "action": body["action"],
                "argument": body["argument"],
                "literal": body["target"],
                "q1Status": q1["status"],
                "q1": q1["value"],
                "q2Status": q2["status"],
                "q2": q2["locators"],
                "basisState": body["basis"]["state"],
                "basis": body["basis"]["ids"],
                "q3Status": q3["status"],
                "q3": q3["locators"],
                "tool": body.get("tool"),
            },
        )
        made.link("ABOUT", uri, f"{run}:{body['action']}")
        _holders(made, uri, run, "IN_REQUEST", q1)
        _holders(made, uri, run, "HELD_BY", q2)
        _holders(made, uri, run, "CITED_HOLDER", q3)
        bounds = q2.get("bounds", {"certain": [], "possible": []})
        for locator in sorted(set(bounds["possible"]) - set(bounds["certain"])):
            made.link("PERHAPS_HELD_BY", uri, iris.record(run, Locator.parse(locator)))
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(place, expected="a finding of `derive --format jsonl`", found=f"{error!r}") from None
    return str(run)


def _holders(made: _Annotations, uri: str, run: str, type_: str, answer: Json) -> None:
    for match in answer.get("matches", []):
        made.link(type_, uri, iris.record(run, Locator.parse(match["locator"])), how=match["how"])


def _verdict(made: _Annotations, body: Json) -> None:
    plain = {name: value for name, value in body.items() if isinstance(value, str | int | float | bool)}
    lists = {"runs": body.get("runs", []), "attacks": body.get("attacks", [])}
    verdict = made.node(
        "WatermarkVerdict", plain | lists | {"inputs": [digest for _, digest in body.get("inputs", [])]}
    )
    for row in body["evidence"]:
        kept = {name: value for name, value in row.items() if value is not None and name != "about"}
        decision = made.node("WatermarkDecision", kept | {"verdict": verdict})
        made.link("PART_OF", decision, verdict)
        # `detect --annotate` says which action a decision is, or that it is none; else the run's id has to do.
        about = row["about"] if "about" in row else iris.action(row["run"], row["group"])
        made.link("ABOUT", decision, about or "")


def _value(value: Any) -> Any:
    if isinstance(value, str):
        return to_rdf(value)
    return [to_rdf(item) for item in value] if isinstance(value, list) else value


def _missing(transaction: neo4j.ManagedTransaction, runs: list[str]) -> list[str]:
    found = transaction.run("MATCH (i:Import) WHERE i.run IN $runs AND i.complete RETURN i.run AS run", runs=runs)
    there = {row["run"] for row in found}
    return [run for run in runs if run not in there]


def _write(transaction: neo4j.ManagedTransaction, made: _Annotations) -> int:
    """Write all in one transaction; returns how many watermark decisions found no action."""
    for label, rows in made.nodes.items():
        for first in range(0, len(rows), AT_ONCE):
            transaction.run(_NODES[label], rows=rows[first : first + AT_ONCE]).consume()
    elsewhere = 0
    for type_, links in made.links.items():
        match = _TO_ANNOTATION if type_ == "PART_OF" else _TO_RECORD
        statement = match + LINKS[type_] + " SET e = row.properties RETURN count(e) AS written"
        for first in range(0, len(links), AT_ONCE):
            some = links[first : first + AT_ONCE]
            written = transaction.run(statement, rows=some).single(strict=True)["written"]
            if type_ == "ABOUT":
                elsewhere += len(some) - int(written)
    return elsewhere


def _delete_some(transaction: neo4j.ManagedTransaction, kind: str | None) -> int:
    return int(transaction.run(_DELETE, kind=kind, limit=AT_ONCE).single(strict=True)["deleted"])
