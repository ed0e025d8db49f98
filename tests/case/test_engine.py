"""The fast engine gives the verdict of case_validate: on the communities' examples and on one-change mutations."""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path

import pytest

from benchmarks.case_validate import package
from tests.case.mutations import MUTATIONS, mutated
from tests.case.record_verdicts import COLUMNS, VERDICTS, real_verdict
from trace_prov.case import CaseReport, check_case
from trace_prov.errors import UsageError

DATA = Path(__file__).parent.parent / "data" / "case_examples"
EXAMPLES = {row["file"]: row for row in csv.DictReader((DATA / "verdicts.tsv").open(), delimiter="\t")}
RECORDED = {row["mutation"]: row for row in csv.DictReader(VERDICTS.open(), delimiter="\t")}
RUN = json.loads((DATA / "agent_run.jsonld").read_text())


def counted(report: CaseReport) -> dict[str, str]:
    counts = report.severities
    numbers = (counts["Violation"], counts["Warning"], counts["Info"], len(report.undefined))
    return dict(zip(COLUMNS, [*map(str, numbers), str(report.conforms).lower()], strict=True))


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_the_communities(name: str) -> None:
    report = check_case(DATA / name)
    assert counted(report) == {column: EXAMPLES[name][column] for column in COLUMNS}
    assert report.triples == int(EXAMPLES[name]["triples"])


@pytest.mark.parametrize("name", MUTATIONS)
def test_one_change(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonld"
    path.write_text(json.dumps(mutated(RUN, name)))
    assert counted(check_case(path)) == {column: RECORDED[name][column] for column in COLUMNS}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_recorded_verdicts_are_those_of_case_validate(tmp_path: Path) -> None:
    for name in MUTATIONS:
        path = tmp_path / "run.jsonld"
        path.write_text(json.dumps(mutated(RUN, name)))
        assert real_verdict(path) == {column: RECORDED[name][column] for column in COLUMNS}, name


@pytest.mark.slow
@pytest.mark.parametrize("name", ["blank_facet", "observable_relationship_between_actions", "misspelt_property"])
def test_the_real_one_is_an_engine_too(name: str, tmp_path: Path) -> None:
    """Not only the counts: the same nodes, paths, values and severities."""
    path = tmp_path / "run.jsonld"
    path.write_text(json.dumps(mutated(RUN, name)))
    fast, real = check_case(path), check_case(path, engine="case-utils")
    keys = [
        sorted((r.severity, _label(r.focus), str(r.path), _label(r.value)) for r in report.results)
        for report in (fast, real)
    ]
    assert keys[0] == keys[1]
    assert fast.undefined == real.undefined
    assert fast.findings == real.findings


def _label(node: object) -> str:
    from rdflib import BNode

    return "blank" if isinstance(node, BNode) else str(node)


def test_ten_thousand_triples_in_a_few_seconds(tmp_path: Path) -> None:
    path = tmp_path / "package.jsonld"
    path.write_text(package(33))
    start = time.process_time()
    report = check_case(path)
    used = time.process_time() - start
    assert report.triples > 10_000
    assert report.conforms
    assert report.sound
    assert used < 8  # case_validate: 47 s


def test_an_ontology_of_ones_own_is_checked_too(tmp_path: Path) -> None:
    own = tmp_path / "own.ttl"
    own.write_text("""
        @prefix ex: <http://example.org/own#> .
        @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix sh: <http://www.w3.org/ns/shacl#> .
        @prefix action: <https://ontology.unifiedcyberontology.org/uco/action/> .
        ex:Shape a sh:NodeShape ; sh:targetClass action:Action ;
            sh:property [ sh:path ex:seq ; sh:minCount 1 ; sh:message "an action has a number" ] .
    """)
    report = check_case(DATA / "agent_run.jsonld", extensions=(own,))
    assert [result.message for result in report.results] == ["an action has a number"] * 5
    own.write_text(own.read_text().replace("sh:minCount 1", "sh:minExclusive 1"))
    other = tmp_path / "other.ttl"
    other.write_text(own.read_text())
    with pytest.raises(UsageError, match="minExclusive"):
        check_case(DATA / "agent_run.jsonld", extensions=(other,))
