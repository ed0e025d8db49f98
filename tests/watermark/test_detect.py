"""The detector: exact tails, traps, ledger, e-values, evidence, wording, speed."""

from __future__ import annotations

import dataclasses
import json
import math
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.watermark.helpers import KEYS, OTHER, SCHEME, key, marked, unmarked
from trace_prov.watermark.detect import detect, detect_any, evaluate
from trace_prov.watermark.prepare import Skip, prepare
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.stats import gamma_log_sf, joint_log_p, match_log_sf, match_pmf, sidak_log_p
from trace_prov.watermark.trajectory import Run
from trace_prov.watermark.verdict import ABSTAIN, FOUND, NOTHING, shown_p
from trace_prov.watermark.worlds import World


@pytest.mark.parametrize(("count", "total"), [(1, 0.3), (24, 50.0), (240, 700.0)])
def test_gamma_tail_equals_scipy(count: int, total: float) -> None:
    assert gamma_log_sf(count, total) == pytest.approx(float(np.log(stats.gamma.sf(total, count))), rel=1e-9)


def test_gamma_tail_goes_on_below_the_smallest_double() -> None:
    chernoff = 3000 - 9000 + 3000 * math.log(3)
    assert chernoff - 12 < gamma_log_sf(3000, 9000.0) < chernoff
    assert gamma_log_sf(3, 1000.0) == pytest.approx(-1000 + math.log(1 + 1000 + 1000**2 / 2), rel=1e-12)


@pytest.mark.parametrize(("ones", "zeros", "q"), [(3, 4, 0.5), (3, 4, 0.3), (0, 5, 0.2), (5, 0, 0.8)])
def test_match_tail_equals_enumeration(ones: int, zeros: int, q: float) -> None:
    chances = [q] * ones + [1 - q] * zeros
    for matches in range(ones + zeros + 1):
        exact = sum(
            math.prod(p if bit else 1 - p for bit, p in zip(bits, chances, strict=True))
            for bits in product((0, 1), repeat=ones + zeros)
            if sum(bits) >= matches
        )
        assert match_log_sf(matches, ones, zeros, q) == pytest.approx(math.log(exact), abs=1e-10)
    assert sum(match_pmf(m, ones, zeros, q) for m in range(ones + zeros + 1)) == pytest.approx(1)


def test_joint_rules() -> None:
    first, second = math.log(0.01), math.log(0.2)
    assert math.exp(joint_log_p("sidak", first, second)) == pytest.approx(1 - 0.99**2)
    assert math.exp(joint_log_p("bonferroni", first, second)) == pytest.approx(0.02)
    assert math.exp(joint_log_p("fisher", first, second)) == pytest.approx(float(stats.combine_pvalues([0.01, 0.2])[1]))
    assert sidak_log_p(-1000.0) == pytest.approx(-1000 + math.log(2))
    assert sidak_log_p(0.0) == 0.0


def test_marked_runs_are_found_and_others_are_not() -> None:
    runs = marked(3)
    verdict = detect(runs, KEYS, SCHEME)
    assert verdict.decision == FOUND
    assert verdict.tally.statistic == verdict.tally.scored == 72
    assert verdict.selection.log_p < math.log(1e-10)
    assert detect(runs, OTHER, SCHEME).decision == NOTHING
    assert detect(unmarked(3), KEYS, SCHEME).decision == NOTHING


def test_a_non_detection_never_says_not_watermarked() -> None:
    verdict = detect(unmarked(2), KEYS, SCHEME)
    text = json.dumps(verdict.to_json()).lower()
    assert verdict.decision == "no evidence at this power"
    assert "not watermarked" not in text
    assert 0.9 < verdict.power.joint <= 1
    short = [dataclasses.replace(run, groups=run.groups[:1]) for run in unmarked(1)]
    assert detect(short, KEYS, SCHEME).power.joint < 0.2


