"""Each query file: what it opens with, what it answers on a known run, and that it can be pasted into a console."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pyoxigraph
import pytest

from trace_prov.errors import UsageError
from trace_prov.graph.queryfiles import QueryFile, queries, query
from trace_prov.graph.store import TraceStore
from trace_prov.model import Action, Content, Run

from ..graph.samples import IBAN, RUN_ID, full_run
from ..watermark.marked_graph import annotated

OTHER_ID = f"urn:trace-prov:run:{'f' * 32}"
STORE = TraceStore.in_memory([full_run(), full_run(OTHER_ID)])
annotated(STORE, [full_run(), full_run(OTHER_ID)])
KINDS = {"IRI": pyoxigraph.NamedNode(RUN_ID), "string": pyoxigraph.Literal("x"), "integer": pyoxigraph.Literal(1)}


def ask(name: str, store: TraceStore = STORE, /, **given: str) -> list[dict[str, Any]]:
    terms = {
        key: pyoxigraph.NamedNode(value) if key in ("run", "other") else pyoxigraph.Literal(value)
        for key, value in given.items()
    }
    rows = store.ask(name, **terms)
    names = [variable.value for variable in rows.variables]
    return [{key: term.value for key, term in zip(names, row, strict=True) if term is not None} for row in rows]


def column(name: str, key: str, **given: str) -> list[str | None]:
    return [row.get(key) for row in ask(name, run=RUN_ID, **given)]


@pytest.mark.parametrize("file", queries(), ids=lambda file: file.name)
def test_a_file_opens_with_what_it_answers_its_parameters_and_what_comes_back(file: QueryFile) -> None:
    header = file.text[: file.text.index("PREFIX")]
    assert len(file.title) > 20
    assert file.parameters
    assert "# Returns:" in header
    assert len(max(file.text.splitlines(), key=len)) <= 125
    selected = re.findall(r"\?(\w+)", file.text[file.text.index("SELECT") : file.text.index("WHERE")])
    values = re.search(r"^  VALUES \(([^)]*)\) \{ \(([^)]*)\) \}$", file.text, re.MULTILINE)
    assert values is not None
    assert values[1].replace("?", "").split() == [parameter.name for parameter in file.parameters]
    assert set(values[2].split()) == {"UNDEF"}
    for name in [parameter.name for parameter in file.parameters]:
        assert name in selected
    told = set(re.findall(r"\?(\w+)", header))
    assert set(re.findall(r"\?(\w+)", header[header.index("Returns") :])) - set(selected) == set()
    assert {name for name in selected if name not in told} <= INTERNAL.get(file.name, set())


#: Variables inside the aggregates of a SELECT clause.
INTERNAL = {"answerability": {"basisState", "certainLocator", "possibleLocator"}}


@pytest.mark.parametrize("file", queries(), ids=lambda file: file.name)
def test_a_file_pasted_into_a_console_with_its_values_written_in_gives_the_same_rows(file: QueryFile) -> None:
    given = {"run": f"<{RUN_ID}>", "action": '"act-03"', "literal": f'"{IBAN}"', "tool": '"send_money"'}
    used = {name: value for name, value in given.items() if name in {p.name for p in file.parameters}}
    values = " ".join(used.get(parameter.name, "UNDEF") for parameter in file.parameters)
    pasted = re.sub(
        r"(VALUES \([^)]*\)) \{ \([^)]*\) \}", lambda match: f"{match[1]} {{ ({values}) }}", file.text, count=1
    )
    bound = ask(file.name, **{name: value.strip('<>"') for name, value in used.items()})
    rows = STORE.query(pasted)
    assert isinstance(rows, pyoxigraph.QuerySolutions)
    names = [variable.value for variable in rows.variables]
    plain = [{key: term.value for key, term in zip(names, row, strict=True) if term is not None} for row in rows]
    assert sorted(map(str, plain)) == sorted(map(str, bound))


def test_target_is_the_first_action_that_could_have_used_a_result() -> None:
    (row,) = ask("target", run=RUN_ID)
    assert (row["log"], row["action"], row["argument"], row["literal"]) == (
        "a/log.json",
        "act-03",
        "recipient",
        IBAN,
    )


def test_target_without_a_text_says_why() -> None:
    run = full_run()
    silent = replace(run, actions=tuple(replace(action, arguments=()) for action in run.actions))
    (row,) = ask("target", TraceStore.in_memory([silent]))
    assert row["reason"] == "no action has a non-empty top-level text argument"
    (row,) = ask("target", TraceStore.in_memory([replace(run, actions=())]))
    assert row["reason"] == "the run has no action"


def test_arguments_list_every_action() -> None:
    assert column("arguments", "action") == [f"act-0{number}" for number in range(1, 7)]
    assert column("arguments", "argument") == ["file_path", None, "recipient", None, None, None]


def test_q1_finds_the_turns_before_the_action() -> None:
    assert column("q1", "locator", action="act-03", literal="bill") == ["request.user[1]"]
    assert column("q1", "locator", action="act-03", literal="Bill") == []


def test_h_finds_raw_and_decoded_text_in_earlier_records_only() -> None:
    found = ask("h", run=RUN_ID, action="act-03", literal=IBAN)
    assert [(row["locator"], row["how"]) for row in found] == [("act-01.result[2]", "raw")]
    decoded = ask("h", run=RUN_ID, action="act-03", literal="a\tb")
    assert [(row["locator"], row["how"]) for row in decoded] == [("act-01.result[2]", "decoded")]
    assert column("h", "locator", action="act-02", literal=IBAN) == []


def test_what_a_cut_list_holds_is_at_no_known_locator() -> None:
    assert "act-04.result" not in column("h", "locator", action="act-06", literal="- a")


def cited_again(action: Action) -> Action:
    """The account of the first step, given to the third action, so that its Basis names the bill."""
    return replace(action, account=full_run().actions[0].account) if action.number == 3 else action


def citing_run() -> Run:
    run = full_run()
    return replace(run, actions=tuple(map(cited_again, run.actions)))


def talking_run(run_id: str) -> Run:
    """A run in which every query finds something."""
    run = citing_run()
    first, second = run.actions[:2]
    assert first.result is not None
    second = replace(second, result=replace(first.result, order=2))
    turns = (replace(run.turns[0], content=Content(f"Pay {IBAN}")), *run.turns[1:])
    return replace(run, id=run_id, turns=turns, actions=(first, second, *run.actions[2:]))


@pytest.mark.parametrize("file", queries(), ids=lambda file: file.name)
def test_without_a_run_all_runs_are_asked(file: QueryFile) -> None:
    store = TraceStore.in_memory([talking_run(RUN_ID), talking_run(OTHER_ID)])
    annotated(store, [talking_run(RUN_ID), talking_run(OTHER_ID)])
    needed = {"literal": IBAN} if any(parameter.name == "literal" for parameter in file.parameters) else {}
    everything = ask(file.name, store, **needed)
    assert everything
    parts = [row for run_id in (RUN_ID, OTHER_ID) for row in ask(file.name, store, run=run_id, **needed)]
    assert sorted(map(str, everything)) == sorted(map(str, parts))


def test_j_is_what_the_basis_is_bound_to() -> None:
    store = TraceStore.in_memory([citing_run()])
    rows = ask("j", store, run=RUN_ID, action="act-03", literal=IBAN)
    assert [(row["locator"], row["localId"], row["bound"]) for row in rows] == [
        ("act-01.result[2]", "in-2", "act-01.result")
    ]


def test_answerability_gives_certain_and_possible_sets() -> None:
    store = TraceStore.in_memory([citing_run()])
    rows = {row["question"]: row for row in ask("answerability", store, run=RUN_ID, action="act-06", literal=IBAN)}
    assert (rows["Q1"]["status"], rows["Q1"]["possible"]) == ("abstain", "request.user[2]")
    assert rows["Q2"]["status"] == "abstain"
    assert rows["Q2"]["certain"] == "act-01.result[2]"
    assert set(rows["Q2"]["possible"].split()) == {
        "act-01.result[2]",
        "act-03.result[1]",
        "act-03.result[2]",
        "act-04.result",
    }
    assert rows["Q3"]["status"] == "abstain"


def test_basis_tells_bound_from_unbound_ids() -> None:
    rows = ask("basis", run=RUN_ID, action="act-01")
    assert [(row["localId"], row["standing"]) for row in rows] == [
        ("in-2", "bound"),
        ("in-9", "unbound"),
        ("in-2", "bound"),
    ]
    (row,) = ask("basis", run=RUN_ID, action="act-05")
    assert row["basisState"].endswith("BasisMalformed")
    assert row["basisText"] == "x"


def test_unbound_citations_are_kept() -> None:
    rows = ask("unbound_citations", run=RUN_ID)
    assert [(row["action"], row["localId"], row["standing"]) for row in rows] == [
        ("act-01", "in-9", "unbound"),
        ("act-02", "in-9", "unbound"),
    ]


def test_lineage_follows_a_value_through_the_run() -> None:
    rows = ask("lineage", run=RUN_ID, literal=IBAN)
    assert [(row["step"], row["kind"], row["locator"]) for row in rows] == [
        ("1", "result", "act-01.result[2]"),
        ("2", "argument", "act-03.argument.recipient"),
        ("3", "argument", "act-04.argument.to"),
    ]


def test_uses_are_the_records_behind_each_argument() -> None:
    rows = ask("uses", run=RUN_ID)
    assert [(row["action"], row["argument"], row["locator"]) for row in rows] == [
        ("act-03", "recipient", "act-01.result[2]")
    ]


def test_actions_by_tool() -> None:
    assert column("actions_by_tool", "action", tool="send_money") == ["act-03", "act-04"]


def test_duplicates_of_ids_results_and_events() -> None:
    run = full_run()
    first = run.actions[0]
    assert first.result is not None
    again = replace(first, number=2, native_id="c", result=replace(first.result, order=2))
    doubled = replace(run, actions=(replace(first, native_id="c"), again, *run.actions[2:]))
    rows = ask("duplicates", TraceStore.in_memory([doubled]), run=RUN_ID)
    assert [(row["kind"], row["action"], row["otherAction"]) for row in rows] == [
        (kind, "act-01", "act-02") for kind in ("call id", "event", "result")
    ]
    other_argument = replace(again, arguments=again.arguments[:1])
    fewer = replace(run, actions=(first, other_argument, *run.actions[2:]))
    kinds = [row["kind"] for row in ask("duplicates", TraceStore.in_memory([fewer]), run=RUN_ID)]
    assert kinds == ["result"]


def test_an_empty_result_is_no_duplicate() -> None:
    run = full_run()
    empty = tuple(
        replace(action, result=replace(action.result, content=Content(""), elements=None, declared=()))
        if action.result is not None
        else action
        for action in run.actions
    )
    rows = ask("duplicates", TraceStore.in_memory([replace(run, actions=empty)]), run=RUN_ID)
    assert [row for row in rows if row["kind"] == "result"] == []


def test_duplicates_between_two_runs() -> None:
    rows = ask("duplicates", run=RUN_ID, other=OTHER_ID)
    assert {(row["action"], row["otherAction"]) for row in rows if row["kind"] == "event"} >= {("act-01", "act-01")}


def test_an_unknown_query_says_which_exist() -> None:
    with pytest.raises(UsageError, match="known: actions_by_tool"):
        query("nope")
