"""Other schemes to compare with: Red-Green, Agent Guide and AgentMark's AM-F (WATERMARK §2.7).

Each exists as published and in a fair variant: a secret key, the context of our scheme instead of a round number, the
same masking of repeats and the same deduplication. Sources: Kirchenbauer et al. 2023; Agent Guide, arXiv 2504.05871;
AgentMark, arXiv 2601.03294.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from trace_prov.watermark.context import selection_context
from trace_prov.watermark.embed import Uniform, sample
from trace_prov.watermark.prepare import in_fixed_order
from trace_prov.watermark.prf import digest, unit, units, words
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.stats import match_log_sf
from trace_prov.watermark.trajectory import Group, Run

Array = NDArray[np.float64]
#: the key of a scheme that has none (AgentMark's sampler hashes the context without a secret)
NO_SECRET = b"no secret"


@dataclass(frozen=True, slots=True)
class Nonce:
    """How a baseline keys a decision: by our context, by the round number, or by round and previous action.

    With a round number one deletion shifts the rest. AgentMark's sampler takes both: its key is the hash of the last
    entry of the history, its nonce the round number (`generate_contextual_key` in its source).
    """

    scheme: Scheme
    keyed: Literal["context", "round", "round and action"] = "context"

    def at(self, salt: str | None, task: str | None, groups: Sequence[Group], index: int) -> bytes:
        """Return the nonce of decision `index`, whose predecessors are `groups`."""
        if self.keyed == "round":
            return digest("round", salt, index)
        if self.keyed == "round and action":
            return digest("round and action", groups[-1].decision.action if groups else None, index)
        return selection_context(self.scheme, salt, task, groups[-max(1, self.scheme.window) :])


@dataclass(frozen=True, slots=True)
class BaselineResult:
    """Trials and hits of a binomial test under H0, with its exact ln p and a z for display."""

    trials: int
    hits: int
    log_p: float
    z: float


class Baseline(Protocol):
    """What the experiments need of a baseline."""

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    @property
    def nonce(self) -> Nonce:
        """How decisions are keyed."""
        ...

    @property
    def dedupe(self) -> bool:
        """Whether a repeated nonce counts once."""
        ...

    def choose(self, nonce: bytes, actions: Sequence[str], probabilities: Array, rng: Uniform) -> str:
        """Return the action for a decision."""
        ...

    def trials(self, nonce: bytes, group: Group) -> tuple[int, int] | None:
        """Return (trials, hits) of a logged decision, or None where it cannot be read."""
        ...


def binomial_test(baseline: Baseline, runs: Sequence[Run]) -> BaselineResult:
    """Return the baseline's exact binomial test over a pool."""
    count = hits = 0
    seen: set[bytes] = set()
    for run in in_fixed_order(runs):
        for index, group in enumerate(run.groups):
            nonce = baseline.nonce.at(run.salt, run.task, run.groups[:index][-4:], index)
            if baseline.dedupe and nonce in seen:
                continue
            found = baseline.trials(nonce, group)
            if found is not None:
                seen.add(nonce)
                count, hits = count + found[0], hits + found[1]
    z = (2 * hits - count) / math.sqrt(count) if count else 0.0
    return BaselineResult(count, hits, match_log_sf(hits, hits, count - hits, 0.5), z)


def _greens(key: bytes, name: bytes, nonce: bytes, actions: Sequence[str]) -> NDArray[np.bool_]:
    return np.asarray(units(key, [name + nonce + action.encode() for action in actions]) < 0.5)


@dataclass(frozen=True, slots=True)
class RedGreen:
    """Raise the logits of a keyed half of the candidates by delta; count how often the choice was green."""

    key: bytes
    nonce: Nonce
    dedupe: bool = True
    delta: float = 2.0
    name: str = "red-green"

    def distribution(self, nonce: bytes, actions: Sequence[str], probabilities: Array) -> Array:
        """The tilted distribution."""
        tilted = probabilities * np.exp(self.delta * _greens(self.key, b"rg", nonce, actions))
        return np.asarray(tilted / tilted.sum())

    def choose(self, nonce: bytes, actions: Sequence[str], probabilities: Array, rng: Uniform) -> str:
        """Sample from the tilted distribution."""
        return sample(actions, self.distribution(nonce, actions, probabilities), rng)

    def trials(self, nonce: bytes, group: Group) -> tuple[int, int] | None:
        """One trial: is the action green?"""
        if group.candidates is not None and len(group.candidates) < 2:
            return None
        return 1, int(_greens(self.key, b"rg", nonce, [group.decision.action])[0])


