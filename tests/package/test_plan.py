"""Plans are the smallest, lattices are monotone, differences name evidence and answers."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.package.cases import IBAN, package_of, small_run
from tests.package.test_completions import small_runs
from trace_prov.derive import Question
from trace_prov.finding import NotApplicable, Status
from trace_prov.model import Argument, Content, Locator, Run, TableState
from trace_prov.package.comparator import finding_of
from trace_prov.package.condition import BUILT_IN, Condition, read_condition
from trace_prov.package.diff import diff
from trace_prov.package.lattice import QUESTIONS, Lattice, answer_to, count_all, lattice
from trace_prov.package.plan import Echo, Loss, Needs, Plan, Unanswerable, _built, _condition, loss, plan, to_toml
from trace_prov.package.redact import parse_rule

CALM = settings(
    deadline=None, max_examples=25, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)
keeps = st.sets(st.sampled_from(QUESTIONS), min_size=1).map(lambda names: tuple(sorted(names)))


def pieces_of(run: Run) -> list[Needs]:
    """Every piece of evidence of a run that may be shown or not."""
    turns = [Needs(turns=frozenset({turn.number})) for turn in run.turns]
    records = [Needs(records=frozenset({r.locator})) for action in run.actions for r in action.records]
    rows = [Needs(rows=frozenset({row.local_id})) for row in run.table.rows]
    whole = [Needs(whole_table=True)] if run.table.state is TableState.COMPLETE else []
    return [*turns, *records, Needs(account=True), *rows, *whole]


def together(pieces: tuple[Needs, ...], run: Run) -> Needs:
    needs = Needs()
    for piece in pieces:
        needs = needs.with_all(piece)
    return replace(needs, rows=frozenset(row.local_id for row in run.table.rows)) if needs.whole_table else needs


@CALM
@given(small_runs(), keeps)
def test_no_smaller_package_keeps_the_questions(run: Run, keep: tuple[str, ...]) -> None:
    question = Question(action=run.actions[-1].id, argument="to")
    found = plan(run, keep, question)
    if isinstance(found, Unanswerable):
        assert found.question in keep
        return
    assert isinstance(found, Plan)
    given_answers = finding_of(found.package)
    assert all(answer_to(given_answers, name).status is not Status.ABSTAIN for name in keep)
    fewest, _ = found.needs.size(run)
    pieces = pieces_of(run)
    for chosen in chain.from_iterable(combinations(pieces, size) for size in range(fewest)):
        needs = together(chosen, run)
        if needs.size(run)[0] >= fewest:
            continue
        package = _built(run, _condition(run, run.actions[-1], found.target, keep, needs), found.target)
        answers = finding_of(package)
        assert any(answer_to(answers, name).status is Status.ABSTAIN for name in keep), needs


def test_a_plan_is_a_condition_file_that_makes_the_package(tmp_path: Path) -> None:
    found = plan(small_run(), ("Q3",))
    assert isinstance(found, Plan)
    assert found.needs.rows == {"in-2", "in-4"}
    assert found.needs.records == {Locator(1), Locator(2, 2)}
    path = tmp_path / "plan.toml"
    path.write_text(to_toml(found.condition), encoding="utf-8")
    condition = read_condition(path)
    assert condition == found.condition
    package = package_of(small_run(), condition)
    assert package == found.package
    assert finding_of(package).q3.locators == (Locator(1),)
    shown = {record.locator for action in package.run.actions for record in action.records if record.text is not None}
    assert shown == found.needs.records
    values = [argument.value for action in package.run.actions for argument in action.arguments]
    assert [value for value in values if value is not None] == ["UK12345678"]


def test_keeping_nothing_hidden_is_enough_for_a_request() -> None:
    found = plan(small_run(), ("Q1",))
    assert isinstance(found, Plan)
    assert found.needs == Needs(turns=frozenset({1}))


def test_names_of_arguments_do_not_break_a_condition_file(tmp_path: Path) -> None:
    run = small_run()
    odd = tuple(replace(argument, name=f'{argument.name} "\n\\ü') for argument in run.actions[0].arguments)
    run = replace(run, actions=(replace(run.actions[0], arguments=odd), *run.actions[1:]))
    found = plan(run, ("Q3",))
    assert isinstance(found, Plan)
    (tmp_path / "p.toml").write_text(to_toml(found.condition), encoding="utf-8")
    assert read_condition(tmp_path / "p.toml") == found.condition


def test_a_redaction_says_what_it_loses_and_where_its_text_still_stands() -> None:
    everything = Condition("all", account=True, request=True, table=TableState.COMPLETE)
    found = loss(small_run(), [parse_rule("act-01.result"), parse_rule("act-09.result")], everything)
    assert isinstance(found, Loss)
    assert [name for name in QUESTIONS if found.lost(name)] == ["Q2", "Q3"]
    assert [rule.text for rule in found.unused] == ["act-09.result"]
    echo = loss(small_run(), [parse_rule("act-03.argument.body")], everything)
    assert isinstance(echo, Loss)
    assert Echo("act-03.argument.body", "request.user") in echo.echoes


def test_values_of_a_hidden_text_that_stand_elsewhere_are_named() -> None:
    """In another's account, in an argument that is no text, in a recorded input; unescaped where they are escaped."""
    run = small_run()
    pay = run.actions[2]
    arguments = (*pay.arguments, Argument("to", [{"name": 'Ann "B" Lee', "iban": IBAN}]))
    first = run.actions[0]
    assert first.result is not None
    text = Content(json.dumps({"iban": IBAN, "name": 'Ann "B" Lee'}))
    first = replace(first, result=replace(first.result, content=text))
    run = replace(run, actions=(first, run.actions[1], replace(pay, arguments=arguments)))
    shows_all = Condition("all", account=True, request=True, inputs=True, table=TableState.COMPLETE)
    found = loss(run, [parse_rule("act-01.result")], shows_all)
    assert isinstance(found, Loss)
    told = {(echo.stands_in, echo.part) for echo in found.echoes}
    assert ("act-03.argument.recipient", IBAN) in told
    assert ("act-03.argument.to", 'Ann "B" Lee') in told
    assert ("act-03.account", IBAN) in told
    assert ("recorded input in-3", IBAN) in told
    assert "recorded input in-2" not in {place for place, _ in told}  # it is hidden with its record


