"""Detection with exact p-values (WATERMARK §1.2, 1.5, 1.6, 2.3).

    runs -> prepare (no key) -> evaluate (one key) -> Verdict

`evaluate` is what calibration repeats over many keys; `detect` adds evidence, power, ledger search and checks.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trace_prov.watermark.align import AlignedResult, aligned_test, key_length, log_ratio
from trace_prov.watermark.consistency import check_alignment, check_log, check_replaced
from trace_prov.watermark.context import index_message
from trace_prov.watermark.keys import Keys
from trace_prov.watermark.power import power_of_log
from trace_prov.watermark.prepare import Channel, Prepared, aligned_runs, in_fixed_order, prepare
from trace_prov.watermark.prf import units
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.stats import gamma_log_sf, joint_log_p, log_likelihood_ratio, match_log_sf, match_moments
from trace_prov.watermark.trajectory import Run
from trace_prov.watermark.verdict import (
    ABSTAIN,
    FOUND,
    NOTHING,
    ChannelResult,
    DecisionEvidence,
    Finding,
    Ledger,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Both channels of a prepared pool under one key, with the raw numbers behind them."""

    u: NDArray[np.float64]
    expected_bits: NDArray[np.int8]
    selection: ChannelResult
    tally: ChannelResult
    log_e: float | None
    log_p_joint: float


def evaluate(pool: Prepared, keys: Keys) -> Evaluation:
    """Return both channels' statistics and exact p-values for `keys`."""
    u = units(keys.k1, pool.selection.messages)
    bits = (units(keys.k2, pool.tally.messages) < pool.scheme.q).astype(np.int8)
    selection, log_e = _selection_result(pool, u)
    tally = _aligned_result(pool, keys) if pool.scheme.tally == "index" else _tally_result(pool, bits)
    joint = joint_log_p(pool.scheme.joint_rule, selection.log_p, tally.log_p)
    return Evaluation(u, bits, selection, tally, log_e, joint)


def _selection_result(pool: Prepared, u: NDArray[np.float64]) -> tuple[ChannelResult, float | None]:
    count, total = len(u), float(-np.log1p(-u).sum())
    known = ~np.isnan(pool.probability)
    log_e = float(log_likelihood_ratio(u[known], pool.probability[known]).sum()) if known.any() else None
    by_llr = pool.scheme.score == "llr"
    log_p = min(0.0, -(log_e or 0.0)) if by_llr else gamma_log_sf(count, total)
    z = (total - count) / math.sqrt(count) if count else 0.0
    test = "1/e-value of the likelihood ratio" if by_llr else f"Gamma({count}, 1), exact"
    return _channel("selection", pool, pool.selection, total, float(count), log_p, z, test), log_e


def _tally_result(pool: Prepared, bits: NDArray[np.int8]) -> ChannelResult:
    matches, ones = int(np.count_nonzero(bits == pool.bits)), int(pool.bits.sum())
    zeros, q = len(bits) - ones, pool.scheme.q
    mean, deviation = match_moments(ones, zeros, q)
    log_p = match_log_sf(matches, ones, zeros, q)
    test = f"Binomial({len(bits)}, 1/2), exact" if q == 0.5 else f"Poisson-binomial({ones}, {zeros}; {q}), exact"
    z = (matches - mean) / deviation if deviation else 0.0
    return _channel("tally", pool, pool.tally, float(matches), mean, log_p, z, test)


def aligned_bits(pool: Prepared, keys: Keys) -> list[tuple[int, NDArray[np.int8], NDArray[np.int8]]]:
    """Return (run, observed bits, key bits) of each run with its own salt, for the index-keyed tally."""
    numbers = list(dict.fromkeys(number for number, _ in pool.tally.places))
    rows = []
    for number, (salt, observed) in zip(numbers, aligned_runs(pool), strict=True):
        messages = [index_message(salt, index) for index in range(key_length(len(observed)))]
        rows.append((number, observed, (units(keys.k2, messages) < pool.scheme.q).astype(np.int8)))
    return rows


