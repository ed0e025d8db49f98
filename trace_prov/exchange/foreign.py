"""Tool calls that others recorded -> a run. What both CASE and PROV can say of them, and the rules for what they leave
open.

Order: by stated numbers, else by stated succession, else by start times; calls whose order is not stated make no run.
Delivery: a result is delivered when its call ended; where no end is stated, before the next call was made. Both rules
are noted in the run's diagnostics, so nobody takes them for the record's own words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from trace_prov.account import WITHHELD
from trace_prov.errors import InputError
from trace_prov.model import (
    Account,
    Action,
    Argument,
    Binding,
    BindingTable,
    Content,
    Diagnostic,
    Locator,
    RecordState,
    Result,
    Run,
    Severity,
    Source,
    TableState,
    Turn,
)
from trace_prov.text import split_list


class UnorderedError(InputError):
    """The calls are there, but the file does not say in which order they were made."""


@dataclass
class ForeignResult:
    """What a call gave: a whole, its elements in order where they are given apart, and the nodes they come from."""

    content: Content
    node: str
    elements: list[tuple[str, Content]] = field(default_factory=list)
    is_error: bool = False


@dataclass
class ForeignCall:
    """A call; `number` and `after` (the node of the call before it) where the file states them."""

    node: str
    tool: str
    arguments: tuple[Argument, ...] = ()
    result: ForeignResult | None = None
    native_id: str | None = None
    number: int | None = None
    after: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    account: Account = WITHHELD


@dataclass
class ForeignRun:
    """The calls of one run in any order. `local_ids` are the names that nodes had for the agent."""

    node: str
    calls: list[ForeignCall]
    requests: list[tuple[str, Content]] = field(default_factory=list)
    local_ids: list[tuple[str, str]] = field(default_factory=list)
    agent: str | None = None
    notes: list[str] = field(default_factory=list)


def to_run(foreign: ForeignRun, source: Source) -> Run:
    """The run; raises UnorderedError when the order of the calls is not stated."""
    calls, rule = _ordered(foreign, source)
    after = [_after_step(calls, index) for index in range(len(calls))]
    place = {call.node: index for index, call in enumerate(calls)}
    delivered = sorted(
        (call for call in calls if call.result is not None), key=lambda c: (after[place[c.node]], place[c.node])
    )
    order = {call.node: position for position, call in enumerate(delivered, start=1)}
    actions = tuple(
        Action(
            number=index + 1,
            step=index + 1,
            tool=call.tool,
            arguments=call.arguments,
            account=call.account,
            result=None if call.result is None else _result(call.result, after[index], order[call.node]),
            native_id=call.native_id,
        )
        for index, call in enumerate(calls)
    )
    turns = tuple(Turn(number, content) for number, (_, content) in enumerate(foreign.requests, start=1))
    digest = hashlib.sha256(f"{source.sha256}\n{foreign.node}".encode()).hexdigest()
    run = Run(
        id=f"urn:trace-prov:run:{digest[:32]}",
        source=source,
        turns=turns,
        actions=actions,
        table=BindingTable(TableState.NONE),
        agent=foreign.agent,
        diagnostics=tuple(_diagnostics(foreign, rule, calls)),
    )
    return replace(run, table=_table(foreign, run, calls))


def json_object(text: str | None) -> dict[str, object] | None:
    """The JSON object that a text is; None when it is none."""
    try:
        value = json.loads(text or "")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _ordered(foreign: ForeignRun, source: Source) -> tuple[list[ForeignCall], str]:
    calls = foreign.calls
    numbers = [call.number for call in calls if call.number is not None]
    if len(numbers) == len(calls) and len(set(numbers)) == len(calls):
        return sorted(calls, key=lambda call: call.number or 0), "their numbers"
    chain = _chain(calls)
    if chain is not None:
        return chain, "their stated succession"
    starts = [call.start for call in calls if call.start is not None]
    if len(starts) == len(calls) and len(set(starts)) == len(calls) and _comparable(starts):
        return sorted(calls, key=lambda call: call.start or datetime.min), "their start times"
    raise UnorderedError(
        source.name,
        place=foreign.node,
        expected="the order of the calls, by number, succession or distinct start times",
        found=f"{len(calls)} calls without it",
    )


def _chain(calls: Sequence[ForeignCall]) -> list[ForeignCall] | None:
    """The calls along `after`, when that is one chain through all of them."""
    following = {call.after: call for call in calls if call.after is not None}
    known = {call.node for call in calls}
    first = [call for call in calls if call.after not in known]
    if len(first) != 1 or len(following) < len(calls) - 1:
        return None
    chain = [first[0]]
    while chain[-1].node in following and len(chain) < len(calls):
        chain.append(following[chain[-1].node])
    return chain if len(chain) == len(calls) else None


def _comparable(times: Iterable[datetime]) -> bool:
    """Times with and without a zone have no order among each other."""
    return len({time.tzinfo is None for time in times}) <= 1


def _after_step(calls: Sequence[ForeignCall], index: int) -> int:
    """The last step that was issued before the call at `index` ended; its own where no end is stated."""
    end, last = calls[index].end, index + 1
    for later in range(index + 1, len(calls)):
        start = calls[later].start
        if end is not None and start is not None and _comparable([end, start]) and start < end:
            last = later + 1
    return last


def _result(result: ForeignResult, after: int, order: int) -> Result:
    elements = tuple(content for _, content in result.elements) or None
    text = result.content.text
    if elements is not None and text is not None and result.content.state is RecordState.PRESENT:
        parts = split_list(text)
        if [part.text for part in parts] == [content.text for content in elements] or len(parts) == len(elements):
            elements = None  # reading the whole gives them, with their own slices of it
    return Result(result.content, after, order, result.is_error, elements)


def _table(foreign: ForeignRun, run: Run, calls: Sequence[ForeignCall]) -> BindingTable:
    """The local ids whose node stands at a locator; never complete, as the file does not say that it has them all."""
    at: dict[str, Locator] = {}
    for (node, _), locator in zip(foreign.requests, run.turn_locators, strict=True):
        at[node] = locator
    for number, call in enumerate(calls, start=1):
        if call.result is not None:
            at[call.result.node] = Locator(number)
            at |= {node: Locator(number, k) for k, (node, _) in enumerate(call.result.elements, start=1)}
    rows = {local_id: Binding(local_id, at[node]) for local_id, node in foreign.local_ids if node in at}
    return BindingTable(TableState.PARTIAL if rows else TableState.NONE, tuple(rows.values()))


def _diagnostics(foreign: ForeignRun, rule: str, calls: Sequence[ForeignCall]) -> Iterable[Diagnostic]:
    yield Diagnostic("call-order", Severity.NOTE, foreign.node, f"the calls are in the order of {rule}")
    if any(call.end is None for call in calls):
        message = "where no end of a call is stated, its result is taken as delivered before the next call"
        yield Diagnostic("delivery-assumed", Severity.NOTE, foreign.node, message)
    for note in foreign.notes:
        yield Diagnostic("not-mapped", Severity.WARNING, foreign.node, note)
