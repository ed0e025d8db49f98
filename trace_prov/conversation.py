"""From the messages of a conversation to a run: numbering, pairing, delivery, accounts, damage (CONTRACT §1, §4).

Every chat-like log format tells the same story: request turns, assistant messages with calls, results. A loader
reads its format and tells that story to a `Conversation`, in order; the rules that must not differ from one format to
the next stand here.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from operator import itemgetter

from trace_prov.account import WITHHELD, read_account, states_a_basis
from trace_prov.model import (
    Account,
    Action,
    Argument,
    BindingTable,
    Content,
    Diagnostic,
    JsonValue,
    RecordedInput,
    RecordState,
    Result,
    Run,
    Severity,
    Source,
    TableState,
    Turn,
    action_id,
)
from trace_prov.source import WrittenNumber, parse_exact_json


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the log has it. `arguments` is None when they are no object; `text` keeps what they are.

    `damage` says what of the call breaks the format: it was issued all the same, and has its number.
    """

    tool: str
    arguments: dict[str, JsonValue] | None
    native_id: str | None = None
    text: str | None = None
    oddities: tuple[str, ...] = ()
    damage: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result as the log has it, with whatever says which call it belongs to."""

    text: str
    native_id: str | None = None
    call: Call | None = None
    is_error: bool = False
    elements: tuple[str, ...] | None = None


@dataclass(slots=True)
class _Issued:
    number: int
    step: int
    call: Call
    result: Result | None = None


@dataclass(slots=True)
class Conversation:
    """Collects the events of one run in the order of the log."""

    turns: list[Turn] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _issued: list[_Issued] = field(default_factory=list)
    #: The calls that have no result yet and those that have one, by their call id; each in the order of issue.
    _open: dict[str | None, dict[int, _Issued]] = field(default_factory=dict)
    _closed: dict[str | None, list[_Issued]] = field(default_factory=dict)
    _texts: dict[int, str | None] = field(default_factory=dict)
    _damage: list[tuple[int, str]] = field(default_factory=list)
    _ids: dict[str, int] = field(default_factory=dict)
    _step: int = 0
    _deliveries: int = 0
    _holds_accounts: bool = False

    @property
    def last_step(self) -> int:
        return self._step

    def note(self, code: str, place: str, message: str, severity: Severity = Severity.NOTE) -> None:
        self.diagnostics.append(Diagnostic(code, severity, place, message))

    def damage(self, place: str, message: str, code: str = "damaged") -> None:
        """Something in the log cannot be read; it may have held the result of any call that has none yet."""
        self._damage.append((self._step, place))
        self.note(code, place, message, Severity.ERROR)

    def damaged_result(self, native_id: str | None, place: str, message: str) -> None:
        """A result whose content cannot be read. The open call that it names has it; else any open call may."""
        issued = self._open_call(native_id)
        if issued is None:
            self.damage(place, message)
            return
        self.damaged_part(place, message)
        self._deliver(issued, Result(Content(None, RecordState.UNREADABLE), self._step, self._deliveries + 1))

    def damaged_part(self, place: str, message: str) -> None:
        """Something cannot be read that holds no result, since it is known what it was."""
        self.note("damaged", place, message, Severity.ERROR)

    def request(self, text: str | None) -> None:
        """A turn of the real user; None: it cannot be read."""
        content = Content(None, RecordState.UNREADABLE) if text is None else Content(text)
        self.turns.append(Turn(len(self.turns) + 1, content, self._step))

    def assistant(self, text: str | None, calls: Iterable[Call], place: str) -> None:
        """An assistant message; its calls, if any, are one step and share its text as their account.

        None: the text cannot be read; then what the account says is not known.
        """
        self._holds_accounts = self._holds_accounts or (text is not None and states_a_basis(text))
        calls = list(calls)
        if not calls:
            return
        self._step += 1
        self._texts[self._step] = text
        for call in calls:
            issued = _Issued(len(self._issued) + 1, self._step, call)
            self._issued.append(issued)
            self._open.setdefault(call.native_id, {})[issued.number] = issued
            self._report_reused_id(issued, place)
            if call.damage is not None:
                self.note("damaged", place, f"{action_id(issued.number)}: {call.damage}", Severity.ERROR)
            for oddity in call.oddities:
                self.note(
                    "not-strict-json",
                    place,
                    f"the arguments of {action_id(issued.number)} hold a {oddity}",
                    Severity.WARNING,
                )

    def _report_reused_id(self, issued: _Issued, place: str) -> None:
        native_id = issued.call.native_id
        if native_id is None:
            return
        first = self._ids.setdefault(native_id, issued.number)
        if first != issued.number:
            self.note(
                "reused-call-id",
                place,
                f"{action_id(issued.number)} has the call id {native_id!r} that {action_id(first)} had before; "
                "a result is paired with a call that is still open, in order",
                Severity.WARNING,
            )

    def result(self, outcome: Outcome, place: str) -> None:
        """A result; it goes to the open call that it names, else in order (CONTRACT §1)."""
        issued = self._pair(outcome, place)
        if issued is None:
            return
        elements = None if outcome.elements is None else tuple(Content(text) for text in outcome.elements)
        self._deliver(
            issued, Result(Content(outcome.text), self._step, self._deliveries + 1, outcome.is_error, elements)
        )

    def _deliver(self, issued: _Issued, result: Result) -> None:
        native_id = issued.call.native_id
        with_same_id = self._open[native_id]
        del with_same_id[issued.number]
        if not with_same_id:
            del self._open[native_id]
        self._closed.setdefault(native_id, []).append(issued)
        self._deliveries = result.order
        issued.result = result

    def _open_call(self, native_id: str | None) -> _Issued | None:
        """The first call with this id that has no result yet."""
        return None if native_id is None else next(iter(self._open.get(native_id, {}).values()), None)

    def _pair(self, outcome: Outcome, place: str) -> _Issued | None:
        named = self._open_call(outcome.native_id)
        if named is not None:
            return named
        if outcome.native_id is not None and self._told_before(outcome, place):
            return None
        # A call with an id waits for the result that names it, as long as another one may be meant.
        candidates: Collection[_Issued] = self._open.get(None, {}).values()
        same_call = _same_calls(outcome.call, candidates)
        if outcome.native_id is None and not (candidates and (same_call or outcome.call is None)):
            every = sorted((issued for calls in self._open.values() for issued in calls.values()), key=_number)
            same_call = same_call or _same_calls(outcome.call, every)
            candidates = candidates or every
        chosen = next(iter(same_call or candidates), None)
        if chosen is None:
            self.damage(place, f"a result without a call{_named(outcome)}", "result-without-call")
            return None
        rule = "the repeated call in it" if same_call else "the order of the open calls"
        ambiguous = len(same_call) > 1 or (not same_call and len(candidates) > 1)
        self.note(
            "paired-without-id",
            place,
            f"the result has no usable call id; paired with {action_id(chosen.number)} by {rule}",
            Severity.WARNING if ambiguous else Severity.NOTE,
        )
        return chosen

    def _told_before(self, outcome: Outcome, place: str) -> bool:
        """Whether a call with this id has its result already: told twice is one event, anything else is reported."""
        closed = self._closed.get(outcome.native_id)
        if not closed:
            return False
        for issued in closed:
            if issued.result is not None and issued.result.content.text == outcome.text:
                self.note("repeated-result", place, f"the result of {action_id(issued.number)} is told again")
                return True
        message = f"another result for {action_id(closed[-1].number)}{_named(outcome)}; the first one is kept"
        self.damage(place, message, "second-result")  # it may be that of a call that has none
        return True

    def finish(
        self,
        source: Source,
        *,
        agent: str | None = None,
        task: str | None = None,
        inputs: tuple[RecordedInput, ...] | None = None,
        table: BindingTable | None = None,
    ) -> Run:
        """The run. `inputs` and `table` come from a native sidecar; a log that has one holds accounts."""
        holds_accounts = self._holds_accounts or inputs is not None
        accounts = {
            step: WITHHELD if text is None or not holds_accounts else read_account(text)
            for step, text in self._texts.items()
        }
        actions = tuple(self._action(issued, accounts[issued.step]) for issued in self._issued)
        return Run(
            id=run_id(source),
            source=source,
            turns=tuple(self.turns),
            actions=actions,
            table=table or BindingTable(TableState.NONE),
            inputs=inputs or (),
            agent=agent,
            task=task,
            diagnostics=tuple(self.diagnostics),
        )

    def _action(self, issued: _Issued, account: Account) -> Action:
        call = issued.call
        result = issued.result or self._lost_result(issued)
        if result is None:
            self.note("no-result", action_id(issued.number), f"{action_id(issued.number)} ({call.tool}) has no result")
        arguments = tuple(Argument(name, value) for name, value in (call.arguments or {}).items())
        return Action(
            number=issued.number,
            step=issued.step,
            tool=call.tool,
            arguments=arguments,
            account=account,
            result=result,
            native_id=call.native_id,
            arguments_text=call.text if call.arguments is None else None,
        )

    def _lost_result(self, issued: _Issued) -> Result | None:
        """An unreadable result where damage after the call may have held it (CONTRACT §1)."""
        after = bisect_left(self._damage, issued.step, key=itemgetter(0))
        if after == len(self._damage):
            return None
        step, place = self._damage[after]
        self.note(
            "unreadable-result",
            action_id(issued.number),
            f"{action_id(issued.number)} has no readable result; {place} may have held it",
            Severity.WARNING,
        )
        self._deliveries += 1
        return Result(Content(None, RecordState.UNREADABLE), step, self._deliveries)


def _named(outcome: Outcome) -> str:
    return "" if outcome.native_id is None else f" (call id {outcome.native_id!r})"


def _number(issued: _Issued) -> int:
    return issued.number


def _same_calls(call: Call | None, among: Iterable[_Issued]) -> list[_Issued]:
    return [] if call is None else [issued for issued in among if _same(issued.call, call)]


def _same(call: Call, other: Call) -> bool:
    return call.tool == other.tool and call.arguments == other.arguments and call.text == other.text


def call_id(value: JsonValue) -> str | None:
    """A call's id as the log has it; None when it has none. An id that is no text is its JSON text."""
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else to_json_text(value)


