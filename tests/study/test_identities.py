"""What must hold in any data, on 64 cases under the eight conditions."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter
from typing import Any

import pytest

from tests.study.conftest import CASES, READERS, Studied
from trace_prov.derive import derive
from trace_prov.finding import Finding, Status
from trace_prov.load import load_paths
from trace_prov.model import BasisState, Run
from trace_prov.package.bag import read_package
from trace_prov.package.condition import BUILT_IN
from trace_prov.package.evidence import package_to_json
from trace_prov.study.answers import QUESTIONS
from trace_prov.study.folder import NEEDS_TABLE
from trace_prov.study.prepare import shuffled
from trace_prov.study.results import COMPARATOR
from trace_prov.study.score import Reason
from trace_prov.study.tables import Results, comparator_table, score_table, strata_table


@pytest.fixture(scope="session")
def findings(studied: Studied) -> dict[str, tuple[Run, Finding]]:
    """The complete records of the cases with their findings."""
    known = studied.folder.cases()
    complete = {}
    for run in load_paths([studied.logs]):
        assert isinstance(run, Run)
        (finding,) = derive(run)
        if isinstance(finding, Finding) and run.source.name.removesuffix(".json") in known:
            complete[run.source.name.removesuffix(".json")] = (run, finding)
    return complete


def test_the_inventory_is_of_the_form_of_the_paper(studied: Studied, findings: dict[str, tuple[Run, Finding]]) -> None:
    rows = [json.loads(line) for line in (studied.folder.path / "inventory.jsonl").read_text().splitlines()]
    assert len(rows) == 96
    assert sum(row["asked"] for row in rows) == CASES == len(studied.folder.cases()) == len(findings)
    assert all(row["reason"] for row in rows if not row["applicable"])
    assert len(studied.folder.questions()) == CASES * 8


def test_the_kinds_of_case_all_occur(findings: dict[str, tuple[Run, Finding]]) -> None:
    states = Counter(finding.basis.state for _, finding in findings.values())
    assert set(states) == {BasisState.IDS, BasisState.EMPTY, BasisState.MISSING}
    outcomes = Counter(
        (finding.q3.status, bool(finding.q3.locators), bool(finding.q2.locators)) for _, finding in findings.values()
    )
    assert len(outcomes) >= 5


def test_scores_of_every_answer_fit_together(studied: Studied) -> None:
    for result in studied.results:
        score = result.score
        assert score.a == score.g - score.d
        assert score.g == (result.given == result.supported)
        assert score.w == (result.given == result.complete)
        assert not (score.g and score.u)
        assert (score.u is None) == (not score.valid)
    for reader in READERS:
        for condition in BUILT_IN:
            for question in QUESTIONS:
                assert len(studied.of(reader, condition, question)) == CASES


def test_the_comparator_is_right_and_supported_everywhere(studied: Studied) -> None:
    for reader in (COMPARATOR, "sim/perfect"):
        for question in QUESTIONS:
            results = studied.of(reader, question=question)
            assert len(results) == CASES * 8
            assert all((result.score.g, result.score.u) == (1, 0) for result in results)
            for result in results:
                if result.supported.status is not Status.ABSTAIN:
                    assert result.score.w == 1  # what is supported is what the complete record answers


def test_without_the_table_it_abstains_where_ids_meet_matches(
    studied: Studied, findings: dict[str, tuple[Run, Finding]]
) -> None:
    """No row is visible in C00, so bound ids never cover H."""
    open_cases = {
        case for case, (_, finding) in findings.items() if finding.basis.state is BasisState.IDS and finding.q2.locators
    }
    for condition in ("C00", "C01"):
        results = studied.of(COMPARATOR, condition)
        assert {r.case for r in results if r.given.status is Status.ABSTAIN} == open_cases  # type: ignore[union-attr]
    assert {case.id for case in studied.folder.cases().values() if case.needs_table} == open_cases


def test_with_the_table_nothing_is_open(studied: Studied, findings: dict[str, tuple[Run, Finding]]) -> None:
    rows = {row[0]: dict(zip(comparator_columns(), row[1:], strict=True)) for row in comparator_rows(studied)}
    missing = sum(finding.basis.state is BasisState.MISSING for _, finding in findings.values())
    nonempty = sum(bool(finding.q3.locators) for _, finding in findings.values())
    for condition in ("C10", "C11"):
        assert rows[condition] == {
            "n": CASES,
            "basis_missing": missing,
            "empty": CASES - missing - nonempty,
            "non-empty": nonempty,
            "abstain": 0,
            "G": CASES,
            "U": 0,
        }
    for condition in ("C00", "C01"):
        assert rows[condition]["basis_missing"] == missing
        assert rows[condition]["non-empty"] == 0
        assert rows[condition]["empty"] + rows[condition]["abstain"] == CASES - missing


def comparator_rows(studied: Studied) -> tuple[tuple[Any, ...], ...]:
    return comparator_table(Results(studied.results, tuple(BUILT_IN))).rows


def comparator_columns() -> tuple[str, ...]:
    return ("n", "basis_missing", "empty", "non-empty", "abstain", "G", "U")


def test_q2_is_the_same_in_every_condition_and_q1_needs_the_request(studied: Studied) -> None:
    supported = studied.folder.answers("supported")
    for case in studied.folder.cases().values():
        assert len({supported[case.id, condition]["q2"] for condition in BUILT_IN}) == 1
        for condition in BUILT_IN:
            shows_request = condition in ("R01", "R11")
            answered = supported[case.id, condition]["q1"].status is Status.ANSWERED
            assert answered == shows_request


def test_renamed_packages_are_equal_up_to_labels(studied: Studied) -> None:
    for case in studied.folder.cases():
        for original, opaque in (("C00", "C01"), ("C10", "C11")):
            one, other = (
                package_to_json(read_package(studied.folder.package(case, name))) for name in (original, opaque)
            )
            assert other["contract"].pop("condition") == opaque
            assert one["contract"].pop("condition") == original
            assert (one["contract"].pop("labels"), other["contract"].pop("labels")) == ("original", "opaque")
            other.pop("kept_words")
            assert one["record"] == other["record"]
            assert one["target"] == other["target"]
            named = renaming(json.dumps(other, sort_keys=True), json.dumps(one, sort_keys=True))
            ordered = sorted(named, key=lambda label: int(re.sub(r"\D", "", named[label])))
            assert ordered == sorted(named)  # labels keep the order of the ids
            assert len(set(named.values())) == len(named)
            assert named or not any(account["basis"]["ids"] for account in one["accounts"])


def renaming(opaque: str, original: str) -> dict[str, str]:
    """Which id each label stands for, where the texts are equal but for that; fails where they are not."""
    pieces = re.split(r"(ref_[0-9a-f]{16})", opaque)
    labels = pieces[1::2]
    pattern = r"(in-\d+)".join(map(re.escape, pieces[::2]))
    found = re.fullmatch(pattern, original)
    assert found is not None
    named: dict[str, str] = {}
    for label, local_id in zip(labels, found.groups(), strict=True):
        assert named.setdefault(label, local_id) == local_id
    return named


def test_readers_that_do_not_look_at_labels_do_not_change_under_renaming(studied: Studied) -> None:
    for reader in ("sim/perfect", "sim/copy-h", "sim/drop-locator", "sim/over-abstain"):
        for original, opaque in (("C00", "C01"), ("C10", "C11")):
            first = {result.case: result.given for result in studied.of(reader, original)}
            second = {result.case: result.given for result in studied.of(reader, opaque)}
            assert first == second
    guesses = [{r.case: r.given for r in studied.of("sim/guess-order", name)} for name in ("C00", "C01")]
    assert guesses[0] != guesses[1]


@pytest.mark.parametrize(
    ("reader", "reason", "expected"),
    [
        ("sim/over-abstain", Reason.UNFOUNDED_ABSTENTION, 0.3),
        ("sim/extra-locator", Reason.EXTRA_LOCATOR, 0.3),
        ("sim/drop-locator", Reason.STRICT_SUBSET, 0.3),
    ],
)
def test_a_known_error_rate_comes_back(studied: Studied, reader: str, reason: Reason, expected: float) -> None:
    possible = {(r.case, r.condition) for r in studied.of(reader) if r.score.reason is reason}
    made = {(r.case, r.condition) for r in studied.of(f"{reader}:{expected}") if r.score.reason is reason}
    others = [r for r in studied.of(f"{reader}:{expected}") if (r.case, r.condition) not in made]
    assert made < possible
    assert all(result.score.g for result in others)
    spread = (expected * (1 - expected) / len(possible)) ** 0.5
    assert len(possible) > 40
    assert len(made) / len(possible) == pytest.approx(expected, abs=4 * spread)


def test_answers_that_are_no_json_are_counted_apart(studied: Studied) -> None:
    results = studied.of("sim/no-json:0.3")
    invalid = [result for result in results if not result.score.valid]
    assert len(invalid) / len(results) == pytest.approx(0.3, abs=0.1)
    assert all(result.score.g for result in results if result.score.valid)
    table = score_table(Results(studied.results, tuple(BUILT_IN)), "q3")
    counted = sum(row[-1] for row in table.rows if row[0] == "sim/no-json:0.3")  # type: ignore[misc]
    assert counted == len(invalid)


def test_every_policy_makes_its_kind_of_error_and_no_other(studied: Studied) -> None:
    kinds = {
        "sim/guess-order": {Reason.ANSWERED_UNANSWERABLE},
        "sim/copy-h": {Reason.ANSWERED_UNANSWERABLE, Reason.EXTRA_LOCATOR, Reason.EMPTY_FOR_MISSING},
        "sim/over-abstain": {Reason.UNFOUNDED_ABSTENTION},
        "sim/extra-locator": {Reason.EXTRA_LOCATOR},
        "sim/drop-locator": {Reason.STRICT_SUBSET},
    }
    right = {Reason.SUPPORTED, Reason.JUSTIFIED_ABSTENTION}
    for reader, reasons in kinds.items():
        assert {result.score.reason for result in studied.of(reader)} - right == reasons
        assert all(result.score.g for result in studied.of(reader, question="q2"))
    blind = {result.score.reason for result in studied.of("sim/blind-matcher", question="q2")}
    assert blind - right == {Reason.EXTRA_LOCATOR}


def test_strata_divide_the_cases(studied: Studied) -> None:
    table = strata_table(Results(studied.results, tuple(BUILT_IN)))
    counts: Counter[tuple[object, object]] = Counter()
    for row in table.rows:
        counts[row[0], row[1]] += row[3]  # type: ignore[assignment, operator]
        if row[:2] == (COMPARATOR, "C00") and row[2] == NEEDS_TABLE:
            assert (row[4], row[5], row[6]) == (row[3], 0, row[3])
    assert set(counts.values()) == {CASES}


def test_the_order_is_shuffled_with_the_seed_and_pinned(studied: Studied) -> None:
    questions = studied.folder.questions()
    keys = sorted((q.case, q.condition, q.package_sha256, q.tokens) for q in questions)
    again = list(keys)
    random.Random(42).shuffle(again)
    assert [(q.case, q.condition, q.package_sha256, q.tokens) for q in questions] == again
    assert shuffled(reversed(keys)) == questions
    manifest = studied.folder.require()
    for question in questions:
        data = (studied.folder.package(question.case, question.condition) / "data" / "evidence.json").read_bytes()
        pinned = manifest["packages_sha256"][f"{question.condition}/{question.case}"]
        assert hashlib.sha256(data).hexdigest() == question.package_sha256 == pinned
    assert manifest["seed"] == 42
    assert (manifest["temperature"], manifest["max_output_tokens"], manifest["max_input_tokens"]) == (0, 2048, 16384)


def test_the_table_costs_input_tokens(studied: Studied) -> None:
    tokens = {(q.case, q.condition): q.tokens for q in studied.folder.questions()}
    for case in studied.folder.cases():
        assert tokens[case, "C00"] < tokens[case, "C10"]
        assert tokens[case, "R00"] < tokens[case, "R10"] < tokens[case, "R11"]