def _aligned_result(pool: Prepared, keys: Keys) -> ChannelResult:
    rows = aligned_bits(pool, keys)
    result: AlignedResult = aligned_test(
        [observed for _, observed, _ in rows], [key for _, _, key in rows], pool.scheme.null_keys, seed=0
    )
    test = "alignment, random keys and e-value" if result.permutation_p is not None else "alignment, e-value"
    return _channel("tally", pool, pool.tally, result.log_e, 0.0, result.log_p, result.z, test)


def _channel(name: str, pool: Prepared, channel: Channel, *numbers: float | str) -> ChannelResult:
    statistic, expected, log_p, z, test = numbers
    skipped = dict(sorted(Counter(str(reason) for reason in channel.skipped.values()).items()))
    return ChannelResult(
        name,
        pool.seen,
        len(channel.places),
        skipped,
        float(statistic),
        float(expected),
        float(log_p),
        float(z),
        str(test),
    )


def detect(
    runs: Sequence[Run],
    keys: Keys,
    scheme: Scheme,
    *,
    ledger: Sequence[str] = (),
    evidence: bool = True,
) -> Verdict:
    """Test a pool of runs for the watermark of `keys`.

    A run without salt is searched in `ledger` (every entry, with a Bonferroni factor for each run) and skipped when
    there is none. A decision that does not count stands in the evidence with its reason. Nothing is ever called "not
    watermarked": without evidence the verdict gives the power that the log had.
    """
    pool, found = _with_ledger(runs, keys, scheme, ledger)
    outcome = evaluate(pool, keys)
    cost = found.log_cost if found else 0.0
    selection, tally = _charged(outcome.selection, cost), _charged(outcome.tally, cost)
    joint = joint_log_p(scheme.joint_rule, selection.log_p, tally.log_p)
    decision, reason = _decide(scheme, selection, tally, joint)
    power = power_of_log(pool, log_cost=cost)
    return Verdict(
        decision=decision,
        reason=reason,
        key_id=keys.key_id,
        owner=keys.owner,
        scheme=scheme,
        selection=selection,
        tally=tally,
        log_e=outcome.log_e,
        log_p_joint=joint,
        power=power,
        ledger=found,
        keys_tried=1,
        log_p_corrected=joint,
        evidence=tuple(_evidence(pool, outcome)) if evidence else (),
        findings=tuple(_findings(pool, outcome, keys, decision == FOUND)),
        runs=tuple(run.id for run in pool.runs),
    )


def detect_any(
    runs: Sequence[Run], candidates: Sequence[Keys], scheme: Scheme, *, ledger: Sequence[str] = ()
) -> list[Verdict]:
    """Test several keys (epochs or owners), strongest first, each with Holm's correction for their number.

    The margin between the first two is what an attribution among owners rests on (WATERMARK §5.4).
    """
    verdicts = sorted(
        (detect(runs, keys, scheme, ledger=ledger) for keys in candidates), key=lambda verdict: verdict.log_p_joint
    )
    corrected, least = [], -math.inf
    for rank, verdict in enumerate(verdicts):
        least = max(least, min(0.0, verdict.log_p_joint + math.log(len(verdicts) - rank)))
        decision, reason = verdict.decision, verdict.reason
        if decision == FOUND and least > math.log(scheme.alpha):
            decision, reason = NOTHING, f"above alpha after correction for {len(verdicts)} keys"
        corrected.append(
            dataclasses.replace(
                verdict, decision=decision, reason=reason, keys_tried=len(verdicts), log_p_corrected=least
            )
        )
    return corrected


def _charged(channel: ChannelResult, cost: float) -> ChannelResult:
    return dataclasses.replace(channel, log_p=min(0.0, channel.log_p + cost)) if cost else channel


def _decide(scheme: Scheme, selection: ChannelResult, tally: ChannelResult, joint: float) -> tuple[str, str]:
    if selection.scored == 0 and tally.scored == 0:
        reasons = sorted(set(selection.skipped) | set(tally.skipped)) or ["the log holds no decision"]
        return ABSTAIN, "no decision can be tested: " + ", ".join(reasons)
    if joint <= math.log(scheme.alpha):
        return FOUND, f"joint p is at most alpha = {scheme.alpha:g}"
    return NOTHING, f"joint p is above alpha = {scheme.alpha:g}"


