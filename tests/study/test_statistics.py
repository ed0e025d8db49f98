"""The task-equal paired change against scipy's bootstrap and a plain implementation on the same draws."""

from __future__ import annotations

import math
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trace_prov.study.statistics import DRAWS, SEED, paired_change, task_means

#: task -> changes of its cases, as scores before and after
pairs = st.dictionaries(
    st.sampled_from([f"banking/user_task_{k}" for k in range(13)]),
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=6),
    min_size=2,
)
Pairs = dict[str, list[tuple[int, int]]]


def flat(given_pairs: Pairs) -> tuple[dict[str, int], dict[str, int], dict[str, str]]:
    before, after, task_of = {}, {}, {}
    for task, values in given_pairs.items():
        for k, (first, second) in enumerate(values):
            case = f"{task}/{k}"
            before[case], after[case], task_of[case] = first, second, task
    return before, after, task_of


@settings(max_examples=25, deadline=None)
@given(pairs)
def test_it_agrees_with_the_bootstrap_of_scipy(given_pairs: Pairs) -> None:
    stats = pytest.importorskip("scipy.stats")
    change = paired_change(*flat(given_pairs))
    assert change is not None
    values = [fmean(after - before for before, after in given_pairs[task]) for task in sorted(given_pairs)]
    result = stats.bootstrap(
        (np.array(values),),
        np.mean,
        n_resamples=DRAWS,
        confidence_level=0.95,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(SEED),
    )
    interval = result.confidence_interval
    assert change.points == pytest.approx(100 * fmean(values), abs=1e-9)
    assert change.low == pytest.approx(100 * interval.low, abs=1e-9)
    assert change.high == pytest.approx(100 * interval.high, abs=1e-9)


@settings(max_examples=10, deadline=None)
@given(pairs)
def test_it_agrees_with_a_plain_implementation(given_pairs: Pairs) -> None:
    draws = 200
    change = paired_change(*flat(given_pairs), draws=draws)
    assert change is not None
    tasks = sorted(given_pairs)
    rows = np.random.default_rng(SEED).integers(0, len(tasks), (draws, len(tasks))).tolist()
    means = sorted(fmean(fmean(after - before for before, after in given_pairs[tasks[k]]) for k in row) for row in rows)

    def percentile(share: float) -> float:
        place = share * (draws - 1)
        lower = math.floor(place)
        upper = min(lower + 1, draws - 1)
        return means[lower] + (place - lower) * (means[upper] - means[lower])

    assert change.low == pytest.approx(100 * percentile(0.025), abs=1e-9)
    assert change.high == pytest.approx(100 * percentile(0.975), abs=1e-9)


def test_tasks_count_equally_whatever_their_number_of_cases() -> None:
    before = {"a1": 0, "b1": 0, "b2": 0, "b3": 0, "b4": 1}
    after = {"a1": 1, "b1": 0, "b2": 0, "b3": 1, "b4": 1}
    tasks = {"a1": "a", "b1": "b", "b2": "b", "b3": "b", "b4": "b"}
    change = paired_change(before, after, tasks)
    assert change is not None
    assert change.points == pytest.approx(100 * (1 + 0.25) / 2)
    assert (change.cases, change.tasks) == (5, 2)
    assert change.low == pytest.approx(25)
    assert change.high == pytest.approx(100)


def test_only_cases_with_both_scores_are_paired() -> None:
    assert task_means({"x": 0, "y": 1}, {"y": 0, "z": 1}, {"x": "a", "y": "b", "z": "c"}) == {"b": -1.0}
    assert paired_change({"x": 0}, {"y": 0}, {"x": "a", "y": "a"}) is None


@settings(max_examples=20, deadline=None)
@given(pairs)
def test_swapping_the_conditions_turns_the_change_round(given_pairs: Pairs) -> None:
    before, after, tasks = flat(given_pairs)
    forth, back = paired_change(before, after, tasks, draws=300), paired_change(after, before, tasks, draws=300)
    assert forth is not None
    assert back is not None
    assert back.points == pytest.approx(-forth.points, abs=1e-9)
    assert (back.low, back.high) == pytest.approx((-forth.high, -forth.low), abs=1e-9)
    assert forth.low <= forth.high
