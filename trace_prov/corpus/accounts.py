"""How a scripted actor accounts for its calls: an action paragraph, a Note and a Basis (CONTRACT §4).

The careful habit cites every input that holds an argument's value, or the request where none does. The careless habit
does so only mostly: it forgets the Basis, leaves it empty, cites something else, or an id that was never issued. The
unruly habit sometimes writes no list at all. What is done is drawn from the run and the step alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any

from trace_prov.corpus.inputs import Inputs
from trace_prov.derive.occurrence import Needle, occurs


class Habit(StrEnum):
    """How the Basis of one step is written."""

    CITES = "cites"
    FORGETS = "forgets"
    EMPTY = "empty"
    ELSEWHERE = "elsewhere"
    DANGLING = "dangling"
    MALFORMED = "malformed"


#: Of 100 steps of a careless actor; the paper's actors gave no Basis in 18 of 64 cases and cited some H in 24.
CARELESS_SHARES = (
    (Habit.CITES, 46),
    (Habit.FORGETS, 24),
    (Habit.EMPTY, 13),
    (Habit.ELSEWHERE, 12),
    (Habit.DANGLING, 5),
)
#: Of 100 steps of an unruly actor that is not careless too.
UNRULY_SHARES = ((Habit.CITES, 75), (Habit.MALFORMED, 25))
BOTH_SHARES = (*CARELESS_SHARES, (Habit.MALFORMED, 10))
CAREFUL_SHARES = ((Habit.CITES, 1),)


def draw(*parts: object) -> int:
    """A number that depends on the parts alone, the same on every machine and in every process."""
    return int.from_bytes(hashlib.sha256("|".join(map(str, parts)).encode()).digest()[:8], "big")


def habit_at(run: str, step: int, shares: Sequence[tuple[Habit, int]]) -> Habit:
    """What an actor with such shares does at a step of a run."""
    number = draw("habit", run, step) % sum(share for _, share in shares)
    for habit, share in shares:
        if number < share:
            return habit
        number -= share
    raise AssertionError("the shares cover every number")


def account_text(tools: Iterable[str], arguments: Iterable[dict[str, Any]], inputs: Inputs, habit: Habit) -> str:
    """The three parts before the calls of one step, each starting a line of its own (CONTRACT §10)."""
    arguments = list(arguments)
    cited = citations(arguments, inputs)
    note = _note(arguments, inputs)
    text = f"Action: I call {', then '.join(tools)} to go on with what was asked.\nNote: {note}"
    basis = _basis(habit, cited, inputs)
    return text if basis is None else f"{text}\nBasis: {basis}"


def citations(arguments: Iterable[dict[str, Any]], inputs: Inputs) -> list[str]:
    """The ids of the inputs in which some text argument occurs, in order of issue; the request's where none does."""
    held = {local_id for given in arguments for _, value in _texts(given) for local_id in _holders(value, inputs)}
    found = [row.local_id for row in inputs.rows if row.local_id in held]
    return found or [inputs.rows[0].local_id]


def _note(arguments: Iterable[dict[str, Any]], inputs: Inputs) -> str:
    """Where each text argument was read, by its first input; other arguments are the actor's own."""
    parts = []
    for name, value in (item for given in arguments for item in _texts(given)):
        ids = _holders(value, inputs)
        parts.append(f"{name} is in {ids[0]}" if ids else f"{name} is my own wording")
    return f"{'; '.join(parts)}." if parts else "nothing is taken from the inputs."


def _holders(value: str, inputs: Inputs) -> list[str]:
    needle = Needle.of(value)
    rows = zip(inputs.rows, inputs.records, strict=True)
    return [row.local_id for row, record in rows if occurs(needle, record)]


def _texts(given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in given.items():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str) and item:
                yield name, item


def _basis(habit: Habit, cited: list[str], inputs: Inputs) -> str | None:
    """What stands after `Basis:`; None where the line is left out."""
    others = [row.local_id for row in inputs.rows if row.local_id not in cited]
    match habit:
        case Habit.FORGETS:
            return None
        case Habit.EMPTY:
            return "[]"
        case Habit.ELSEWHERE:
            return f"[{', '.join(others[-1:] or cited[:1])}]"
        case Habit.DANGLING:
            return f"[{', '.join([*cited, f'in-{len(inputs.rows) + 40}'])}]"
        case Habit.MALFORMED:
            return f"{', '.join(cited)} and what I know"
    return f"[{', '.join(cited)}]"
