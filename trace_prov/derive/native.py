"""The fast path: Q1, H and J of a visible run, by the completion rule (CONTRACT §5, §6).

A run is all that is visible; what is hidden is marked by a record's state, a missing row or a withheld account.
Each question is answered exactly when its certain set equals its possible set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trace_prov.derive.needed import needed_for_cited, needed_records, part_bound
from trace_prov.derive.occurrence import Deliveries, Needle, matches_in, occurs
from trace_prov.derive.target import Question, targets
from trace_prov.finding import Bounds, Finding, Match, NotApplicable, RecordsAnswer, RequestAnswer, Status
from trace_prov.model import (
    HIDDEN_STATES,
    Action,
    BasisState,
    Binding,
    Locator,
    RecordState,
    Run,
    TableState,
)

# Answers that carry nothing of their own are made once.
_NOT_IN_REQUEST = RequestAnswer(Status.ANSWERED, False)
_NO_RECORD = RecordsAnswer(Status.ANSWERED, ())
_BASIS_MISSING = RecordsAnswer(Status.BASIS_MISSING, None)


def derive(run: Run, question: Question | None = None) -> Iterator[Finding | NotApplicable]:
    """The findings of a run: one for the case's target, or what `question` asks for."""
    delivered = Deliveries.of(run)
    for target in targets(run, question or Question()):
        if isinstance(target, NotApplicable):
            yield target
            continue
        action, asked = target
        needle = Needle.of(asked.literal)
        matches, hidden = held_by(delivered, action, needle)
        yield Finding(
            log=run.source.name,
            run=run.id,
            target=asked,
            q1=answer_request(run, action, needle),
            q2=answer_records(matches, hidden),
            basis=action.account.basis,
            q3=answer_cited(run, action, matches, hidden),
        )


def answer_request(run: Run, action: Action, needle: Needle) -> RequestAnswer:
    """Q1: whether the literal occurs in the user's turns before the action."""
    records = [run.turn_record(turn) for turn in run.turns_before(action)]
    found = ((record.locator, occurs(needle, record)) for record in records)
    matches = tuple(Match(locator, how) for locator, how in found if how is not None)
    if matches:
        return RequestAnswer(Status.ANSWERED, True, matches)
    hidden = [record.locator for record in records if record.state is not RecordState.PRESENT]
    if not run.turns:
        hidden = [Locator(0)]
    if hidden:
        return RequestAnswer(Status.ABSTAIN, None, needed=needed_records(hidden))
    return _NOT_IN_REQUEST


def held_by(delivered: Deliveries, action: Action, needle: Needle) -> tuple[list[Match], list[Locator]]:
    """The earlier records that visibly hold the literal, and the locators of those hidden that may hold it."""
    matches: list[Match] = []
    hidden: list[Locator] = []
    for other in delivered.may_hold(needle, action.step):
        found = matches_in(needle, other)
        matches.extend(found)
        hidden.extend(_hidden_locators(other, {match.locator for match in found}))
    return matches, hidden


def _hidden_locators(action: Action, matched: set[Locator]) -> Iterable[Locator]:
    """What of an action's result is hidden and does not visibly match already."""
    result = action.result
    assert result is not None
    if result.elements:
        return [
            Locator(action.number, k)
            for k, content in enumerate(result.elements, start=1)
            if content.state in HIDDEN_STATES and Locator(action.number, k) not in matched
        ]
    if result.content.state not in HIDDEN_STATES or Locator(action.number) in matched:
        return []
    return result.declared or [Locator(action.number)]


def answer_records(matches: list[Match], hidden: list[Locator]) -> RecordsAnswer:
    """Q2: H(s,a)."""
    if not matches and not hidden:
        return _NO_RECORD
    certain = _sorted(match.locator for match in matches)
    possible = _sorted([*certain, *hidden])
    if certain == possible:
        return RecordsAnswer(Status.ANSWERED, certain, matches=tuple(sorted(matches)))
    return RecordsAnswer(
        Status.ABSTAIN,
        None,
        bounds=Bounds(certain, possible),
        matches=tuple(sorted(matches)),
        needed=needed_records(hidden),
    )


def answer_cited(run: Run, action: Action, matches: list[Match], hidden: list[Locator]) -> RecordsAnswer:
    """Q3: J(s,a), the part of H(s,a) that the Basis of the action is bound to."""
    basis = action.account.basis
    if basis.state is BasisState.MISSING:
        return _BASIS_MISSING
    if basis.state is BasisState.EMPTY:
        return _NO_RECORD
    if basis.state is BasisState.IDS:
        return _answer_ids(run, action, matches, hidden)
    held = [match.locator for match in matches]
    if basis.state is BasisState.WITHHELD and run.table.state is TableState.COMPLETE:
        # The Basis may cite any id that was issued, and an id of a complete table names what its row says.
        named = [row.locator for row in run.table.rows]
        held = [locator for locator in held if any(other.covers(locator) for other in named)]
        hidden = list(part_bound(hidden, named))
    possible = _sorted([*held, *hidden])
    if basis.state is BasisState.MALFORMED and not possible:
        return _NO_RECORD
    needed = needed_for_cited(
        action.id,
        basis.state,
        table_complete=run.table.state is TableState.COMPLETE,
        matched=held,
        hidden=hidden,
    )
    return _open((), possible, needed=needed)


def _answer_ids(run: Run, action: Action, matches: list[Match], hidden: list[Locator]) -> RecordsAnswer:
    located = {row.local_id: row.locator for row in run.table.rows}
    cited = tuple(dict.fromkeys(action.account.basis.ids))
    bindings = tuple(Binding(local_id, located[local_id]) for local_id in cited if local_id in located)
    loose = tuple(local_id for local_id in cited if local_id not in located)
    complete = run.table.state is TableState.COMPLETE
    dangling, unbound = (loose, ()) if complete else ((), loose)

    bound = [row.locator for row in bindings]
    held = [match.locator for match in matches]
    cited_matches = tuple(sorted(m for m in matches if any(locator.covers(m.locator) for locator in bound)))
    certain = _sorted(match.locator for match in cited_matches)
    possible = _sorted([*held, *hidden] if unbound else [*certain, *part_bound(hidden, bound)])

    if certain == possible:
        return RecordsAnswer(
            Status.ANSWERED, certain, matches=cited_matches, bindings=bindings, dangling=dangling, unbound=unbound
        )
    return _open(
        certain,
        possible,
        matches=cited_matches,
        bindings=bindings,
        dangling=dangling,
        unbound=unbound,
        needed=needed_for_cited(
            action.id,
            BasisState.IDS,
            table_complete=complete,
            matched=held,
            hidden=hidden,
            bound=bound,
            unbound=unbound,
        ),
    )


def _open(certain: tuple[Locator, ...], possible: tuple[Locator, ...], **evidence: object) -> RecordsAnswer:
    return RecordsAnswer(Status.ABSTAIN, None, bounds=Bounds(certain, possible), **evidence)  # type: ignore[arg-type]


def _sorted(locators: Iterable[Locator]) -> tuple[Locator, ...]:
    return tuple(sorted(set(locators)))
