"""The completion rule against brute force: derive's answers are those that hold in every completion (CONTRACT §6)."""

from __future__ import annotations

from itertools import islice

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.package.completions import Completion, S, completions, h_in, j_in, q1_in, reveal
from trace_prov.account import WITHHELD
from trace_prov.derive import Question, derive
from trace_prov.finding import Finding, RecordsAnswer, Status
from trace_prov.model import (
    Account,
    Action,
    Argument,
    Basis,
    BasisState,
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

MOST = 4000
VISIBLE = ("", "s", "x", '["s","x"]', "- x\n- s\n", "- s", "[]", "it is s")
CUT = ("", "x", "s", "-", "- ", "- s", "[", '["s"', "[INFO] s", "[INFO]", " - x s", "text s")


@st.composite
def results(draw: st.DrawFn, number: int, step: int, last: int) -> Result | None:
    kind = draw(st.sampled_from(["none", "text", "text", "text", "hidden", "declared", "cut", "unreadable", "apart"]))
    if kind == "none":
        return None
    hidden = Content(None, draw(st.sampled_from([RecordState.REDACTED, RecordState.WITHHELD])))
    content = {
        "text": Content(draw(st.sampled_from(VISIBLE))),
        "cut": Content(draw(st.sampled_from(CUT)), RecordState.CUT),
        "unreadable": Content(None, RecordState.UNREADABLE),
    }.get(kind, hidden)
    elements = [draw(st.sampled_from([Content("s"), Content("x"), hidden])) for _ in range(2)]
    return Result(
        content,
        draw(st.integers(step, last)),
        number,
        elements=tuple(elements) if kind == "apart" else None,
        declared=(Locator(number, 1), Locator(number, 2)) if kind == "declared" else (),
    )


@st.composite
def accounts(draw: st.DrawFn) -> Account:
    state = draw(st.sampled_from([*BasisState, BasisState.IDS, BasisState.IDS, BasisState.IDS]))
    if state is BasisState.WITHHELD:
        return WITHHELD
    ids: tuple[str, ...] = ()
    if state is BasisState.IDS:
        ids = tuple(draw(st.lists(st.sampled_from(["in-1", "in-2", "in-9"]), min_size=1, max_size=2)))
    return Account(Basis(state, ids), "as written")


@st.composite
def small_runs(draw: st.DrawFn) -> Run:
    """One or two calls before the action that is asked about, the last; the last step may share its step."""
    count = draw(st.integers(1, 2))
    together = draw(st.booleans())
    last = count if together else count + 1
    actions = []
    for number in range(1, count + 1):
        result = draw(results(number, number, last))
        actions.append(Action(number, number, "read", (), WITHHELD, result))
    actions.append(Action(count + 1, last, "act", (Argument("to", S),), draw(accounts())))
    turns = []
    for number in range(1, draw(st.integers(0, 2)) + 1):
        content = draw(st.sampled_from([Content("s"), Content("x"), Content(None, RecordState.WITHHELD)]))
        turns.append(Turn(number, content, draw(st.integers(0, last))))
    state = draw(st.sampled_from(list(TableState)))
    rows = {}
    if state is not TableState.NONE:
        addresses = [Locator(0)] if len(turns) == 1 else []
        # A row for an element would tell that a cut text is a list; a cut list is not read so far.
        cut = {one.number for one in actions if one.result and one.result.content.state is RecordState.CUT}
        elements = [Locator(number, k) for number in range(1, count + 1) for k in (1, 2) if number not in cut]
        addresses += [Locator(number) for number in range(1, count + 1)] + elements
        for local_id in ("in-1", "in-2"):
            if draw(st.booleans()):
                rows[local_id] = draw(st.sampled_from(addresses))
    table = BindingTable(state, tuple(Binding(local_id, locator) for local_id, locator in rows.items()))
    return Run("urn:trace-prov:run:" + "0" * 32, Source("small", "test", "0", 0), tuple(turns), tuple(actions), table)


def all_of(run: Run, action: Action) -> list[Completion]:
    found = list(islice(completions(run, action), MOST + 1))
    assume(0 < len(found) <= MOST)
    return found


def answered(run: Run) -> Finding:
    action = run.actions[-1]
    (finding,) = derive(run, Question(action=action.id, literal=S))
    assert isinstance(finding, Finding)
    return finding


def check_set(answer: RecordsAnswer, sets: list[frozenset[Locator]], *, same: bool) -> None:
    """Answered with the one set that all completions have; else bounded by their intersection and union."""
    if answer.status is Status.ANSWERED:
        assert same
        assert set(answer.locators or ()) == sets[0]
        return
    assert answer.status is Status.ABSTAIN
    assert not same
    assert answer.bounds is not None
    certain, possible = frozenset.intersection(*sets), frozenset.union(*sets)
    assert set(answer.bounds.certain) == certain
    # A hidden whole stands for any of its elements too.
    assert all(any(bound.covers(one) for bound in answer.bounds.possible) for one in possible)
    assert all(any(bound.covers(one) for one in possible) for bound in answer.bounds.possible)


@settings(deadline=None, max_examples=120, suppress_health_check=list(HealthCheck))
@given(small_runs())
def test_answers_are_those_that_hold_in_every_completion(run: Run) -> None:
    action = run.actions[-1]
    found = all_of(run, action)
    finding = answered(run)

    if run.turns:
        values = {q1_in(run, action, one) for one in found}
        expected = next(iter(values)) if len(values) == 1 else None
        assert finding.q1.value is expected
    else:
        assert finding.q1.status is Status.ABSTAIN

    held = [h_in(run, action, one) for one in found]
    check_set(finding.q2, held, same=len(set(held)) == 1)

    cited = [outcome for one in found for outcome in j_in(run, action, one)]
    if set(cited) == {"basis_missing"}:
        assert finding.q3.status is Status.BASIS_MISSING
    else:
        sets = [outcome for outcome in cited if isinstance(outcome, frozenset)]
        check_set(finding.q3, sets, same=len(set(cited)) == 1)


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(small_runs())
def test_needed_evidence_is_enough_and_no_part_of_it_can_be_left_out(run: Run) -> None:
    action = run.actions[-1]
    found = all_of(run, action)
    finding = answered(run)
    for name in ("q1", "q2", "q3"):
        answer = getattr(finding, name)
        if answer.status is not Status.ABSTAIN or (name == "q1" and not run.turns):
            assert name == "q1" or not answer.needed
            continue
        if finding.basis.state is BasisState.MALFORMED and name == "q3":
            assert answer.needed == ()
            continue
        assert answer.needed

        def is_open(evidence: tuple[str, ...], one: Completion, name: str = name) -> bool:
            shown = answered(reveal(run, action, one, evidence))
            return bool(getattr(shown, name).status is Status.ABSTAIN)

        assert not any(is_open(answer.needed, one) for one in found)
        for left_out in answer.needed:
            fewer = tuple(piece for piece in answer.needed if piece != left_out)
            assert any(is_open(fewer, one) for one in found), f"{name} does not need {left_out}"
