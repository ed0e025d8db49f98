"""How many runs are needed, and what a given log could have shown (WATERMARK §1.2, §5.3).

Everything is simulated under H1 with the exact null tails of the detector, so no normal approximation enters below a
few hundred decisions; the seed is fixed, so that a plan can be repeated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from trace_prov.watermark.align import key_length, log_ratio
from trace_prov.watermark.prepare import Prepared
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.stats import entropy, gamma_sf, joint_p, log_likelihood_ratio, marked_moments, match_log_sf
from trace_prov.watermark.verdict import Power

DRAWS = 2000
#: above this many decisions the sum of scores is drawn from its normal limit
NORMAL_FROM = 500
FLOOR = 1e-300
#: numbers that are drawn from at once
CELLS = 4_000_000


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Row-wise softmax."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))


@lru_cache(maxsize=64)
def temperature_for(target: float, candidates: int) -> float:
    """Return T at which softmax(N(0,1)/T) over `candidates` has a mean entropy of `target` nats."""
    logits = np.random.default_rng(7).normal(size=(2000, candidates))

    def mean_entropy(temperature: float) -> float:
        p = softmax(logits / temperature)
        return float(np.mean(-np.sum(p * np.log(np.maximum(p, FLOOR)), axis=1)))

    low, high = 1e-3, 1e3
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if mean_entropy(middle) < target else (low, middle)
    return math.sqrt(low * high)


def family(target: float, candidates: int, count: int = 4000, seed: int = 11) -> NDArray[np.float64]:
    """Return `count` distributions over `candidates` actions with a mean entropy of `target` nats."""
    ceiling = math.log(candidates)
    if target >= ceiling - 1e-3:
        return np.full((count, candidates), 1 / candidates)
    logits = np.random.default_rng(seed).normal(size=(count, candidates))
    return softmax(logits / temperature_for(target, candidates))


def _drawn(
    distributions: NDArray[np.float64], rows: NDArray[np.int64], uniform: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The probability of an action drawn from each of `rows` of `distributions`, some rows at a time."""
    edges = np.cumsum(distributions, axis=1)
    out = np.empty(len(rows))
    size = max(1, CELLS // distributions.shape[1])
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        picked = (uniform[start : start + size, None] * edges[part, -1:] > edges[part]).sum(axis=1)
        out[start : start + size] = distributions[part, picked]
    return out


def power_of_log(pool: Prepared, log_cost: float = 0.0) -> Power:
    """Return the probability that this log would have been recognised, had it been marked and not attacked."""
    scheme, alpha = pool.scheme, pool.scheme.alpha
    known = [np.array(p) for p in pool.distributions if p is not None]
    tally_log_p = min(0.0, _clean_tally(pool) + log_cost)
    tally_p = max(math.exp(tally_log_p), FLOOR)
    if known:
        selection_p = np.minimum(1.0, _selection_draws(pool, known) * math.exp(min(log_cost, 690.0)))
        mean = np.mean([entropy(p) for p in known[:: max(1, len(known) // NORMAL_FROM)]])
        basis = f"{len(known)} decisions with logged probabilities, mean entropy {mean:.2f} nats"
        selection = float(np.mean(selection_p <= alpha))
    else:
        selection_p, selection = np.ones(1), None
        basis = "no probabilities logged: the selection channel's power is unknown and counted as none"
    joint = joint_p(scheme.joint_rule, selection_p, np.full_like(selection_p, tally_p))
    return Power(selection, float(tally_p <= alpha), float(np.mean(joint <= alpha)), basis)


def _clean_tally(pool: Prepared) -> float:
    """ln p of the tally when every bit agrees."""
    ones = int(pool.bits.sum())
    zeros = len(pool.bits) - ones
    if pool.scheme.tally == "prefix" or not len(pool.bits):
        return match_log_sf(ones + zeros, ones, zeros, pool.scheme.q)
    rest = np.random.default_rng(0).integers(0, 2, key_length(len(pool.bits)) - len(pool.bits), dtype=np.int8)
    return min(0.0, -float(log_ratio(pool.bits, np.concatenate([pool.bits, rest])[None, :])[0]))


def _selection_draws(pool: Prepared, known: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Draw p-values of the selection channel under H1; decisions without probabilities count as chance."""
    rng = np.random.default_rng(3)
    count, extra = len(pool.selection.places), len(pool.selection.places) - len(known)
    if count > NORMAL_FROM and pool.scheme.score == "gamma":
        moments = np.array([marked_moments(p) for p in known[:: max(1, len(known) // NORMAL_FROM)]])
        mean = len(known) * moments[:, 0].mean() + extra
        variance = len(known) * moments[:, 1].mean() + extra
        return gamma_sf(float(count), rng.normal(mean, math.sqrt(variance), DRAWS))
    thinned = known[:: max(1, len(known) // NORMAL_FROM)]
    total = rng.gamma(extra, size=DRAWS) if extra and pool.scheme.score == "gamma" else np.zeros(DRAWS)
    for distribution in thinned:
        p = distribution[distribution > 0]
        chosen = p[rng.choice(len(p), size=DRAWS, p=p / p.sum())]
        u = np.clip(rng.random(DRAWS) ** chosen, FLOOR, 1 - 2.0**-53)
        weight = len(known) / len(thinned)
        total += weight * (log_likelihood_ratio(u, chosen) if pool.scheme.score == "llr" else -np.log1p(-u))
    return np.exp(-np.maximum(total, 0.0)) if pool.scheme.score == "llr" else gamma_sf(float(count), total)


@dataclass(frozen=True, slots=True)
class Setting:
    """What a plan assumes: entropy (nats) over `candidates`, run length, and the attack."""

    entropy: float = 1.8
    candidates: int = 20
    per_run: float = 24
    deletion: float = 0.0
    rewriting: float = 0.0
    kind: str = "groups"


@dataclass(frozen=True, slots=True)
class Plan:
    """The answer of the planner: `runs` is None when even the largest pool tried stays below the target."""

    setting: Setting
    runs: int | None
    power: float
    mean_z_selection: float
    mean_z_tally: float
    table: tuple[tuple[int, float, float, float], ...]


KINDS = ("groups", "observations", "block", "truncate")
POOL = 4000
REPEATS = 500
LARGEST = 20_000


def plan(setting: Setting, scheme: Scheme, target: float = 0.9, largest: int = LARGEST) -> Plan:
    """Return the smallest number of runs at which the joint test reaches `target` power under `setting`."""
    one = _simulate_runs(setting, scheme)
    seen: dict[int, tuple[float, float, float]] = {}

    def power_at(runs: int) -> float:
        if runs not in seen:
            seen[runs] = _pooled(one, runs, scheme)
        return seen[runs][0]

    high = 1
    while power_at(high) < target:
        if high >= largest:
            return _plan(setting, None, seen, largest)
        high = min(largest, high * 2)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_at(middle) >= target else (middle, high)
    return _plan(setting, high, seen, high)


def expected(setting: Setting, scheme: Scheme, runs: int) -> tuple[float, float, float]:
    """Return joint power, mean selection z and mean tally z of `runs` runs under `setting`."""
    return _pooled(_simulate_runs(setting, scheme), runs, scheme)


def _plan(setting: Setting, runs: int | None, seen: dict[int, tuple[float, float, float]], at: int) -> Plan:
    table = tuple((count, *seen[count]) for count in sorted(seen))
    return Plan(setting, runs, *seen[at], table)


def _simulate_runs(setting: Setting, scheme: Scheme) -> NDArray[np.float64]:
    """Simulate POOL attacked runs; columns: decisions scored, sum of scores, tally groups, tally matches."""
    rng = np.random.default_rng(5)
    longest = max(1, math.ceil(setting.per_run * (1 if setting.per_run == int(setting.per_run) else 3)))
    lengths = _lengths(setting.per_run, longest, rng)
    alive = np.arange(longest) < lengths[:, None]
    kept, clean = _survivors(setting, lengths, alive, rng)
    rewritten = rng.random(alive.shape) < setting.rewriting
    previous_kept = np.concatenate([np.ones((POOL, 1), bool), kept[:, :-1] & ~rewritten[:, :-1]], axis=1)
    synced = kept & ~rewritten & previous_kept
    if setting.kind == "observations" and "observation" in scheme.context_fields:
        synced &= np.concatenate([np.ones((POOL, 1), bool), clean[:, :-1]], axis=1)
    distributions = family(setting.entropy, setting.candidates)
    rows = rng.integers(0, len(distributions), alive.size)
    chosen = _drawn(distributions, rows, rng.random(alive.size)).reshape(alive.shape)
    u = np.clip(rng.random(alive.shape) ** chosen, FLOOR, 1 - 2.0**-53)
    scores = np.where(synced, -np.log1p(-u), rng.exponential(size=alive.shape))
    # A prefix-keyed bit is right as long as nothing before it and nothing in it was edited.
    intact = np.logical_and.accumulate(kept | ~alive, axis=1) & np.logical_and.accumulate(clean | ~alive, axis=1)
    matches = intact | (rng.random(alive.shape) < 0.5)
    counted = kept & alive
    return np.stack(
        [counted.sum(1), (scores * counted).sum(1), counted.sum(1), (matches & counted).sum(1)], axis=1
    ).astype(float)


def _lengths(per_run: float, longest: int, rng: np.random.Generator) -> NDArray[np.int64]:
    if per_run == int(per_run):
        return np.full(POOL, int(per_run))
    # A fractional mean length (ToolBench: 1.4) is one decision plus a binomial number of further ones.
    return 1 + rng.binomial(longest - 1, (per_run - 1) / (longest - 1), POOL)


def _survivors(
    setting: Setting, lengths: NDArray[np.int64], alive: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which decisions survive, and which keep their own observation records."""
    place, rate = np.arange(alive.shape[1]), setting.deletion
    intact = np.ones_like(alive)
    if setting.kind == "groups":
        return alive & (rng.random(alive.shape) >= rate), intact
    if setting.kind == "observations":
        return alive, rng.random(alive.shape) >= rate
    cut = np.round(lengths * rate).astype(int)
    if setting.kind == "truncate":
        return alive & (place < (lengths - cut)[:, None]), intact
    start = (rng.random(POOL) * (lengths - cut + 1)).astype(int)
    return alive & ((place < start[:, None]) | (place >= (start + cut)[:, None])), intact


def _pooled(one: NDArray[np.float64], runs: int, scheme: Scheme) -> tuple[float, float, float]:
    rng = np.random.default_rng(runs)
    totals = np.stack([one[rng.integers(0, POOL, runs)].sum(axis=0) for _ in range(REPEATS)])
    count, total, groups, matches = totals.T
    selection = np.where(count > 0, special.gammaincc(np.maximum(count, 1e-9), total), 1.0)
    tally = np.where(groups > 0, stats.binom.sf(matches - 1, groups, 0.5), 1.0)
    joint = joint_p(scheme.joint_rule, np.maximum(selection, FLOOR), np.maximum(tally, FLOOR))
    with np.errstate(invalid="ignore", divide="ignore"):
        z_selection = np.where(count > 0, (total - count) / np.sqrt(count), 0.0)
        z_tally = np.where(groups > 0, (2 * matches - groups) / np.sqrt(groups), 0.0)
    return float(np.mean(joint <= scheme.alpha)), float(z_selection.mean()), float(z_tally.mean())
