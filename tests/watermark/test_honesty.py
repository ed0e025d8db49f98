"""The checks of WATERMARK §2.9 at reduced size, with bounds of about five standard errors; full size: benchmarks."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.watermark.helpers import KEYS, SCHEME, key, marked, unmarked
from trace_prov.watermark.calibrate import fixed_key_table, many_keys, null_p_values
from trace_prov.watermark.detect import evaluate
from trace_prov.watermark.experiment.games import State, play
from trace_prov.watermark.keys import Keys, derive
from trace_prov.watermark.methods import Base, Method, Trace
from trace_prov.watermark.prepare import prepare
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.stats import match_pmf
from trace_prov.watermark.trajectory import command_record
from trace_prov.watermark.worlds import World

RUNS = 4000


@pytest.fixture(scope="module")
def null() -> dict[str, NDArray[np.float64]]:
    """p-values of RUNS unmarked runs, each with its own key, through the real PRF."""
    return null_p_values(SCHEME, World(), RUNS, seed=0)


@pytest.mark.parametrize("level", [0.1, 0.05, 0.01, 0.001])
@pytest.mark.parametrize("test", ["selection", "tally randomised"])
def test_levels_hold(null: dict[str, NDArray[np.float64]], test: str, level: float) -> None:
    hits = int(np.count_nonzero(null[test] <= level))
    assert stats.binomtest(hits, RUNS, level).pvalue > 1e-5


@pytest.mark.parametrize("level", [0.1, 0.05, 0.01, 0.001])
@pytest.mark.parametrize("test", ["tally", "joint"])
def test_discrete_tests_are_conservative(null: dict[str, NDArray[np.float64]], test: str, level: float) -> None:
    hits = int(np.count_nonzero(null[test] <= level))
    assert stats.binomtest(hits, RUNS, level, alternative="greater").pvalue > 1e-5


def test_exact_p_values_are_uniform(null: dict[str, NDArray[np.float64]]) -> None:
    assert stats.kstest(null["selection"], "uniform").pvalue > 1e-4
    assert stats.kstest(null["tally randomised"], "uniform").pvalue > 1e-4


def test_channels_are_independent(null: dict[str, NDArray[np.float64]]) -> None:
    assert abs(np.corrcoef(null["selection"], null["tally"])[0, 1]) < 5 / math.sqrt(RUNS)


def test_normal_approximation_would_be_badly_off(null: dict[str, NDArray[np.float64]]) -> None:
    """WATERMARK §0.1: at n = 24, P(z > 3) is about 3.5 times what a normal tail says."""
    exact = stats.gamma.sf(24 + 3 * math.sqrt(24), 24)
    assert exact > 3 * stats.norm.sf(3)


def test_one_fixed_key_holds_its_level_only_with_deduplication() -> None:
    """WATERMARK trap 2: pooled runs of repeated tasks in a small world under one key (here 12 keys, pools of 50)."""
    scheme = Scheme(context_fields=("actions",), tally_salted=False)
    world = World(vocabulary=60, tasks=1, fixed=True)
    rows = fixed_key_table(unmarked(400, world=world), scheme, keys=12, pools=80, sizes=(50,), seed=1)
    naive = next(row for row in rows if row.rule == "naive" and row.channel == "selection")
    exact = next(row for row in rows if row.rule == "deduplicated" and row.channel == "selection")
    assert exact.rate < 0.03
    assert naive.rate > 2 * 0.01
    assert naive.rate > 2 * exact.rate
    assert naive.worst > 0.2
    tally = {row.rule: row for row in rows if row.channel == "tally"}
    assert tally["naive"].rate > 0.1
    assert tally["deduplicated"].rate <= 0.03


@pytest.mark.parametrize(
    "scheme", [SCHEME, Scheme(q=0.3), Scheme(tally="index", null_keys=199), Scheme(natural_rule="parity")]
)
def test_many_keys_on_a_users_own_log_hold_the_level(scheme: Scheme) -> None:
    rows = many_keys(unmarked(3, second=0.2), scheme, keys=600, seed=3)
    assert {row.test for row in rows} >= {"selection", "tally", "joint"}
    for row in rows:
        assert stats.binomtest(row.hits, row.count, row.level, alternative="greater").pvalue > 1e-5


VARIANTS: dict[str, Callable[[int], tuple[Keys, Scheme]]] = {
    "wrong key": lambda number: (key(number), SCHEME),
    "swapped": lambda _number: (dataclasses.replace(KEYS, k1=KEYS.k2, k2=KEYS.k1), SCHEME),
    "other version": lambda _number: (derive(b"m" * 32, "owner", "trace-prov-wm/0"), SCHEME),
    "other owner": lambda _number: (derive(b"m" * 32, "someone else", SCHEME.version), SCHEME),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_wrong_keys_give_uniform_p(name: str) -> None:
    selection, tally = [], []
    rng = np.random.default_rng(4)
    for number, run in enumerate(marked(300)):
        keys, scheme = VARIANTS[name](number)
        pool = prepare([run], scheme)
        outcome = evaluate(pool, keys)
        selection.append(outcome.selection.p)
        ones = int(pool.bits.sum())
        pmf = match_pmf(int(outcome.tally.statistic), ones, len(pool.bits) - ones, scheme.q)
        tally.append(outcome.tally.p - rng.random() * pmf)
    assert stats.kstest(selection, "uniform").pvalue > 1e-4
    assert stats.kstest(tally, "uniform").pvalue > 1e-4


def test_total_rewriting_leaves_the_tally_equal_bit_for_bit() -> None:
    """WATERMARK §2.9.6: every text, action and candidate replaced; the statistic is compared with ==."""
    runs = marked(5)
    rewritten = []
    for run in runs:
        groups = tuple(
            dataclasses.replace(
                group,
                decision=command_record(f"other {number}"),
                observations=tuple(dataclasses.replace(o, content="rewritten", tool="x") for o in group.observations),
                candidates=None,
                probabilities=None,
            )
            for number, group in enumerate(run.groups)
        )
        rewritten.append(dataclasses.replace(run, groups=groups, task="another task"))
    before, after = (evaluate(prepare(pool, SCHEME), KEYS) for pool in (runs, rewritten))
    assert after.tally == before.tally
    assert (after.expected_bits == before.expected_bits).all()
    assert after.selection.log_p > math.log(1e-3)


def test_unsalted_tally_pools_nothing_and_a_salt_repairs_it() -> None:
    """WATERMARK trap 3: without a salt all runs share the same early bits, so pooling adds almost no contexts."""
    salted, unsalted = (marked(20, scheme=s, world=World(length=3)) for s in (SCHEME, Scheme(tally_salted=False)))
    with_salt = evaluate(prepare(salted, SCHEME), KEYS).tally
    without = evaluate(prepare(unsalted, Scheme(tally_salted=False)), KEYS).tally
    assert with_salt.scored == 60
    assert with_salt.z == pytest.approx(math.sqrt(60))
    assert without.scored == 3


def test_keys_are_never_equal() -> None:
    """Guards the checks above against testing a key with itself."""
    found: set[Keys] = {key(number) for number in range(50)} | {KEYS}
    assert len({keys.k1 for keys in found}) == 51


class Maze:
    """Seven places in a row; one of six commands leads on, two lead back, the others do nothing."""

    COMMANDS = ("east", "look", "north", "south", "wait", "west")

    def __init__(self, number: int) -> None:
        self.name, self.task = f"maze-{number}", f"leave maze {number}"
        rng = np.random.default_rng(number)
        self._right = [self.COMMANDS[i] for i in rng.integers(0, 6, 7)]
        self._place = 0

    def _state(self) -> State:
        out = self._place == 6
        return State(f"You are at place {self._place}.", self.COMMANDS, self._right[self._place], out, out)

    def reset(self) -> State:
        self._place = 0
        return self._state()

    def step(self, command: str) -> State:
        if command == self._right[self._place]:
            self._place += 1
        elif command in {"north", "west"}:
            self._place = max(0, self._place - 1)
        return self._state()


def _success(method_of: Callable[[Keys], Method]) -> NDArray[np.float64]:
    """Success of 10 mazes x 3 plays under each of 8 keys, shape (8, 30)."""
    rows = []
    for number in range(8):
        method = method_of(key(number))
        episodes = [play(Maze(maze), method, number * 10 + n, 30, bonus=1.5) for maze in range(10) for n in range(3)]
        rows.append([float(episode.won) for episode in episodes])
    return np.array(rows)


def test_whole_runs_succeed_as_often_as_the_policy_and_unmasked_ones_do_not() -> None:
    """WATERMARK §2.9.4, over 8 keys. The control is trap 1: context = previous action only, repeats not masked."""
    loop = Scheme(context_fields=("actions",), mask_repeats=False)
    base, trace = _success(lambda _: Base()), _success(lambda keys: Trace(keys, SCHEME))
    unmasked = _success(lambda keys: Trace(keys, loop))
    error = math.sqrt((base.var() + trace.var()) / base.size)
    assert 0.3 < base.mean() < 0.95
    assert abs(trace.mean() - base.mean()) < 4 * error
    assert unmasked.mean() < base.mean() - 0.15
    assert unmasked.mean(axis=1).std() > trace.mean(axis=1).std()
