"""Experiments: resumable cells, the tables' contents, the plots where matplotlib is there, the games where they are."""

from __future__ import annotations

import json
import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.watermark.helpers import KEYS, SCHEME
from trace_prov.errors import UsageError
from trace_prov.watermark.errors import TrajectoryError
from trace_prov.watermark.experiment import run_experiments
from trace_prov.watermark.experiment.grids import Size, auroc, rate_at
from trace_prov.watermark.experiment.household import FURNITURE, Problem, next_command, problem
from trace_prov.watermark.experiment.store import Cell, Store, compute
from trace_prov.watermark.experiment.tables import utility_table
from trace_prov.watermark.methods import Base, Trace

TINY = Size(repeats=2, pool=3, games=2, plays=1, keys=2)


def _cells(made: list[int], count: int = 4) -> list[Cell]:
    def cell(number: int) -> Cell:
        def result() -> dict[str, Any]:
            made.append(number)
            return {"value": number * number}

        return Cell("squares", {"number": number}, result)

    return [cell(number) for number in range(count)]


def test_a_rerun_computes_only_what_is_missing(tmp_path: Path) -> None:
    made: list[int] = []
    store = Store(tmp_path / "r.jsonl")
    assert compute(_cells(made, 2), store) == 2
    again = Store(tmp_path / "r.jsonl")
    assert compute(_cells(made), again) == 2
    assert made == [0, 1, 2, 3]
    assert again.rows("squares") == [{"number": n, "value": n * n} for n in range(4)]


def test_a_crash_in_the_middle_of_a_line_loses_one_cell(tmp_path: Path) -> None:
    path, made = tmp_path / "r.jsonl", list[int]()
    compute(_cells(made), Store(path))
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    assert compute(_cells(made), Store(path)) == 1
    assert path.read_bytes() == whole


def test_damage_elsewhere_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"key": 1}\n{"key": "{}", "result": {}}\n')
    with pytest.raises(TrajectoryError, match="line 1"):
        Store(path)


def test_toolbench_writes_tables_with_published_figures(tmp_path: Path) -> None:
    written = run_experiments("toolbench", tmp_path, size=TINY, only=["rewriting", "pooling"])
    report = (tmp_path / "REPORT.md").read_text()
    assert {path.name for path in written} >= {"REPORT.md", "rewriting.csv", "pooling.csv"}
    assert "14.34" in report
    assert SCHEME.digest in report
    assert "differ from the published ones" in report
    rows = Store(tmp_path / "results.jsonl").rows("rewriting")
    tally = {(row["repeat"], row["z_tally"]) for row in rows}
    assert len(tally) == TINY.repeats
    begin = (tmp_path / "results.jsonl").stat().st_mtime_ns
    run_experiments("toolbench", tmp_path, size=TINY, only=["rewriting", "pooling"])
    assert (tmp_path / "results.jsonl").stat().st_mtime_ns == begin


def test_synthetic_grids_show_both_channels(tmp_path: Path) -> None:
    run_experiments("synthetic", tmp_path, size=TINY, only=["baselines", "single", "overhead"])
    store = Store(tmp_path / "results.jsonl")
    clean = {r["method"]: r["z"] for r in store.rows("baselines") if r["attack"] == "clean" and r["repeat"] == 0}
    assert clean["standard"] > clean["red-green (fair)"] > 1
    rows = store.rows("baselines")
    renamed = [r["z"] for r in rows if r["attack"] == "renamed" and r["method"] in {"standard", "red-green (fair)"}]
    assert max(abs(z) for z in renamed) < 4
    assert abs(np.mean([r["share_of_records"] for r in store.rows("overhead")]) - 0.25) < 0.06
    assert (tmp_path / "single.csv").read_text().count("\n") == 4


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_plots_are_drawn_and_reproducible(tmp_path: Path) -> None:
    run_experiments("toolbench", tmp_path, size=TINY, only=["rewriting"])
    first = (tmp_path / "rewriting.svg").read_bytes()
    run_experiments("toolbench", tmp_path, size=TINY, only=["rewriting"])
    assert b"<svg" in first
    assert (tmp_path / "rewriting.svg").read_bytes() == first


def test_unknown_experiment_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="pooling"):
        run_experiments("toolbench", tmp_path, only=["joint"])


def test_auroc_and_rates() -> None:
    assert auroc([-3.0, -2.0], [-1.0, 0.0]) == 1.0
    assert auroc([0.0], [0.0]) == 0.5
    assert rate_at([math.log(0.01), math.log(0.5)], 0.01) == 0.5


