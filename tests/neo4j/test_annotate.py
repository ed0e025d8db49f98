"""Findings and watermark verdicts as annotations: attached, linked to their evidence, and gone without a trace."""

from __future__ import annotations

from typing import Any

import pytest

from trace_prov.derive import derive as derive_natively
from trace_prov.errors import FormatError, UsageError
from trace_prov.finding import Finding, to_json
from trace_prov.model import Run
from trace_prov.neo4j.annotate import annotate, remove_annotations
from trace_prov.neo4j.connection import Connection
from trace_prov.neo4j.errors import ContentError
from trace_prov.neo4j.load import graphs_of_runs, load


def _everything(database: Connection) -> tuple[list[Any], list[Any], set[str]]:
    """All that a person can find in the database: nodes, relationships, labels in use."""
    with database.session() as session:
        nodes = session.run("MATCH (n) RETURN labels(n) AS l, properties(n) AS p ORDER BY n.uri, n.run").values()
        edges = session.run(
            "MATCH (a)-[e]->(b) RETURN a.uri AS a, type(e) AS t, properties(e) AS p, b.uri AS b ORDER BY a, t, b"
        ).values()
        labels = {label for record in session.run("MATCH (n) RETURN labels(n) AS l") for label in record["l"]}
    return nodes, edges, labels


def _findings(runs: list[Run]) -> list[dict[str, Any]]:
    return [to_json(finding) for run in runs for finding in derive_natively(run)]


def _lines(bodies: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [(f"findings, line {number}", body) for number, body in enumerate(bodies, start=1)]


def test_findings_point_at_their_evidence_and_leave_no_trace(database: Connection, real_runs: list[Run]) -> None:
    some = real_runs[::4]
    load(database, graphs_of_runs(some))
    before = _everything(database)
    bodies = _findings(some)
    done = annotate(database, _lines(bodies))
    assert done.annotations == sum(body["applicable"] for body in bodies)
    with database.session() as session:
        held = session.run(
            "MATCH (f:Finding)-[:HELD_BY]->(r:ExternalRecord) RETURN f.run AS run, f.action AS action, "
            "collect(r.locator) AS locators"
        ).data()
    found = {(row["run"], row["action"]): sorted(row["locators"]) for row in held}
    wanted = {
        (body["run"], body["action"]): sorted(match["locator"] for match in body["q2"]["matches"])
        for body in bodies
        if body["applicable"] and body["q2"].get("matches")
    }
    assert found == wanted
    assert wanted
    after = _everything(database)
    annotate(database, _lines(bodies))
    assert _everything(database) == after
    assert remove_annotations(database) == done.annotations
    assert _everything(database) == before


def test_watermark_decisions_point_at_their_actions(database: Connection, real_runs: list[Run]) -> None:
    run = next(run for run in real_runs if len(run.actions) > 1)
    load(database, graphs_of_runs([run]))
    evidence = [
        {"run": run.id, "group": number, "action": "A", "match": True, "skipped": None} for number in (1, 2, 999)
    ]
    verdict = {"decision": "watermark found", "reason": "p is small", "key_id": "k", "runs": [run.id]}
    done = annotate(database, [("verdicts, line 1", verdict | {"evidence": evidence})])
    assert (done.annotations, done.elsewhere) == (4, 1)
    with database.session() as session:
        rows = session.run(
            "MATCH (a:Action)<-[:ABOUT]-(d:WatermarkDecision)-[:PART_OF]->(v:WatermarkVerdict) "
            "RETURN a.id AS action, d.match AS match, v.decision AS decision ORDER BY action"
        ).values()
    assert rows == [["act-01", True, "watermark found"], ["act-02", True, "watermark found"]]
    assert remove_annotations(database, "WatermarkDecision") == 3
    assert remove_annotations(database) == 1


def test_decisions_of_an_attacked_log_are_where_detection_placed_them(
    database: Connection, real_runs: list[Run]
) -> None:
    """`about` of `watermark detect --annotate` counts, not the decision's number in the log; None is no action."""
    run = next(run for run in real_runs if len(run.actions) > 1)
    load(database, graphs_of_runs([run]))
    evidence = [
        {"run": "log", "group": 1, "skipped": None, "match": True, "about": f"{run.id}:act-02"},
        {"run": "log", "group": 2, "skipped": "repeated context", "match": None, "about": None},
    ]
    body = {"decision": "watermark found", "reason": "p", "key_id": "k", "attacks": ["truncate:0.5"]}
    done = annotate(database, [("line 1", body | {"evidence": evidence, "inputs": [["a.json", "0" * 64]]})])
    assert (done.annotations, done.elsewhere) == (3, 1)
    with database.session() as session:
        rows = session.run(
            "MATCH (a:Action)<-[:ABOUT]-(d:WatermarkDecision)-[:PART_OF]->(v) "
            "RETURN a.id AS action, d.group AS number, v.attacks AS attacks, v.inputs AS inputs"
        ).values()
    assert rows == [["act-02", 1, ["truncate:0.5"], ["0" * 64]]]


def test_what_cannot_be_attached_is_refused(database: Connection, real_runs: list[Run]) -> None:
    finding = next(f for f in derive_natively(real_runs[0]) if isinstance(f, Finding))
    with pytest.raises(ContentError, match="is not in the database"):
        annotate(database, _lines([to_json(finding)]))
    with pytest.raises(FormatError, match="a finding"):
        annotate(database, _lines([{"hello": 1}]))
    with pytest.raises(FormatError, match="line 1"):
        annotate(database, _lines([{"applicable": True}]))
    with pytest.raises(UsageError, match="known: Finding"):
        remove_annotations(database, "Action")