def test_power_of_a_log_is_what_marked_logs_reach() -> None:
    """The promised power against detection of freshly marked runs, within five standard errors."""
    scheme = Scheme(joint_rule="sidak", tally_salted=True, alpha=1e-3, q=0.5)
    world = World.with_entropy(0.9, 20, length=10)
    runs = marked(300, scheme=scheme, world=world)
    hits, promised = 0, []
    for run in runs:
        pool = prepare([run], scheme)
        hits += evaluate(pool, KEYS).selection.log_p <= math.log(scheme.alpha)
        promised.append(detect([run], KEYS, scheme).power.selection or 0.0)
    expected = float(np.mean(promised))
    assert abs(hits / 300 - expected) < 5 * math.sqrt(expected * (1 - expected) / 300) + 0.02


@given(st.permutations(range(5)))
@settings(max_examples=20, deadline=None)
def test_order_of_runs_changes_nothing(order: list[int]) -> None:
    world = World(vocabulary=22, tasks=1)
    scheme = Scheme(context_fields=("task", "actions"), tally_salted=False)
    runs = unmarked(5, world=world)
    first = detect(runs, KEYS, scheme)
    assert detect([runs[index] for index in order], KEYS, scheme) == first


def test_equal_ids_are_ordered_by_content() -> None:
    runs = [dataclasses.replace(run, id="same") for run in unmarked(4, world=World(vocabulary=22, tasks=1))]
    scheme = Scheme(context_fields=("task", "actions"), tally_salted=False)
    assert detect(runs, KEYS, scheme).tally == detect(runs[::-1], KEYS, scheme).tally


def test_a_copied_run_is_no_new_evidence() -> None:
    run = marked(1)[0]
    once, twice = detect([run], KEYS, SCHEME), detect([run, dataclasses.replace(run, id="copy")], KEYS, SCHEME)
    assert twice.log_p_joint == once.log_p_joint
    assert twice.selection.skipped[Skip.REPEAT] >= len(run.groups)


def test_every_decision_has_evidence_or_a_reason() -> None:
    run = marked(1)[0]
    groups = list(run.groups)
    groups[2] = dataclasses.replace(groups[2], candidates=("x",), probabilities=None)
    groups[4] = dataclasses.replace(groups[4], candidates=("x", "y"), probabilities=None)
    groups[6] = dataclasses.replace(groups[6], candidates=None, probabilities=None)
    verdict = detect([dataclasses.replace(run, groups=tuple(groups))], KEYS, SCHEME)
    rows = verdict.evidence
    assert len(rows) == len(groups)
    assert rows[2].skipped == Skip.SINGLE
    assert rows[4].skipped == Skip.FOREIGN
    assert rows[6].skipped is None
    assert rows[6].log_likelihood_ratio is None
    assert all((row.u is None) == (row.skipped is not None) for row in rows)
    assert sum(row.score or 0 for row in rows) == pytest.approx(verdict.selection.statistic)
    assert sum(bool(row.match) for row in rows) == verdict.tally.statistic
    assert verdict.selection.scored + sum(verdict.selection.skipped.values()) == verdict.selection.seen


def test_u_is_written_only_when_disclosed() -> None:
    verdict = detect(marked(1), KEYS, SCHEME)
    closed, opened = verdict.to_json(), verdict.to_json(disclose=True)
    assert "u" not in closed["evidence"][0]
    assert "score" not in closed["evidence"][0]
    assert opened["evidence"][0]["u"] == verdict.evidence[0].u
    for secret in (KEYS.k1, KEYS.k2):
        assert secret.hex() not in json.dumps(opened)
    assert closed["scheme_digest"] == SCHEME.digest


def _stripped(runs: list[Run]) -> list[Run]:
    return [dataclasses.replace(run, salt=None) for run in runs]


def test_missing_salt_abstains_or_searches_the_ledger() -> None:
    runs = _stripped(marked(2))
    assert detect(runs, KEYS, SCHEME).decision == ABSTAIN
    ledger = [f"salt-{number:06}" for number in range(200)]
    verdict = detect(runs, KEYS, SCHEME, ledger=ledger)
    assert verdict.decision == FOUND
    assert verdict.ledger is not None
    assert verdict.ledger.assigned == {run.id: (f"salt-{n:06}",) * 2 for n, run in enumerate(runs)}
    assert verdict.ledger.log_cost == pytest.approx(2 * math.log(200))
    with_salt = detect(marked(2), KEYS, SCHEME)
    assert verdict.selection.log_p == pytest.approx(with_salt.selection.log_p + 2 * math.log(200))