def to_json_text(value: JsonValue) -> str:
    """A structured value of a log as a text, its numbers as written (CONTRACT §2)."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{to_json_text(name)}: {to_json_text(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(to_json_text, value)) + "]"
    return value.text if isinstance(value, WrittenNumber) else json.dumps(value, ensure_ascii=False)


def run_id(source: Source) -> str:
    """The run's IRI: from the bytes of the log and its sidecar, so that the same evidence is the same run."""
    parts = [source.sha256, source.sidecar_sha256 or "", str(source.member)]
    digest = hashlib.sha256("|".join(parts).encode()).hexdigest()
    return f"urn:trace-prov:run:{digest[:32]}"


def read_arguments(tool: str, written: str, native_id: str | None) -> Call:
    """A call whose arguments are a JSON text, opened once more where they were encoded twice.

    Arguments that are no object are kept as the text that they are.
    """
    value: JsonValue = written
    oddities: tuple[str, ...] = ()
    for _ in range(2):
        try:
            parsed = parse_exact_json(value)
        except (ValueError, RecursionError):
            return Call(tool, None, native_id, written)
        value, oddities = parsed.value, parsed.oddities
        if not isinstance(value, str):
            break
    return Call(tool, value if isinstance(value, dict) else None, native_id, written, oddities)


def with_diagnostics(run: Run, extra: Iterable[Diagnostic]) -> Run:
    extra = tuple(extra)
    return replace(run, diagnostics=(*run.diagnostics, *extra)) if extra else run
