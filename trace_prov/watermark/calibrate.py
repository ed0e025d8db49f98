"""Calibration: false-positive rates through the real keyed path, on synthetic worlds and on a user's own logs.

A guarantee "over the key" is not one "for this key" (WATERMARK §1.4), so there are two tables: many keys on one log,
and one fixed key on many pools of it, the latter with and without deduplication.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from trace_prov.watermark.keys import Keys, derive
from trace_prov.watermark.prepare import Prepared, prepare
from trace_prov.watermark.prf import units
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.stats import gamma_sf, joint_p, wilson
from trace_prov.watermark.trajectory import Run
from trace_prov.watermark.worlds import World, unmarked_run

LEVELS = (0.1, 0.05, 0.01, 0.001)
Array = NDArray[np.float64]


def random_keys(count: int, scheme: Scheme, seed: int) -> Iterator[Keys]:
    """Yield independent test keys; they mark nothing, so a seeded generator may make them."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield derive(rng.bytes(32), "calibration", scheme.version)


def raw_keys(count: int, seed: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield channel keys without derivation: what HKDF returns is uniform, and it costs more than the test."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield rng.bytes(32), rng.bytes(32)


def null_p_values(scheme: Scheme, world: World, runs: int, seed: int = 0) -> dict[str, Array]:
    """Return p-values of `runs` unmarked synthetic runs, each under its own key (WATERMARK §2.9.1).

    Keys of the result: selection, tally, tally randomised, joint. The tally is the prefix-keyed one with its exact p.
    """
    rng = np.random.default_rng(seed)
    numbers = np.zeros((runs, 4))
    for number, (k1, k2) in enumerate(raw_keys(runs, seed + 1)):
        numbers[number] = _totals(prepare([unmarked_run(world, number, rng)], scheme), k1, k2)
    return _p_values(numbers, scheme, rng)


def _totals(pool: Prepared, k1: bytes, k2: bytes) -> tuple[float, float, float, float]:
    """Scored decisions, sum of scores, tally groups, matches."""
    u = units(k1, pool.selection.messages)
    bits = units(k2, pool.tally.messages) < pool.scheme.q
    return len(u), float(-np.log1p(-u).sum()), len(bits), float(np.count_nonzero(bits == pool.bits))


def _p_values(numbers: Array, scheme: Scheme, rng: np.random.Generator) -> dict[str, Array]:
    count, total, groups, matches = numbers.T
    if scheme.q != 0.5 or scheme.tally != "prefix":
        # The fair prefix tally has one law for every log; other tallies are calibrated through `evaluate`.
        raise ValueError("vectorised calibration needs the prefix tally with q = 1/2")
    selection = gamma_sf(count, total)
    tally = np.where(groups > 0, stats.binom.sf(matches - 1, groups, 0.5), 1.0)
    mass = np.where(groups > 0, stats.binom.pmf(matches, groups, 0.5), 0.0)
    return {
        "selection": selection,
        "tally": tally,
        "tally randomised": tally - rng.random(len(tally)) * mass,
        "joint": joint_p(scheme.joint_rule, np.maximum(selection, 1e-300), np.maximum(tally, 1e-300)),
    }


@dataclass(frozen=True, slots=True)
class LevelRow:
    """How often one test fired at one nominal level, over many keys."""

    test: str
    level: float
    hits: int
    count: int

    @property
    def rate(self) -> float:
        """Observed false-positive rate."""
        return self.hits / self.count

    @property
    def interval(self) -> tuple[float, float]:
        """95 % Wilson interval of the rate."""
        return wilson(self.hits, self.count)


def level_rows(p: dict[str, Array], levels: Sequence[float] = LEVELS) -> list[LevelRow]:
    """Return one row for each test and level."""
    return [
        LevelRow(test, level, int(np.count_nonzero(values <= level)), len(values))
        for test, values in p.items()
        for level in levels
    ]


def many_keys(runs: Sequence[Run], scheme: Scheme, keys: int = 2000, seed: int = 0) -> list[LevelRow]:
    """Return the false-positive table of this very pool over `keys` independent keys."""
    pool, rng = prepare(runs, scheme), np.random.default_rng(seed)
    numbers = np.array([_totals(pool, k1, k2) for k1, k2 in raw_keys(keys, seed)])
    return level_rows(_p_values(numbers, scheme, rng))


@dataclass(frozen=True, slots=True)
class FixedKeyRow:
    """False-positive rate at `level` for pools under one fixed key: mean, and the worst key."""

    channel: str
    rule: str
    size: int
    level: float
    rate: float
    worst: float
    keys: int
    pools: int
    deviation: float


def fixed_key_table(
    runs: Sequence[Run],
    scheme: Scheme,
    *,
    keys: int = 20,
    pools: int = 100,
    sizes: Sequence[int] = (1, 10, 50),
    level: float = 0.01,
    seed: int = 0,
) -> list[FixedKeyRow]:
    """Return rates over random pools of the given logs under one key at a time, naive and deduplicated.

    Pools are drawn without replacement where the logs suffice, else with replacement (each draw under a new run id and
    salt is not possible, so a repeated run then counts once when deduplicated).
    """
    rng = np.random.default_rng(seed)
    key_list = list(raw_keys(keys, seed + 1))
    rows = []
    for size in sizes:
        picks = [rng.choice(len(runs), size, replace=size > len(runs)) for _ in range(pools)]
        for rule in ("naive", "deduplicated"):
            made = [prepare([runs[int(i)] for i in pick], scheme, naive=rule == "naive") for pick in picks]
            p, z = _under_keys(made, key_list, scheme, rng)
            for channel in ("selection", "tally", "joint"):
                share = (p[channel] <= level).mean(axis=1)
                spread = float(z[channel].std()) if channel in z else float("nan")
                rows.append(
                    FixedKeyRow(
                        channel, rule, size, level, float(share.mean()), float(share.max()), keys, pools, spread
                    )
                )
    return rows


def _under_keys(
    made: Sequence[Prepared], key_list: Sequence[tuple[bytes, bytes]], scheme: Scheme, rng: np.random.Generator
) -> tuple[dict[str, Array], dict[str, Array]]:
    """p and z of every pool under every key, shape (keys, pools); each distinct message is hashed once a key."""
    first, second = (
        _Messages([pool.selection.messages for pool in made]),
        _Messages([pool.tally.messages for pool in made]),
    )
    numbers = np.zeros((len(key_list), len(made), 4))
    observed = [pool.bits for pool in made]
    for row, (k1, k2) in enumerate(key_list):
        scores = -np.log1p(-units(k1, first.distinct))
        bits = units(k2, second.distinct) < scheme.q
        for column, seen in enumerate(observed):
            own, tally = first.places[column], second.places[column]
            matches = np.count_nonzero(bits[tally] == seen)
            numbers[row, column] = len(own), scores[own].sum(), len(tally), matches
    flat = _p_values(numbers.reshape(-1, 4), scheme, rng)
    count, total, groups, matches_ = numbers.reshape(-1, 4).T
    with np.errstate(invalid="ignore", divide="ignore"):
        z = {"selection": (total - count) / np.sqrt(count), "tally": (2 * matches_ - groups) / np.sqrt(groups)}
    return {name: values.reshape(len(key_list), len(made)) for name, values in flat.items()}, z


class _Messages:
    """The distinct messages of many pools, and where each pool's own are."""

    def __init__(self, pools: Sequence[Sequence[bytes]]) -> None:
        index: dict[bytes, int] = {}
        self.places = [
            np.array([index.setdefault(message, len(index)) for message in messages], dtype=np.int64)
            for messages in pools
        ]
        self.distinct = list(index)
