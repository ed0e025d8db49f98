"""Redaction: single results, list elements, argument values, accounts and request turns of a run are blacked out.

A rule names what to hide, wherever a run has it:

    act-03.result           a whole result            tool:read_file.result     all results of a tool
    act-03.result[2]        one element of a list     *.argument.password       this argument of every call
    act-03.argument.body    the value of an argument  act-03.arguments          all argument values of a call
    act-03.account          what was written before the call (and for the others of its message)
    request.user[1]         one turn of the request   request.user              all of it

Recorded inputs that give the text of a hidden record lose it too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trace_prov.account import WITHHELD
from trace_prov.errors import FormatError, SourceError
from trace_prov.model import (
    Action,
    Argument,
    Content,
    Locator,
    Record,
    RecordedInput,
    RecordState,
    Result,
    Run,
    action_id,
)

_RULE = re.compile(
    r"(?:(?P<action>act-[0-9]{2,9})|(?P<all>\*)|tool:(?P<tool>.+?))"
    r"\.(?:(?P<part>result|account|arguments)(?:\[(?P<element>[1-9][0-9]{0,8})\])?|argument\.(?P<argument>.+))",
    re.DOTALL,
)
_REQUEST = re.compile(r"request\.user(?:\[(?P<turn>[1-9][0-9]{0,8})\])?")
EXPECTED = (
    "a rule such as act-03.result, act-03.result[2], act-03.argument.body, act-03.arguments, act-03.account, "
    "tool:read_file.result, *.argument.password or request.user[1]"
)
REDACTED = Content(None, RecordState.REDACTED)


class RuleError(ValueError):
    """A text is no redaction rule; callers say where it stood."""

    expected = EXPECTED


@dataclass(frozen=True, slots=True)
class Rule:
    """One redaction rule; `text` is how it was written."""

    text: str
    part: str
    action: str | None = None
    tool: str | None = None
    element: int = 0
    argument: str | None = None

    def selects(self, action: Action) -> bool:
        return self.action in (None, action.id) and self.tool in (None, action.tool)


def parse_rule(text: str) -> Rule:
    """Read a rule as written; raises RuleError when it is none."""
    request = _REQUEST.fullmatch(text)
    if request is not None:
        return Rule(text, "request", element=int(request["turn"] or 0))
    match = _RULE.fullmatch(text)
    if match is None or (match["element"] and match["part"] != "result"):
        raise RuleError(text)
    action = match["action"]
    if action is not None:
        number = int(action.removeprefix("act-"))
        if number == 0:
            raise RuleError(text)
        action = action_id(number)
    part = match["part"] or "argument"
    return Rule(text, part, action, match["tool"], int(match["element"] or 0), match["argument"])


def read_rules(path: Path) -> tuple[Rule, ...]:
    """The rules of a file, one a line; blank lines and lines that start with # say nothing."""
    try:
        lines = path.read_bytes().decode("utf-8-sig").splitlines()
    except OSError as error:
        raise SourceError(str(path), expected="a readable file", found=error.strerror or str(error)) from None
    except UnicodeDecodeError as error:
        raise FormatError(str(path), place=f"byte {error.start}", expected="UTF-8 text", found="other bytes") from None
    rules = []
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                rules.append(parse_rule(line.strip()))
            except RuleError as error:
                raise FormatError(
                    str(path), place=f"line {number}", expected=error.expected, found=repr(line)
                ) from None
    return tuple(rules)


@dataclass(frozen=True)
class Redacted:
    """A run after redaction, and the rules that found something in it.

    `widened` are elements hidden beside a redacted one because their own text cannot be read without it.
    """

    run: Run
    used: frozenset[Rule]
    widened: tuple[Locator, ...] = ()


