"""The planner against the real thing: attacked marked logs reach the z and power that it promises."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.watermark.helpers import SCHEME, key, marked, unmarked
from trace_prov.watermark import attacks
from trace_prov.watermark.detect import evaluate
from trace_prov.watermark.power import Setting, expected, family, plan, power_of_log
from trace_prov.watermark.prepare import prepare
from trace_prov.watermark.stats import entropy, marked_moments
from trace_prov.watermark.worlds import World


@pytest.mark.parametrize(("nats", "candidates"), [(0.5, 5), (1.8, 20), (2.5, 20), (3.0, 20)])
def test_family_has_the_entropy_asked_for(nats: float, candidates: int) -> None:
    rows = family(min(nats, math.log(candidates)), candidates)
    assert np.mean([entropy(row) for row in rows]) == pytest.approx(nats, abs=0.05)


def test_signal_is_at_least_the_proven_share_of_the_entropy() -> None:
    """E[s] - 1 >= (pi^2/6 - 1) H(P), in nats (WATERMARK §1.2)."""
    rng = np.random.default_rng(1)
    for _ in range(500):
        p = rng.dirichlet(np.full(int(rng.integers(2, 30)), rng.uniform(0.05, 3)))
        assert marked_moments(p)[0] - 1 >= (math.pi**2 / 6 - 1) * entropy(p) - 1e-9


def test_moments_of_a_marked_score_equal_draws() -> None:
    p, rng = np.array([0.7, 0.2, 0.1]), np.random.default_rng(2)
    scores = -np.log1p(-(rng.random(200_000) ** rng.choice(p, size=200_000, p=p)))
    mean, variance = marked_moments(p)
    assert scores.mean() == pytest.approx(mean, abs=5 * math.sqrt(variance / 200_000))
    assert scores.var() == pytest.approx(variance, rel=0.05)


@pytest.mark.parametrize(("deletion", "rewriting"), [(0.0, 0.0), (0.3, 0.4), (0.5, 0.0), (0.1, 0.6)])
def test_promised_z_is_the_measured_one(deletion: float, rewriting: float) -> None:
    _, z_selection, z_tally = expected(Setting(deletion=deletion, rewriting=rewriting), SCHEME, 10)
    measured = []
    for number in range(12):
        runs = marked(10, keys=key(number), seed=number)
        runs = attacks.apply(runs, [("joint", attacks.joint(deletion, rewriting))], number).runs
        outcome = evaluate(prepare(runs, SCHEME), key(number))
        measured.append((outcome.selection.z, outcome.tally.z))
    means, errors = np.mean(measured, axis=0), np.std(measured, axis=0) / math.sqrt(12)
    # The planner takes every context as fresh; repeats within a run cost the real log a few hundredths of its z.
    assert abs(means[0] - z_selection) < 4 * errors[0] + 0.05 * z_selection + 0.1
    assert abs(means[1] - z_tally) < 4 * errors[1] + 0.1


def test_plan_is_the_smallest_number_that_reaches_the_target() -> None:
    setting = Setting(entropy=0.9, deletion=0.5, rewriting=0.2)
    found = plan(setting, SCHEME, 0.9)
    assert found.runs is not None
    assert found.power >= 0.9
    assert expected(setting, SCHEME, found.runs - 1)[0] < 0.9
    harder = plan(Setting(entropy=0.9, deletion=0.7, rewriting=0.2), SCHEME, 0.9)
    assert (harder.runs or 0) > found.runs


def test_no_plan_for_what_cannot_be_seen() -> None:
    found = plan(Setting(deletion=1.0), SCHEME, 0.9, largest=64)
    assert found.runs is None
    assert found.power == 0.0


def test_short_runs_and_other_kinds_are_planned() -> None:
    toolbench = plan(Setting(entropy=1.3, candidates=5, per_run=1.4), SCHEME, 0.9)
    assert 5 <= (toolbench.runs or 0) <= 15
    for kind in ("observations", "block", "truncate"):
        power, z_selection, _ = expected(Setting(deletion=0.3, kind=kind), SCHEME, 3)
        assert 0 <= power <= 1
        assert z_selection > 5


def test_a_log_without_choice_could_not_have_shown_it() -> None:
    world = World(candidates=2, temperature=0.05, length=5)
    power = power_of_log(prepare(unmarked(1, world=world), SCHEME))
    assert power.selection is not None
    assert power.selection < 0.05
    assert power.tally == 0.0
    assert power.joint < 0.05
