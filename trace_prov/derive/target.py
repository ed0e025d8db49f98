"""Which action, argument and literal a case asks about (CONTRACT §3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from trace_prov.finding import NotApplicable, Target
from trace_prov.model import Action, Argument, RecordState, Run

#: Normalised argument names in the order in which they are preferred; all others follow alphabetically.
PREFERRED_ARGUMENTS = ("recipient", "iban", "accountnumber", "password", "filepath", "date", "subject")

_DROPPED = re.compile(r"[_\- ]")

NO_ACTION = "the run has no action"
NO_TEXT_ARGUMENT = "no action has a non-empty top-level text argument"


@dataclass(frozen=True, slots=True)
class Question:
    """What an analyst asks; the default is the case's own target.

    `literal` replaces the value of the argument; without `action` it is asked of the case's target action, or of
    every action with `all_actions`.
    """

    all_actions: bool = False
    action: str | None = None
    argument: str | None = None
    literal: str | None = None


def normalised(name: str) -> str:
    """An argument's name as the contract compares it: lower case, without `_`, `-` and spaces."""
    return _DROPPED.sub("", name.lower())


def text_arguments(action: Action) -> list[Argument]:
    """The arguments whose value is a non-empty text, the preferred first."""
    usable = [
        argument
        for argument in action.arguments
        if argument.state is RecordState.PRESENT and isinstance(argument.value, str) and argument.value
    ]
    return sorted(usable, key=lambda argument: _rank(argument.name))


@lru_cache(maxsize=1024)  # a tool's arguments have few names, and each is compared again and again
def _rank(name: str) -> tuple[int, str, str]:
    key = normalised(name)
    place = PREFERRED_ARGUMENTS.index(key) if key in PREFERRED_ARGUMENTS else len(PREFERRED_ARGUMENTS)
    return place, key, name


def target_action(run: Run) -> Action | None:
    """The first action with an earlier external record and a text argument, else the first with a text."""
    first_delivery = min(
        (other.result.after_step for other in run.actions if other.result and other.has_records), default=None
    )
    fallback = None
    for action in run.actions:
        if not text_arguments(action):
            continue
        if first_delivery is not None and first_delivery < action.step:
            return action
        fallback = fallback or action
    return fallback


def targets(run: Run, question: Question) -> Iterator[tuple[Action, Target] | NotApplicable]:
    """What to answer in this run: one target, or one for each action; NotApplicable says why there is none."""
    if question.all_actions:
        if not run.actions:
            yield _not_applicable(run, NO_ACTION)
        for action in run.actions:
            yield _target_of(run, action, question, named=True)
        return
    if question.action is not None:
        named = run.action(question.action)
        if named is None:
            yield _not_applicable(run, no_such_action(question.action, [action.id for action in run.actions]))
        else:
            yield _target_of(run, named, question, named=True)
        return
    chosen = target_action(run)
    if chosen is None:
        yield _not_applicable(run, NO_TEXT_ARGUMENT if run.actions else NO_ACTION)
    else:
        yield _target_of(run, chosen, question, named=False)


def _target_of(run: Run, action: Action, question: Question, *, named: bool) -> tuple[Action, Target] | NotApplicable:
    if question.literal is not None:
        return action, Target(action.id, question.argument, question.literal)
    texts = text_arguments(action)
    usable = [argument for argument in texts if question.argument in (None, argument.name)]
    if not usable:
        reason = no_such_argument(action.id, question.argument, [argument.name for argument in texts])
        return NotApplicable(run.source.name, run.id, reason, action.id if named else None)
    return action, Target(action.id, usable[0].name, usable[0].value)


def no_such_action(asked: str, known: Sequence[str]) -> str:
    """Why nothing can be asked of an action that the run lacks."""
    if not known:
        return NO_ACTION
    return f"the run has no action {asked}, only {known[0]}" + (f" to {known[-1]}" if len(known) > 1 else "")


def no_such_argument(action: str, asked: str | None, known: Sequence[str]) -> str:
    """Why an action gives no target: it lacks the argument asked about, or any that could be one."""
    if asked is None:
        return f"{action} has no non-empty top-level text argument"
    return f"{action} has no non-empty text argument {asked!r}; it has {', '.join(known) or 'none'}"


def _not_applicable(run: Run, reason: str) -> NotApplicable:
    return NotApplicable(run.source.name, run.id, reason)
