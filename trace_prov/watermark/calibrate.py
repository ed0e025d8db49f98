"""Calibration: false-positive rates through the real keyed path, on synthetic worlds and on a user's own logs.

A guarantee "over the key" is not one "for this key" (WATERMARK §1.4), so there are two tables: many keys on one log,
and one fixed key on many pools of it, the latter with and without deduplication.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trace_prov.watermark.align import aligned_log_p, key_length, log_ratio, null_ratios
from trace_prov.watermark.context import index_message
from trace_prov.watermark.prepare import Prepared, aligned_runs, prepare
from trace_prov.watermark.prf import units
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.stats import gamma_sf, joint_p, match_log_sf, match_pmf, wilson
from trace_prov.watermark.trajectory import Run
from trace_prov.watermark.worlds import World, unmarked_run

LEVELS = (0.1, 0.05, 0.01, 0.001)
Array = NDArray[np.float64]


def raw_keys(count: int, seed: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield channel keys without derivation: what HKDF returns is uniform, and it costs more than the test."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield rng.bytes(32), rng.bytes(32)


def null_p_values(scheme: Scheme, world: World, runs: int, seed: int = 0) -> dict[str, Array]:
    """Return p-values of `runs` unmarked synthetic runs, each under its own key (WATERMARK §2.9.1).

    Keys of the result: selection, and for the prefix tally tally, tally randomised and joint.
    """
    rng = np.random.default_rng(seed)
    numbers = np.zeros((runs, 5))
    for number, (k1, k2) in enumerate(raw_keys(runs, seed + 1)):
        numbers[number] = _totals(prepare([unmarked_run(world, number, rng)], scheme), k1, k2)
    return _p_values(numbers, scheme, rng)


def _totals(pool: Prepared, k1: bytes, k2: bytes) -> tuple[float, ...]:
    """Scored decisions, sum of scores, tally groups, matches, observed ones."""
    u = units(k1, pool.selection.messages)
    bits = units(k2, pool.tally.messages) < pool.scheme.q
    matches = float(np.count_nonzero(bits == pool.bits))
    return len(u), float(-np.log1p(-u).sum()), len(bits), matches, float(pool.bits.sum())


def _p_values(numbers: Array, scheme: Scheme, rng: np.random.Generator) -> dict[str, Array]:
    count, total, groups, matches, ones = numbers.T
    selection = gamma_sf(count, total)
    if scheme.tally == "index":
        return {"selection": selection}
    rows = [(int(m), int(o), int(g - o)) for m, o, g in zip(matches, ones, groups, strict=True)]
    tails = {row: math.exp(match_log_sf(*row, scheme.q)) for row in set(rows)}
    masses = {row: match_pmf(*row, scheme.q) if row[1] + row[2] else 0.0 for row in tails}
    tally, mass = np.array([tails[row] for row in rows]), np.array([masses[row] for row in rows])
    return {
        "selection": selection,
        "tally": tally,
        "tally randomised": tally - rng.random(len(tally)) * mass,
        "joint": _joint(scheme, selection, tally),
    }


def _joint(scheme: Scheme, selection: Array, tally: Array) -> Array:
    return joint_p(scheme.joint_rule, np.maximum(selection, 1e-300), np.maximum(tally, 1e-300))


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
    pairs = list(raw_keys(keys, seed))
    p = _p_values(np.array([_totals(pool, k1, k2) for k1, k2 in pairs]), scheme, rng)
    if scheme.tally == "index":
        p["tally"] = _aligned_p(pool, [k2 for _, k2 in pairs])
        p["joint"] = _joint(scheme, p["selection"], p["tally"])
    return level_rows(p)


def untestable(runs: Sequence[Run], scheme: Scheme) -> dict[str, str]:
    """Channels in which no decision of these runs counts, with the reasons why."""
    pool = prepare(runs, scheme)
    return {
        name: ", ".join(sorted({str(reason) for reason in channel.skipped.values()})) or "there is none"
        for name, channel in (("selection", pool.selection), ("tally", pool.tally))
        if not channel.places
    }


def _aligned_p(pool: Prepared, secrets: Sequence[bytes]) -> Array:
    """p of the aligned tally under many keys: the null depends on the observed bits alone, so it is drawn once."""
    runs = aligned_runs(pool)
    own = np.zeros(len(secrets))
    for salt, observed in runs:
        messages = [index_message(salt, index) for index in range(key_length(len(observed)))]
        own += log_ratio(observed, np.array([units(k2, messages) < pool.scheme.q for k2 in secrets], dtype=np.int8))
    null = null_ratios([observed for _, observed in runs], pool.scheme.null_keys, seed=0)
    return np.exp([aligned_log_p(value, null) for value in own])


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

    Pools are drawn without replacement where the logs suffice, else with replacement; a repeated run then counts once
    when deduplicated. The aligned tally is left to `many_keys`.
    """
    rng = np.random.default_rng(seed)
    key_list = list(raw_keys(keys, seed + 1))
    rows = []
    for size in sizes:
        picks = [rng.choice(len(runs), size, replace=size > len(runs)) for _ in range(pools)]
        for rule in ("naive", "deduplicated"):
            made = [prepare([runs[int(i)] for i in pick], scheme, naive=rule == "naive") for pick in picks]
            p, z = _under_keys(made, key_list, scheme, rng)
            for channel in [name for name in ("selection", "tally", "joint") if name in p]:
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
    numbers = np.zeros((len(key_list), len(made), 5))
    observed = [pool.bits for pool in made]
    for row, (k1, k2) in enumerate(key_list):
        scores = -np.log1p(-units(k1, first.distinct))
        bits = units(k2, second.distinct) < scheme.q
        for column, seen in enumerate(observed):
            own, tally = first.places[column], second.places[column]
            matches = np.count_nonzero(bits[tally] == seen)
            numbers[row, column] = len(own), scores[own].sum(), len(tally), matches, seen.sum()
    flat = _p_values(numbers.reshape(-1, 5), scheme, rng)
    count, total, groups, matches_, ones = numbers.reshape(-1, 5).T
    middle = ones * scheme.q + (groups - ones) * (1 - scheme.q)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = {
            "selection": (total - count) / np.sqrt(count),
            "tally": (matches_ - middle) / np.sqrt(groups * scheme.q * (1 - scheme.q)),
        }
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