def test_utility_table_pairs_and_bootstraps(tmp_path: Path) -> None:
    store = Store(tmp_path / "r.jsonl")
    for game in range(6):
        for key in range(5):
            for method, won in (("base", game < 4), ("standard", game < 4), ("unmasked", game < 2)):
                place = {"game": game, "method": method, "key": key, "repeat": 0}
                store.add(Cell("episodes", place, dict), {"won": won, "steps": 10})
    rows = {row[1]: row for row in utility_table(store, "alfworld").rows}
    assert rows["TRACE"][4] == "+0.000 (+0.000 to +0.000)"
    change, _, low = rows["TRACE, unmasked"][4].split()[:3]
    assert float(change) == pytest.approx(-1 / 3, abs=1e-3)
    assert low == "to"


def _simulate(made: Problem) -> int:
    """Follow the rule through a model of the domain that only this test needs; return the number of steps."""
    places = {f"{kind}_{n}" for kind, (count, _, _) in FURNITURE.items() for n in range(1, count + 1)}
    facts = {tuple(part.strip("()").lower().split()) for line in made.pddl.splitlines() for part in _atoms(line)}
    for step in range(40):
        if {(f"is{_STATE[made.treatment]}", made.wanted), ("inreceptacle", made.wanted, made.target)} <= facts:
            return step
        words = next_command(made, facts).replace("go to", "goto").split()
        name = "_".join(words[-2:])
        assert name in places
        facts = _after(facts, words, name, made)
    raise AssertionError("the plan does not end")


_STATE = {"heat": "hot", "cool": "cool", "clean": "clean"}


def _atoms(line: str) -> list[str]:
    return [line.strip()] if line.strip().startswith("(") and line.strip().count("(") == 1 else []


def _after(facts: set[tuple[str, ...]], words: list[str], place: str, made: Problem) -> set[tuple[str, ...]]:
    verb = words[0]
    if verb == "goto":
        return {f for f in facts if f[0] != "atlocation"} | {("atlocation", "agent_1", f"loc_{place}")}
    if verb == "open":
        return facts | {("opened", place)}
    thing = f"{words[1]}_{words[2]}"
    if verb == "take":
        return {f for f in facts if f[:2] != ("inreceptacle", thing)} | {("holds", "agent_1", thing)}
    if verb == "move":
        return {f for f in facts if f[0] != "holds"} | {("inreceptacle", thing, place)}
    return facts | {(f"is{_STATE[verb]}", made.wanted)}


def test_every_generated_household_problem_is_solved_by_its_rule() -> None:
    steps = [_simulate(problem(number)) for number in range(60)]
    assert 6 <= np.mean(steps) <= 10
    assert problem(3) == problem(3) != problem(4)


@pytest.mark.skipif(find_spec("textworld") is None, reason="textworld is not installed")
@pytest.mark.slow
def test_a_textworld_game_is_played_and_its_mark_found(tmp_path: Path) -> None:
    from trace_prov.watermark.detect import detect
    from trace_prov.watermark.experiment.games import TextWorldGame, play

    game = TextWorldGame(tmp_path, 1)
    base = play(game, Base(), 0, 30)
    assert base.steps <= 30
    assert base.run == play(game, Base(), 0, 30).run
    marked = [play(game, Trace(KEYS, SCHEME), repeat, 30).run for repeat in range(6)]
    verdict = detect(marked, KEYS, SCHEME)
    assert verdict.decision == "watermark found"
    assert verdict.tally.statistic == verdict.tally.scored


@pytest.mark.skipif(
    find_spec("alfworld") is None or find_spec("fast_downward") is None, reason="alfworld is not installed"
)
@pytest.mark.slow
def test_an_alfworld_problem_is_won_by_its_plan() -> None:
    from trace_prov.watermark.experiment.games import HouseholdGame, play

    episode = play(HouseholdGame(1), Base(), 0, 20, bonus=100.0)
    assert episode.won
    assert len(episode.run.groups[0].candidates or ()) > 15


def test_missing_environment_has_a_hint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sys

    from trace_prov.watermark.errors import EnvironmentMissingError
    from trace_prov.watermark.experiment.games import TextWorldGame

    monkeypatch.setitem(sys.modules, "textworld", None)
    with pytest.raises(EnvironmentMissingError, match="watermark-env"):
        TextWorldGame(tmp_path, 1)


def test_results_hold_no_key(tmp_path: Path) -> None:
    run_experiments("toolbench", tmp_path, size=TINY, only=["overhead"])
    text = (tmp_path / "results.jsonl").read_text()
    assert json.loads(text.splitlines()[0])["result"]["groups"] > 0
    assert "k1" not in text
