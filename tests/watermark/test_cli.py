"""The command line from key to verdict, its errors and its exit codes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.watermark.helpers import SCHEME, marked, unmarked
from trace_prov.cli import main
from trace_prov.watermark.consistency import receipt
from trace_prov.watermark.keys import read_ring
from trace_prov.watermark.trajectory import dump_runs, read_runs


def run(*parts: object) -> Result:
    return CliRunner().invoke(main, ["watermark", *map(str, parts)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert run("keygen", tmp_path / "keys.json", "--owner", "lab").exit_code == 0
    keys = read_ring(tmp_path / "keys.json").keys(SCHEME)
    runs = marked(3, keys=keys)
    (tmp_path / "marked.json").write_bytes(dump_runs(runs))
    (tmp_path / "clean.json").write_bytes(dump_runs(unmarked(3)))
    (tmp_path / "receipts.jsonl").write_text("".join(json.dumps(receipt(r).to_json()) + "\n" for r in runs))
    return tmp_path


def test_from_key_to_verdict(folder: Path) -> None:
    done = run("detect", folder / "marked.json", "--keys", folder / "keys.json", "--evidence", "--fail-on-found")
    assert done.exit_code == 1
    assert "Decision: watermark found" in done.output
    assert SCHEME.digest in done.output
    clean = run("detect", folder / "clean.json", "--keys", folder / "keys.json", "--fail-on-found")
    assert clean.exit_code == 0
    assert "no evidence at this power" in clean.output
    assert "Power of this log" in clean.output


def test_text_of_a_log_is_shown_as_it_is(folder: Path) -> None:
    """Neither markup nor an escape sequence in a log's words reaches the terminal as such."""
    path = folder / "marked.json"
    body = json.loads(path.read_text())
    body["runs"][0]["groups"][0]["decision"]["content"] = "[red]pay[/red] \x1b[31m"
    path.write_text(json.dumps(body))
    done = run("detect", path, "--keys", folder / "keys.json", "--evidence")
    assert "[red]pay[/red] \\x1b[31m" in done.output


def test_json_verdict_has_inputs_and_no_secret(folder: Path) -> None:
    done = run("detect", folder / "marked.json", "--keys", folder / "keys.json", "--format", "json")
    verdict = json.loads(done.output)["verdicts"][0]
    assert verdict["inputs"][0][0].endswith("marked.json")
    assert len(verdict["inputs"][0][1]) == 64
    keys = read_ring(folder / "keys.json").keys(SCHEME)
    assert keys.k1.hex() not in done.output
    assert keys.k2.hex() not in done.output
    lines = run("detect", folder / "marked.json", "--keys", folder / "keys.json", "--format", "jsonl").output
    assert json.loads(lines)["key_id"] == keys.key_id


def test_rotation_tries_every_epoch(folder: Path) -> None:
    assert run("keygen", folder / "keys.json", "--rotate").exit_code == 0
    done = run("detect", folder / "marked.json", "--keys", folder / "keys.json", "--format", "json")
    verdicts = json.loads(done.output)["verdicts"]
    assert [verdict["decision"] for verdict in verdicts] == ["watermark found", "no evidence at this power"]
    assert verdicts[0]["keys_tried"] == 2


def test_commit_reveal_and_detect_by_a_judge(folder: Path) -> None:
    keys = folder / "keys.json"
    assert run("commit", "--keys", keys, "--out", folder / "c.json").exit_code == 0
    opened = run("reveal", "--keys", keys, "--commitment", folder / "c.json", "--out", folder / "r.json")
    assert "opens" in opened.output
    assert run("verify", folder / "c.json", folder / "r.json").exit_code == 0
    done = run("detect", folder / "marked.json", "--keys", folder / "r.json", "--commitment", folder / "c.json")
    assert "Decision: watermark found" in done.output
    assert "the commitment opens" in done.output
    run("keygen", folder / "other.json", "--owner", "thief")
    refused = run("detect", folder / "marked.json", "--keys", folder / "other.json", "--commitment", folder / "c.json")
    assert refused.exit_code == 2


