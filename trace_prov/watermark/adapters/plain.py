"""The watermark around plain Python functions: one decorator for the policy, one for the tools.

mark = Marked(keys, scheme, run_id="run-17", task="book a room", rng=random.Random())

@mark.policy            # returns {action: probability}; the decorated function returns the action to take
def think(observation): ...

@mark.tool              # the agent gets what the tool returned; the log may get a ghost record as well
def act(action): ...
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import ParamSpec

from trace_prov.errors import UsageError
from trace_prov.watermark.embed import Choice, Embedder, Uniform
from trace_prov.watermark.keys import Keys
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.trajectory import OBSERVATION, Record, Run, command_record

P = ParamSpec("P")


class Marked:
    """One run of a plain agent. `choices` says for each decision whether the key decided, and if not, why."""

    def __init__(
        self, keys: Keys, scheme: Scheme, *, run_id: str, task: str | None, rng: Uniform, salt: str | None = None
    ) -> None:
        own = run_id if salt is None else salt
        self._embedder = Embedder(keys, scheme, run_id=run_id, salt=own, task=task, rng=rng)
        self._chosen: str | None = None

    def policy(self, function: Callable[P, Mapping[str, float]]) -> Callable[P, str]:
        """Decorate a function that returns a probability for each candidate action."""

        @functools.wraps(function)
        def decide(*args: P.args, **kwargs: P.kwargs) -> str:
            if self._chosen is not None:
                raise UsageError("a decision was made but no tool was called for it: decorate the tool with @mark.tool")
            offered = function(*args, **kwargs)
            choice = self._embedder.decide(list(offered), list(offered.values()))
            self._chosen = choice.action
            return choice.action

        return decide

    def tool(self, function: Callable[P, str]) -> Callable[P, str]:
        """Decorate a function that executes the chosen action and returns what the agent shall see."""

        @functools.wraps(function)
        def execute(*args: P.args, **kwargs: P.kwargs) -> str:
            if self._chosen is None:
                raise UsageError("a tool was called without a decision: decorate the policy with @mark.policy")
            seen = function(*args, **kwargs)
            self._embedder.record(command_record(self._chosen), [Record(OBSERVATION, seen)])
            self._chosen = None
            return seen

        return execute

    @property
    def choices(self) -> list[Choice]:
        """The decisions so far."""
        return self._embedder.choices

    def run(self) -> Run:
        """Return the log to deliver."""
        return self._embedder.run()