def redact(run: Run, rules: Sequence[Rule], *, declare_elements: bool = False) -> Redacted:
    """The run with what the rules name hidden. A list hidden as a whole declares its elements if asked to."""
    used: set[Rule] = set()
    widened: list[Locator] = []
    actions = []
    steps_without_account = {
        action.step for action in run.actions for rule in _choosing(rules, action, "account", used)
    }
    for action in run.actions:
        changed = _with_hidden_arguments(action, rules, used)
        if action.step in steps_without_account:
            changed = replace(changed, account=WITHHELD)
        if action.result is not None and action.has_records:
            result, more = _hidden_result(action, action.result, rules, used, declare_elements)
            changed = replace(changed, result=result)
            widened.extend(more)
        actions.append(changed)
    turns = run.turns
    for rule in rules:
        if rule.part == "request" and any(rule.element in (0, turn.number) for turn in turns):
            used.add(rule)
            turns = tuple(
                replace(turn, content=REDACTED) if rule.element in (0, turn.number) else turn for turn in turns
            )
    shown = replace(run, actions=tuple(actions), turns=turns)
    return Redacted(replace(shown, inputs=without_hidden_texts(shown)), frozenset(used), tuple(widened))


def without_hidden_texts(run: Run) -> tuple[RecordedInput, ...]:
    """The recorded inputs; those whose record, or a part of it, is not visible lose their text."""
    records = {record.locator: record for action in run.actions for record in action.records}
    records |= {record.locator: record for record in map(run.turn_record, run.turns)}

    def visible(locator: Locator) -> bool:
        touched = [record for other, record in records.items() if locator.covers(other) or other.covers(locator)]
        return bool(touched) and all(record.state is RecordState.PRESENT for record in touched)

    return tuple(row if row.text is None or visible(row.locator) else replace(row, text=None) for row in run.inputs)


def _choosing(rules: Iterable[Rule], action: Action, part: str, used: set[Rule]) -> Iterator[Rule]:
    for rule in rules:
        if rule.part == part and rule.selects(action):
            used.add(rule)
            yield rule


def _with_hidden_arguments(action: Action, rules: Sequence[Rule], used: set[Rule]) -> Action:
    all_values = any(list(_choosing(rules, action, "arguments", used)))
    names = set()
    for rule in rules:
        if rule.part == "argument" and rule.selects(action) and action.argument(rule.argument or "") is not None:
            used.add(rule)
            names.add(rule.argument)
    arguments = tuple(
        Argument(argument.name, None, RecordState.REDACTED) if all_values or argument.name in names else argument
        for argument in action.arguments
    )
    # A text that holds all arguments would tell the hidden one.
    text = None if all_values or names else action.arguments_text
    return replace(action, arguments=arguments, arguments_text=text)


def _hidden_result(
    action: Action, result: Result, rules: Sequence[Rule], used: set[Rule], declare_elements: bool
) -> tuple[Result, list[Locator]]:
    records = action.records
    elements = {record.locator.element for record in records if record.locator.element}
    whole, hidden = False, set()
    for rule in rules:
        if rule.part != "result" or not rule.selects(action):
            continue
        if rule.element == 0:
            whole = True
            used.add(rule)
        elif rule.element in elements:
            hidden.add(rule.element)
            used.add(rule)
    if whole:
        declared = tuple(record.locator for record in records) if declare_elements and elements else ()
        return replace(result, content=REDACTED, elements=None, declared=declared), []
    if not hidden:
        return _without_whole(result), []
    widened = [] if result.elements else _unreadable_alone(records, hidden)
    contents = tuple(
        REDACTED
        if record.locator.element in hidden
        else Content(None, RecordState.WITHHELD)
        if record.locator in widened
        else record.content
        for record in records
    )
    return replace(result, content=REDACTED, elements=contents), widened


def _without_whole(result: Result) -> Result:
    """A list of which the log itself hides an element must not show the element by way of the whole."""
    if result.elements and any(element.state is not RecordState.PRESENT for element in result.elements):
        return replace(result, content=REDACTED)
    return result


def _unreadable_alone(records: Sequence[Record], hidden: Collection[int]) -> list[Locator]:
    """The elements that read differently once the list around them is gone: indented lists, references in YAML.

    Such an element would no longer show what it held, so it cannot stay visible beside a hidden one.
    """
    return [
        record.locator
        for record in records
        if record.locator.element not in hidden and Record(record.locator, record.content).decoded != record.decoded
    ]