def test_attack_then_detect_with_receipts(folder: Path) -> None:
    done = run(
        "attack", folder / "marked.json", "--attack", "cut-block:0.3", "--attack", "strip-times",
        "--out", folder / "cut.json", "--truth", folder / "truth.jsonl",
    )  # fmt: skip
    assert done.exit_code == 0
    head, *fates = [json.loads(line) for line in (folder / "truth.jsonl").read_text().splitlines()]
    assert head["attacks"] == ["cut-block:0.3", "strip-times"]
    assert sum(fate["new"] is None for fate in fates) > 0
    assert len(read_runs(folder / "cut.json")[0].groups) == 17
    found = run("detect", folder / "cut.json", "--keys", folder / "keys.json", "--receipts", folder / "receipts.jsonl")
    assert "Merkle root over tags" in found.output
    assert "skeleton edit" in found.output


def test_ledger(folder: Path) -> None:
    run("attack", folder / "marked.json", "--attack", "strip-ids", "--out", folder / "bare.json")
    without = run("detect", folder / "bare.json", "--keys", folder / "keys.json")
    assert "Decision: abstain" in without.output
    (folder / "ledger.txt").write_text("".join(f"salt-{number:06}\n" for number in range(40)))
    found = run("detect", folder / "bare.json", "--keys", folder / "keys.json", "--ledger", folder / "ledger.txt")
    assert "Decision: watermark found" in found.output
    assert "40^3" in found.output


def test_power_calibrate_and_scheme(folder: Path) -> None:
    plan = run("power", "--entropy", 0.9, "--deletion", 0.5, "--format", "json")
    assert json.loads(plan.output)["runs"] > 1
    assert "had they been marked" in run("power", "--log", folder / "clean.json").output
    table = run("calibrate", folder / "clean.json", "--keys", 50, "--fixed-keys", 2, "--pools", 10, "--format", "json")
    assert {row["test"] for row in json.loads(table.output)["many_keys"]} >= {"selection", "tally", "joint"}
    text = run("calibrate", folder / "clean.json", "--keys", 50, "--fixed-keys", 2, "--pools", 10)
    assert "worst key" in text.output
    made = CliRunner().invoke(main, ["watermark", "scheme", "--set", "q=0.3", "--set", "tally=prefix"])
    assert '"q": 0.3' in made.output
    assert "digest: " in made.output


def test_receipt_command(folder: Path) -> None:
    lines = run("receipt", folder / "marked.json").output.splitlines()
    assert lines == (folder / "receipts.jsonl").read_text().splitlines()


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (("keygen", "{f}/new.json"), "--owner"),
        (("keygen", "{f}/keys.json", "--owner", "x"), "existing"),
        (("detect", "{f}/none.json", "--keys", "{f}/keys.json"), "readable file"),
        (("detect", "{f}/keys.json", "--keys", "{f}/keys.json"), "trace-prov-trajectory/1"),
        (("detect", "{f}/clean.json", "--keys", "{f}/clean.json"), "trace-prov-watermark-keys/1"),
        (("detect", "{f}/clean.json", "--keys", "{f}/keys.json", "--scheme", "{f}/clean.json"), "field of Scheme"),
        (("detect", "{f}/clean.json", "--keys", "{f}/keys.json", "--ledger", "{f}/none"), "one salt a line"),
        (("attack", "{f}/clean.json", "--attack", "bomb", "--out", "{f}/x"), "no attack 'bomb'"),
        (("attack", "{f}/clean.json", "--attack", "paraphrase:1", "--rewriter", "x", "--out", "{f}/x"), "--rewriter"),
    ],
)
def test_errors_have_no_traceback(folder: Path, parts: tuple[str, ...], said: str) -> None:
    done = run(*(part.format(f=folder) for part in parts))
    assert done.exit_code == 2
    assert said in done.output
    assert "Traceback" not in done.output


@pytest.mark.parametrize("parts", [["watermark", "--help"], ["watermark", "keygen", "x"]])
def test_without_the_extra_the_command_says_what_to_install(parts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [
        name for name in sys.modules if name.startswith(("trace_prov.watermark", "trace_prov.cli.watermark_"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numpy", None)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    done = CliRunner().invoke(main, parts)
    assert done.exit_code == 2
    assert "trace-prov[watermark]" in done.output
