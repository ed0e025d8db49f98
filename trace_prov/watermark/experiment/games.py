"""Text games as worlds: TextWorld games and problems in ALFWorld's domain, both made offline (WATERMARK §3).

The policy is uniform over the admissible commands with a bonus on the next command of a plan. It plays neither well
nor badly, its entropy is known at every step, and any change that a watermark makes to success is real.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from trace_prov.watermark.errors import EnvironmentMissingError
from trace_prov.watermark.experiment.household import next_command, problem
from trace_prov.watermark.methods import Method
from trace_prov.watermark.power import softmax
from trace_prov.watermark.trajectory import OBSERVATION, Record, Run, command_record

BONUS = 2.5


@dataclass(frozen=True, slots=True)
class State:
    """What an agent sees at one moment, and what the planner would do next."""

    text: str
    commands: tuple[str, ...]
    planned: str | None
    won: bool
    over: bool


class Game(Protocol):
    """One game that can be started again and again."""

    name: str
    task: str

    def reset(self) -> State:
        """Start from the beginning."""
        ...

    def step(self, command: str) -> State:
        """Execute a command."""
        ...


@dataclass(frozen=True, slots=True)
class Episode:
    """One played game."""

    run: Run
    won: bool
    steps: int
    seconds: float


def play(game: Game, method: Method, repeat: int, limit: int, *, bonus: float = BONUS, seed: int = 0) -> Episode:
    """Play a game once. Seeds are paired: the same game and repeat have the same generator under every method."""
    name = f"{game.name}/{repeat:03}"
    rng = np.random.default_rng([seed, repeat, *game.name.encode()])
    session = method.session(name, f"salt:{seed}:{name}", game.task, rng)
    state, steps = game.reset(), 0
    while not state.over and steps < limit and state.commands:
        logits = np.array([bonus if command == state.planned else 0.0 for command in state.commands])
        command = session.decide(state.commands, softmax(logits).tolist())
        state = game.step(command)
        session.record(command_record(command), [Record(OBSERVATION, state.text.strip())])
        steps += 1
    return Episode(session.run(), state.won, steps, session.seconds)


def _textworld() -> Any:
    try:
        import textworld  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        hint = "pip install trace-prov[watermark-env]"
        raise EnvironmentMissingError("textworld", expected="an installed package", found="none", hint=hint) from error
    return textworld


class TextWorldGame:
    """A generated TextWorld game: 5 rooms, 10 objects, a quest of 5 actions."""

    def __init__(self, folder: Path, number: int, *, rooms: int = 5, objects: int = 10, quest: int = 5) -> None:
        textworld = _textworld()
        self.name = f"textworld-{number:03}"
        path = folder / f"{self.name}.z8"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            options = textworld.GameOptions()
            options.seeds, options.path = number, str(path)
            options.nb_rooms, options.nb_objects, options.quest_length = rooms, objects, quest
            with _quiet():
                textworld.make(options)
        wanted = textworld.EnvInfos(
            admissible_commands=True, policy_commands=True, won=True, lost=True, feedback=True, objective=True
        )
        self._env = textworld.start(str(path), wanted)
        self.task = str(self._env.reset().objective)

    def reset(self) -> State:
        return self._state(self._env.reset(), False)

    def step(self, command: str) -> State:
        state, _, done = self._env.step(command)
        return self._state(state, bool(done))

    @staticmethod
    def _state(state: Any, done: bool) -> State:
        planned = state.policy_commands[0] if state.policy_commands else None
        return State(str(state.feedback), tuple(sorted(set(state.admissible_commands))), planned, bool(state.won), done)


class HouseholdGame:
    """A generated problem in ALFWorld's PDDL domain: heat, cool or clean something and put it somewhere."""

    def __init__(self, number: int) -> None:
        textworld = _textworld()
        with _own_arguments():
            try:
                from textworld.envs.pddl import pddl  # type: ignore[import-not-found,unused-ignore]
            except ImportError as error:
                hint = "pip install trace-prov[watermark-alfworld]"
                raise EnvironmentMissingError(
                    "alfworld", expected="textworld[pddl]", found="none", hint=hint
                ) from error
            domain, grammar = _alfworld_data()
            made = self._problem = problem(number)
            self.name, self.task = f"alfworld-{number:03}", made.task
            wanted = textworld.EnvInfos(admissible_commands=True, won=True, feedback=True)
            self._env = _named(pddl.PddlEnv)(wanted)
            grammar = grammar.replace("UNKNOWN GOAL", made.task.removesuffix("."))
            self._env.load({"pddl_domain": domain, "grammar": grammar, "pddl_problem": made.pddl})

    def reset(self) -> State:
        with _own_arguments():
            return self._state(self._env.reset())

    def step(self, command: str) -> State:
        with _own_arguments():
            return self._state(self._env.step(command)[0])

    def _state(self, state: Any) -> State:
        facts = {
            (fact.name.lower(), *(variable.name.lower() for variable in fact.arguments)) for fact in state["_facts"]
        }
        won = bool(state["won"])
        planned = None if won else next_command(self._problem, facts)
        commands = tuple(command for command in state["admissible_commands"] if command != "help")
        return State(str(state["feedback"]), commands, planned, won, won)


def _named(env: Any) -> Any:
    """ALFWorld's names have spaces; the PDDL ones cannot."""

    class Named(env):  # type: ignore[misc]
        def _get_entity_infos(self) -> Any:
            infos = super()._get_entity_infos()
            for info in infos.values():
                info.name = info.id.replace("_", " ")
            return infos

    return Named


def _alfworld_data() -> tuple[str, str]:
    """Read domain and grammar from the installed package without importing it (its own imports need torch)."""
    from importlib.util import find_spec

    spec = find_spec("alfworld")
    if spec is None or not spec.submodule_search_locations:
        hint = "pip install --no-deps alfworld"
        raise EnvironmentMissingError("alfworld", expected="an installed package", found="none", hint=hint)
    data = Path(next(iter(spec.submodule_search_locations))) / "data"
    return (data / "alfred.pddl").read_text(), (data / "alfred.twl2").read_text()


@contextlib.contextmanager
def _own_arguments() -> Iterator[None]:
    """Fast Downward overwrites sys.argv when a game is loaded or replanned, and prints."""
    kept = list(sys.argv)
    with _quiet():
        try:
            yield
        finally:
            sys.argv[:] = kept


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield
