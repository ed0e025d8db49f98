"""`trace-prov derive` and `explain` as their user runs them."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from trace_prov.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)


def jsonl(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_the_readme_example_finds_the_cited_record() -> None:
    result = run("derive", EXAMPLES / "bill-payment.json", "--format", "jsonl")
    (finding,) = jsonl(result)
    assert result.exit_code == 0
    assert finding["log"] == "bill-payment.json"
    assert finding["target"] == "UK12345678901234567890"
    assert finding["q1"] == {"status": "answered", "value": False}
    assert finding["q2"]["locators"] == ["act-01.result"]
    assert finding["basis"] == {"state": "ids", "ids": ["in-2"]}
    assert finding["q3"]["locators"] == ["act-01.result"]
    assert finding["source"]["sha256"] == "89785458a2ad6bf59c6de3a805534b4e67c94aa841d66bcb2c33a6019b01ad21"


def test_every_format_tells_the_same(data: Path) -> None:
    folder = data / "agentdojo" / "runs"
    lines = jsonl(run("derive", folder, "--format", "jsonl"))
    assert json.loads(run("derive", folder, "--format", "json").stdout) == lines
    rows = list(csv.DictReader(io.StringIO(run("derive", folder, "--format", "csv").stdout)))
    assert [row["log"] for row in rows] == [line["log"] for line in lines]
    table = run("derive", folder).stdout
    for line, row in zip(lines, rows, strict=True):
        assert line["log"] in table
        if line["applicable"]:
            assert (row["q2_locators"] or "").split() == (line["q2"]["locators"] or [])


def test_a_folder_with_one_bad_file_goes_on_and_ends_with_2(tmp_path: Path) -> None:
    for name in ("a.json", "c.json"):
        (tmp_path / name).write_bytes((EXAMPLES / "language-model.json").read_bytes())
    (tmp_path / "b.json").write_text('{"messages": [')
    (tmp_path / "notes.txt").write_text("x")
    result = run("derive", tmp_path, "--format", "jsonl")
    assert result.exit_code == 2
    assert [line["log"] for line in jsonl(result)] == ["a.json", "c.json"]
    assert "error: b.json, line 1, column 15" in result.stderr
    assert "passed over 1 file that does not end in" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.json"], "nowhere.json: no such file or folder"),
        ([EXAMPLES / "bill-payment.json", "--from-format", "nonsense"], "no format 'nonsense'; known: agentdojo"),
        ([EXAMPLES / "bill-payment.json", "--action", "2"], "expected an action such as act-02"),
        ([EXAMPLES / "bill-payment.json", "--literal", ""], "the empty text is never a target"),
        ([EXAMPLES / "bill-payment.json", "--argument", "a", "--literal", "b"], "exclude each other"),
        ([EXAMPLES / "bill-payment.json", "--max-bytes", "10"], "expected at most 10 bytes"),
        ([EXAMPLES / "bill-payment.json", "--from-format", "openai_chat"], "message"),
    ],
)
def test_a_mistake_is_told_in_one_line_without_a_traceback(arguments: list[str | Path], message: str) -> None:
    result = run("derive", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize("engine", ["native", "sparql"])
def test_a_store_gives_the_findings_of_its_logs(tmp_path: Path, data: Path, engine: str) -> None:
    logs, store = data / "agentdojo" / "runs", tmp_path / "store"
    assert run("load", logs, "--store", store).exit_code == 0
    stored = jsonl(run("derive", "--store", store, "--engine", engine, "--all-actions", "--format", "jsonl"))
    read = jsonl(run("derive", logs, "--all-actions", "--format", "jsonl"))
    assert sorted(stored, key=lambda line: line["log"]) == read


@pytest.mark.parametrize("arguments", [[], [EXAMPLES, "--store", "x"]])
def test_logs_or_a_store_are_needed(arguments: list[str | Path]) -> None:
    result = run("derive", *arguments)
    assert (result.exit_code, "give LOGS (files or folders) or --store" in result.stderr) == (2, True)


def test_a_pipe_a_dangling_link_and_a_loop_in_a_folder_stop_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.json")
    (tmp_path / "b.json").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "z.json").write_bytes((EXAMPLES / "language-model.json").read_bytes())
    result = run("derive", tmp_path, "--format", "jsonl")
    assert [line["log"] for line in jsonl(result)] == ["z.json"]
    assert "a.json: expected a file" in result.stderr
    assert "b.json: expected a readable file, found No such file or directory" in result.stderr


def test_an_empty_folder_is_told(tmp_path: Path) -> None:
    result = run("derive", tmp_path)
    assert (result.exit_code, "no log was found" in result.stderr) == (2, True)


def test_a_literal_may_be_asked_of_any_action() -> None:
    one = jsonl(run("derive", EXAMPLES / "bill-payment.json", "--literal", "IBAN", "--format", "jsonl"))
    every = jsonl(
        run("derive", EXAMPLES / "bill-payment.json", "--literal", "IBAN", "--all-actions", "--format", "jsonl")
    )
    assert [(line["action"], line["argument"], line["q2"]["locators"]) for line in one] == [
        ("act-02", None, ["act-01.result"])
    ]
    assert [line["action"] for line in every] == ["act-01", "act-02"]


@pytest.mark.parametrize("engine", ["native", "sparql", "cypher"])
def test_what_can_be_asked_is_told_to_who_asks_for_what_is_not_there(engine: str) -> None:
    log = EXAMPLES / "bill-payment.json"

    def reason(*question: str) -> str:
        (line,) = jsonl(run("derive", log, "--engine", engine, "--format", "jsonl", *question))
        assert line["applicable"] is False
        return str(line["reason"])

    assert reason("--argument", "amount") == (
        "act-02 has no non-empty text argument 'amount'; it has recipient, date, subject"
    )
    assert reason("--action", "act-09") == "the run has no action act-09, only act-01 to act-02"


def test_explain_names_records_that_came_too_late_for_the_literal_asked() -> None:
    log, literal = EXAMPLES / "bill-payment.json", "UK12345678901234567890"
    too_early = run("explain", log, "--literal", literal, "--action", "act-01").stdout
    assert "later ones do: act-01.result, act-02.result; --action asks" in too_early
    assert "later ones do" not in run("explain", log, "--literal", literal).stdout
    assert "later ones do" not in run("explain", log, "--literal", "stands nowhere").stdout
    assert "later ones do" not in run("explain", log, "--action", "act-01").stdout


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("corpus.json", "in its folder runs"),
        ("trace-prov-store.json", "--store takes its runs"),
        ("evidence.json", "trace-prov answer PACKAGE"),
        ("other.json", "--from-format forces one"),
    ],
)
def test_a_file_of_the_product_that_is_no_log_says_what_it_is(tmp_path: Path, name: str, advice: str) -> None:
    (tmp_path / name).write_text("{}")
    result = run("derive", tmp_path)
    assert result.exit_code == 2
    assert advice in result.stderr


def test_explain_says_why() -> None:
    shown = run("explain", EXAMPLES / "injected-transfer.json").stdout
    assert "in-2 -> act-01.result[1]: does not hold the literal" in shown
    assert "in-6 -> act-01.result[5]: holds the literal" in shown
    assert "TODO: Send a transaction" in shown


def test_explain_names_a_lead_that_is_no_match(data: Path) -> None:
    shown = run("explain", data / "tricky" / "05_nfc_nfd.json", "--action", "act-03").stdout
    assert "act-01.result holds it only after Unicode normalisation" in shown


def test_text_of_a_log_cannot_steer_the_terminal(tmp_path: Path) -> None:
    log = json.loads((EXAMPLES / "language-model.json").read_text())
    hostile = "\x1b]0;owned\x07\x1b[2J\u202edraw [bold]red[/bold]\ud83c"
    for message in log["messages"]:
        for call in message.get("tool_calls") or []:
            if "recipient" in call["args"]:
                call["args"]["recipient"] = hostile
    (tmp_path / "evil.json").write_text(json.dumps(log))
    for command in ("derive", "explain"):
        shown = run(command, tmp_path / "evil.json").stdout
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "draw [b" in shown
    (line,) = jsonl(run("derive", tmp_path / "evil.json", "--format", "jsonl"))
    assert line["target"] == hostile


def test_a_reader_that_stops_early_is_no_error() -> None:
    command = f"{sys.executable} -m trace_prov derive {EXAMPLES} --format jsonl | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["log"] == "bill-payment.json"
    assert "Traceback" not in done.stderr
