"""The tables of a report counted a second time, plainly, from scores.jsonl and the journals."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from tests.study.conftest import CASES, READERS, Studied
from trace_prov.package.condition import BUILT_IN
from trace_prov.study.answers import QUESTIONS
from trace_prov.study.folder import StudyFolder
from trace_prov.study.lines import read_lines
from trace_prov.study.paper import published
from trace_prov.study.render import cell_text, to_csv
from trace_prov.study.report import all_tables
from trace_prov.study.results import COMPARATOR, write_scores
from trace_prov.study.tables import Results

Row = dict[str, Any]
#: Rows by reader, condition and question.
Rows = dict[tuple[str, str, str], list[Row]]


@pytest.fixture(scope="module")
def rows(studied: Studied, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """scores.jsonl, as any other tool would read it."""
    folder = StudyFolder(tmp_path_factory.mktemp("scores"))
    write_scores(folder, studied.results)
    cells: Rows = {}
    for line in folder.scores.read_text().splitlines():
        row = json.loads(line)
        cells.setdefault((row["reader"], row["condition"], row["question"]), []).append(row)
    return cells


@pytest.fixture(scope="module")
def tables(studied: Studied, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, str]]]:
    """Every table as its CSV file has it."""
    inventory = list(read_lines(studied.folder.path / "inventory.jsonl"))
    made = all_tables(Results(studied.results, tuple(BUILT_IN)), inventory, published())
    return {table.id: list(csv.DictReader(to_csv(table).splitlines())) for table in made}


def by_case(rows: Rows, reader: str, condition: str, question: str) -> dict[str, Row]:
    return {row["case"]: row for row in rows[reader, condition, question.lower()]}


@pytest.mark.parametrize("question", QUESTIONS)
def test_counts_by_reader_and_condition(question: str, rows: Rows, tables: dict[str, list[dict[str, str]]]) -> None:
    shown = tables[f"{question}-scores"]
    assert len(shown) == (len(READERS) + 1) * 8
    for line in shown:
        found = rows[line["reader"], line["condition"], question]
        assert int(line["n"]) == len(found) == CASES
        for name in "GDAUW":
            assert int(line[name]) == sum(row[name.lower()] == 1 for row in found)
        assert int(line["invalid"]) == sum(row["u"] is None for row in found)


def test_strata_and_exact_sets(rows: Rows, tables: dict[str, list[dict[str, str]]]) -> None:
    for line in tables["q3-strata"]:
        found = [row for row in rows[line["reader"], line["condition"], "q3"] if row["stratum"] == line["stratum"]]
        assert int(line["n"]) == len(found) > 0
        for name in "GDAUW":
            assert int(line[name]) == sum(row[name.lower()] == 1 for row in found)
    for line in tables["q2-exact"]:
        for condition in BUILT_IN:
            found = rows[line["reader"], condition, "q2"]
            assert int(line[condition]) == sum(row["answer"] == row["supported"] for row in found if row["answer"])


def test_the_error_audit_divides_the_wrong_valid_answers(rows: Rows, tables: dict[str, list[dict[str, str]]]) -> None:
    def kind(row: Row) -> str:
        answer, supported = row["answer"], row["supported"]
        if answer["status"] == "abstain":
            return "unfounded abstention"
        if supported["status"] != "abstain" and answer.get("locators") is not None:
            named, right = set(answer["locators"]), set(supported["locators"] or ())
            if named - right:
                return "extra locator"
            if supported["status"] == "answered":
                return "strict subset"
        return "other"

    seen: Counter[str] = Counter()
    for line in tables["errors"]:
        found = rows[line["reader"], line["condition"], line["question"].lower()]
        counts = Counter(kind(row) for row in found if row["answer"] and not row["g"])
        assert {name: int(line[name]) for name in counts} == counts
        seen += counts
        assert [row["error"] for row in found if row["answer"] and not row["g"]] == [
            kind(row) for row in found if row["answer"] and not row["g"]
        ]
    assert set(seen) == {"unfounded abstention", "extra locator", "strict subset", "other"}
    wrong = [row for cell in rows.values() for row in cell if row["answer"] and not row["g"]]
    assert sum(seen.values()) == len(wrong)


def test_agreement_and_shared_unsupported_answers(rows: Rows, tables: dict[str, list[dict[str, str]]]) -> None:
    shown = tables["agreement"]
    pairs = {tuple(sorted((line["reader"], line["other reader"]))) for line in shown}
    assert pairs == {tuple(sorted(pair)) for pair in combinations(READERS, 2)}
    shared = 0
    for line in shown:
        one, other = (
            by_case(rows, line[name], line["condition"], line["question"]) for name in ("reader", "other reader")
        )
        both = [case for case in one if one[case]["answer"] and other[case]["answer"]]
        equal = [case for case in both if one[case]["answer"] == other[case]["answer"]]
        unsupported = [case for case in both if one[case]["u"] == other[case]["u"] == 1]
        same = set(equal) & set(unsupported)
        assert [int(line[name]) for name in ("both valid", "equal", "both unsupported", "same unsupported")] == [
            len(both), len(equal), len(unsupported), len(same),
        ]  # fmt: skip
        shared += len(same)
    assert shared > 0


def test_changes_under_renaming(rows: Rows, tables: dict[str, list[dict[str, str]]]) -> None:
    changed: Counter[str] = Counter()
    for line in tables["renaming"]:
        first, second = (
            by_case(rows, line["reader"], name, line["question"]) for name in line["conditions"].split("/")
        )
        both = [case for case in first if first[case]["answer"] and second[case]["answer"]]
        assert int(line["pairs"]) == len(both)
        assert int(line["changed"]) == sum(first[case]["answer"] != second[case]["answer"] for case in both)
        changed[line["reader"]] += int(line["changed"])
    assert changed[COMPARATOR] == changed["sim/perfect"] == 0
    assert changed["sim/guess-order"] > 0


def test_growth_of_input_tokens(rows: Rows, tables: dict[str, list[dict[str, str]]]) -> None:
    for line in tables["tokens"]:
        base, own = (
            {case: row["input_tokens"] for case, row in by_case(rows, line["reader"], name, "q1").items()}
            for name in (f"{line['condition'][0]}00", line["condition"])
        )
        assert float(line["mean"]) == pytest.approx(fmean(own.values()), abs=0.051)
        assert float(line["more"]) == pytest.approx(fmean(own[case] - base[case] for case in base), abs=0.051)
        growth = 100 * (sum(own.values()) / sum(base.values()) - 1)
        assert float(line["more in %"]) == pytest.approx(growth, abs=0.051)
        if line["condition"] in ("C10", "R10", "R11"):
            assert float(line["more"]) > 0


CONTRASTS = {
    ("Study I", "Q2", "primary", "R10−R00"), ("Study I", "Q2", "primary", "R11−R01"),
    ("Study II", "Q3", "primary", "C10−C00"), ("Study II", "Q3", "primary", "C11−C01"),
    ("Study II", "Q2", "negative control", "C10−C00"), ("Study II", "Q2", "negative control", "C11−C01"),
}  # fmt: skip


def test_changes_agree_with_the_bootstrap_of_scipy_to_the_printed_precision(
    rows: Rows, tables: dict[str, list[dict[str, str]]]
) -> None:
    stats = pytest.importorskip("scipy.stats")
    shown = tables["changes"]
    assert {(line["study"], line["question"], line["use"], line["contrast"]) for line in shown} == CONTRASTS
    assert len(shown) == len(CONTRASTS) * len(READERS)
    for line in shown:
        after, before = (by_case(rows, line["reader"], name, line["question"]) for name in line["contrast"].split("−"))
        tasks: dict[str, list[int]] = {}
        for case in sorted(before):
            tasks.setdefault(before[case]["task"], []).append(after[case]["g"] - before[case]["g"])
        values = np.array([fmean(tasks[task]) for task in sorted(tasks)])
        generator = np.random.default_rng(42)
        found = stats.bootstrap(
            (values,), np.mean, n_resamples=10_000, confidence_level=0.95, method="percentile", rng=generator
        ).confidence_interval
        expected = (100 * values.mean(), 100 * found.low, 100 * found.high)
        for name, number in zip(("change", "low", "high"), expected, strict=True):
            assert cell_text(float(line[name]), name) == cell_text(float(number), name)
        assert (int(line["cases"]), int(line["tasks"])) == (CASES, len(tasks))


def test_the_inventory_and_the_comparator_stand_beside_the_published_ones(
    studied: Studied, tables: dict[str, list[dict[str, str]]]
) -> None:
    lines = {(line["condition"], line["measure"]): line for line in tables["beside-the-comparator"]}
    assert {key: line["published"] for key, line in lines.items() if key[0] == ""} == {
        ("", "candidates"): "96",
        ("", "cases"): "64",
        ("", "tasks"): "13",
    }
    assert (lines["", "candidates"]["this study"], lines["", "cases"]["this study"]) == ("96", "64")
    assert lines["C00", "abstain"]["published"] == "28"
    for condition, measure in lines:
        if condition and measure not in "GU":
            own = int(lines[condition, measure]["this study"])
            assert own == sum(kind == measure for kind in _kinds(studied.folder.path, condition))


def _kinds(study: Path, condition: str) -> Iterator[str]:
    for line in (study / "supported.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["condition"] == condition:
            status = row["q3"]["status"]
            yield status if status != "answered" else "non-empty" if row["q3"]["locators"] else "empty"
