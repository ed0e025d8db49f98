"""What users and adversaries hand over: each is told with its place and exit code 2, and nothing is half-written."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from tests.watermark.marked_graph import calling_run
from trace_prov.cli import main
from trace_prov.watermark.keys import Epoch, KeyRing, write_ring
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.stats import log_likelihood_ratio
from trace_prov.watermark.trajectory import dump_runs

RING = KeyRing("lab", (Epoch(1, "2026-01-01T00:00:00Z"),), b"m" * 32)


def run(*parts: object) -> Result:
    return CliRunner().invoke(main, ["watermark", *map(str, parts)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_ring(RING, tmp_path / "keys.json")
    log, _ = calling_run("h-1", keys=RING.keys(Scheme()))
    (tmp_path / "marked.json").write_bytes(dump_runs([log]))
    (tmp_path / "folder").mkdir()
    return tmp_path


def one_group(args: str) -> str:
    return (
        '{"format": "trace-prov-trajectory/1", "runs": [{"id": "a", "salt": "s", "task": "t", "groups": '
        '[{"decision": {"tool": "x", "args": ' + args + "}}]}]}"
    )


LOGS: dict[str, tuple[Any, str]] = {
    "cut in the middle": (lambda text: text[: len(text) // 2], "unexpected end of data: line "),
    "cut in the last line of JSON lines": (
        lambda text: (line := json.dumps(json.loads(text)["runs"][0])) + "\n" + line[:500],
        "line 2",
    ),
    "a NaN for a probability": (lambda text: text.replace("0.16666666666666666", "NaN", 1), "line 2"),
    "a negative probability": (
        lambda text: text.replace("0.16666666666666666", "-0.2", 1),
        "runs[1].groups[1].probabilities",
    ),
    "empty": (lambda text: "", "expected JSON"),
    "no run": (lambda text: '{"format": "trace-prov-trajectory/1", "runs": []}', "at least one run"),
    "arguments nested too deep": (lambda text: one_group("[" * 950 + "]" * 950), "decision.args"),
    "nested too deep": (lambda text: "[" * 100_000, "depth limit"),
    "a lone surrogate": (lambda text: one_group('"\\ud800"'), "surrogate"),
    "UTF-16": (lambda text: text.encode("utf-16"), "UTF-8"),
    "a number of 400 digits": (lambda text: one_group("1" + "0" * 400), "infinity"),
}


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("command", [("detect", "--keys", "keys.json"), ("power", "--log"), ("calibrate",)])
def test_a_damaged_log_is_refused_with_its_place(folder: Path, name: str, command: tuple[str, ...]) -> None:
    damage, said = LOGS[name]
    data = damage((folder / "marked.json").read_text("utf-8"))
    path = folder / "log.json"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    verb, *options = command
    done = run(verb, *(folder / o if o.endswith(".json") else o for o in options), path)
    assert done.exit_code == 2, done.output
    assert "log.json" in done.output
    assert said in done.output
    assert "Traceback" not in done.output


def test_a_log_that_begins_with_a_byte_order_mark_is_read(folder: Path) -> None:
    path = folder / "marked.json"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert "watermark found" in run("detect", path, "--keys", folder / "keys.json").output


def test_an_empty_folder_is_no_log(folder: Path) -> None:
    for command in (("detect", "--keys", folder / "keys.json"), ("power", "--log"), ("calibrate",)):
        done = run(*command, folder / "folder")
        assert (done.exit_code, "Is a directory" in done.output) == (2, True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"secret": "!!!"}, "base64"),
        ({"secret": "AAAA"}, "at least 16 bytes"),
        ({"secret": 5}, "base64"),
        ({"epochs": []}, "one epoch"),
        ({"epochs": [{"number": "x", "created": ""}]}, "epochs"),
        ({"epochs": [{"number": -1, "created": ""}]}, "different numbers from 1"),
        ({"epochs": [{"number": 1, "created": ""}] * 2}, "different numbers from 1"),
        ({"owner": 5}, "owner"),
        ({"format": "x"}, "format"),
    ],
)
def test_a_bad_key_file_is_refused(folder: Path, change: dict[str, Any], said: str) -> None:
    body = json.loads((folder / "keys.json").read_text())
    (folder / "bad.json").write_text(json.dumps(body | change))
    done = run("detect", folder / "marked.json", "--keys", folder / "bad.json")
    assert done.exit_code == 2
    assert "bad.json" in done.output
    assert said in done.output
    assert body["secret"] not in done.output


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_key_file_that_others_can_read_is_warned_of(folder: Path) -> None:
    quiet = run("detect", folder / "marked.json", "--keys", folder / "keys.json")
    assert "others can read" not in quiet.output
    (folder / "keys.json").chmod(0o644)
    warned = run("detect", folder / "marked.json", "--keys", folder / "keys.json")
    assert warned.exit_code == 0
    assert "keys.json: others can read this master secret" in warned.stderr


def test_a_key_given_twice_counts_once(folder: Path) -> None:
    keys = ("--keys", folder / "keys.json")
    done = run("detect", folder / "marked.json", *keys, *keys, "--format", "json")
    assert [verdict["keys_tried"] for verdict in json.loads(done.output)["verdicts"]] == [1]


@pytest.mark.parametrize(
    "parts",
    [
        ("power", "--entropy", "-1"),
        ("power", "--entropy", "nan"),
        ("power", "--entropy", "inf"),
        ("power", "--entropy", "5", "--candidates", "2"),
        ("power", "--candidates", "1"),
        ("power", "--candidates", "100000000"),
        ("power", "--per-run", "0"),
        ("power", "--per-run", "nan"),
        ("power", "--per-run", "1e9"),
        ("power", "--deletion", "nan"),
        ("power", "--deletion", "-0.1"),
        ("power", "--rewriting", "1.1"),
        ("power", "--rewriting", "nan"),
        ("power", "--target", "nan"),
        ("power", "--target", "1"),
        ("calibrate", "marked.json", "--keys", "-5"),
        ("calibrate", "marked.json", "--fixed-keys", "0"),
        ("calibrate", "marked.json", "--pools", "-1"),
        ("calibrate", "marked.json", "--seed", "-1"),
        ("experiment", "synthetic", "--out", "new", "--seed", "-1"),
        ("experiment", "synthetic", "--out", "new", "--seed", "nan"),
        ("experiment", "synthetic", "--out", "new", "--only", "nothing"),
        ("experiment", "nowhere", "--out", "new"),
        ("experiment", "synthetic", "--out", "marked.json"),
        ("attack", "marked.json", "--attack", "delete-groups:nan", "--out", "new"),
        ("attack", "marked.json", "--attack", "delete-groups:-1", "--out", "new"),
        ("attack", "marked.json", "--attack", "reorder:1", "--seed", "-1", "--out", "new"),
        ("receipt", "marked.json", "--metered", "-1"),
        ("commit", "--keys", "keys.json", "--epoch", "7"),
        ("reveal", "--keys", "keys.json", "--epoch", "-1", "--out", "new"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(folder: Path, parts: tuple[str, ...]) -> None:
    done = run(*(folder / part if part in {"marked.json", "keys.json", "new"} else part for part in parts))
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.output
    assert not (folder / "new").exists()


@pytest.mark.parametrize(
    ("scheme", "said"),
    [
        ('{"q": NaN}', "JSON"),
        ('{"q": "x"}', "q: expected a number"),
        ('{"q": 2}', "between 0 and 1"),
        ('{"window": -1}', "window"),
        ('{"window": 1.5}', "whole number"),
        ('{"mask_repeats": 1}', "true or false"),
        ('{"alpha": 0}', "alpha"),
        ('{"null_keys": 1000000000}', "99 to 100000"),
        ('{"natural_rule": "declared", "natural_counts": {"x": 2}}', "a list"),
        ('{"natural_rule": "declared", "natural_counts": [["x", -4]]}', "pairs such as"),
        ('{"context_fields": ["salt", 5]}', "subset"),
        ("[]", "object"),
    ],
)
def test_a_scheme_that_no_detector_could_follow_is_refused(folder: Path, scheme: str, said: str) -> None:
    (folder / "scheme.json").write_text(scheme)
    done = run("detect", folder / "marked.json", "--keys", folder / "keys.json", "--scheme", folder / "scheme.json")
    assert done.exit_code == 2
    assert "scheme.json" in done.output
    assert said in done.output


def test_an_attack_writes_both_files_or_none(folder: Path) -> None:
    done = run("attack", folder / "marked.json", "--attack", "reorder:1", "--out", folder / "new.json",
               "--truth", folder / "none" / "truth.jsonl")  # fmt: skip
    assert done.exit_code == 2
    assert sorted(path.name for path in folder.iterdir()) == ["folder", "keys.json", "marked.json"]


def test_rates_of_a_log_that_cannot_be_tested_are_said_to_say_nothing(folder: Path) -> None:
    body = json.loads((folder / "marked.json").read_text())
    del body["runs"][0]["salt"]
    (folder / "bare.json").write_text(json.dumps(body))
    done = run("calibrate", folder / "bare.json", "--keys", 20, "--fixed-keys", 1, "--pools", 10)
    assert done.exit_code == 0
    for channel in ("selection", "tally"):
        assert f"counts in the {channel} channel (run salt missing): its rates say nothing" in done.stderr


@pytest.mark.parametrize("content", ['{"key": "x", "result": {}}\n', "\x00\x01", '{"key": 1}\n{"a": 1}\n'])
def test_a_results_file_of_something_else_is_refused_and_left_alone(folder: Path, content: str) -> None:
    path = folder / "folder" / "results.jsonl"
    path.write_text(content)
    done = run("experiment", "synthetic", "--out", folder / "folder", "--only", "overhead")
    assert done.exit_code == 2
    assert path.read_text() == content


def test_without_probabilities_the_power_of_the_selection_channel_is_unknown(folder: Path) -> None:
    body = json.loads((folder / "marked.json").read_text())
    for group in body["runs"][0]["groups"]:
        del group["probabilities"]
    (folder / "bare.json").write_text(json.dumps(body))
    done = run("detect", folder / "bare.json", "--keys", folder / "keys.json")
    assert "watermark found" in done.output
    assert "selection unknown" in done.output
    assert "selection unknown" in run("power", "--log", folder / "bare.json").output


def test_a_probability_too_small_for_doubles_gives_numbers(folder: Path) -> None:
    with np.errstate(all="raise"):
        values = log_likelihood_ratio(np.array([0.5, 1e-300]), np.array([1e-310, 1e-300]))
    assert np.isfinite(values).all()
    body = json.loads((folder / "marked.json").read_text())
    group = body["runs"][0]["groups"][0]
    own = group["decision"]["args"]
    index = next(n for n, text in enumerate(group["candidates"]) if json.loads(text)["args"] == own)
    group["probabilities"] = [1e-310 if n == index else 0.2 for n in range(6)]
    (folder / "tiny.json").write_text(json.dumps(body))
    done = run("detect", folder / "tiny.json", "--keys", folder / "keys.json", "--format", "jsonl")
    assert done.exit_code == 0
    assert math.isfinite(json.loads(done.stdout)["log_e"])
