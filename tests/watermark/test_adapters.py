"""Adapters: the decorator, Inspect and AgentDojo; the agent never sees a ghost, and the log carries the mark."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.watermark.helpers import KEYS, OTHER, SCHEME, key
from trace_prov.errors import UsageError
from trace_prov.watermark.adapters.plain import Marked
from trace_prov.watermark.adapters.sampling import calls_record, frequencies
from trace_prov.watermark.context import selection_context
from trace_prov.watermark.detect import detect
from trace_prov.watermark.embed import race
from trace_prov.watermark.trajectory import canonical_action

EXAMPLES = Path(__file__).parents[2] / "examples" / "watermark"


def example(name: str) -> ModuleType:
    """Load an example as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _walk(mark: Marked, seen: list[str]) -> None:
    @mark.policy
    def think() -> dict[str, float]:
        return {f"go {place}": 0.1 for place in range(10)}

    @mark.tool
    def act(action: str) -> str:
        return f"done: {action}"

    for _ in range(20):
        seen.append(act(think()))


def test_decorated_agent_is_marked_and_sees_no_ghost() -> None:
    mark = Marked(KEYS, SCHEME, run_id="r", task="t", rng=random.Random(1))
    seen: list[str] = []
    _walk(mark, seen)
    run = mark.run()
    assert seen == [f"done: {group.decision.content}" for group in run.groups]
    assert run.record_count > 2 * len(run.groups)
    verdict = detect([run], KEYS, SCHEME)
    assert verdict.tally.statistic == 20
    assert verdict.selection.z > 3
    assert len(mark.choices) == 20


def test_decorators_are_used_in_turn() -> None:
    mark = Marked(KEYS, SCHEME, run_id="r", task="t", rng=random.Random(1))
    policy, tool = mark.policy(lambda: {"a": 0.5, "b": 0.5}), mark.tool(lambda: "x")
    with pytest.raises(UsageError, match=r"mark\.policy"):
        tool()
    policy()
    with pytest.raises(UsageError, match=r"mark\.tool"):
        policy()


def test_choosing_among_samples_keeps_the_models_distribution() -> None:
    """The marginal over samples and keys is the model's own distribution, whatever the number of samples."""
    weights, rng = np.array([0.5, 0.3, 0.15, 0.05]), np.random.default_rng(3)
    counts = np.zeros(4)
    for number in range(6000):
        drawn = rng.choice(4, size=4, p=weights)
        actions, shares, _ = frequencies(drawn.tolist(), str)
        context = selection_context(SCHEME, str(number), "t", [])
        counts[int(race(KEYS.k1, context, actions, np.array(shares)))] += 1
    assert stats.chisquare(counts, weights * 6000).pvalue > 1e-4


def test_assistant_messages_become_one_action() -> None:
    assert calls_record([("ls", {"b": 1, "a": 2})]).action == canonical_action("ls", {"a": 2, "b": 1})
    both = calls_record([("ls", {}), ("cat", {"f": "x"})])
    assert both.tool == "several"
    assert both.action != calls_record([("cat", {"f": "x"}), ("ls", {})]).action
    assert calls_record([]).action == "answer"


def test_plain_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    example("plain_agent").main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("as delivered: watermark found")
    assert lines[2].startswith("all texts rewritten: watermark found")


@pytest.mark.skipif(importlib.util.find_spec("inspect_ai") is None, reason="inspect_ai is not installed")
def test_inspect_agent_leaves_a_marked_trajectory(tmp_path: Path) -> None:
    module = example("inspect_agent")
    runs: list[Any] = module.logged_runs(KEYS, SCHEME, str(tmp_path), 2)
    assert [len(run.groups) for run in runs] == [module.TURNS] * 2
    verdict = detect(runs, KEYS, SCHEME)
    assert verdict.tally.statistic == verdict.tally.scored == 2 * module.TURNS
    assert verdict.decision == "watermark found"
    assert detect(runs, OTHER, SCHEME).decision == "no evidence at this power"
    assert all(group.decision.tool == "look_up" for run in runs for group in run.groups)
    for run in runs:
        pages = [group.observations[0].content for group in run.groups]
        assert all(text.startswith("Page ") for text in pages)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("agentdojo") is None, reason="agentdojo is not installed")
def test_agentdojo_pipeline_solves_tasks_and_is_marked() -> None:
    from agentdojo.task_suite.load_suites import get_suite

    module, suite = example("agentdojo_agent"), get_suite("v1.2", "workspace")
    done = [module.one_run(suite, number, key(5), SCHEME) for number in range(6)]
    runs = [run for run, _ in done if run.groups]
    assert sum(useful for _, useful in done) >= 4
    verdict = detect(runs, key(5), SCHEME)
    assert verdict.tally.statistic == verdict.tally.scored > 15
    assert verdict.decision == "watermark found"
