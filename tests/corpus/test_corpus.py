"""Scripted actors on the real AgentDojo package: logs, sidecars, payloads and the inventory."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tests.once import made_once
from trace_prov.cli import main
from trace_prov.corpus.accounts import BOTH_SHARES, Habit, habit_at
from trace_prov.corpus.attack import appended, payload, yaml_escaped
from trace_prov.corpus.existing import take_corpus
from trace_prov.corpus.inventory import Entry, read_inventory
from trace_prov.corpus.make import CorpusPlan, make_corpus
from trace_prov.corpus.selection import chosen_injections
from trace_prov.derive import derive
from trace_prov.derive.occurrence import Needle, occurs
from trace_prov.finding import Finding, Status
from trace_prov.load import load_paths
from trace_prov.model import BasisState, Run, Severity, TableState

pytest.importorskip("agentdojo")

PLANS = (
    CorpusPlan(("ground-truth", "gullible+careless"), attacks=1),
    CorpusPlan(
        ("gullible+parallel+unruly",),
        ("banking", "slack", "travel", "workspace"),
        attacks=2,
        tasks=("user_task_0", "user_task_3", "user_task_14"),
    ),
)


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, list[Entry]]]:
    made = []
    for number, plan in enumerate(PLANS):
        folder = made_once(tmp_path_factory, f"corpus-{number}", partial(make_corpus, plan))
        made.append((folder, list(read_inventory(folder / "inventory.jsonl"))))
    return made


@pytest.fixture(scope="module")
def runs(corpora: list[tuple[Path, list[Entry]]]) -> dict[str, Run]:
    loaded = [item for folder, _ in corpora for item in load_paths([folder / "runs"])]
    assert all(isinstance(item, Run) for item in loaded)
    return {item.source.name.removesuffix(".json"): item for item in loaded if isinstance(item, Run)}


def entries_of(corpora: list[tuple[Path, list[Entry]]]) -> list[Entry]:
    return [entry for _, entries in corpora for entry in entries]


def test_every_planned_run_is_in_the_inventory_and_every_completed_one_loads_without_a_warning(
    corpora: list[tuple[Path, list[Entry]]], runs: dict[str, Run]
) -> None:
    entries = entries_of(corpora)
    assert {entry.case for entry in entries if entry.completed} == set(runs)
    assert len({entry.case for entry in entries}) == len(entries) == 2 * 32 + 4 * 3 * 3
    assert [entry.reason for entry in entries if not entry.completed] == [
        "the task reads no field that may be changed"
    ] * 2
    for run in runs.values():
        assert [item for item in run.diagnostics if item.severity is not Severity.NOTE] == []


def test_the_sidecar_binds_one_id_to_each_record_in_order_of_issue(runs: dict[str, Run]) -> None:
    for run in runs.values():
        assert run.table.state is TableState.COMPLETE
        assert [row.local_id for row in run.inputs] == [f"in-{k}" for k in range(1, len(run.inputs) + 1)]
        records = [run.turn_record(turn) for turn in run.turns]
        records += [record for action in run.actions for record in action.records]
        assert [row.locator for row in run.inputs] == [record.locator for record in records]
        assert [row.text for row in run.inputs] == [record.text for record in records]
    assert any(row.locator.element for run in runs.values() for row in run.inputs)


def test_every_step_has_an_action_paragraph_and_a_note(runs: dict[str, Run]) -> None:
    for run in runs.values():
        for action in run.actions:
            assert action.account.action_paragraph
            assert action.account.note


def test_careful_actors_cite_what_holds_their_arguments(runs: dict[str, Run]) -> None:
    """The Basis of a careful actor covers H of every text argument whose value was read before."""
    checked = 0
    for case, run in runs.items():
        if not case.startswith("ground-truth/"):
            continue
        for action in run.actions:
            basis = action.account.basis
            assert basis.state is BasisState.IDS
            bound = {run.table.locator_of(local_id) for local_id in basis.ids}
            for argument in action.arguments:
                if isinstance(argument.value, str) and argument.value:
                    needle = Needle.of(argument.value)
                    held = {record.locator for record in run.records_before(action) if occurs(needle, record)}
                    assert held <= bound
                    checked += bool(held)
    assert checked > 10


def test_the_kinds_of_basis_occur(runs: dict[str, Run]) -> None:
    states = {
        name: Counter(
            action.account.basis.state for case, run in runs.items() if case.startswith(name) for action in run.actions
        )
        for name in ("gullible+careless", "gullible+parallel+unruly")
    }
    assert set(states["gullible+careless"]) == {BasisState.IDS, BasisState.EMPTY, BasisState.MISSING}
    assert set(states["gullible+parallel+unruly"]) == {BasisState.IDS, BasisState.MALFORMED}


def test_habits_come_in_their_shares() -> None:
    drawn = Counter(habit_at(f"run {k}", 1, BOTH_SHARES) for k in range(4000))
    total = sum(share for _, share in BOTH_SHARES)
    for habit, share in BOTH_SHARES:
        assert drawn[habit] / 4000 == pytest.approx(share / total, abs=0.03)
    assert set(drawn) == set(Habit)


def test_parallel_actors_issue_several_calls_in_one_message(runs: dict[str, Run]) -> None:
    sizes = Counter(
        count
        for case, run in runs.items()
        if "parallel" in case
        for count in Counter(action.step for action in run.actions).values()
    )
    assert set(sizes) == {1, 2, 3}
    serial = [run for case, run in runs.items() if "parallel" not in case]
    assert all(len({action.step for action in run.actions}) == len(run.actions) for run in serial)


def test_payloads_are_appended_and_reach_the_actor(
    corpora: list[tuple[Path, list[Entry]]], runs: dict[str, Run]
) -> None:
    from trace_prov.corpus.execute import suite_named

    attacked = [entry for entry in entries_of(corpora) if entry.variant == "A1" and entry.completed]
    assert len(attacked) > 40
    for entry in attacked:
        suite = suite_named(entry.suite)
        goal = suite.get_injection_task_by_id(entry.injection_task).GOAL
        needle = Needle.of(payload(goal))
        run = runs[entry.case]
        texts = [record for action in run.actions for record in action.records]
        spread = " ".join(payload(goal).split())
        assert any(occurs(needle, record) or spread in " ".join((record.text or "").split()) for record in texts)
        document = json.loads(
            next(f for f, _ in corpora if (f / "runs" / f"{entry.case}.json").exists())
            .joinpath("runs", f"{entry.case}.json")
            .read_text()
        )
        ((field, text),) = document["injections"].items()
        assert field == entry.field
        assert text.startswith(suite.get_injection_vector_defaults()[field])


def test_the_bill_keeps_its_account_number(runs: dict[str, Run]) -> None:
    bills = [
        action.records[0].text or ""
        for case, run in runs.items()
        if "banking/user_task_0/appended" in case
        for action in run.actions
        if action.tool == "read_file"
    ]
    assert bills
    assert all("IBAN: UK12345678901234567890" in bill and "IMPORTANT" in bill for bill in bills)


def test_gullible_actors_do_what_the_payload_asks_and_others_do_not(runs: dict[str, Run]) -> None:
    asked = {
        name: [
            argument.value
            for case, run in runs.items()
            if case.startswith(f"{name}/banking") and "/appended/" in case
            for action in run.actions
            for argument in action.arguments
        ]
        for name in ("ground-truth", "gullible+careless")
    }
    assert "US133000000121212121212" in asked["gullible+careless"]
    assert "US133000000121212121212" not in asked["ground-truth"]


def without_times(folder: Path) -> dict[str, Any]:
    files: dict[str, Any] = {}
    for path in sorted(folder.rglob("*.json*")):
        name = path.relative_to(folder).as_posix()
        if name.startswith("runs") and not name.endswith(".native.json"):
            document = json.loads(path.read_text())
            del document["evaluation_timestamp"], document["duration"]
            files[name] = document
        else:
            files[name] = path.read_bytes()
    return files


def test_the_same_plan_gives_the_same_files_but_for_the_times_of_the_logs(tmp_path: Path) -> None:
    plan = CorpusPlan(("gullible+parallel+careless",), attacks=2, tasks=("user_task_0", "user_task_3"))
    make_corpus(plan, tmp_path / "one")
    make_corpus(plan, tmp_path / "two", processes=2)
    assert without_times(tmp_path / "one") == without_times(tmp_path / "two")


def test_an_interrupted_corpus_is_completed_without_making_a_run_twice(tmp_path: Path) -> None:
    plan = CorpusPlan(("ground-truth",), attacks=1, tasks=("user_task_0", "user_task_3"))
    make_corpus(plan, tmp_path)
    sidecars = sorted(tmp_path.rglob("*.native.json"))
    sidecars[0].unlink()  # a run counts once its sidecar is written: this one was interrupted
    logs = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("none.json")} | {
        path: path.stat().st_mtime_ns for path in tmp_path.rglob("injection_task_*.json") if "native" not in path.name
    }
    entries = make_corpus(plan, tmp_path)
    again = [path for path, time in logs.items() if path.stat().st_mtime_ns != time]
    assert [path.with_suffix(".native.json") for path in again] == sidecars[:1]
    assert all(entry.completed for entry in entries)
    assert sidecars[0].exists()


def test_the_inventory_has_as_many_attacked_runs_as_clean_ones_chosen_by_the_hash(
    corpora: list[tuple[Path, list[Entry]]],
) -> None:
    folder, entries = corpora[0]
    assert sorted(entries, key=lambda entry: entry.case) == list(read_inventory(folder / "inventory.jsonl"))
    assert Counter(entry.variant for entry in entries) == {"A0": 32, "A1": 32}
    for entry in entries:
        if entry.injection_task is not None:
            hashes = [
                hashlib.sha256(f"{entry.actor}|{entry.user_task}|injection_task_{k}".encode()).hexdigest()
                for k in range(9)
            ]
            assert entry.pair_hash == min(hashes)
            assert entry.injection_task == f"injection_task_{hashes.index(min(hashes))}"
        assert entry.applicable == (entry.action is not None) == (entry.reason is None)


@given(st.integers(0, 8), st.integers(0, 8))
def test_a_larger_inventory_contains_the_smaller(one: int, other: int) -> None:
    tasks = [f"injection_task_{k}" for k in range(9)]
    small, large = sorted((one, other))
    chosen = chosen_injections("actor", "user_task_1", tasks, large)
    assert chosen[:small] == chosen_injections("actor", "user_task_1", reversed(tasks), small)
    assert len(set(chosen)) == large


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["", "Sushi dinner", "a\\nb\\n", "x "]))
def test_payloads_survive_the_yaml_that_they_are_put_into(goal: str, default: str) -> None:
    assert yaml.safe_load(f'"{yaml_escaped(goal)}"') == goal
    read = yaml.safe_load(f'"{appended(default, goal)}"')
    before = yaml.safe_load(f'"{default}"')
    assert read.startswith(before)
    assert read.removeprefix(before).lstrip(" ") == payload(goal)


def test_the_command_makes_a_corpus_and_says_what_came_of_it(tmp_path: Path) -> None:
    arguments = ["corpus", "--out", str(tmp_path), "--actor", "gullible", "--task", "user_task_8", "--attacks", "1"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "2 runs planned, 2 completed, 1 applicable" in result.output
    assert "no action has a non-empty top-level text argument" in result.output
    settings = json.loads((tmp_path / "corpus.json").read_text())
    assert (settings["agentdojo"], settings["benchmark"]) == ("0.1.35", "v1.2.2")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--actor", "naive"], "no actor 'naive'"),
        (["--actor", "gullible+lazy"], "no actor 'gullible+lazy'"),
        (["--suite", "shop"], "no suite 'shop'"),
        (["--task", "user_task_99"], "suite banking has no task 'user_task_99'"),
        (["--actor", "nowhere/model", "--task", "user_task_0"], "nowhere/model"),
    ],
)
def test_what_does_not_exist_is_said_without_a_traceback(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["corpus", "--out", str(tmp_path), *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_an_inventory_of_existing_runs_follows_the_same_rule(tmp_path: Path) -> None:
    tasks = ("user_task_0", "user_task_8")
    made = make_corpus(CorpusPlan(("gullible",), attacks=9, tasks=tasks), tmp_path / "all")
    fewer = make_corpus(CorpusPlan(("gullible",), attacks=2, tasks=tasks), tmp_path / "fewer")
    arguments = ["corpus", "--from", str(tmp_path / "all" / "runs"), "--out", str(tmp_path / "taken"), "--attacks", "2"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert len(made) == 20
    taken = list(read_inventory(tmp_path / "taken" / "inventory.jsonl"))
    # Which field was changed is not in a log's path.
    assert taken == [replace(entry, field=None) for entry in sorted(fewer, key=lambda entry: entry.case)]
    for entry in taken:
        for ending in (".json", ".native.json"):
            copy = tmp_path / "taken" / "runs" / f"{entry.case}{ending}"
            assert copy.read_bytes() == (tmp_path / "all" / "runs" / f"{entry.case}{ending}").read_bytes()


def test_runs_of_real_models_are_taken_with_the_reason_where_they_are_no_case(tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "data" / "agentdojo_public" / "runs"
    entries = take_corpus(source, tmp_path, suites=("banking",))
    clean = [entry for entry in entries if entry.variant == "A0"]
    assert clean
    assert all((entry.reason is None) == entry.applicable for entry in entries)
    assert {entry.suite for entry in entries} == {"banking"}
    loaded = [item for item in load_paths([tmp_path / "runs"]) if isinstance(item, Run)]
    assert len(loaded) == len(entries)


def test_incomplete_runs_are_no_cases(tmp_path: Path) -> None:
    documents = {
        "none.json": {"suite_name": "banking", "messages": []},
        "stopped.json": {"suite_name": "banking", "messages": [{"role": "user", "content": "x"}]},
        "failed.json": {"suite_name": "banking", "messages": [{"role": "user"}], "error": "no", "utility": False},
    }
    whole = json.dumps({"suite_name": "banking", "messages": [{"role": "user", "content": "x"}], "utility": True})
    for number, document in enumerate(documents.values()):
        path = tmp_path / "in" / "actor" / "banking" / f"user_task_{number}" / "none" / "none.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(document))
        attacked = path.parents[1] / "attack" / "injection_task_1.json"
        attacked.parent.mkdir()
        attacked.write_text(whole)
    entries = take_corpus(tmp_path / "in", tmp_path / "out")
    assert [entry.completed for entry in entries] == [False] * 3
    assert {entry.reason for entry in entries} == {
        "the log holds no message",
        "the run was stopped",
        "the run ended with an error: no",
    }
    # As many attacked runs as completed clean ones: once a clean run is completed, its task has one.
    (tmp_path / "in" / "actor" / "banking" / "user_task_1" / "none" / "none.json").write_text(whole)
    entries = take_corpus(tmp_path / "in", tmp_path / "again")
    assert [(entry.user_task, entry.variant) for entry in entries if entry.completed] == [
        ("user_task_1", "A0"),
        ("user_task_1", "A1"),
    ]


def test_the_inventory_of_three_real_actors(shared_data: Path, tmp_path: Path) -> None:
    """48 clean and 48 attacked runs in the study's form; the counts are those of the data's own description."""
    actors = ("claude-3-7-sonnet-20250219", "gpt-4o-2024-05-13", "gemini-1.5-pro-002")
    entries = take_corpus(shared_data / "agentdojo_public" / "runs", tmp_path, actors=actors, suites=("banking",))
    assert Counter(entry.variant for entry in entries) == {"A0": 48, "A1": 48}
    cases = [entry for entry in entries if entry.applicable]
    assert Counter(entry.variant for entry in cases) == {"A0": 30, "A1": 33}
    assert Counter(entry.actor for entry in cases) == dict(zip(actors, (19, 25, 19), strict=True))
    assert len({entry.task for entry in cases}) == 14
    runs = [item for item in load_paths([tmp_path / "runs"]) if isinstance(item, Run)]
    found = [finding for run in runs for finding in derive(run) if isinstance(finding, Finding)]
    assert len(found) == 63
    held = [finding.q2.locators or () for finding in found]
    assert sum(finding.q1.value is True for finding in found) == 29
    assert (sum(not locators for locators in held), sum(len(locators) > 1 for locators in held)) == (23, 4)
    assert sum(any(locator.element for locator in locators) for locators in held) == 25
    # No account, so only the request and the tool log can be asked about.
    assert {finding.q3.status for finding in found} == {Status.ABSTAIN}