def _with_ledger(
    runs: Sequence[Run], keys: Keys, scheme: Scheme, ledger: Sequence[str]
) -> tuple[Prepared, Ledger | None]:
    ordered = in_fixed_order(runs)
    entries = sorted(set(ledger))
    needed = scheme.salt_in_context or scheme.tally_salted
    lost = [run for run in ordered if run.salt is None]
    if not (entries and needed and lost):
        return prepare(runs, scheme), None
    salts: list[str | None] = []
    tally_salts: list[str | None] = []
    assigned: dict[str, tuple[str, str]] = {}
    for run in ordered:
        if run.salt is not None:
            best = run.salt, run.salt
        else:
            best = _best_salts(run, keys, scheme, entries)
            assigned[run.id] = best
        salts.append(best[0])
        tally_salts.append(best[1])
    # Any choice among entries^runs assignments is paid for by that many tests, whatever the search looked at.
    cost = len(lost) * math.log(len(entries))
    pool = prepare(ordered, scheme, salts=salts, tally_salts=tally_salts)
    return pool, Ledger(len(entries), len(lost), cost, assigned)


def _best_salts(run: Run, keys: Keys, scheme: Scheme, entries: Sequence[str]) -> tuple[str, str]:
    selection, tally = (math.inf, entries[0]), (math.inf, entries[0])
    for salt in entries:
        pool = prepare([run], scheme, salts=[salt])
        chosen, _ = _selection_result(pool, units(keys.k1, pool.selection.messages))
        selection = min(selection, (chosen.log_p, salt))
        if scheme.tally == "index":
            score = -sum(float(log_ratio(y, b[None, :])[0]) for _, y, b in aligned_bits(pool, keys))
        else:
            bits = (units(keys.k2, pool.tally.messages) < scheme.q).astype(np.int8)
            score = _tally_result(pool, bits).log_p
        tally = min(tally, (score, salt))
    return selection[1], tally[1]


def _findings(pool: Prepared, outcome: Evaluation, keys: Keys, found: bool) -> Iterator[Finding]:
    yield from check_log(pool, outcome.expected_bits, found)
    if found and pool.scheme.tally == "index":
        yield from check_alignment(pool, aligned_bits(pool, keys))
    if found and len(outcome.u):
        yield from check_replaced(len(outcome.u), outcome.selection.statistic)


def _evidence(pool: Prepared, outcome: Evaluation) -> list[DecisionEvidence]:
    scores = (-np.log1p(-outcome.u)).tolist()
    ratios = log_likelihood_ratio(outcome.u, pool.probability).tolist()
    u = outcome.u.tolist()
    expected, observed = outcome.expected_bits.tolist(), pool.bits.tolist()
    chosen = {place: index for index, place in enumerate(pool.selection.places)}
    counted = {place: index for index, place in enumerate(pool.tally.places)}
    rows = []
    for number, run in enumerate(pool.runs):
        for index, group in enumerate(run.groups):
            s, t = chosen.get((number, index)), counted.get((number, index))
            ratio = None if s is None or ratios[s] != ratios[s] else ratios[s]
            rows.append(
                DecisionEvidence(
                    run=run.id,
                    group=index + 1,
                    action=group.decision.action,
                    context=None if s is None else pool.selection.contexts[s].hex(),
                    u=None if s is None else u[s],
                    score=None if s is None else scores[s],
                    log_likelihood_ratio=ratio,
                    skipped=None if s is not None else str(pool.selection.skipped[number, index]),
                    tally_context=None if t is None else pool.tally.contexts[t].hex(),
                    expected_bit=None if t is None else expected[t],
                    observed_bit=None if t is None else observed[t],
                    tally_skipped=None if t is not None else str(pool.tally.skipped[number, index]),
                )
            )
    return rows
