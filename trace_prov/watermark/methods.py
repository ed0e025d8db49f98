"""Ways to decide: the policy itself, the TRACE watermark, and the baselines, behind one small interface."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from trace_prov.watermark.baselines import Baseline
from trace_prov.watermark.embed import Embedder, Uniform, checked, sample
from trace_prov.watermark.keys import Keys
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.trajectory import Group, Record, Run


class Session(Protocol):
    """One run being decided."""

    seconds: float

    def decide(self, candidates: Sequence[str], probabilities: Sequence[float]) -> str:
        """Return the action to take."""
        ...

    def record(self, decision: Record, natural: Sequence[Record]) -> None:
        """Log the decision as executed and what came back."""
        ...

    def run(self) -> Run:
        """Return the log so far."""
        ...


class Method(Protocol):
    """A way to decide, for any number of runs."""

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    def session(self, run_id: str, salt: str, task: str, rng: Uniform) -> Session:
        """Start a run."""
        ...


class _Logged:
    """A session without ghosts: it logs what it is told."""

    def __init__(self, run_id: str, salt: str, task: str, rng: Uniform) -> None:
        self._id, self._salt, self._task, self._rng = run_id, salt, task, rng
        self._groups: list[Group] = []
        self._offered: tuple[tuple[str, ...], tuple[float, ...]] = ((), ())
        self.seconds = 0.0

    def decide(self, candidates: Sequence[str], probabilities: Sequence[float]) -> str:
        begin = time.perf_counter()
        actions, weights = checked(candidates, probabilities)
        self._offered = tuple(candidates), tuple(float(p) for p in probabilities)
        action = self._pick(actions, weights)
        self.seconds += time.perf_counter() - begin
        return action

    def _pick(self, actions: list[str], weights: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
        return sample(actions, weights, self._rng)

    def record(self, decision: Record, natural: Sequence[Record]) -> None:
        self._groups.append(Group(decision, tuple(natural), *self._offered))

    def run(self) -> Run:
        return Run(self._id, self._salt, self._task, tuple(self._groups))


@dataclass(frozen=True, slots=True)
class Base:
    """The policy, unmarked."""

    name: str = "base"

    def session(self, run_id: str, salt: str, task: str, rng: Uniform) -> Session:
        return _Logged(run_id, salt, task, rng)


class _Marked:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.seconds = 0.0

    def decide(self, candidates: Sequence[str], probabilities: Sequence[float]) -> str:
        begin = time.perf_counter()
        action = self._embedder.decide(candidates, probabilities).action
        self.seconds += time.perf_counter() - begin
        return action

    def record(self, decision: Record, natural: Sequence[Record]) -> None:
        begin = time.perf_counter()
        self._embedder.record(decision, natural)
        self.seconds += time.perf_counter() - begin

    def run(self) -> Run:
        return self._embedder.run()


@dataclass(frozen=True, slots=True)
class Trace:
    """The TRACE watermark under one key."""

    keys: Keys
    scheme: Scheme
    name: str = "trace"

    def session(self, run_id: str, salt: str, task: str, rng: Uniform) -> Session:
        return _Marked(Embedder(self.keys, self.scheme, run_id=run_id, salt=salt, task=task, rng=rng))


class _Biased(_Logged):
    def __init__(self, baseline: Baseline, run_id: str, salt: str, task: str, rng: Uniform) -> None:
        super().__init__(run_id, salt, task, rng)
        self._baseline = baseline
        self._used: set[bytes] = set()

    def _pick(self, actions: list[str], weights: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
        nonce = self._baseline.nonce.at(self._salt, self._task, self._groups, len(self._groups))
        if len(actions) == 1:
            return actions[0]
        # A fair variant masks repeats as the TRACE watermark does; without it a keyed choice repeats for ever.
        if self._baseline.dedupe and nonce in self._used:
            return sample(actions, weights, self._rng)
        self._used.add(nonce)
        return self._baseline.choose(nonce, actions, weights, self._rng)


@dataclass(frozen=True, slots=True)
class BaselineMethod:
    """A baseline scheme."""

    baseline: Baseline

    @property
    def name(self) -> str:
        """The baseline's name."""
        return self.baseline.name

    def session(self, run_id: str, salt: str, task: str, rng: Uniform) -> Session:
        return _Biased(self.baseline, run_id, salt, task, rng)
