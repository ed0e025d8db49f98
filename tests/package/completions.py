"""All completions of a small visible run, by brute force, and what the questions mean in each (CONTRACT §5, §6).

Nothing here uses the derivation under test: H and J are written down once more, from their definitions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from trace_prov.model import (
    Account,
    Action,
    Basis,
    BasisState,
    Binding,
    BindingTable,
    Content,
    Locator,
    RecordState,
    Result,
    Run,
    TableState,
    Turn,
)

S = "s"
#: What a hidden result may say: nothing of interest, the literal, or a list that holds it here, there, or nowhere.
ANY_TEXT = ("", "s", '["x","x"]', '["s","x"]', '["x","s"]')
ANY_ELEMENT = ("x", "s")
#: What may follow the visible part of a cut text, so that lists, near lists and plain texts come about.
ANY_REST = ("", "s", "\n: - [", "\n- s", "]", ',"s"]', '"]', '","s"]', "- s", "-", "\n- x\n- s")


@dataclass(frozen=True)
class Completion:
    """One full record that agrees with a visible run: texts, what each cited id names, and the Basis.

    `named` maps cited ids to a locator, or to None where an id names nothing.
    """

    turns: tuple[str, ...]
    results: tuple[Result | None, ...]
    basis: Basis
    named: tuple[tuple[str, Locator | None], ...]


def completions(run: Run, action: Action) -> Iterator[Completion]:
    """Every completion over the small texts above that agrees with the rows that are visible."""
    turns = product(*(_turn_texts(turn) for turn in run.turns))
    for texts in turns:
        for results in product(*(list(_results_of(other)) for other in run.actions)):
            locators = list(_locators(run, results))
            addresses = {*locators, *(locator.whole for locator in locators)}
            if not all(row.locator in addresses for row in run.table.rows):
                continue
            for basis in _bases(run, action):
                cited = tuple(dict.fromkeys(basis.ids))
                for names in product(*(list(_names(run, local_id, locators)) for local_id in cited)):
                    yield Completion(texts, results, basis, tuple(zip(cited, names, strict=True)))


def _turn_texts(turn: Turn) -> tuple[str, ...]:
    return (turn.content.text,) if turn.content.state is RecordState.PRESENT else ("x", S)  # type: ignore[return-value]


def _results_of(action: Action) -> Iterator[Result | None]:
    result = action.result
    if result is None:
        yield None
        return
    state = result.content.state
    if result.elements:
        options = [
            (element.text,) if element.state is RecordState.PRESENT else ANY_ELEMENT for element in result.elements
        ]
        for texts in product(*options):
            yield replace(result, content=Content("?"), elements=tuple(Content(text) for text in texts))
    elif state is RecordState.PRESENT:
        yield result
    elif result.declared:
        for texts in product(ANY_ELEMENT, repeat=len(result.declared)):
            yield replace(result, content=Content("?"), elements=tuple(Content(text) for text in texts), declared=())
    elif state is RecordState.CUT:
        for rest in ANY_REST:
            yield replace(result, content=Content((result.content.text or "") + rest))
    else:
        if state is RecordState.UNREADABLE:
            yield None
        for text in ANY_TEXT:
            yield replace(result, content=Content(text))


def _locators(run: Run, results: tuple[Result | None, ...]) -> Iterator[Locator]:
    yield from run.turn_locators
    for action, result in zip(run.actions, results, strict=True):
        if result is not None:
            yield from (record.locator for record in result.records(action.number))


def _bases(run: Run, action: Action) -> Iterator[Basis]:
    basis = action.account.basis
    if basis.state is not BasisState.WITHHELD:
        yield basis
        return
    yield Basis(BasisState.MISSING)
    yield Basis(BasisState.EMPTY)
    known = tuple(row.local_id for row in run.table.rows)
    for ids in (("new-1",), ("new-1", "new-2"), *((one,) for one in known), known):
        if ids:
            yield Basis(BasisState.IDS, ids)


def _names(run: Run, local_id: str, locators: list[Locator]) -> Iterator[Locator | None]:
    row = run.table.locator_of(local_id)
    if row is not None:
        yield row
        return
    yield None
    if run.table.state is not TableState.COMPLETE:
        yield from locators


def q1_in(run: Run, action: Action, completion: Completion) -> bool:
    texts = zip(run.turns, completion.turns, strict=True)
    return any(S in text for turn, text in texts if turn.after_step < action.step)


def h_in(run: Run, action: Action, completion: Completion) -> frozenset[Locator]:
    return frozenset(
        record.locator
        for other, result in zip(run.actions, completion.results, strict=True)
        if result is not None and result.after_step < action.step
        for record in result.records(other.number)
        if record.text is not None and S in record.text
    )


def j_in(run: Run, action: Action, completion: Completion) -> list[frozenset[Locator] | str]:
    """What Q3 may be in this completion: more than one thing only where the Basis is malformed."""
    held = h_in(run, action, completion)
    if completion.basis.state is BasisState.MISSING:
        return ["basis_missing"]
    if completion.basis.state is BasisState.MALFORMED:
        return [frozenset(), *(frozenset({locator}) for locator in held)]
    named = [locator for _, locator in completion.named if locator is not None]
    return [
        frozenset(
            locator
            for locator in held
            if any(one in (locator, Locator(locator.action)) and not one.is_request for one in named)
        )
    ]


def reveal(run: Run, action: Action, completion: Completion, evidence: tuple[str, ...]) -> Run:
    """The visible run with further evidence shown as the completion has it; `evidence` in the words of `needed`."""
    named = dict(completion.named)
    if f"account of {action.id}" in evidence:
        shown = Account(completion.basis, "as it is")
        run = replace(run, actions=tuple(replace(a, account=shown) if a.id == action.id else a for a in run.actions))
    rows = list(run.table.rows)
    for local_id, locator in named.items():
        if local_id not in {row.local_id for row in rows} and (
            f"binding of {local_id}" in evidence or "binding table" in evidence
        ):
            # An id that is known to name nothing says as much as one that names the request.
            rows.append(Binding(local_id, Locator(0) if locator is None else locator))
    state = run.table.state
    if "binding table" in evidence:
        state = TableState.COMPLETE
    elif state is TableState.NONE and rows:
        state = TableState.PARTIAL
    run = replace(run, table=BindingTable(state, tuple(rows)))
    locators = [Locator.parse(text) for text in evidence if text.startswith(("act-", "request"))]
    actions = []
    for other, result in zip(run.actions, completion.results, strict=True):
        wanted = [locator.element for locator in locators if locator.action == other.number]
        actions.append(replace(other, result=_revealed(other, result, wanted)) if wanted else other)
    turns = tuple(
        replace(turn, content=Content(text)) if run.turn_record(turn).locator in locators else turn
        for turn, text in zip(run.turns, completion.turns, strict=True)
    )
    return replace(run, actions=tuple(actions), turns=turns)


def _revealed(action: Action, full: Result | None, wanted: list[int]) -> Result | None:
    if full is None or 0 in wanted:
        return full
    assert action.result is not None
    records = full.records(action.number)
    shown = action.result.elements or (Content(None, RecordState.WITHHELD),) * len(records)
    elements = tuple(
        record.content if record.locator.element in wanted else old for record, old in zip(records, shown, strict=True)
    )
    return replace(action.result, content=Content(None, RecordState.WITHHELD), elements=elements, declared=())
