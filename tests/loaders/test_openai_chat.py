"""OpenAI chat messages in their four shapes, and broken ones."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from trace_prov.derive import Question, derive
from trace_prov.finding import Finding, Status
from trace_prov.load import Problem, load_paths
from trace_prov.model import BasisState, RecordState, Run, Severity

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


def chat(tmp_path: Path, *messages: Any, name: str = "log.json") -> Run:
    """The run of a chat: a request, then `messages` (texts: as they are, for what Python's JSON cannot write)."""
    written = [message if isinstance(message, str) else json.dumps(message) for message in messages]
    (tmp_path / name).write_text('[{"role": "user", "content": "x"}, ' + ", ".join(written) + "]")
    (run,) = read(tmp_path / name)
    return run


def calls(*made: Any, content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(made)}


def function(name: Any, native_id: Any, arguments: Any = "{}") -> dict[str, Any]:
    return {"id": native_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def answer(native_id: Any, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": native_id, "content": content}


def texts(run: Run) -> list[list[str | None]]:
    return [[record.text for record in action.records] for action in run.actions]


def errors(run: Run) -> list[str]:
    return [f"{item.place}: {item.message}" for item in run.diagnostics if item.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("call", "damage"),
    [
        ("a", "a call without a function name"),
        (None, "a call without a function name"),
        ({"id": "c1"}, "a call without a function name"),
        (function(5, "c1"), "a call without a function name"),
        (function("pay", "c1", [1]), "its arguments are neither a text nor an object"),
        ({"id": "c1", "type": "custom", "custom": {"name": "run", "input": 5}}, "its input is no text"),
    ],
)
def test_a_damaged_call_keeps_its_number_and_its_result(tmp_path: Path, call: Any, damage: str) -> None:
    run = chat(
        tmp_path,
        calls(call, function("look", "c2")),
        answer("c2", "B"),
        answer("c1" if isinstance(call, dict) else None, "A"),
    )
    assert [action.id for action in run.actions] == ["act-01", "act-02"]
    assert run.actions[0].arguments == ()
    assert run.actions[0].arguments_text is not None or call == function(5, "c1")
    assert texts(run) == [["A"], ["B"]]
    assert errors(run) == [f"messages[1]: act-01: {damage}"]


@pytest.mark.parametrize("native_id", [7, 0, 1.5, True, {"a": 1}, ["x"]])
def test_an_id_that_is_no_text_is_an_id(tmp_path: Path, native_id: Any) -> None:
    run = chat(
        tmp_path,
        calls(function("look", native_id), function("look", "other")),
        answer("other", "B"),
        answer(native_id, "A"),
    )
    assert texts(run) == [["A"], ["B"]]
    assert run.actions[0].native_id == json.dumps(native_id)
    assert errors(run) == []


@pytest.mark.parametrize(
    ("content", "records"),
    [
        ("[1.50, 1e3, 12345678901234567890123, true, null, \"1.50\"]",
         ["1.50", "1e3", "12345678901234567890123", "true", "null", "1.50"]),
        ('{"n": 1.50, "of": [-0.0, 1E+2]}', ['{"n": 1.50, "of": [-0.0, 1E+2]}']),
        ("1.50", ["1.50"]),
        ("false", ["false"]),
        ("[[1.0], {\"é\": 2.50}]", ["[1.0]", '{"é": 2.50}']),
    ],
)  # fmt: skip
def test_numbers_of_a_structured_result_stay_as_written(tmp_path: Path, content: str, records: list[str]) -> None:
    result = f'{{"role": "tool", "tool_call_id": "c1", "content": {content}}}'
    assert texts(chat(tmp_path, calls(function("look", "c1")), result)) == [records]
    lines = [json.dumps(message) for message in ({"role": "user", "content": "x"}, calls(function("look", "c1")))]
    (tmp_path / "log.jsonl").write_text("\n".join([*lines, result]))
    assert texts(read(tmp_path / "log.jsonl")[0]) == [records]


@pytest.mark.parametrize(
    ("content", "records"),
    [
        ([{"type": "text", "text": "- a"}, {"type": "text", "text": "- b"}], ["- a\n", "- b"]),
        ([{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "u"}}], ["a"]),
        ([{"type": "image_url", "image_url": {"url": "u"}}], [""]),
        ([{"type": "savings", "iban": "UK12"}], ['{"type": "savings", "iban": "UK12"}']),
    ],
)
def test_parts_are_transport_and_other_objects_are_a_list(
    tmp_path: Path, content: list[Any], records: list[str]
) -> None:
    run = chat(tmp_path, calls(function("look", "c1")), answer("c1", content))
    assert texts(run) == [records]
    told = [item.message for item in run.diagnostics if item.code == "part-without-text"]
    assert told == (["a part of type 'image_url' holds no text to search"] if "image_url" in str(content) else [])


@pytest.mark.parametrize("text", ["print(1)", '{"recipient": "UK12"}'])
def test_a_custom_tool_gets_one_text_as_its_argument(tmp_path: Path, text: str) -> None:
    run = chat(tmp_path, calls({"id": "c1", "type": "custom", "custom": {"name": "python", "input": text}}))
    (argument,) = run.actions[0].arguments
    assert (run.actions[0].tool, argument.name, argument.value) == ("python", "input", text)


def test_another_result_of_the_same_call_may_be_that_of_a_call_without_one(tmp_path: Path) -> None:
    both = calls(function("look", "c1"), function("look", "c2"))
    run = chat(tmp_path, both, answer("c1", "A"), answer("c1", "B"), calls(function("pay", "c3")))
    assert run.actions[0].records[0].text == "A"
    assert run.actions[1].records[0].state is RecordState.UNREADABLE
    run = chat(tmp_path, both, answer("c1", "A"), answer("c2", "B"), answer("c1", "C"), calls(function("pay", "c3")))
    assert texts(run) == [["A"], ["B"], []]
    assert errors(run) == ["messages[4]: another result for act-01 (call id 'c1'); the first one is kept"]


@pytest.mark.parametrize("content", [5, {"a": 1}, [7]])
def test_a_damaged_request_or_account_is_unreadable_and_the_calls_stay(tmp_path: Path, content: Any) -> None:
    pay = function("pay", "c1", '{"recipient": "UK12"}')
    run = chat(
        tmp_path, {"role": "user", "content": content}, calls(pay, content=content), calls(content="Basis: in-1")
    )
    assert [turn.content.state for turn in run.turns] == [RecordState.PRESENT, RecordState.UNREADABLE]
    assert [action.account.basis.state for action in run.actions] == [BasisState.WITHHELD]
    assert [place.split(":")[0] for place in errors(run)] == ["messages[1]", "messages[2]"]
    (finding,) = derive(run)
    assert isinstance(finding, Finding)
    assert (finding.q1.value, finding.q3.status) == (None, Status.ABSTAIN)


def test_damage_that_is_known_to_hold_no_result_leaves_the_question_answerable(tmp_path: Path) -> None:
    run = chat(
        tmp_path,
        calls(function("look", "c1")),
        {"role": "assistant", "content": "x", "tool_calls": "oops"},
        {"role": "user", "content": 5},
        calls(function("pay", "c2", '{"recipient": "UK12"}')),
    )
    (finding,) = derive(run)
    assert isinstance(finding, Finding)
    assert finding.q2.locators == ()
    assert len(errors(run)) == 2


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("shape", shapes())
def test_other_encodings_with_a_byte_order_mark_are_read(tmp_path: Path, shape: str, encoding: str) -> None:
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    (tmp_path / "log").write_bytes(mark + shapes()[shape].replace("bill", "bill\u010a\u0a0d😀").encode(encoding))
    for run in read(tmp_path / "log"):
        assert [turn.content.text for turn in run.turns] == ["pay\nthe bill\u010a\u0a0d😀"]
        assert texts(run) == [["IBAN UK12"], []]
        assert errors(run) == []


def test_a_torn_utf_16_file_is_damaged_in_its_last_line(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes("\n".join(map(json.dumps, MESSAGES)).encode("utf-16")[:-3])
    (run,) = read(tmp_path / "log")
    assert [error.split(":")[0] for error in errors(run)] == ["line 5"]
