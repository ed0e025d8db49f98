"""Evidence packages in Neo4j: labels of their own, what is withheld is a node without text, and nothing leaks."""

from __future__ import annotations

from typing import Any

import pytest

from trace_prov.derive import Question
from trace_prov.graph.literals import to_rdf
from trace_prov.model import RecordState, Run
from trace_prov.neo4j.connection import Connection
from trace_prov.neo4j.derive import derive_loaded
from trace_prov.neo4j.load import graph_of_package, graphs_of_runs, load
from trace_prov.neo4j.mapping import CLASS_LABELS, PACKAGE_PREFIX
from trace_prov.neo4j.readback import quads_of_run, runs_loaded
from trace_prov.package.build import Built, build
from trace_prov.package.comparator import finding_of
from trace_prov.package.condition import condition_named
from trace_prov.package.graph import package_to_quads
from trace_prov.package.model import Package

CONDITIONS = ("R00", "R10", "R01", "R11", "C00", "C10", "C01", "C11")


@pytest.fixture(scope="module")
def packages(real_runs: list[Run]) -> list[Package]:
    built = [build(run, condition_named(name)) for run in real_runs[:16:3] for name in CONDITIONS]
    return [item.package for item in built if isinstance(item, Built)]


def test_all_conditions_of_a_case_stand_side_by_side(database: Connection, packages: list[Package]) -> None:
    graphs = [graph_of_package(package) for package in packages]
    assert len({graph.run for graph in graphs}) == len(graphs)
    load(database, graphs)
    assert runs_loaded(database, packages=True) == sorted(graph.run for graph in graphs)
    assert runs_loaded(database) == []
    for package, graph in zip(packages, graphs, strict=True):
        assert quads_of_run(database, graph.run) == set(package_to_quads(package))


def test_the_answers_are_those_of_the_comparator(database: Connection, packages: list[Package]) -> None:
    graphs = [graph_of_package(package) for package in packages]
    load(database, graphs)
    for package, graph in zip(packages, graphs, strict=True):
        question = Question(action=package.target.action, literal=package.target.literal)
        (found,) = derive_loaded(database, graph.run, question, package=True)
        wanted = finding_of(package)
        for name in ("q1", "q2", "q3", "basis"):
            assert getattr(found, name) == getattr(wanted, name), (package.contract.condition, name)


def _strings(database: Connection) -> set[str]:
    """Every text in the database, in whatever property."""

    def texts(value: Any) -> list[str]:
        return [value] if isinstance(value, str) else [t for item in value for t in texts(item)]

    with database.session() as session:
        values = [
            value
            for record in session.run("MATCH (n) RETURN properties(n) AS p")
            for value in record["p"].values()
            if isinstance(value, str | list)
        ]
    return {text for value in values for text in texts(value)}


def test_nothing_of_the_complete_record_leaks(database: Connection, real_runs: list[Run]) -> None:
    """R00 hides request and account: no text in the database holds them, under any name."""
    for run in real_runs[:16:3]:
        built = build(run, condition_named("R00"))
        if not isinstance(built, Built):
            continue
        load(database, [graph_of_package(built.package)])
        everything = "\n".join(_strings(database))
        hidden = [turn.content.text for turn in run.turns] + [action.account.text for action in run.actions]
        shown = "\n".join(record.text or "" for action in run.actions for record in action.records)
        for text in filter(None, hidden):
            if text not in shown:
                assert to_rdf(text) not in everything
        assert run.id not in everything
        assert run.source.sha256 not in everything


def test_what_is_withheld_is_a_node_without_text(database: Connection, packages: list[Package]) -> None:
    load(database, [graph_of_package(package) for package in packages])
    hidden_turns = sum(turn.content.state is RecordState.WITHHELD for package in packages for turn in package.run.turns)
    with database.session() as session:
        found = session.run(
            "MATCH (n:Hidden) WHERE n:PackageRequestTurn RETURN count(n) AS n, count(n.text) AS texts"
        ).single(strict=True)
    assert (found["n"], found["texts"]) == (hidden_turns, 0)
    assert hidden_turns > 0


def test_packages_and_records_share_no_label_but_the_key(
    database: Connection, packages: list[Package], real_runs: list[Run]
) -> None:
    load(database, [graph_of_package(package) for package in packages[:3]])
    load(database, graphs_of_runs(real_runs[:1]))
    with database.session() as session:
        rows = session.run(
            "MATCH (n:Trace) UNWIND labels(n) AS label "
            "RETURN n.run CONTAINS ':view:' AS package, collect(DISTINCT label) AS labels"
        )
        by_kind = {row["package"]: set(row["labels"]) for row in rows}
    assert by_kind[True] & by_kind[False] <= {"Trace", "Hidden"}
    plain = {label for label in CLASS_LABELS if not label.startswith((PACKAGE_PREFIX, "EvidencePackage"))}
    assert not by_kind[True] & plain