@dataclass(frozen=True, slots=True)
class AgentGuide:
    """Spread a mass over a keyed half of the candidates and renormalise."""

    key: bytes
    nonce: Nonce
    dedupe: bool = True
    mass: float = 0.5
    name: str = "agent-guide"

    def distribution(self, nonce: bytes, actions: Sequence[str], probabilities: Array) -> Array:
        """The guided distribution."""
        green = _greens(self.key, b"ag", nonce, actions)
        if not green.any():
            return probabilities
        guided = probabilities + self.mass * green / green.sum()
        return np.asarray(guided / guided.sum())

    def choose(self, nonce: bytes, actions: Sequence[str], probabilities: Array, rng: Uniform) -> str:
        """Sample from the guided distribution."""
        return sample(actions, self.distribution(nonce, actions, probabilities), rng)

    def trials(self, nonce: bytes, group: Group) -> tuple[int, int] | None:
        """One trial: is the action in the keyed half?"""
        if group.candidates is not None and len(group.candidates) < 2:
            return None
        return 1, int(_greens(self.key, b"ag", nonce, [group.decision.action])[0])


@dataclass(frozen=True, slots=True)
class AmF:
    """AgentMark's AM-F: bins of equal probability layers, and a keyed cyclic shift in the bin that carries bits.

    Sorted ascending, layer j holds the n-j most probable candidates with mass (p_j - p_{j-1})(n-j): picking a layer by
    mass and a member uniformly gives back p. The member is a truncated binary code of message bits, shifted by a keyed
    uniform number, so it is uniform whatever the message. Bits are random linear combinations of the payload.
    """

    key: bytes
    nonce: Nonce
    dedupe: bool = True
    payload: int = 0x5DEECE66D1CE4E5B
    name: str = "am-f"

    def choose(self, nonce: bytes, actions: Sequence[str], probabilities: Array, rng: Uniform) -> str:
        """Return the member of the layer that encodes the next bits."""
        members = self._layer(nonce, actions, probabilities)
        size = len(members)
        if size == 1:
            return members[0]
        short = int(math.log2(size))
        spare = 2 ** (short + 1) - size
        value = self._number(nonce, 0, short)
        if value >= spare:
            value = 2 * value + self._bit(nonce, short) - spare
        return members[(self._base(nonce, size) + value) % size]

    def trials(self, nonce: bytes, group: Group) -> tuple[int, int] | None:
        """As many trials as bits: do the decoded bits agree with the payload's?"""
        if group.candidates is None or group.probabilities is None or len(group.candidates) < 2:
            return None
        kept = [(c, p) for c, p in zip(group.candidates, group.probabilities, strict=True) if p > 0]
        members = self._layer(nonce, [c for c, _ in kept], np.array([p for _, p in kept]))
        size = len(members)
        if size == 1 or group.decision.action not in members:
            return None
        value = (members.index(group.decision.action) - self._base(nonce, size)) % size
        short = int(math.log2(size))
        spare = 2 ** (short + 1) - size
        length, code = (short, value) if value < spare else (short + 1, value + spare)
        bits = [code >> (length - 1 - index) & 1 for index in range(length)]
        return length, sum(bit == self._bit(nonce, index) for index, bit in enumerate(bits))

    def _layer(self, nonce: bytes, actions: Sequence[str], probabilities: Array) -> list[str]:
        order = sorted(range(len(actions)), key=lambda index: (probabilities[index], actions[index]))
        ascending = probabilities[order]
        masses = np.diff(ascending, prepend=0.0) * np.arange(len(order), 0, -1)
        edge = np.searchsorted(np.cumsum(masses), unit(self.key, b"layer" + nonce) * masses.sum(), side="right")
        return [actions[index] for index in order[min(int(edge), len(order) - 1) :]]

    def _base(self, nonce: bytes, size: int) -> int:
        return int(unit(self.key, b"shift" + nonce) * size)

    def _bit(self, nonce: bytes, index: int) -> int:
        coefficients = int(words(self.key, [b"code" + nonce + bytes([index])])[0])
        return (coefficients & self.payload).bit_count() % 2

    def _number(self, nonce: bytes, start: int, length: int) -> int:
        value = 0
        for index in range(start, start + length):
            value = 2 * value + self._bit(nonce, index)
        return value


def published(scheme: Scheme, key: bytes) -> list[Baseline]:
    """The baselines as published: no deduplication, round numbers, and AM-F without a secret."""
    return [
        RedGreen(key, Nonce(scheme), dedupe=False, name="red-green (published)"),
        AgentGuide(key, Nonce(scheme, "round"), dedupe=False, name="agent-guide (published: round)"),
        AmF(NO_SECRET, Nonce(scheme, "round and action"), dedupe=False, name="am-f (published: round, no secret)"),
    ]


def fair(scheme: Scheme, key: bytes) -> list[Baseline]:
    """The fair variants: secret key, our context, the same masking and deduplication."""
    return [
        RedGreen(key, Nonce(scheme), name="red-green (fair)"),
        AgentGuide(key, Nonce(scheme), name="agent-guide (fair)"),
        AmF(key, Nonce(scheme), name="am-f (fair)"),
    ]


def total_variation(baseline: RedGreen | AgentGuide, actions: Sequence[str], probabilities: Array, draw: int) -> float:
    """Return the total variation distance that one step of a biased scheme puts between itself and the policy."""
    changed = baseline.distribution(digest("variation", draw), actions, probabilities)
    return float(np.abs(changed - probabilities).sum() / 2)
