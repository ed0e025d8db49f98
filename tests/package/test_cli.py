"""The commands on real logs: package, answer, validate, answerability, plan, diff."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from trace_prov.cli import main

DATA = Path(__file__).parent.parent / "data" / "agentdojo" / "runs"
ACCOUNTS = DATA / "local-account"
CASE = "workspace/user_task_3/injecagent/injection_task_1"
ONE = ACCOUNTS / f"{CASE}.json"
NAME = ONE.stem
OTHER = "user_task_4/direct/injection_task_0"

pytestmark = pytest.mark.skipif(not ONE.is_file(), reason="the real logs are not in tests/data")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_package_validate_answer(tmp_path: Path) -> None:
    for condition in ("C10", "R01"):
        made = run("package", ACCOUNTS, "--condition", condition, "--out", tmp_path / condition)
        assert made.exit_code == 0, made.output
        assert run("validate", tmp_path / condition).exit_code == 0
    inventory = [json.loads(line) for line in (tmp_path / "C10" / "inventory.jsonl").read_text().splitlines()]
    derived = {row["log"]: row for row in lines(run("derive", ACCOUNTS, "--format", "jsonl"))}
    answers = {row["case"]: row for row in lines(run("answer", tmp_path / "C10", "--format", "jsonl"))}
    assert {row["log"] for row in inventory} == set(derived)
    for row in inventory:
        full = derived[row["log"]]
        if not full["applicable"]:
            assert (row["status"], row["reason"]) == ("not applicable", full["reason"])
            continue
        given = answers[row["case"]]
        assert given["condition"] == "C10"
        assert given["q1"] == {"status": "abstain", "value": None, "needed": ["request.user"]}
        for question in ("q2", "q3"):
            assert {k: given[question][k] for k in ("status", "locators")} == {
                k: full[question][k] for k in ("status", "locators")
            }
    one = tmp_path / "C10" / CASE
    assert lines(run("answer", one, "--format", "jsonl")) == [answers[CASE]]
    assert "act-01.result[1]" in run("answer", one).stdout


def test_a_damaged_package_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    run("package", ACCOUNTS / "banking", "--condition", "C10", "--out", tmp_path)
    evidence = tmp_path / f"{OTHER}/data/evidence.json"
    evidence.write_bytes(evidence.read_bytes().replace(b'"tool":"', b'"tool":"x'))
    result = run("validate", tmp_path, "--format", "jsonl")
    assert result.exit_code == 1
    bad = [row for row in lines(result) if not row["ok"]]
    assert [Path(row["file"]).relative_to(tmp_path).as_posix() for row in bad] == [OTHER]
    assert any(item["place"] == "data/evidence.json" for item in bad[0]["violations"])
    assert bad[0]["focus_nodes"]["record-action"] >= 2
    answered = run("answer", tmp_path, "--format", "jsonl")
    assert answered.exit_code == 2
    assert "data/evidence.json" in answered.stderr
    assert len(lines(answered)) == len(lines(result)) - 1


@pytest.mark.slow
def test_the_reference_engine_is_an_option(tmp_path: Path) -> None:
    run("package", ONE, "--condition", "C11", "--out", tmp_path)
    assert run("validate", tmp_path, "--engine", "pyshacl").exit_code == 0
    assert run("validate", tmp_path, "--engine", "case-utils").exit_code == 2


def test_a_rule_that_finds_nothing_lets_no_package_out(tmp_path: Path) -> None:
    result = run("package", ONE, "--condition", "C10", "--out", tmp_path, "--redact", "act-09.result")
    assert result.exit_code == 2
    assert "act-09.result" in result.stderr
    assert not list(tmp_path.rglob("evidence.json"))
    for wrong in (["--redact", "x"], ["--condition", "C12"], ["--all-actions"], ["--from-format", "x"]):
        assert run("package", ONE, "--condition", "C10", "--out", tmp_path, *wrong).exit_code == 2


def test_redact_answers_with_bounds(tmp_path: Path) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text("act-01.result\n")
    result = run("package", ONE, "--condition", "C10", "--out", tmp_path / "out", "--redact-file", rules)
    assert result.exit_code == 0, result.output
    (answer,) = lines(run("answer", tmp_path / "out", "--format", "jsonl"))
    assert answer["case"] == NAME
    assert answer["q2"] == {
        "status": "abstain", "locators": None, "bounds": {"certain": [], "possible": ["act-01.result"]},
        "needed": ["act-01.result"],
    }  # fmt: skip
    assert run("validate", tmp_path / "out").exit_code == 0


def test_a_redaction_of_the_target_is_told_as_such(tmp_path: Path) -> None:
    target = json.loads(run("derive", ONE, "--format", "jsonl").stdout)
    rule = f"{target['action']}.argument.{target['argument']}"
    result = run("package", ONE, "--condition", "C10", "--redact", rule, "--out", tmp_path / "out")
    assert (result.exit_code, "hides" in result.stderr, rule in result.stderr) == (0, True, True)
    assert "no run has anything" not in result.stderr
    assert list((tmp_path / "out").iterdir()) == [tmp_path / "out" / "inventory.jsonl"]


def test_packages_made_one_after_the_other_share_an_inventory(tmp_path: Path) -> None:
    other = ACCOUNTS / "banking" / f"{OTHER}.json"
    for log in (ONE, other, ONE):
        assert run("package", log, "--condition", "C11", "--out", tmp_path).exit_code == 0
    rows = [json.loads(line) for line in (tmp_path / "inventory.jsonl").read_text().splitlines()]
    assert [row["case"] for row in rows] == [other.stem, NAME]
    assert {row["case"] for row in lines(run("answer", tmp_path, "--format", "jsonl"))} == {other.stem, NAME}
    assert run("validate", tmp_path).exit_code == 0


def test_answerability_of_one_and_of_many() -> None:
    one = run("answerability", ONE)
    assert one.exit_code == 0
    assert "results + account + table" in one.stdout
    (row,) = lines(run("answerability", ONE, "--format", "jsonl"))
    assert row["minimal"]["q2"] == [["results"]]
    many = run("answerability", ACCOUNTS / "banking")
    assert many.exit_code == 0
    assert "Q3 basis_missing" in many.stdout
    assert " cases" in many.stdout


def test_plan_and_diff(tmp_path: Path) -> None:
    written = tmp_path / "least.toml"
    result = run("plan", ONE, "--keep", "q3", "--write", written)
    assert result.exit_code == 0, result.output
    assert run("package", ONE, "--condition", written, "--out", tmp_path / "least").exit_code == 0
    assert run("validate", tmp_path / "least").exit_code == 0
    (answer,) = lines(run("answer", tmp_path / "least", "--format", "jsonl"))
    assert answer["q3"]["locators"] == ["act-01.result[1]"]
    lost = run("plan", ONE, "--redact", "act-01.result", "--format", "jsonl")
    assert lost.exit_code == 1
    assert lines(lost)[0]["lost"] == ["Q2", "Q3"]
    idle = run("plan", ONE, "--redact", "act-99.result")
    assert (idle.exit_code, "no run has anything for act-99.result" in idle.stderr) == (2, True)
    assert run("plan", ONE).exit_code == 2
    assert run("plan", ONE, "--keep", "Q9").exit_code == 2
    run("package", ONE, "--condition", "C10", "--out", tmp_path / "C10")
    difference = run("diff", tmp_path / "C10" / NAME, tmp_path / "least" / NAME)
    assert difference.exit_code == 1
    assert "only in the first" in difference.stdout
    assert run("diff", tmp_path / "C10" / NAME, tmp_path / "C10" / NAME).exit_code == 0
