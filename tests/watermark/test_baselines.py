"""Baselines: AM-F preserves the distribution and decodes, the others do not preserve it; each detects its own mark."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy import stats

from tests.watermark.helpers import KEYS, SCHEME, key, unmarked
from trace_prov.watermark import attacks, baselines
from trace_prov.watermark.baselines import AgentGuide, AmF, Baseline, Nonce, RedGreen, fair, published, total_variation
from trace_prov.watermark.experiment.grids import rename_actions
from trace_prov.watermark.methods import BaselineMethod
from trace_prov.watermark.power import softmax
from trace_prov.watermark.prf import digest
from trace_prov.watermark.trajectory import Group, Run, command_record
from trace_prov.watermark.worlds import World, played

NONCE = Nonce(SCHEME)


@pytest.mark.parametrize(
    "weights", [[0.5, 0.3, 0.2], [0.25] * 4, [0.6, 0.1, 0.1, 0.1, 0.1], [0.35, 0.25, 0.2, 0.1, 0.06, 0.04]]
)
def test_am_f_preserves_the_distribution(weights: list[float]) -> None:
    scheme, actions = AmF(KEYS.k1, NONCE), [f"a{i}" for i in range(len(weights))]
    chosen = [scheme.choose(digest("n", n), actions, np.array(weights), random.Random(0)) for n in range(6000)]
    counts = [chosen.count(action) for action in actions]
    assert stats.chisquare(counts, np.array(weights) * 6000).pvalue > 1e-4


def test_am_f_decodes_every_bit_of_its_own_choice() -> None:
    scheme, rng = AmF(KEYS.k1, NONCE), np.random.default_rng(1)
    bits = 0
    for number in range(400):
        size = int(rng.integers(2, 12))
        actions, p = [f"a{i}" for i in range(size)], softmax(rng.normal(size=size))
        nonce = digest("n", number)
        group = Group(command_record(scheme.choose(nonce, actions, p, random.Random(0))), (), tuple(actions), tuple(p))
        found = scheme.trials(nonce, group)
        if found is not None:
            assert found[0] == found[1]
            bits += found[0]
    assert bits > 300


def test_biased_schemes_move_the_policy() -> None:
    p, actions = softmax(np.random.default_rng(2).normal(size=20) * 2), [f"a{i}" for i in range(20)]
    for scheme in (RedGreen(KEYS.k1, NONCE), AgentGuide(KEYS.k1, NONCE)):
        assert np.mean([total_variation(scheme, actions, p, n) for n in range(50)]) > 0.15


def _played(baseline: Baseline, count: int) -> list[Run]:
    rng = np.random.default_rng(5)
    return [played(World(), BaselineMethod(baseline), number, rng) for number in range(count)]


@pytest.mark.parametrize("number", range(6))
def test_each_detects_its_own_mark_and_no_other_key(number: int) -> None:
    own = [*published(SCHEME, KEYS.k1), *fair(SCHEME, KEYS.k1)][number]
    other = [*published(SCHEME, key(9).k1), *fair(SCHEME, key(9).k1)][number]
    runs = _played(own, 10)
    assert baselines.binomial_test(own, runs).z > 4
    if "no secret" not in own.name:
        assert abs(baselines.binomial_test(other, runs).z) < 4
    assert abs(baselines.binomial_test(own, unmarked(10)).z) < 4


def test_anyone_can_read_the_published_am_f() -> None:
    """AgentMark's sampler has no secret: a stranger's detector fires on it (WATERMARK §1.1)."""
    own, stranger = published(SCHEME, KEYS.k1)[2], published(SCHEME, key(9).k1)[2]
    assert baselines.binomial_test(stranger, _played(own, 10)).z > 10


def test_new_names_for_all_actions_end_the_published_am_f_and_not_one_keyed_by_rounds_alone() -> None:
    """Its decoder reads ranks, which have no names; its key is the hash of the previous action, which has one."""
    for scheme, low, high in ((published(SCHEME, KEYS.k1)[2], -4, 4), (AmF(KEYS.k1, Nonce(SCHEME, "round")), 10, 99)):
        renamed = attacks.apply(_played(scheme, 10), [("renamed", rename_actions)], 1).runs
        assert low < baselines.binomial_test(scheme, renamed).z < high


def test_one_deletion_shifts_every_later_round() -> None:
    rounds, contexts = AmF(KEYS.k1, Nonce(SCHEME, "round")), AmF(KEYS.k1, NONCE)
    cut = []
    for scheme in (rounds, contexts):
        runs = [Run(run.id, run.salt, run.task, run.groups[1:]) for run in _played(scheme, 10)]
        cut.append(baselines.binomial_test(scheme, runs).z)
    assert abs(cut[0]) < 4
    assert cut[1] > 12