def test_ledger_search_holds_its_level() -> None:
    """Unmarked runs searched in a ledger of 50: the corrected p is conservative."""
    ledger = [f"salt-{number:06}" for number in range(50)]
    run = _stripped(unmarked(1, world=World(length=8)))
    log_p = np.array(
        [detect(run, key(number), SCHEME, ledger=ledger, evidence=False).log_p_joint for number in range(150)]
    )
    hits = int(np.count_nonzero(log_p <= math.log(0.05)))
    assert stats.binomtest(hits, 150, 0.05, alternative="greater").pvalue > 1e-4


def test_missing_task_is_a_reason() -> None:
    run = dataclasses.replace(marked(1)[0], task=None)
    verdict = detect([run], KEYS, SCHEME)
    assert verdict.selection.skipped == {str(Skip.NO_TASK): len(run.groups)}
    assert verdict.tally.scored == len(run.groups)


def test_likelihood_ratio_is_a_valid_and_stronger_test() -> None:
    scheme = Scheme(score="llr")
    world = World.with_entropy(0.5, 5, length=40)
    runs = marked(30, scheme=scheme, world=world)
    by_llr = [detect([run], KEYS, scheme).selection.log_p for run in runs]
    by_gamma = [detect([run], KEYS, SCHEME).selection.log_p for run in runs]
    assert np.median(by_llr) < np.median(by_gamma)
    null = unmarked(1, world=world)
    pool = prepare(null, scheme)
    # Markov: P(e >= 20) <= 1/20 under H0.
    e = np.exp([evaluate(pool, key(number)).log_e or 0.0 for number in range(4000)])
    hits = int(np.count_nonzero(e >= 20))
    assert stats.binomtest(hits, 4000, 0.05, alternative="greater").pvalue > 1e-4


def test_probabilities_missing_under_llr_is_a_reason() -> None:
    run = marked(1)[0]
    groups = tuple(dataclasses.replace(group, probabilities=None) for group in run.groups)
    verdict = detect([dataclasses.replace(run, groups=groups)], KEYS, Scheme(score="llr"))
    assert verdict.selection.skipped == {str(Skip.NO_PROBABILITY): len(groups)}


def test_several_keys_are_corrected_and_ranked() -> None:
    runs = marked(1, keys=key(7))
    verdicts = detect_any(runs, [key(number) for number in range(20)], SCHEME)
    assert verdicts[0].key_id == key(7).key_id
    assert verdicts[0].decision == FOUND
    assert verdicts[0].log_p_corrected == pytest.approx(verdicts[0].log_p_joint + math.log(20))
    assert all(verdict.decision == NOTHING for verdict in verdicts[1:])
    assert [v.log_p_corrected for v in verdicts] == sorted(v.log_p_corrected for v in verdicts)


def test_other_scheme_options_detect_their_own_marks() -> None:
    for scheme in (
        Scheme(natural_rule="parity"),
        Scheme(q=0.3),
        Scheme(window=2),
        Scheme(context_fields=("salt", "task", "actions", "observation")),
        Scheme(tally="index"),
        Scheme(joint_rule="fisher"),
        Scheme(dedupe="pair"),
    ):
        verdict = detect(marked(2, scheme=scheme), KEYS, scheme)
        assert verdict.decision == FOUND
        assert verdict.selection.log_p < math.log(1e-6)
        assert verdict.tally.log_p < math.log(1e-6)


def test_ten_thousand_decisions_in_under_a_second() -> None:
    runs = marked(417)
    spent = []
    for _ in range(3):
        begin = time.process_time()  # of this process: other work on the machine does not count
        verdict = detect(runs, KEYS, SCHEME)
        spent.append(time.process_time() - begin)
    assert min(spent) < 1.0
    assert verdict.selection.seen >= 10_000


def test_shown_p() -> None:
    assert shown_p(math.log(0.02)) == "0.0200"
    assert shown_p(-1200.0) == "7.0e-522"
