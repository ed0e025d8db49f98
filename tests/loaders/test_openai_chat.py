"""OpenAI chat messages in their four shapes, and broken ones."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from trace_prov.derive import Question, derive
from trace_prov.finding import Finding
from trace_prov.load import Problem, load_paths
from trace_prov.model import RecordState, Run, Severity

MESSAGES: list[dict[str, Any]] = [
    {"role": "developer", "content": "be careful"},
    {"role": "user", "content": [{"type": "text", "text": "pay"}, {"type": "text", "text": "the bill"}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.txt"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "IBAN UK12"}]},
    {
        "role": "assistant",
        "tool_calls": [{"id": "c2", "function": {"name": "pay", "arguments": {"recipient": "UK12"}}}],
    },
]


def shapes() -> dict[str, str]:
    lines = "\n".join(map(json.dumps, MESSAGES))
    return {
        "list": json.dumps(MESSAGES),
        "object": json.dumps({"model": "x", "messages": MESSAGES}, indent=1),
        "message lines": lines,
        "conversation lines": json.dumps({"messages": MESSAGES}) + "\n" + json.dumps({"messages": MESSAGES}) + "\n",
    }


def read(path: Path) -> list[Run]:
    runs = list(load_paths([path]))
    assert all(isinstance(run, Run) for run in runs), runs
    return [run for run in runs if isinstance(run, Run)]


@pytest.mark.parametrize("shape", shapes())
def test_every_shape_tells_the_same_run(tmp_path: Path, shape: str) -> None:
    path = tmp_path / "log"
    path.write_text(shapes()[shape])
    runs = read(path)
    assert len({run.id for run in runs}) == len(runs) == (2 if shape == "conversation lines" else 1)
    for run in runs:
        assert [turn.content.text for turn in run.turns] == ["pay\nthe bill"]
        (finding,) = derive(run)
        assert isinstance(finding, Finding)
        assert (finding.target.action, finding.target.literal) == ("act-02", "UK12")
        assert [str(locator) for locator in finding.q2.locators or ()] == ["act-01.result"]


def tricky() -> list[dict[str, str]]:
    with (Path(__file__).parents[1] / "data/tricky/expected.tsv").open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("row", tricky(), ids=lambda row: row["file"])
def test_tricky_logs_give_the_expected_outcome(data: Path, row: dict[str, str]) -> None:
    (run,) = read(data / "tricky" / row["file"])
    assert len(run.actions) == int(row["actions"])
    (finding,) = derive(run, Question(action=row["action"], argument=row["argument"]))
    assert isinstance(finding, Finding)
    assert finding.target.literal == row["target"]
    expected = [] if row["h"] == "-" else row["h"].split(",")
    assert [str(locator) for locator in finding.q2.locators or ()] == expected


def messages_of(run: Run) -> str:
    return "\n".join(f"{item.severity.value} {item.place}: {item.message}" for item in run.diagnostics)


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("02_reused_call_id.json", "act-02 has the call id 'call_const' that act-01 had before"),
        ("03_parallel_out_of_order.json", "act-03 (get_balance) has no result"),
        ("08_nan_and_surrogate.jsonl", "line 4: holds a lone surrogate"),
        ("08_nan_and_surrogate.jsonl", "line 5: holds a non-finite number (-Infinity)"),
        ("08_nan_and_surrogate.jsonl", "the arguments of act-02 hold a non-finite number (NaN)"),
    ],
)
def test_tricky_logs_say_what_their_reader_must_know(data: Path, file: str, told: str) -> None:
    assert told in messages_of(read(data / "tricky" / file)[0])


def test_torn_lines_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    lines = [json.dumps(message) for message in MESSAGES]
    lines.insert(3, '{"role": "tool", "tool_call_id": "c1", "cont')
    lines.insert(1, "\x00\x00\x00")
    (tmp_path / "torn.jsonl").write_text("\n".join(lines))
    (run,) = read(tmp_path / "torn.jsonl")
    assert [item.place for item in run.diagnostics if item.severity is Severity.ERROR] == ["line 2", "line 5"]
    (finding,) = derive(run)
    assert isinstance(finding, Finding)
    assert finding.q2.locators is not None


def test_a_torn_result_leaves_the_question_open(tmp_path: Path) -> None:
    lines = [json.dumps(message) for message in MESSAGES]
    lines[3] = lines[3][:30]
    (tmp_path / "torn.jsonl").write_text("\n".join(lines))
    (run,) = read(tmp_path / "torn.jsonl")
    assert run.actions[0].records[0].state is RecordState.UNREADABLE
    (finding,) = derive(run, Question(action="act-02"))
    assert isinstance(finding, Finding)
    assert finding.q2.locators is None
    assert finding.q2.needed == ("act-01.result",)


def test_arguments_that_are_no_object_are_kept_as_text(tmp_path: Path) -> None:
    broken = [
        *MESSAGES[:2],
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{oops"}}]},
    ]
    (tmp_path / "log.json").write_text(json.dumps(broken))
    (run,) = read(tmp_path / "log.json")
    assert (run.actions[0].arguments, run.actions[0].arguments_text) == ((), "{oops")


def test_a_structured_list_as_the_value_has_elements(tmp_path: Path) -> None:
    log = [*MESSAGES[:3], {"role": "tool", "tool_call_id": "c1", "content": ["é UK12", {"iban": "UK13"}, 5]}]
    (tmp_path / "log.json").write_text(json.dumps(log))
    (run,) = read(tmp_path / "log.json")
    assert [record.text for record in run.actions[0].records] == ["é UK12", '{"iban": "UK13"}', "5"]


def test_legacy_function_calls_pair_in_order(tmp_path: Path) -> None:
    log = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "r"},
    ]
    (tmp_path / "log.json").write_text(json.dumps(log))
    (run,) = read(tmp_path / "log.json")
    assert [record.text for record in run.actions[0].records] == ["r"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected a log, found an empty file"),
        (b"  \n ", "expected a log, found an empty file"),
        (b"not json", "line 1, column 1: expected JSON"),
        (b'{"messages": [', "expected JSON, found the end of the text (it may be cut off)"),
        (b'{"messages": 5}', "expected a log of a known format"),
        (b"[]", "expected a log of a known format"),
        (b"5", "expected a log of a known format"),
        (b'[{"role": "user", "content": "\xff"}]', "byte 30: expected UTF-8 text, found byte 0xff"),
        (b"[" * 100_000, "expected JSON"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "expected UTF-8 text"),
    ],
)
def test_what_is_no_log_is_refused_with_its_place(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    (problem,) = load_paths([tmp_path / "bad.json"])
    assert isinstance(problem, Problem)
    assert str(problem.error).startswith("bad.json")
    assert message in str(problem.error)
