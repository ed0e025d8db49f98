"""Embedding: `choose` picks the action, `ghost` says whether one more record follows (WATERMARK §2.2).

Both are pure: the same inputs give the same result. The only randomness besides the key is the generator that a
repeated context falls back to. Selection is the exponential race (Aaronson 2022): no distortion in a fresh context.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from trace_prov.watermark.context import (
    Skeleton,
    selection_context,
    selection_message,
    wants_ghost,
)
from trace_prov.watermark.errors import CandidateError
from trace_prov.watermark.keys import Keys
from trace_prov.watermark.prf import unit, units
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.trajectory import OBSERVATION, Group, Record, Run, canonical_text

SUM_TOLERANCE = 1e-6
REPEATED, SINGLE = "repeated context", "single candidate"


class Uniform(Protocol):
    """Any generator with `random()` in [0, 1): random.Random and numpy's Generator both are one."""

    def random(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Choice:
    """One decision: the action, whether the key chose it, and if not, why."""

    action: str
    marked: bool
    reason: str | None
    context: bytes


@dataclass(frozen=True, slots=True)
class History:
    """What has happened in a run so far; `used` are the contexts that the key has already decided in."""

    salt: str | None
    task: str | None
    groups: Sequence[Group] = ()
    used: Collection[bytes] = frozenset()


def choose(  # noqa: PLR0917 - the signature that WATERMARK §2.2 fixes
    keys: Keys,
    scheme: Scheme,
    history: History,
    candidates: Sequence[str],
    probabilities: Sequence[float],
    rng: Uniform,
) -> Choice:
    """Return the action for the next decision, distributed as `probabilities` over keys.

    A repeated context, or one candidate only, is sampled with `rng` and left unmarked, with the reason.
    Raises `CandidateError` when the candidates or probabilities are no distribution.
    """
    actions, weights = checked(candidates, probabilities)
    recent = history.groups[-max(1, scheme.window) :]
    context = selection_context(scheme, history.salt, history.task, recent)
    if len(actions) == 1:
        return Choice(actions[0], False, SINGLE, context)
    if scheme.mask_repeats and context in history.used:
        return Choice(sample(actions, weights, rng), False, REPEATED, context)
    return Choice(race(keys.k1, context, actions, weights), True, None, context)


def race(key: bytes, context: bytes, actions: Sequence[str], probabilities: NDArray[np.float64]) -> str:
    """Return the winner of the exponential race -ln(u)/p; a tie goes to the smaller canonical id."""
    times = -np.log(units(key, [selection_message(context, action) for action in actions])) / probabilities
    winners = np.flatnonzero(times == times.min())
    return min(actions[int(index)] for index in winners)


def sample(actions: Sequence[str], probabilities: NDArray[np.float64], rng: Uniform) -> str:
    """Return an action drawn with ordinary randomness."""
    index = int(np.searchsorted(np.cumsum(probabilities), rng.random() * float(probabilities.sum()), side="right"))
    return actions[min(index, len(actions) - 1)]


def checked(
    candidates: Sequence[str], probabilities: Sequence[float] | NDArray[np.float64]
) -> tuple[list[str], NDArray[np.float64]]:
    """Return canonical candidates of positive probability with their weights. Raises `CandidateError`."""
    weights = np.asarray(probabilities, dtype=float)
    actions = [canonical_text(action) for action in candidates]
    if not actions:
        raise CandidateError("candidates", expected="at least one candidate", found="none")
    if weights.shape != (len(actions),):
        raise CandidateError("probabilities", expected=f"{len(actions)} numbers", found=f"shape {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise CandidateError("probabilities", expected="finite, non-negative numbers", found=str(weights.tolist())[:80])
    if abs(float(weights.sum()) - 1) > SUM_TOLERANCE:
        raise CandidateError("probabilities", expected="a sum of 1 within 1e-6", found=repr(float(weights.sum())))
    if len(set(actions)) != len(actions):
        twice = next(action for action in actions if actions.count(action) > 1)
        raise CandidateError("candidates", expected="each candidate once", found=f"{twice[:60]!r} more than once")
    kept = np.flatnonzero(weights > 0)
    return [actions[int(index)] for index in kept], weights[kept]


GhostTemplate = Callable[[Sequence[Record], bytes], Record]


def status_line_ghost(observations: Sequence[Record], stream: bytes) -> Record:
    """The default ghost: it repeats the first line of the last natural record, with the same fields filled."""
    last = observations[-1] if observations else Record(OBSERVATION)
    line = next((text for text in last.content.splitlines() if text.strip()), "")
    return replace(last, tag=OBSERVATION, content=line, id=lookalike(last.id, stream) if last.id is not None else None)


def lookalike(text: str, stream: bytes) -> str:
    """Return an id of the same shape as `text`, its last eight letters and digits drawn from `stream`."""
    kinds = ("0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    hexadecimal = all(char in "0123456789abcdef" or not char.isalnum() for char in text.rsplit("_", 1)[-1])
    out, spent = list(text), 0
    for position in range(len(out) - 1, -1, -1):
        if spent == 8 or out[position] == "_":
            break
        kind = next((kind for kind in kinds if out[position] in kind), None)
        if kind is not None:
            alphabet = "0123456789abcdef" if hexadecimal and kind is not kinds[2] else kind
            out[position] = alphabet[stream[spent] % len(alphabet)]
            spent += 1
    return "".join(out)


def ghost(
    keys: Keys,
    scheme: Scheme,
    history: History,
    decision: Record,
    natural: Sequence[Record],
    *,
    template: GhostTemplate = status_line_ghost,
) -> Record | None:
    """Return the ghost record that follows the natural observations of the next group, or None.

    Deterministic in the prefix; no tool is called for it, and it must not be shown to the agent.
    """
    skeleton = Skeleton(scheme, history.salt)
    for group in history.groups:
        skeleton.advance(len(group.observations))
    return ghost_after(keys, scheme, skeleton, decision, natural, template=template)


def ghost_after(
    keys: Keys,
    scheme: Scheme,
    skeleton: Skeleton,
    decision: Record,
    natural: Sequence[Record],
    *,
    template: GhostTemplate = status_line_ghost,
) -> Record | None:
    """As `ghost`, with the skeleton of the earlier groups already at hand."""
    # The expected count, as the detector takes it: an odd one then costs this group's bit and no other.
    message = skeleton.message(scheme.natural_count(decision.tool))
    bit = int(unit(keys.k2, message) < scheme.q)
    if not wants_ghost(scheme, bit, len(natural), decision.tool):
        return None
    stream = hashlib.blake2b(message, key=keys.k2, digest_size=16, person=b"trace-prov-ghost").digest()
    return template(natural, stream)


class Embedder:
    """Follows one run: `decide`, then `record` with what the environment answered; `run()` is the log."""

    def __init__(
        self,
        keys: Keys,
        scheme: Scheme,
        *,
        run_id: str,
        salt: str | None,
        task: str | None,
        rng: Uniform,
        template: GhostTemplate = status_line_ghost,
        log_probabilities: bool = True,
    ) -> None:
        self._keys, self._scheme, self._rng, self._template = keys, scheme, rng, template
        self._id, self._salt, self._task = run_id, salt, task
        self._log_probabilities = log_probabilities
        self._groups: list[Group] = []
        self._used: set[bytes] = set()
        self._skeleton = Skeleton(scheme, salt)
        self._pending: tuple[tuple[str, ...], tuple[float, ...]] | None = None
        self.choices: list[Choice] = []
        self.ghosts = 0

    def decide(self, candidates: Sequence[str], probabilities: Sequence[float]) -> Choice:
        """Return the choice for the next decision and remember it."""
        history = History(self._salt, self._task, self._groups, self._used)
        choice = choose(self._keys, self._scheme, history, candidates, probabilities, self._rng)
        if choice.marked:
            self._used.add(choice.context)
        self._pending = tuple(canonical_text(c) for c in candidates), tuple(float(p) for p in probabilities)
        self.choices.append(choice)
        return choice

    def record(self, decision: Record, natural: Sequence[Record]) -> Record | None:
        """Append the decision as executed and its natural observations; return the ghost that was added."""
        added = ghost_after(self._keys, self._scheme, self._skeleton, decision, natural, template=self._template)
        observations = (*natural, *(() if added is None else (added,)))
        candidates, probabilities = self._pending or (None, None)
        if not self._log_probabilities:
            probabilities = None
        self._groups.append(Group(decision, observations, candidates, probabilities))
        self._skeleton.advance(len(observations))
        self._pending = None
        self.ghosts += added is not None
        return added

    def run(self) -> Run:
        """Return the trajectory so far, ghosts included and nowhere labelled."""
        return Run(self._id, self._salt, self._task, tuple(self._groups))
