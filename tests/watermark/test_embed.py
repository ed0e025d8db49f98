"""Selection is distortion-free and pure; repeats are masked; ghosts are deterministic and look natural."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from tests.watermark.helpers import KEYS, SCHEME, key, marked
from trace_prov.watermark.context import selection_message
from trace_prov.watermark.embed import REPEATED, SINGLE, Embedder, History, choose, ghost, lookalike, race
from trace_prov.watermark.errors import CandidateError
from trace_prov.watermark.keys import Keys
from trace_prov.watermark.power import softmax
from trace_prov.watermark.prepare import prepare
from trace_prov.watermark.prf import digest, units
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.trajectory import Group, Record, command_record

START = History("salt", "task")


def _distortion_p(distribution: NDArray[np.float64], contexts: int, number: int, tilt: float = 0.0) -> float:
    """Chi-square p of the winners' counts over fresh contexts; `tilt` adds a red-green bias for the control."""
    actions = [f"a{index}" for index in range(len(distribution))]
    counts = np.zeros(len(distribution))
    rng = np.random.default_rng(number)
    for repeat in range(contexts):
        context = digest("distortion", number, repeat)
        if tilt:
            green = units(KEYS.k2, [selection_message(context, action) for action in actions]) < 0.5
            tilted = distribution * np.exp(tilt * green)
            counts[rng.choice(len(tilted), p=tilted / tilted.sum())] += 1
        else:
            counts[int(race(KEYS.k1, context, actions, distribution)[1:])] += 1
    expected = distribution * contexts
    small = expected < 5
    if small.any():
        counts = np.append(counts[~small], counts[small].sum())
        expected = np.append(expected[~small], expected[small].sum())
    return float(stats.chisquare(counts, expected).pvalue)


def test_selection_is_distortion_free() -> None:
    """WATERMARK §2.9.3 at reduced size: 60 distributions x 800 contexts; the full size runs in benchmarks/watermark."""
    rng = np.random.default_rng(3)
    p = [_distortion_p(softmax(rng.normal(size=8) / 0.8), 800, number) for number in range(60)]
    assert stats.kstest(p, "uniform").pvalue > 1e-3
    assert min(p) > 1e-5


def test_red_green_fails_the_same_check() -> None:
    rng = np.random.default_rng(3)
    assert _distortion_p(softmax(rng.normal(size=8) / 0.8), 2000, 0, tilt=2.0) < 1e-6


def test_ties_go_to_the_smaller_id() -> None:
    # Probabilities so large that every time is zero: all candidates tie.
    assert race(KEYS.k1, digest("tie"), ["b", "a", "c"], np.full(3, np.inf)) == "a"


@given(st.lists(st.integers(1, 50), min_size=2, max_size=8), st.integers(0, 2**32))
def test_choice_is_pure_and_ignores_candidate_order(weights: list[int], salt: int) -> None:
    actions = [f"a{index}" for index in range(len(weights))]
    total = sum(weights)
    history = History(str(salt), "t")
    first = choose(KEYS, SCHEME, history, actions, [w / total for w in weights], random.Random(1))
    again = choose(KEYS, SCHEME, history, actions, [w / total for w in weights], random.Random(2))
    turned = choose(KEYS, SCHEME, history, actions[::-1], [w / total for w in weights[::-1]], random.Random(3))
    assert first == again == turned
    assert first.marked


@pytest.mark.parametrize(
    ("candidates", "probabilities", "expected"),
    [
        ([], [], "at least one"),
        (["a", "b"], [1.0], "2 numbers"),
        (["a", "b"], [1.5, -0.5], "non-negative"),
        (["a", "b"], [math.nan, 1.0], "finite"),
        (["a", "b"], [math.inf, 0.0], "finite"),
        (["a", "b"], [0.5, 0.49], "sum of 1"),
        (["a", "a"], [0.5, 0.5], "each candidate once"),
        (["e\u0301", "\u00e9"], [0.5, 0.5], "each candidate once"),
    ],
)
def test_what_is_no_distribution_is_refused(candidates: list[str], probabilities: list[float], expected: str) -> None:
    with pytest.raises(CandidateError, match=expected):
        choose(KEYS, SCHEME, START, candidates, probabilities, random.Random(1))


def test_zero_probability_is_never_chosen() -> None:
    chosen = {
        choose(KEYS, SCHEME, History(str(n), "t"), ["a", "b", "c"], [0.5, 0.0, 0.5], random.Random(1)).action
        for n in range(200)
    }
    assert chosen == {"a", "c"}


def test_single_candidate_is_unmarked_with_the_reason() -> None:
    choice = choose(KEYS, SCHEME, START, ["a", "b"], [1.0, 0.0], random.Random(1))
    assert (choice.action, choice.marked, choice.reason) == ("a", False, SINGLE)


def _loop(scheme: Scheme, keys: Keys, length: int = 60) -> Counter[str]:
    """An agent that always sees the same three candidates; contexts repeat as soon as an action does."""
    embedder = Embedder(keys, scheme, run_id="r", salt="s", task="t", rng=random.Random(4))
    for _ in range(length):
        choice = embedder.decide(["a", "b", "c"], [0.6, 0.3, 0.1])
        embedder.record(command_record(choice.action), [Record("O", "ok")])
    return Counter(choice.action for choice in embedder.choices)


