"""AgentDojo logs of three generations, their quirks and their damage (CONTRACT §1, AGENTDOJO facts as tests)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from trace_prov.load import Problem, load_paths
from trace_prov.model import BasisState, Locator, RecordState, Run, Severity, TableState

Message = dict[str, Any]


def user(text: Any) -> Message:
    return {"role": "user", "content": text}


def assistant(text: Any, *calls: Message) -> Message:
    return {"role": "assistant", "content": text, "tool_calls": list(calls)}


def call(function: str, native_id: str | None = None, **args: Any) -> Message:
    return {"function": function, "args": args, "id": native_id}


def tool(content: Any, of: Message, error: str | None = None) -> Message:
    return {"role": "tool", "content": content, "tool_call_id": of["id"], "tool_call": of, "error": error}


def write(folder: Path, messages: Sequence[Any], name: str = "run.json", **top: Any) -> Path:
    path = folder / name
    document = {"suite_name": "banking", "pipeline_name": "test", "user_task_id": "user_task_0", "messages": messages}
    path.write_text(json.dumps(document | top))
    return path


def read(path: Path) -> Run:
    (run,) = load_paths([path])
    assert isinstance(run, Run), run
    return run


def codes(run: Run, *severities: Severity) -> list[str]:
    return [item.code for item in run.diagnostics if not severities or item.severity in severities]


def texts(run: Run, action: int = 1) -> list[str | None]:
    return [record.text for record in run.actions[action - 1].records]


@pytest.mark.parametrize("blocks", [False, True])
def test_string_and_block_contents_read_the_same(tmp_path: Path, blocks: bool) -> None:
    def content(text: str) -> Any:
        return [{"type": "text", "content": text}] if blocks else text

    pay = call("send_money", recipient="UK12")
    messages = [user(content("pay")), assistant(content("Note: x\nBasis: in-1"), pay), tool(content("- a\n- b\n"), pay)]
    run = read(write(tmp_path, messages))
    assert [turn.content.text for turn in run.turns] == ["pay"]
    assert run.actions[0].account.basis.ids == ("in-1",)
    assert texts(run) == ["- a\n", "- b\n"]


def test_blocks_are_transport_and_joined_with_a_newline(tmp_path: Path) -> None:
    read_file = call("read_file")
    content = [
        {"type": "text", "content": "- a"},
        {"type": "thinking", "content": "?"},
        {"type": "text", "content": "- b"},
    ]
    run = read(write(tmp_path, [user("x"), assistant(None, read_file), tool(content, read_file)]))
    assert texts(run) == ["- a\n", "- b"]


def test_calls_of_one_message_share_a_step_and_an_account(tmp_path: Path) -> None:
    first, second, third = call("a", "1"), call("b", "2"), call("c", "3")
    text = "Basis: in-2"
    run = read(
        write(
            tmp_path,
            [user("x"), assistant(text, first, second), tool("r", second), tool("r", first), assistant("", third)],
        )
    )
    assert [(action.id, action.step) for action in run.actions] == [("act-01", 1), ("act-02", 1), ("act-03", 2)]
    assert run.actions[0].account is run.actions[1].account
    assert run.actions[2].account.basis.state is BasisState.MISSING
    assert [action.result.order if action.result else None for action in run.actions] == [2, 1, None]


def test_a_late_result_is_earlier_only_for_steps_after_its_delivery(tmp_path: Path) -> None:
    slow, quick, last = call("slow", "1"), call("quick", "2"), call("last", "3")
    run = read(
        write(
            tmp_path,
            [
                user("x"),
                assistant("", slow),
                assistant("", quick),
                tool("q", quick),
                tool("s", slow),
                assistant("", last),
            ],
        )
    )
    assert [str(record.locator) for record in run.records_before(run.actions[1])] == []
    assert [str(record.locator) for record in run.records_before(run.actions[2])] == ["act-01.result", "act-02.result"]


def test_the_request_sent_again_after_a_result_is_one_request(tmp_path: Path) -> None:
    look = call("look", "1")
    messages = [
        user("pay"),
        assistant("", look),
        tool("r", look),
        user("pay"),
        assistant("done"),
        user("pay"),
        user("more"),
    ]
    run = read(write(tmp_path, messages))
    assert [(turn.content.text, turn.after_step) for turn in run.turns] == [("pay", 0), ("pay", 1), ("more", 1)]
    assert run.turn_locators == (Locator(0, 1), Locator(0, 2), Locator(0, 3))
    assert codes(run).count("repeated-request") == 1


def test_the_tool_filter_prompt_is_no_turn(tmp_path: Path) -> None:
    messages = [user("pay"), user("which tools?"), assistant("send_money"), assistant("", call("send_money"))]
    assert len(read(write(tmp_path, messages, pipeline_name="gpt-4o-tool_filter")).turns) == 1
    assert len(read(write(tmp_path, messages)).turns) == 2


def test_an_error_replaces_the_content_beside_it(tmp_path: Path) -> None:
    pay = call("send_money", "1")
    run = read(
        write(tmp_path, [user("x"), assistant("", pay), tool("- ignored", pay, error="ValueError: no such IBAN")])
    )
    assert texts(run) == ["ValueError: no such IBAN"]
    assert run.actions[0].result is not None
    assert run.actions[0].result.is_error


@pytest.mark.parametrize("native_id", [None, ""])
def test_calls_without_id_pair_by_the_repeated_call_then_by_order(tmp_path: Path, native_id: str | None) -> None:
    first, second = call("read", native_id, path="a"), call("read", native_id, path="b")
    run = read(write(tmp_path, [user("x"), assistant("", first, second), tool("B", second), tool("A", first)]))
    assert [texts(run, 1), texts(run, 2)] == [["A"], ["B"]]
    assert codes(run) == ["paired-without-id", "paired-without-id"]


def test_equal_calls_without_id_pair_in_order_with_a_warning(tmp_path: Path) -> None:
    same = call("read")
    run = read(write(tmp_path, [user("x"), assistant("", same, same), tool("A", same), tool("B", same)]))
    assert [texts(run, 1), texts(run, 2)] == [["A"], ["B"]]
    assert codes(run, Severity.WARNING) == ["paired-without-id"]


def test_a_reused_id_pairs_with_the_call_that_is_open(tmp_path: Path) -> None:
    first, second = call("a", "same"), call("b", "same")
    run = read(
        write(tmp_path, [user("x"), assistant("", first), tool("A", first), assistant("", second), tool("B", second)])
    )
    assert [texts(run, 1), texts(run, 2)] == [["A"], ["B"]]
    assert codes(run) == ["reused-call-id"]


def test_a_result_told_twice_is_one_event_and_another_one_is_damage(tmp_path: Path) -> None:
    first = call("a", "1")
    run = read(write(tmp_path, [user("x"), assistant("", first), tool("A", first), tool("A", first), tool("Z", first)]))
    assert texts(run) == ["A"]
    assert codes(run) == ["repeated-result", "second-result"]


def test_a_call_without_result_has_no_record(tmp_path: Path) -> None:
    run = read(write(tmp_path, [user("x"), assistant("", call("a", "1"))]))
    assert run.actions[0].records == ()
    assert codes(run) == ["no-result"]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tol", "content": "UK12"},
        {"role": "tool", "content": "UK12", "tool_call_id": "other"},
        {"role": "tool", "content": 5, "tool_call_id": "1"},
        {"role": "tool", "content": [7], "tool_call_id": "1"},
        "not a message",
        None,
    ],
)
def test_damage_makes_an_open_call_unreadable_and_is_reported_with_its_place(tmp_path: Path, message: Any) -> None:
    run = read(
        write(tmp_path, [user("x"), assistant("", call("a", "1")), message, assistant("", call("b", "2", to="UK12"))])
    )
    assert [record.state for record in run.records_before(run.actions[1])] == [RecordState.UNREADABLE]
    (damage,) = [item for item in run.diagnostics if item.severity is Severity.ERROR]
    assert damage.place == "messages[2]"


def test_damage_elsewhere_is_only_a_diagnostic(tmp_path: Path) -> None:
    first = call("a", "1")
    run = read(write(tmp_path, [user("x"), {"role": "?"}, assistant("", first), tool("A", first), {"role": "?"}]))
    assert texts(run) == ["A"]
    assert codes(run, Severity.ERROR) == ["damaged", "damaged"]


def test_whole_numbers_of_any_length_are_kept(tmp_path: Path) -> None:
    run = read(write(tmp_path, [user("x"), assistant("", call("a", "1", n=123456789012345678901234567890))]))
    assert run.actions[0].arguments[0].value == 123456789012345678901234567890


def test_the_same_bytes_are_the_same_run_and_labels_are_not_read(tmp_path: Path) -> None:
    messages = [user("x"), assistant("", call("a", "1"))]
    one = read(write(tmp_path, messages, "one.json", injections={"v": "SECRET"}, attack_type="direct", utility=True))
    two = read(write(tmp_path, messages, "two.json", injections={"v": "SECRET"}, attack_type="direct", utility=True))
    assert one.id == two.id
    assert "SECRET" not in repr(one)
    assert "direct" not in repr(one)


def sidecar(folder: Path, inputs: list[Any], request: Any = "pay", name: str = "run") -> None:
    (folder / f"{name}.native.json").write_text(json.dumps({"request": request, "inputs": inputs}))


def given(local_id: str, locator: str, text: str = "t") -> Message:
    return {"id": local_id, "channel": "tool", "locator": locator, "text": text}


def bank_run(folder: Path) -> Path:
    look = call("look", "1")
    return write(
        folder, [user("pay"), assistant("", look), tool("- a: 1\n  b: 2\n- c\n", look), assistant("", call("x", "2"))]
    )


def test_a_sidecar_is_a_complete_table_and_makes_the_log_hold_accounts(tmp_path: Path) -> None:
    sidecar(
        tmp_path,
        [
            given("in-1", "request.user", "pay"),
            given("in-2", "act-01.result[1]", "a: 1\nb: 2\n"),
            given("in-3", "act-01.result", "x"),
        ],
    )
    run = read(bank_run(tmp_path))
    assert run.table.state is TableState.COMPLETE
    assert run.table.locator_of("in-2") == Locator(1, 1)
    assert {action.account.basis.state for action in run.actions} == {BasisState.MISSING}
    assert codes(run) == ["no-result"]
    assert run.source.sidecar_name == "run.native.json"


def test_a_sidecar_text_that_differs_is_told_and_never_the_record(tmp_path: Path) -> None:
    sidecar(tmp_path, [given("in-2", "act-01.result[2]", "UK99")])
    run = read(bank_run(tmp_path))
    assert "UK99" not in str(texts(run))
    assert codes(run, Severity.WARNING) == ["sidecar-text-differs"]


@pytest.mark.parametrize(
    ("inputs", "request_text", "message"),
    [
        (
            [given("in-2", "act-09.result")],
            "pay",
            "input 1: expected the locator of a record in run.json, found act-09.result",
        ),
        ([given("in-2", "act-01.result[3]")], "pay", "found act-01.result[3], which the log does not have"),
        ([given("in-2", "act-01.result[0]")], "pay", "input 1: expected a locator such as act-02.result[1]"),
        ([given("in-2", "act-01.result"), given("in-2", "request.user")], "pay", "input 2: expected each id once"),
        ([given("two", "act-01.result")], "pay", "expected an id such as in-3, found 'two'"),
        (["in-2"], "pay", "input 1: expected an object"),
        ([], "something else", "request: expected the request of the log beside it"),
        ([], 5, "request: expected a text, found a number"),
    ],
)
def test_a_sidecar_that_contradicts_the_log_is_refused(
    tmp_path: Path, inputs: list[Any], request_text: Any, message: str
) -> None:
    sidecar(tmp_path, inputs, request_text)
    (problem,) = load_paths([bank_run(tmp_path)])
    assert isinstance(problem, Problem)
    assert "run.native.json" in str(problem.error)
    assert message in str(problem.error)


def test_a_sidecar_without_its_log_is_reported_in_a_folder(tmp_path: Path) -> None:
    sidecar(tmp_path, [], name="gone")
    bank_run(tmp_path)
    kinds = [type(item) for item in load_paths([tmp_path])]
    assert kinds == [Problem, Run]


def test_a_damaged_result_is_that_of_the_call_that_it_names(tmp_path: Path) -> None:
    first, second = call("a", "1"), call("b", "2")
    run = read(
        write(tmp_path, [user("x"), assistant("", first, second), tool(5, second), assistant("", call("c", "3"))])
    )
    assert [[record.state for record in action.records] for action in run.actions] == [[], [RecordState.UNREADABLE], []]
    assert codes(run, Severity.ERROR) == ["damaged"]


@pytest.mark.parametrize(
    ("made", "damage"),
    [
        ("x", "a call without a function name"),
        ({"args": {"to": "UK12"}, "id": "1"}, "a call without a function name"),
        ({"function": "pay", "args": "UK12", "id": "1"}, "its arguments are no object"),
        ({"function": "pay", "args": ["UK12"], "id": "1"}, "its arguments are no object"),
    ],
)
def test_a_damaged_call_keeps_its_number(tmp_path: Path, made: Any, damage: str) -> None:
    second = call("b", "2")
    messages = [user("x"), assistant("", made, second), tool("B", second)]
    run = read(write(tmp_path, messages))
    assert [(action.id, texts(run, action.number)) for action in run.actions] == [("act-01", []), ("act-02", ["B"])]
    assert "UK12" in (run.actions[0].arguments_text or "") or made == "x"
    (error,) = [item for item in run.diagnostics if item.severity is Severity.ERROR]
    assert error.message == f"act-01: {damage}"


def test_the_id_of_the_repeated_call_counts_where_the_message_has_none(tmp_path: Path) -> None:
    first, second = call("a", "1", n=1), call("a", "2", n=1)
    messages = [user("x"), assistant("", first, second)]
    messages += [tool("B", second) | {"tool_call_id": None}, tool("A", first) | {"tool_call_id": ""}]
    run = read(write(tmp_path, messages))
    assert [texts(run, 1), texts(run, 2)] == [["A"], ["B"]]


def test_a_result_without_id_is_that_of_the_same_call_without_id_first(tmp_path: Path) -> None:
    named, nameless, other = call("a", "1", n=1), call("a", None, n=1), call("b", None)
    messages = [user("x"), assistant("", other, named, nameless), tool("N", nameless), tool("A", named)]
    run = read(write(tmp_path, messages))
    assert [texts(run, number) for number in (1, 2, 3)] == [[], ["A"], ["N"]]
    run = read(write(tmp_path, [user("x"), assistant("", other, named), tool("A", named | {"id": None})]))
    assert [texts(run, number) for number in (1, 2)] == [[], ["A"]]


@pytest.mark.parametrize("content", [5, {"type": "text"}, ["x"], [{"type": "text", "content": 5}]])
def test_a_damaged_request_or_account_is_unreadable_and_the_calls_stay(tmp_path: Path, content: Any) -> None:
    first = call("a", "1")
    messages = [user(content), assistant("Basis: in-1", first), tool("A", first), assistant(content, call("b", "2"))]
    run = read(write(tmp_path, messages))
    assert [turn.content.state for turn in run.turns] == [RecordState.UNREADABLE]
    assert [action.account.basis.state for action in run.actions] == [BasisState.IDS, BasisState.WITHHELD]
    assert codes(run, Severity.ERROR) == ["damaged", "damaged"]


def test_an_error_that_is_no_text_is_the_result_all_the_same(tmp_path: Path) -> None:
    first = call("a", "1")
    run = read(write(tmp_path, [user("x"), assistant("", first), tool("A", first) | {"error": {"code": 5}}]))
    assert texts(run) == ['{"code": 5}']


def test_a_sidecar_may_name_elements_of_an_unreadable_result(tmp_path: Path) -> None:
    look = call("look", "1")
    log = write(tmp_path, [user("pay"), assistant("", look), tool(5, look), assistant("Basis: in-2", call("x", "2"))])
    sidecar(tmp_path, [given("in-2", "act-01.result[3]")])
    assert read(log).table.locator_of("in-2") == Locator(1, 3)
    sidecar(tmp_path, [given("in-2", "act-02.result[3]")])
    (problem,) = load_paths([log])
    assert isinstance(problem, Problem)


def test_many_calls_without_a_result_cost_no_more_each(tmp_path: Path) -> None:
    """A search through all open calls for each result would take minutes."""
    made = [call("a", f"c{number}") for number in range(30_000)]
    results = [tool("r", each) for each in reversed(made[::3])]
    messages = [user("x"), assistant("", *made), *results, *([{"role": "?"}] * 3_000), assistant("", call("b", "z"))]
    run = read(write(tmp_path, messages))
    assert sum(action.has_records for action in run.actions) == 30_000
    assert len(run.diagnostics) == 3_000 + 20_000 + 1