def test_a_lattice_shows_every_combination_and_the_smallest() -> None:
    found = lattice(small_run(), "case")
    assert isinstance(found, Lattice)
    assert len(found.cells) == 16
    assert found.minimal("Q1") == [("request",)]
    assert found.minimal("Q2") == [("results",)]
    assert found.minimal("Q3") == [("results", "account", "table")]


@settings(CALM, max_examples=10)
@given(small_runs())
def test_more_evidence_never_closes_a_question(run: Run) -> None:
    found = lattice(run, "case", Question(action=run.actions[-1].id, argument="to"))
    assert not isinstance(found, NotApplicable)
    for cell in found.cells:
        for more in found.cells:
            if set(cell.layers) <= set(more.layers):
                assert all(more.supports(name) for name in QUESTIONS if cell.supports(name))


def test_counts_tell_the_conditions_apart() -> None:
    counts = count_all([small_run(), small_run(), replace(small_run(), actions=())])
    assert counts.cases == 2
    assert counts.not_applicable == {"the run has no action": 1}
    assert counts.answers["C00"]["Q3"] == {"abstain": 2}
    assert counts.answers["C10"]["Q3"] == {"non-empty": 2}
    assert counts.answers["R01"]["Q1"] == {"no": 2}
    assert counts.answers["C10"]["Q1"] == {"abstain": 2}


def test_a_difference_names_the_evidence_and_the_answers_that_change() -> None:
    found = diff(package_of(small_run(), "C10"), package_of(small_run(), "C00"))
    assert found.only_first == ("binding table", *(f"row of in-{n}" for n in range(1, 6)))
    assert (found.only_second, found.changed, found.apart, found.changes()) == ((), (), None, ("Q3",))
    same = diff(package_of(small_run(), "C10"), package_of(small_run(), "C10"))
    assert (same.only_first, same.only_second, same.changed, same.changes()) == ((), (), (), ())
    redacted = diff(package_of(small_run(), "R11"), package_of(small_run(), "R11", "act-01.result"))
    assert "act-01.result" in redacted.only_first
    assert redacted.changed == ("recorded input in-2",)
    assert "label" in (diff(package_of(small_run(), "C10"), package_of(small_run(), "C11")).apart or "")


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_comparator_is_right_on_every_condition(name: str) -> None:
    """Checked by hand on one small run: H is act-01.result and act-02.result[1], J is act-01.result."""
    finding = finding_of(package_of(small_run(), name))
    assert finding.q2.locators == (Locator(1), Locator(2, 1))
    assert finding.q1.value is (False if name in ("R01", "R11") else None)
    if name in ("R11", "C10", "C11"):
        assert finding.q3.locators == (Locator(1),)
    else:
        assert finding.q3.status is Status.ABSTAIN