def test_masking_breaks_the_loop_that_unmasked_embedding_falls_into() -> None:
    """WATERMARK trap 1: without masking the chain of contexts is deterministic and gets stuck in a cycle."""
    masked = [_loop(SCHEME, key(number)) for number in range(20)]
    unmasked = [_loop(Scheme(mask_repeats=False), key(number)) for number in range(20)]
    share = np.mean([counts["a"] / 60 for counts in masked])
    assert abs(share - 0.6) < 5 * math.sqrt(0.24 / 1200)
    assert min(len(counts) for counts in masked) >= 2
    stuck = [counts for counts in unmasked if max(counts.values()) >= 55]
    assert len(stuck) >= 8


def test_repeated_context_is_reported() -> None:
    embedder = Embedder(KEYS, SCHEME, run_id="r", salt="s", task="t", rng=random.Random(4))
    for _ in range(8):
        choice = embedder.decide(["a", "b"], [0.5, 0.5])
        embedder.record(command_record(choice.action), [Record("O", "ok")])
    contexts = [choice.context for choice in embedder.choices]
    firsts = [contexts.index(context) == index for index, context in enumerate(contexts)]
    assert [choice.marked for choice in embedder.choices] == firsts
    assert {choice.reason for choice in embedder.choices} == {None, REPEATED}


def test_embedder_equals_the_pure_functions() -> None:
    run = marked(1)[0]
    for index, group in enumerate(run.groups):
        natural = group.observations[:1]
        history = History(run.salt, run.task, run.groups[:index])
        expected = ghost(KEYS, SCHEME, history, group.decision, natural)
        assert group.observations[1:] == (() if expected is None else (expected,))


def test_ghost_share_is_q() -> None:
    for q in (0.2, 0.5):
        runs = marked(20, scheme=Scheme(q=q))
        count = sum(len(run.groups) for run in runs)
        ghosts = sum(run.record_count for run in runs) - 2 * count
        assert abs(ghosts - q * count) < 5 * math.sqrt(q * (1 - q) * count)


def test_parity_rule_makes_the_count_show_the_bit() -> None:
    scheme = Scheme(natural_rule="parity")
    ghosts = []
    for natural in (0, 1, 2, 3):
        rows = [
            ghost(KEYS, scheme, History(f"s{n}", None), command_record("a"), [Record("O", "x")] * natural) is not None
            for n in range(40)
        ]
        ghosts.append(rows)
    assert ghosts[0] == ghosts[2] == [not added for added in ghosts[1]] == [not added for added in ghosts[3]]


def test_a_default_ghost_has_the_fields_of_its_tool() -> None:
    natural = Record("O", "\nstatus: done\nlong body", "ls", None, "2026-01-01T00:00:00", "call_9fA3bc77", "call_1")
    found = next(
        record
        for n in range(50)
        if (record := ghost(KEYS, SCHEME, History(f"s{n}", None), command_record("a"), [natural])) is not None
    )
    assert (found.tag, found.content, found.tool, found.time, found.call) == (
        "O",
        "status: done",
        "ls",
        natural.time,
        "call_1",
    )
    assert found.id is not None
    assert found.id != natural.id
    assert len(found.id) == len("call_9fA3bc77")


@given(st.text(st.sampled_from("abcXYZ0189_-"), max_size=20), st.binary(min_size=16, max_size=16))
def test_lookalike_keeps_the_shape(text: str, stream: bytes) -> None:
    other = lookalike(text, stream)
    assert len(other) == len(text)
    assert all((a.isalnum(), a.isupper()) == (b.isalnum(), b.isupper()) for a, b in zip(text, other, strict=True))


def test_group_is_logged_with_candidates() -> None:
    embedder = Embedder(KEYS, SCHEME, run_id="r", salt="s", task="t", rng=random.Random(1), log_probabilities=False)
    choice = embedder.decide(["a", "b"], [0.5, 0.5])
    embedder.record(command_record(choice.action), [Record("O", "ok")])
    group: Group = embedder.run().groups[0]
    assert (group.candidates, group.probabilities) == (("a", "b"), None)


def _tally_matches(scheme: Scheme, counts: list[int], tools: list[str], number: int) -> NDArray[np.bool_]:
    """Matches of a run whose group i calls tools[i] and gets counts[i] natural records."""
    embedder = Embedder(KEYS, scheme, run_id="r", salt=f"s{number}", task="t", rng=random.Random(1))
    for tool, count in zip(tools, counts, strict=True):
        embedder.decide(["a", "b"], [0.5, 0.5])
        embedder.record(Record("D", tool=tool, args="{}"), [Record("O", "x", tool)] * count)
    pool = prepare([embedder.run()], scheme)
    return np.asarray((units(KEYS.k2, pool.tally.messages) < scheme.q) == pool.bits)


def test_an_odd_number_of_natural_records_costs_its_own_bit_only() -> None:
    counts = [1, 1, 0, 1, 3, 1, 2, 1, 1]
    rows = np.array([_tally_matches(SCHEME, counts, ["t"] * 9, number) for number in range(200)])
    regular = np.array(counts) == 1
    assert rows[:, regular].all()
    assert abs(rows[:, ~regular].mean() - 0.5) < 5 * math.sqrt(0.25 / 600)


def test_declared_counts_and_parity_read_tools_with_several_records() -> None:
    declared = Scheme(natural_rule="declared", natural_counts=(("search", 3), ("none", 0)))
    tools = ["search", "ls", "none", "search", "ls"]
    for number in range(50):
        assert _tally_matches(declared, [3, 1, 0, 3, 1], tools, number).all()
        assert _tally_matches(Scheme(natural_rule="parity"), [4, 1, 0, 2, 7], tools, number).all()
