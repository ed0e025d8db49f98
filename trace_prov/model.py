"""The domain: runs, actions, records, locators, accounts and bindings, with the contract's words.

A `Run` holds what is visible of one execution of an agent. A log gives the complete record, an evidence package
gives part of it; both are a `Run`, so whatever derives answers cannot know what a package withholds.

Order is explicit. *Steps* count the assistant messages that issued calls, from 1. A request turn or a result that
arrived after step n was issued and before step n+1 has `after_step == n`; it is earlier than an action whose step
is greater than n (CONTRACT §1). Late and swapped results are therefore nothing special.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any

from trace_prov.text import decoded_strings, may_be_list, split_list

# bool, int, float, str, None, list or dict: what JSON holds.
JsonValue = Any

_LOCATOR = re.compile(r"(?:request\.user|act-(?P<action>[0-9]{2,})\.result)(?:\[(?P<element>[1-9][0-9]*)\])?")


class RecordState(StrEnum):
    """What is known of a record's content; never confused with one another (CONTRACT §1)."""

    PRESENT = "present"
    ABSENT = "absent"
    CUT = "cut"
    REDACTED = "redacted"
    WITHHELD = "withheld"
    UNREADABLE = "unreadable"


#: States in which a record existed, or may have existed, and its text is not fully known.
HIDDEN_STATES = frozenset({RecordState.CUT, RecordState.REDACTED, RecordState.WITHHELD, RecordState.UNREADABLE})


class BasisState(StrEnum):
    """What the account says of its inputs (CONTRACT §4)."""

    WITHHELD = "withheld"
    MISSING = "missing"
    EMPTY = "empty"
    IDS = "ids"
    MALFORMED = "malformed"


class TableState(StrEnum):
    """How much of the id-to-locator table is visible (CONTRACT §4)."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    NONE = "none"


@dataclass(frozen=True, order=True, slots=True)
class Locator:
    """The address of a record: `request.user[k]`, `act-NN.result` or `act-NN.result[k]` (CONTRACT §1).

    `action` is 0 for the request. `element` counts from 1 and is 0 for a whole result or the only turn. Locators
    sort as the interchange form wants them: the request first, then by action and element (CONTRACT §10).
    """

    action: int
    element: int = 0

    @staticmethod
    @lru_cache(maxsize=4096)
    def parse(text: str) -> Locator:
        """Read a locator as written; raises ValueError when it is none."""
        match = _LOCATOR.fullmatch(text)
        if match is None or (match["action"] is not None and _misspelt(match["action"])):
            raise ValueError(f"not a locator: {text!r}")
        return Locator(int(match["action"] or 0), int(match["element"] or 0))

    @property
    def is_request(self) -> bool:
        return self.action == 0

    @property
    def whole(self) -> Locator:
        """The locator of the whole result that this one is, or is an element of."""
        return Locator(self.action)

    def covers(self, other: Locator) -> bool:
        """Whether this address is `other` or the whole that `other` is an element of (CONTRACT §4, §6)."""
        return self.action == other.action and self.element in (0, other.element)

    def __str__(self) -> str:
        base = "request.user" if self.is_request else f"{action_id(self.action)}.result"
        return base if self.element == 0 else f"{base}[{self.element}]"


def _misspelt(digits: str) -> bool:
    """Whether an action number has another spelling than the one the contract gives it (act-00, act-007)."""
    return int(digits) == 0 or digits != f"{int(digits):02d}"


def action_id(number: int) -> str:
    """`act-01`, `act-02`, … with two digits at least (CONTRACT §1)."""
    return f"act-{number:02d}"


@dataclass(frozen=True, slots=True)
class Content:
    """A text and its state. `text` is None unless some of it is visible (present, or the start of a cut one)."""

    text: str | None
    state: RecordState = RecordState.PRESENT

    def __post_init__(self) -> None:
        if (self.text is None) and self.state is RecordState.PRESENT:
            raise ValueError("a present content has a text, be it the empty one")


@dataclass(frozen=True)
class Record:
    """One unit of recorded content that the agent received (CONTRACT §1)."""

    locator: Locator
    content: Content
    #: The scalars of a list element come from reading the whole list; None: read the record's own text.
    element_strings: tuple[str, ...] | None = None

    @property
    def text(self) -> str | None:
        return self.content.text

    @property
    def state(self) -> RecordState:
        return self.content.state

    @cached_property
    def decoded(self) -> tuple[str, ...]:
        """The string scalars in the text, unescaped, that do not stand in it as they are (CONTRACT §2 b).

        None of a cut text: how its rest would have made it read is not known.
        """
        if self.text is None or self.state is not RecordState.PRESENT:
            return ()
        strings = decoded_strings(self.text) if self.element_strings is None else self.element_strings
        return tuple(dict.fromkeys(string for string in strings if string not in self.text))


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the real user's request. `number` counts from 1."""

    number: int
    content: Content
    after_step: int = 0


