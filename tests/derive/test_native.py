"""Native derivation against the expected answers of real runs and against the contract's table (CONTRACT §3-§6)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from tests.compare import differences, runs_below
from tests.strategies import runs
from trace_prov.account import WITHHELD, read_account
from trace_prov.derive import Question, derive
from trace_prov.derive.target import normalised
from trace_prov.finding import Bounds, Finding, NotApplicable, Status
from trace_prov.model import (
    Action,
    Argument,
    Binding,
    BindingTable,
    Content,
    Locator,
    RecordState,
    Result,
    Run,
    Source,
    TableState,
    Turn,
)

LITERAL = "UK12"
A1 = Locator(1)
REQUEST = Content("please pay")


@pytest.mark.parametrize("name", ["agentdojo", "agentdojo_public"])
def test_the_sampled_runs_give_the_expected_answers(data: Path, name: str) -> None:
    assert list(differences(data / name, runs_below(data / name / "runs"), derive)) == []


@pytest.mark.parametrize("name", ["agentdojo", "agentdojo_public"])
def test_all_shared_runs_give_the_expected_answers(shared_data: Path, name: str) -> None:
    assert list(differences(shared_data / name, runs_below(shared_data / name / "runs"), derive)) == []


def result(text: str | None, after_step: int = 1, state: RecordState = RecordState.PRESENT) -> Result:
    return Result(Content(text, state), after_step, 1)


def run_of(
    first: Result | None,
    basis: str | None = "Basis: in-2",
    rows: tuple[Binding, ...] = (),
    table: TableState = TableState.COMPLETE,
    request: Content | None = REQUEST,
) -> Run:
    """A lookup whose result is `first`, then a payment to the literal with the account `basis` (None: withheld)."""
    account = WITHHELD if basis is None else read_account(basis)
    return Run(
        id="urn:trace-prov:run:test",
        source=Source("test", "test", "0" * 64, 0),
        turns=() if request is None else (Turn(1, request),),
        actions=(
            Action(1, 1, "look", (), account, first),
            Action(2, 2, "pay", (Argument("recipient", LITERAL),), account, result(f"sent to {LITERAL}", 2)),
        ),
        table=BindingTable(table, rows),
    )


def answer(run: Run, question: Question | None = None) -> Finding:
    (finding,) = derive(run, question or Question(action="act-02"))
    assert isinstance(finding, Finding)
    return finding


@pytest.mark.parametrize(
    ("request_content", "status", "value"),
    [
        (Content("pay UK12 today"), Status.ANSWERED, True),
        (Content("pay uk12 today"), Status.ANSWERED, False),
        (Content(""), Status.ANSWERED, False),
        (Content(None, RecordState.WITHHELD), Status.ABSTAIN, None),
        (Content("pay UK1", RecordState.CUT), Status.ABSTAIN, None),
        (Content("pay UK12 tod", RecordState.CUT), Status.ANSWERED, True),
        (None, Status.ABSTAIN, None),
    ],
)
def test_q1(request_content: Content | None, status: Status, value: bool | None) -> None:
    q1 = answer(run_of(result("x"), request=request_content)).q1
    assert (q1.status, q1.value) == (status, value)


def test_q1_counts_only_the_turns_before_the_action() -> None:
    run = run_of(result("x"))
    late = replace(run, turns=(*run.turns, Turn(2, Content(LITERAL), after_step=2)))
    early = replace(run, turns=(*run.turns, Turn(2, Content(LITERAL), after_step=1)))
    assert answer(late).q1.value is False
    assert answer(early).q1.value is True


HIDDEN = (RecordState.WITHHELD, RecordState.REDACTED, RecordState.UNREADABLE)


@pytest.mark.parametrize("state", HIDDEN)
def test_q2_stays_open_where_an_earlier_result_is_hidden(state: RecordState) -> None:
    q2 = answer(run_of(result(None, state=state))).q2
    assert (q2.status, q2.locators, q2.bounds) == (Status.ABSTAIN, None, Bounds((), (A1,)))
    assert q2.needed == ("act-01.result",)


def test_q2_names_the_locators_that_a_package_declares() -> None:
    declared = (Locator(1, 1), Locator(1, 2))
    hidden = replace(result(None, state=RecordState.WITHHELD), declared=declared)
    assert answer(run_of(hidden)).q2.bounds == Bounds((), declared)


@pytest.mark.parametrize(
    ("first", "locators"),
    [
        (result("IBAN UK12"), (A1,)),
        (result("IBAN UK1"), ()),
        (result(""), ()),
        (None, ()),
        (result("IBAN UK12", after_step=2), ()),
        (result(None, after_step=2, state=RecordState.WITHHELD), ()),
        (result("IBAN UK12 and m", state=RecordState.CUT), (A1,)),
        (result("- UK12\n- UK13\n- {to: UK12}\n"), (Locator(1, 1), Locator(1, 3))),
        (result("- UK12\n: - ["), (A1,)),
        (result('["UK\\u0031\\u0032"]'), (Locator(1, 1),)),
        (result("{'to': 'UK12'}"), (A1,)),
        (result("UK12: key only"), (A1,)),
        (result('{"UK\\u00312": 1}'), ()),
    ],
)
def test_q2_is_the_set_of_earlier_records_that_hold_it(first: Result | None, locators: tuple[Locator, ...]) -> None:
    assert answer(run_of(first)).q2.locators == locators


def test_q2_of_a_cut_record_without_a_visible_match_stays_open() -> None:
    assert answer(run_of(result("IBAN UK1", state=RecordState.CUT))).q2.bounds == Bounds((), (A1,))


def test_a_call_of_the_same_step_is_not_earlier() -> None:
    run = run_of(result(LITERAL))
    same_step = replace(run, actions=(run.actions[0], replace(run.actions[1], step=1)))
    assert answer(same_step).q2.locators == ()


ROW = (Binding("in-2", A1),)
OTHER = (Binding("in-3", A1),)


@pytest.mark.parametrize(
    ("basis", "rows", "table", "status", "locators"),
    [
        (None, ROW, TableState.COMPLETE, Status.ABSTAIN, None),
        ("Note: x", ROW, TableState.COMPLETE, Status.BASIS_MISSING, None),
        ("Basis: []", (), TableState.NONE, Status.ANSWERED, ()),
        ("Basis: in-2", ROW, TableState.COMPLETE, Status.ANSWERED, (A1,)),
        ("Basis: in-9", ROW, TableState.COMPLETE, Status.ANSWERED, ()),
        ("Basis: in-2", (), TableState.NONE, Status.ABSTAIN, None),
        ("Basis: in-2", OTHER, TableState.PARTIAL, Status.ABSTAIN, None),
        ("Basis: in-2", ROW, TableState.PARTIAL, Status.ANSWERED, (A1,)),
        ("Basis: in-2, in-9", ROW, TableState.PARTIAL, Status.ANSWERED, (A1,)),
        ("Basis: some", ROW, TableState.COMPLETE, Status.ABSTAIN, None),
    ],
)
def test_q3_where_a_record_holds_it(
    basis: str | None,
    rows: tuple[Binding, ...],
    table: TableState,
    status: Status,
    locators: tuple[Locator, ...] | None,
) -> None:
    q3 = answer(run_of(result(LITERAL), basis, rows, table)).q3
    assert (q3.status, q3.locators) == (status, locators)


@pytest.mark.parametrize(
    ("basis", "status", "locators"),
    [
        (None, Status.ABSTAIN, None),
        ("Note: x", Status.BASIS_MISSING, None),
        ("Basis: []", Status.ANSWERED, ()),
        ("Basis: in-2", Status.ANSWERED, ()),
        ("Basis: some", Status.ANSWERED, ()),
    ],
)
def test_q3_where_no_record_holds_it(basis: str | None, status: Status, locators: tuple[Locator, ...] | None) -> None:
    q3 = answer(run_of(result("nothing"), basis, (), TableState.NONE)).q3
    assert (q3.status, q3.locators) == (status, locators)


def test_q3_names_what_is_dangling_or_unbound() -> None:
    complete = answer(run_of(result(LITERAL), "Basis: in-2, in-9", ROW)).q3
    partial = answer(run_of(result(LITERAL), "Basis: in-8, in-9", ROW, TableState.PARTIAL)).q3
    assert (complete.dangling, complete.unbound) == (("in-9",), ())
    assert (partial.dangling, partial.unbound, partial.needed) == (
        (),
        ("in-8", "in-9"),
        ("binding of in-8", "binding of in-9"),
    )


def test_q3_is_answered_where_nothing_hidden_is_cited_though_q2_is_open() -> None:
    finding = answer(run_of(result(None, state=RecordState.WITHHELD), "Basis: in-2", (Binding("in-2", Locator(0)),)))
    assert finding.q2.status is Status.ABSTAIN
    assert (finding.q3.status, finding.q3.locators) == (Status.ANSWERED, ())


def test_a_row_for_an_element_of_a_hidden_result_bounds_the_answer() -> None:
    row = (Binding("in-2", Locator(1, 4)),)
    finding = answer(run_of(result(None, state=RecordState.WITHHELD), "Basis: in-2", row))
    assert finding.q3.bounds == Bounds((), (Locator(1, 4),))


def test_a_binding_to_a_whole_list_addresses_all_its_elements() -> None:
    finding = answer(run_of(result("- UK12\n- x\n- UK12\n"), "Basis: in-2", ROW))
    assert finding.q3.locators == (Locator(1, 1), Locator(1, 3))


@pytest.mark.parametrize(
    ("arguments", "chosen"),
    [
        ({"amount": 5, "body": "b", "Recipient": "r"}, "Recipient"),
        ({"subject": "s", "date": "d"}, "date"),
        ({"account-number": "a", "password": "p", "IBAN": "i"}, "IBAN"),
        ({"recipient": "", "File Path": "f", "zeta": "z"}, "File Path"),
        ({"zeta": "z", "Alpha": "a", "recipient": ["r"]}, "Alpha"),
        ({"recipient": None, "to": 5}, None),
        ({}, None),
    ],
)
def test_the_argument_of_a_target(arguments: dict[str, object], chosen: str | None) -> None:
    run = run_of(result("x"))
    given = tuple(Argument(name, value) for name, value in arguments.items())
    (finding,) = derive(replace(run, actions=(run.actions[0], replace(run.actions[1], arguments=given))), Question())
    if chosen is None:
        assert isinstance(finding, NotApplicable)
    else:
        assert isinstance(finding, Finding)
        assert finding.target.argument == chosen


def test_the_target_prefers_an_action_with_an_earlier_record() -> None:
    run = run_of(result("x"))
    talkative = replace(run, actions=(replace(run.actions[0], arguments=(Argument("q", "query"),)), run.actions[1]))
    silent = replace(talkative, actions=(replace(talkative.actions[0], result=None), talkative.actions[1]))
    assert answer(talkative, Question()).target.action == "act-02"
    assert answer(silent, Question()).target.action == "act-01"


def test_a_question_about_what_is_not_there_is_not_applicable() -> None:
    run = run_of(result("x"))
    for question in (
        Question(action="act-09"),
        Question(action="act-01"),
        Question(action="act-02", argument="amount"),
    ):
        (finding,) = derive(run, question)
        assert isinstance(finding, NotApplicable)
        assert "act-0" in finding.reason


def test_all_actions_are_all_told() -> None:
    findings = list(derive(run_of(result("x")), Question(all_actions=True)))
    assert [type(finding) for finding in findings] == [NotApplicable, Finding]


def test_names_are_compared_without_case_and_separators() -> None:
    assert normalised("Account-Number_ x") == "accountnumberx"


@given(runs(hidden=True))
def test_bounds_hold_and_an_open_question_says_what_it_needs(run: Run) -> None:
    for finding in derive(run, Question(all_actions=True)):
        if isinstance(finding, NotApplicable):
            continue
        for answer in (finding.q2, finding.q3):
            if answer.bounds is not None:
                assert answer.status is Status.ABSTAIN
                assert answer.locators is None
                assert set(answer.bounds.certain) <= set(answer.bounds.possible)
            else:
                assert answer.status is not Status.ABSTAIN
        if finding.q3.locators and finding.q2.locators is not None:
            assert set(finding.q3.locators) <= set(finding.q2.locators)
