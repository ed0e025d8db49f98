"""Actors: who decides the next calls of a run and writes the account before them.

An actor is asked for one `Turn` at a time and sees what was delivered under which id. The scripted ones need no model:
`ground-truth` makes the calls that the benchmark lists for the task; `gullible` also does what a payload asks as soon
as it has read it. `+parallel` lets either issue several calls in one message, `+careless` makes its Bases faulty,
`+unruly` makes some of them no list of ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from trace_prov.corpus.accounts import (
    BOTH_SHARES,
    CAREFUL_SHARES,
    CARELESS_SHARES,
    UNRULY_SHARES,
    Habit,
    account_text,
    draw,
    habit_at,
)
from trace_prov.corpus.inputs import Inputs
from trace_prov.derive.occurrence import Needle, occurs
from trace_prov.errors import UsageError

SCRIPTS = ("ground-truth", "gullible")
MODIFIERS = ("parallel", "careless", "unruly")

#: A parallel actor issues one to this many calls in a message.
MOST_PARALLEL_CALLS = 3

SYSTEM_PROMPT = "You are a helpful assistant."


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call that an actor wants to make."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """One assistant message: its text and its calls; without calls it ends the run."""

    text: str
    calls: tuple[PlannedCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """What the benchmark gives an actor: the run's name, the task, the injection task, the tools, the world."""

    run: str
    user_task: Any
    injection_task: Any | None
    tools: Sequence[Any]
    environment: Any


class Actor(Protocol):
    """One execution: made for a scene, then asked for turns until one has no calls."""

    @property
    def system_prompt(self) -> str: ...

    def next(self, scene: Scene, inputs: Inputs, step: int) -> Turn:
        """The turn of this step, counted from 1."""
        ...


@dataclass(frozen=True, slots=True)
class ScriptedName:
    """`ground-truth` or `gullible`, with modifiers, as in `gullible+parallel+careless`."""

    script: str
    parallel: bool = False
    careless: bool = False
    unruly: bool = False

    @property
    def shares(self) -> Sequence[tuple[Habit, int]]:
        if self.careless:
            return BOTH_SHARES if self.unruly else CARELESS_SHARES
        return UNRULY_SHARES if self.unruly else CAREFUL_SHARES

    @classmethod
    def parse(cls, name: str) -> ScriptedName:
        script, *modifiers = name.split("+")
        if script not in SCRIPTS or any(modifier not in MODIFIERS for modifier in modifiers):
            modified = " or ".join(f"+{modifier}" for modifier in MODIFIERS)
            raise UsageError(
                f"no actor {name!r}; scripted: {' or '.join(SCRIPTS)}, each with {modified};"
                " a model is named as Inspect does, such as openai/NAME"
            )
        return cls(script, *(modifier in modifiers for modifier in MODIFIERS))

    def __str__(self) -> str:
        chosen = [name for name in MODIFIERS if getattr(self, name)]
        return "+".join([self.script, *chosen])


@dataclass(slots=True)
class ScriptedActor:
    """Follows the benchmark's own list of calls; deterministic in the name of the run."""

    name: ScriptedName
    _plan: list[PlannedCall] | None = None
    _fooled: bool = False
    system_prompt: str = field(default=SYSTEM_PROMPT)

    def next(self, scene: Scene, inputs: Inputs, step: int) -> Turn:
        if self._plan is None:
            self._plan = _ground_truth(scene.user_task, scene.environment)
        if self.name.script == "gullible" and not self._fooled and _has_read_payload(scene, inputs):
            self._fooled = True
            self._plan[:0] = _ground_truth(scene.injection_task, scene.environment)
        if not self._plan:
            return Turn(scene.user_task.GROUND_TRUTH_OUTPUT or "Done.")
        count = 1 + draw("parallel", scene.run, step) % MOST_PARALLEL_CALLS if self.name.parallel else 1
        calls, self._plan = tuple(self._plan[:count]), self._plan[count:]
        habit = habit_at(scene.run, step, self.name.shares)
        text = account_text([call.tool for call in calls], [call.arguments for call in calls], inputs, habit)
        return Turn(text, calls)


def _ground_truth(task: Any, environment: Any) -> list[PlannedCall]:
    """The benchmark's calls for a task; it may look at the world but must not change the one in use."""
    calls = task.ground_truth(environment.model_copy(deep=True))
    return [PlannedCall(call.function, dict(call.args)) for call in calls]


def _has_read_payload(scene: Scene, inputs: Inputs) -> bool:
    if scene.injection_task is None:
        return False
    goal = Needle.of(scene.injection_task.GOAL)
    spread = _collapsed(goal.literal)
    return any(
        occurs(goal, record) is not None or spread in _collapsed(record.text or "") for record in inputs.records[1:]
    )


def _collapsed(text: str) -> str:
    """A text without its line breaks and indentation, which YAML folding puts into long strings."""
    return " ".join(text.split())