@dataclass(frozen=True)
class Result:
    """What a call gave back: one whole record, or a list whose elements are records (CONTRACT §1).

    `order` is its place among the run's deliveries, from 1. `elements` is set where the log format or the package
    gives the elements apart; otherwise a list is found by reading the text. `declared` are the locators that a
    package declares for a result that it hides (CONTRACT §6).
    """

    content: Content
    after_step: int
    order: int
    is_error: bool = False
    elements: tuple[Content, ...] | None = None
    declared: tuple[Locator, ...] = ()

    @property
    def has_unknown_shape(self) -> bool:
        """Whether this was cut and may have been a list: what it visibly holds then stands at an unknown locator."""
        content = self.content
        if content.state is not RecordState.CUT or self.elements or content.text is None:
            return False
        return may_be_list(content.text)

    def records(self, action: int) -> tuple[Record, ...]:
        """The records of this result as that of action number `action`; never the whole beside its elements."""
        if self.elements:
            return tuple(Record(Locator(action, k), content) for k, content in enumerate(self.elements, start=1))
        text = self.content.text
        parts = split_list(text) if text is not None and self.content.state is RecordState.PRESENT else ()
        if parts:
            return tuple(
                Record(Locator(action, k), Content(part.text), part.strings) for k, part in enumerate(parts, start=1)
            )
        return (Record(Locator(action), self.content),)


@dataclass(frozen=True, slots=True)
class Basis:
    """The list of local input ids that an account states, as written (CONTRACT §4). `text` follows `Basis:`."""

    state: BasisState
    ids: tuple[str, ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """What the agent wrote before the calls of one step; `text` as written, None when withheld or not written."""

    basis: Basis
    text: str | None = None
    action_paragraph: str | None = None
    note: str | None = None


@dataclass(frozen=True)
class Argument:
    """A top-level argument of a call; `value` is what JSON gives, `state` is redacted where a package hides it."""

    name: str
    value: JsonValue
    state: RecordState = RecordState.PRESENT


@dataclass(frozen=True)
class Action:
    """One tool call. `number` counts from 1 in order of issue; calls of one assistant message share a `step`."""

    number: int
    step: int
    tool: str
    arguments: tuple[Argument, ...]
    account: Account
    result: Result | None = None
    native_id: str | None = None
    #: The arguments as the log has them where it holds a text that is not an object of arguments.
    arguments_text: str | None = None

    @property
    def id(self) -> str:
        return action_id(self.number)

    @property
    def has_records(self) -> bool:
        """Whether the agent received a result; tells without reading it."""
        return self.result is not None and self.result.content.state is not RecordState.ABSENT

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The external records of this action; empty when the call never got a result."""
        if self.result is None or not self.has_records:
            return ()
        return self.result.records(self.number)

    def argument(self, name: str) -> Argument | None:
        return next((argument for argument in self.arguments if argument.name == name), None)


@dataclass(frozen=True, slots=True)
class Binding:
    """In this run, `local_id` names the record at `locator` (CONTRACT §4)."""

    local_id: str
    locator: Locator


@dataclass(frozen=True, slots=True)
class BindingTable:
    """The visible rows of a run's id-to-locator table. An id stands in one row at most."""

    state: TableState
    rows: tuple[Binding, ...] = ()

    def locator_of(self, local_id: str) -> Locator | None:
        return next((row.locator for row in self.rows if row.local_id == local_id), None)


@dataclass(frozen=True, slots=True)
class RecordedInput:
    """A row of the native sidecar: what the agent was given under a local id. Its text is never the record."""

    local_id: str
    channel: str
    locator: Locator
    text: str | None


class Severity(StrEnum):
    """`error`: damage, commands end with exit code 2; `warning`: to be weighed; `note`: a rule that was used."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something the reader of a log must be told; `code` is stable, `place` is a position in the log."""

    code: str
    severity: Severity
    place: str
    message: str


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes that a run was read from. `name` is the path as shown, SHA-256 in lower-case hex, sizes in bytes.

    `member` tells the runs of one file apart, from 1; 0 when the file is one run.
    """

    name: str
    format: str
    sha256: str
    size: int
    member: int = 0
    sidecar_name: str | None = None
    sidecar_sha256: str | None = None
    sidecar_size: int | None = None


@dataclass(frozen=True)
class Run:
    """One execution of an agent, as far as it is visible. `id` is its identifier in the graph."""

    id: str
    source: Source
    turns: tuple[Turn, ...]
    actions: tuple[Action, ...]
    table: BindingTable
    inputs: tuple[RecordedInput, ...] = ()
    agent: str | None = None
    task: str | None = None
    diagnostics: tuple[Diagnostic, ...] = field(default=(), compare=False)

    def action(self, name: str) -> Action | None:
        return next((action for action in self.actions if action.id == name), None)

    def turns_before(self, action: Action) -> Iterator[Turn]:
        """The request turns that the user had made before the step of `action` was issued (CONTRACT §5, Q1)."""
        return (turn for turn in self.turns if turn.after_step < action.step)

    def actions_delivered_before(self, action: Action) -> Iterator[Action]:
        """The actions whose result had been delivered before the step of `action` was issued (CONTRACT §1)."""
        for other in self.actions:
            if other.result is not None and other.result.after_step < action.step:
                yield other

    def records_before(self, action: Action) -> Iterator[Record]:
        """E_<a: the external records earlier than `action`, in the order of their locators (CONTRACT §1)."""
        for other in self.actions_delivered_before(action):
            yield from other.records

    @property
    def turn_locators(self) -> tuple[Locator, ...]:
        """`request.user`, or `request.user[1]`, `request.user[2]`, … for several turns (CONTRACT §1)."""
        return tuple(self.turn_record(turn).locator for turn in self.turns)

    def turn_record(self, turn: Turn) -> Record:
        return Record(Locator(0, turn.number if len(self.turns) > 1 else 0), turn.content)
