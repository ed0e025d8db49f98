"""The index-keyed tally: observed bits against key bits when groups may have been deleted (WATERMARK §1.5).

The statistic is a likelihood ratio summed over all monotone alignments (a forward pass). For every single alignment
the expectation under random key bits is one, and so is that of any mixture of them: the ratio is an e-value, and 1/e a
valid p however small. A permutation p with random keys is sharper where little is left; both are combined.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

#: deletion rates that the mixture looks for, equally weighted
RATES = (0.02, 0.1, 0.25, 0.5)
#: chance that a bit is wrong although its group is aligned, and that a group was inserted
ERROR, INSERTION = 0.02, 0.02
#: permutation is exact but slow: above this many cells per key the e-value alone decides
MAX_CELLS = 60_000


@dataclass(frozen=True, slots=True)
class AlignedResult:
    """Pooled outcome: the log e-value, the ln p of the fixed rule, and a z for display."""

    log_e: float
    log_p: float
    permutation_p: float | None
    z: float


def key_length(observed: int) -> int:
    """How many key bits a run of `observed` groups is compared with: enough for half of them to be missing."""
    return 2 * observed + 8


def log_ratio(observed: NDArray[np.int8], keys: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return the log likelihood ratio of `observed` (n,) under each row of `keys` (K, L) against chance."""
    each = [_forward(observed, keys, rate) for rate in RATES]
    return np.asarray(np.logaddexp.reduce(each, axis=0) - math.log(len(RATES)))


def _forward(observed: NDArray[np.int8], keys: NDArray[np.int8], rate: float) -> NDArray[np.float64]:
    count, length = keys.shape
    weight = np.zeros((count, length + 1))
    weight[:, 0] = 1.0
    log_scale = np.zeros(count)
    step = (1 - INSERTION) * (1 - rate)
    agree = (np.where(keys == 0, 2 * (1 - ERROR), 2 * ERROR), np.where(keys == 1, 2 * (1 - ERROR), 2 * ERROR))
    for bit in observed:
        # reach[j] = sum over j' < j of rate^(j-j'-1) * weight[j']: the key bits in between were deleted
        reach = lfilter([0.0, 1.0], [1.0, -rate], weight, axis=1)
        after = INSERTION * weight
        after[:, 1:] += step * agree[int(bit)] * reach[:, 1:]
        total = after.sum(axis=1)
        log_scale += np.log(total)
        weight = after / total[:, None]
    return log_scale


def aligned_test(
    observed: Sequence[NDArray[np.int8]], keys: Sequence[NDArray[np.int8]], null_keys: int, seed: int
) -> AlignedResult:
    """Test runs with distinct salts together; `keys[i]` are the key bits of run i.

    p = min(1, 2 min(permutation p, 1/e)), or 1/e alone when the log is too long for permutation; which of the two is
    decided by lengths only. The random keys come from `seed`, so that the same log gives the same p.
    """
    if not observed:
        return AlignedResult(0.0, 0.0, None, 0.0)
    own = sum(float(log_ratio(y, b[None, :])[0]) for y, b in zip(observed, keys, strict=True))
    null = null_ratios(observed, null_keys, seed)
    if null is None:
        return AlignedResult(own, aligned_log_p(own, null), None, math.sqrt(2 * max(0.0, own)))
    z = float((own - null.mean()) / null.std())
    return AlignedResult(own, aligned_log_p(own, null), _permutation_p(own, null), z)


def null_ratios(observed: Sequence[NDArray[np.int8]], null_keys: int, seed: int) -> NDArray[np.float64] | None:
    """Return the pooled log ratios of `null_keys` random keys, sorted; None when the log is too long for that."""
    if sum(len(y) * key_length(len(y)) for y in observed) > MAX_CELLS:
        return None
    rng = np.random.default_rng(seed)
    null = np.zeros(null_keys)
    for y in observed:
        null += log_ratio(y, rng.integers(0, 2, (null_keys, key_length(len(y))), dtype=np.int8))
    return np.sort(null)


def _permutation_p(own: float, null: NDArray[np.float64]) -> float:
    return float(1 + len(null) - np.searchsorted(null, own, side="left")) / (len(null) + 1)


def aligned_log_p(own: float, null: NDArray[np.float64] | None) -> float:
    """Return ln p of a pooled log ratio by the fixed rule."""
    if null is None:
        return min(0.0, -own)
    return min(0.0, math.log(2) + min(math.log(_permutation_p(own, null)), -own))


def best_path(observed: NDArray[np.int8], keys: NDArray[np.int8]) -> list[int | None]:
    """Return the most likely key index of each observed group (None: inserted), by dynamic programming.

    Opening a gap costs more than lengthening it: a log is cut in few places rather than thinned in many.
    """
    rows, length = len(observed), len(keys)
    log_open, log_longer, log_insert = math.log(0.02), math.log(0.7), math.log(INSERTION)
    score = np.full(length + 1, -np.inf)
    score[0] = 0.0
    origin = np.zeros((rows, length + 1), dtype=np.int64)
    places = np.arange(length + 1)
    for row, bit in enumerate(observed):
        # the best j' < j - 1 of score[j'] + (j - j') log_longer, as a running maximum of score[j'] - j' log_longer
        shifted = score - places * log_longer
        best = np.maximum.accumulate(shifted)
        leader = np.maximum.accumulate(np.where(shifted == best, places, 0))
        emission = np.where(keys == bit, math.log(2 * (1 - ERROR)), math.log(2 * ERROR))
        straight, jumped = score[:-1], np.full(length, -np.inf)
        jumped[1:] = log_open + best[:-2] + places[2:] * log_longer
        moved = np.concatenate(([-np.inf], emission + np.maximum(straight, jumped)))
        came = np.where(straight >= jumped, places[:-1], np.concatenate(([0], leader[:-2])))
        stayed = log_insert + score
        origin[row] = np.where(stayed > moved, -1, np.concatenate(([0], came)))
        score = np.maximum(moved, stayed)
    place = int(np.argmax(score))
    path: list[int | None] = []
    for row in range(rows - 1, -1, -1):
        source = int(origin[row, place])
        path.append(None if source < 0 else place - 1)
        place = place if source < 0 else source
    return path[::-1]


def missing(path: Sequence[int | None]) -> list[tuple[int, int]]:
    """Return (position, count) for each gap: `count` groups are missing before the group at `position` (from 0)."""
    gaps, expected = [], 0
    for position, index in enumerate(path):
        if index is None:
            continue
        if index > expected:
            gaps.append((position, index - expected))
        expected = index + 1
    return gaps
