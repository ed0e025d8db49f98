"""What a detector tests, decided before any key is used: which decisions count, and what each is keyed by.

Nothing here depends on a key. That is what makes the p-values exact: under H0 the key is independent of everything
that was selected (WATERMARK §1.4). Deduplication runs over the whole pool in an order that shuffling does not change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from trace_prov.watermark.context import Skeleton, observed_bit, selection_contexts, selection_message
from trace_prov.watermark.prf import digest
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.trajectory import Group, Run


class Skip(StrEnum):
    """Why a decision does not count."""

    REPEAT = "repeated context"
    SINGLE = "single candidate"
    FOREIGN = "action not in its candidate set"
    NO_SALT = "run salt missing"
    NO_TASK = "task text missing"
    NO_PROBABILITY = "probabilities not logged"


@dataclass(slots=True)
class Channel:
    """The scored decisions of one channel, in order: place, PRF input, and what was observed."""

    places: list[tuple[int, int]] = field(default_factory=list)
    messages: list[bytes] = field(default_factory=list)
    contexts: list[bytes] = field(default_factory=list)
    skipped: dict[tuple[int, int], Skip] = field(default_factory=dict)


@dataclass(slots=True)
class Prepared:
    """A pool of runs made ready for any key of `scheme`. Places are (run, group) from 0, in the order of `runs`."""

    scheme: Scheme
    runs: list[Run]
    selection: Channel
    tally: Channel
    probability: NDArray[np.float64]
    distributions: list[tuple[float, ...] | None]
    bits: NDArray[np.int8]
    tally_salts: list[str | None]

    @property
    def seen(self) -> int:
        """Number of decisions in the pool."""
        return sum(len(run.groups) for run in self.runs)


def in_fixed_order(runs: Sequence[Run]) -> list[Run]:
    """Return the runs sorted by id and, for equal ids, by content: independent of the order given and of any key."""
    ids = [run.id for run in runs]
    if len(set(ids)) == len(ids):
        return sorted(runs, key=lambda run: run.id)
    return sorted(runs, key=lambda run: (run.id, run.salt or "", _content(run)))


def _content(run: Run) -> bytes:
    return digest(run.task, run.tags, *(group.decision.action for group in run.groups))


def prepare(
    runs: Sequence[Run],
    scheme: Scheme,
    *,
    salts: Sequence[str | None] | None = None,
    tally_salts: Sequence[str | None] | None = None,
    naive: bool = False,
) -> Prepared:
    """Return the pool ready for testing.

    `salts` replace the runs' own (in the order of `runs`, taken as fixed). `naive` leaves repeats in: no valid test,
    only for calibration to show what deduplication prevents.
    """
    ordered = in_fixed_order(runs) if salts is None else list(runs)
    own = [run.salt for run in ordered] if salts is None else list(salts)
    tally_own = own if tally_salts is None else list(tally_salts)
    selection, probability, distributions = _selection(ordered, scheme, own, naive)
    tally, bits = _tally(ordered, scheme, tally_own, naive)
    return Prepared(
        scheme,
        ordered,
        selection,
        tally,
        np.array(probability, dtype=float),
        distributions,
        np.array(bits, dtype=np.int8),
        tally_own,
    )


def _selection(
    runs: Sequence[Run], scheme: Scheme, salts: Sequence[str | None], naive: bool
) -> tuple[Channel, list[float], list[tuple[float, ...] | None]]:
    channel = Channel()
    probability: list[float] = []
    distributions: list[tuple[float, ...] | None] = []
    seen: set[bytes] = set()
    for number, (run, salt) in enumerate(zip(runs, salts, strict=True)):
        lost = _unreadable(scheme, run, salt)
        if lost is not None:
            channel.skipped.update({(number, index): lost for index in range(len(run.groups))})
            continue
        for index, (group, context) in enumerate(zip(run.groups, selection_contexts(scheme, run, salt), strict=True)):
            action = group.decision.action
            reason, chance = _usable(scheme, group, action)
            if reason is None:
                message = selection_message(context, action)
                identity = context if scheme.dedupe == "context" else message
                reason = Skip.REPEAT if identity in seen and not naive else None
            if reason is not None:
                channel.skipped[number, index] = reason
                continue
            seen.add(identity)
            channel.places.append((number, index))
            channel.messages.append(message)
            channel.contexts.append(context)
            probability.append(chance)
            distributions.append(group.probabilities)
    return channel, probability, distributions


def _unreadable(scheme: Scheme, run: Run, salt: str | None) -> Skip | None:
    if scheme.salt_in_context and salt is None:
        return Skip.NO_SALT
    if "task" in scheme.context_fields and run.task is None:
        return Skip.NO_TASK
    return None


def _usable(scheme: Scheme, group: Group, action: str) -> tuple[Skip | None, float]:
    chance = float("nan")
    if group.candidates is not None:
        if group.probabilities is None:
            if len(group.candidates) < 2:
                return Skip.SINGLE, chance
        elif sum(1 for p in group.probabilities if p > 0) < 2:
            return Skip.SINGLE, chance
        if action not in group.candidates:
            return Skip.FOREIGN, chance
        if group.probabilities is not None:
            chance = group.probabilities[group.candidates.index(action)]
            if chance == 0:
                return Skip.FOREIGN, chance
    if scheme.score == "llr" and math.isnan(chance):
        return Skip.NO_PROBABILITY, chance
    return None, chance


def _tally(runs: Sequence[Run], scheme: Scheme, salts: Sequence[str | None], naive: bool) -> tuple[Channel, list[int]]:
    channel, bits = Channel(), []
    seen: set[bytes] = set()
    aligned: set[str | None] = set()
    for number, (run, salt) in enumerate(zip(runs, salts, strict=True)):
        if scheme.tally_salted and salt is None:
            channel.skipped.update({(number, index): Skip.NO_SALT for index in range(len(run.groups))})
            continue
        if scheme.tally == "index":
            # An alignment needs a whole run: of two runs with the same bits only the first can be tested.
            identity = salt if scheme.tally_salted else None
            if identity in aligned and not naive:
                channel.skipped.update({(number, index): Skip.REPEAT for index in range(len(run.groups))})
                continue
            aligned.add(identity)
        skeleton = Skeleton(scheme, salt)
        for index, group in enumerate(run.groups):
            message = skeleton.message(scheme.natural_count(group.decision.tool))
            skeleton.advance(len(group.observations))
            if message in seen and not naive:
                channel.skipped[number, index] = Skip.REPEAT
                continue
            seen.add(message)
            channel.places.append((number, index))
            channel.messages.append(message)
            channel.contexts.append(message[3:])
            bits.append(observed_bit(scheme, group))
    return channel, bits


def aligned_runs(pool: Prepared) -> list[tuple[str | None, NDArray[np.int8]]]:
    """Return (salt, observed bits) of each run that the index-keyed tally tests, in order."""
    bits: dict[int, list[int]] = {}
    for (number, _), bit in zip(pool.tally.places, pool.bits.tolist(), strict=True):
        bits.setdefault(number, []).append(bit)
    salted = pool.scheme.tally_salted
    return [(pool.tally_salts[n] if salted else None, np.array(b, dtype=np.int8)) for n, b in bits.items()]
