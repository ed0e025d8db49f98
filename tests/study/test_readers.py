"""Readers on Inspect: what is sent, what is kept, what happens on failures, kills and restarts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.corpus.provider import Provider, Reply, serving
from trace_prov.cli import main
from trace_prov.errors import UsageError
from trace_prov.language_model import ModelOptions
from trace_prov.study import readers
from trace_prov.study.folder import StudyFolder
from trace_prov.study.journal import Event, journal_path, read_journal
from trace_prov.study.policies import SimulatedReader
from trace_prov.study.prepare import StudyPlan, prepare
from trace_prov.study.prompt import INSTRUCTIONS, evidence_in
from trace_prov.study.readers import ReaderStoppedError, ask, check_reader, open_questions
from trace_prov.study.results import results_of, write_scores

pytest.importorskip("inspect_ai")

PERFECT = SimulatedReader.parse("sim/perfect")
MODEL = "openai-api/local/some-model"
CONDITIONS = ("R11", "C00", "C10")


@pytest.fixture
def folder(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StudyFolder:
    """A study of four cases under three conditions."""
    pytest.importorskip("bpe_openai")
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    study = StudyFolder(tmp_path / "study")
    prepare(StudyPlan((corpus,), CONDITIONS, cases=4), study)
    return study


def is_perfect(messages: list[tuple[str, str]]) -> Reply:
    return Reply(PERFECT.answer(messages[-1][1]))


def asked(provider: Provider) -> list[str]:
    return [request["messages"][-1]["content"] for request in provider.requests]


def test_each_package_is_one_new_conversation_in_the_pinned_order(folder: StudyFolder) -> None:
    with serving(is_perfect) as provider:
        ask(folder, MODEL, ModelOptions(provider.base_url))
    questions = folder.questions()
    assert [evidence_in(text) for text in asked(provider)] == [folder.evidence(q).rstrip() for q in questions]
    for request in provider.requests:
        assert [message["role"] for message in request["messages"]] == ["system", "user"]
        assert request["messages"][0]["content"] == INSTRUCTIONS
        assert (request["temperature"], request["max_tokens"]) == (0, 2048)
        assert request["response_format"]["type"] == "json_schema"
    results = [result for result in results_of(folder) if result.reader == MODEL]
    assert len(results) == 3 * len(questions) == 36
    assert all(result.score.g for result in results)
    assert {result.input_tokens for result in results} == {100}
    entries = [entry for entry in read_journal(journal_path(folder.responses, MODEL)) if entry.closes]
    assert {(entry.model, entry.stop_reason) for entry in entries} == {("some-model", "stop")}
    assert list(folder.inspect_logs.glob("*.eval"))


def test_simulated_readers_and_the_mock_model_take_the_same_way(folder: StudyFolder) -> None:
    for reader in ("sim/copy-h", "mockllm/model"):
        ask(folder, reader)
    by_reader = {
        reader: [r for r in results_of(folder) if r.reader == reader] for reader in ("sim/copy-h", "mockllm/model")
    }
    assert any(result.score.u for result in by_reader["sim/copy-h"])
    assert all(not result.score.valid for result in by_reader["mockllm/model"])
    assert all(
        result.input_tokens == tokens_of(folder, result.case, result.condition) for result in by_reader["sim/copy-h"]
    )


def tokens_of(folder: StudyFolder, case: str, condition: str) -> int:
    return next(q.tokens for q in folder.questions() if (q.case, q.condition) == (case, condition))


@pytest.mark.parametrize("model", [MODEL, "anthropic/claude-some"])
def test_a_question_that_another_study_asked_is_taken_from_the_cache_on_request(
    model: str, corpus: Path, folder: StudyFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    larger = StudyFolder(tmp_path / "larger")
    prepare(StudyPlan((corpus,), CONDITIONS, cases=5), larger)
    with serving(is_perfect) as provider:
        options = ModelOptions(provider.url if model.startswith("anthropic") else provider.base_url)
        ask(folder, model, options, cache=True)
        assert len(provider.requests) == 12
        ask(larger, model, options, cache=True)
        assert len(provider.requests) == 15
        ask(larger, "sim/copy-h", cache=True)
        ask(larger, "sim/over-abstain", cache=True)
    entries = [entry for entry in read_journal(journal_path(larger.responses, model)) if entry.closes]
    assert Counter(entry.cached for entry in entries) == {True: 12, None: 3}
    first = {entry.key: entry.response for entry in read_journal(journal_path(folder.responses, model)) if entry.closes}
    assert {entry.key: entry.response for entry in entries if entry.cached} == first
    simulated = [
        [r.given for r in results_of(larger) if r.reader == name] for name in ("sim/copy-h", "sim/over-abstain")
    ]
    assert simulated[0] != simulated[1]


@pytest.mark.parametrize("model", [MODEL, "anthropic/claude-some"])
def test_a_failure_is_kept_and_not_retried_until_asked_for(model: str, folder: StudyFolder) -> None:
    turn = iter(range(100))

    def fails_once(messages: list[tuple[str, str]]) -> Reply:
        return Reply("slow down", status=429) if next(turn) == 2 else is_perfect(messages)

    with serving(fails_once) as provider:
        options = ModelOptions(provider.url if model.startswith("anthropic") else provider.base_url)
        ask(folder, model, options)
        assert len(provider.requests) == 12
        assert len(set(asked(provider))) == 12
        failed = [entry for entry in read_journal(journal_path(folder.responses, model)) if entry.event is Event.FAILED]
        assert len(failed) == 1
        assert "429" in str(failed[0].error)
        missing = [r for r in results_of(folder) if r.reader == model and not r.score.valid]
        assert [(r.case, r.condition, r.outcome) for r in missing] == [(*failed[0].key, "failed")] * 3
        ask(folder, model, options)
        assert len(provider.requests) == 12
        ask(folder, model, options, retry_failed=True)
        assert len(provider.requests) == 13
    assert all(r.score.g for r in results_of(folder) if r.reader == model)


def test_a_reader_that_only_fails_is_stopped(folder: StudyFolder) -> None:
    with serving(lambda messages: Reply("no such model", status=400)) as provider:
        with pytest.raises(ReaderStoppedError, match="5 failures in a row"):
            ask(folder, MODEL, ModelOptions(provider.base_url))
        assert len(provider.requests) == 5
    assert len(open_questions(folder, MODEL)) == 7


def test_a_package_over_the_input_cap_is_recorded_and_not_sent(
    folder: StudyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = sorted(question.tokens for question in folder.questions())
    monkeypatch.setattr(readers, "MAX_INPUT_TOKENS", tokens[-3])
    with serving(is_perfect) as provider:
        ask(folder, MODEL, ModelOptions(provider.base_url))
    assert len(provider.requests) == 10
    results = [result for result in results_of(folder) if result.reader == MODEL and result.question == "q2"]
    assert Counter(result.outcome for result in results) == {"response": 10, "too long": 2}
    assert all(result.score.valid == (result.outcome == "response") for result in results)


def test_evidence_that_was_changed_is_not_asked(folder: StudyFolder) -> None:
    question = folder.questions()[5]
    path = folder.package(question.case, question.condition) / "data" / "evidence.json"
    path.write_bytes(path.read_bytes().replace(b"act-01", b"act-02", 1))
    with pytest.raises(Exception, match="evidence that the study was prepared with"):
        ask(folder, "sim/perfect")


def test_other_questions_do_not_mix_with_a_study(folder: StudyFolder, corpus: Path) -> None:
    prepare(StudyPlan(), folder)
    prepare(StudyPlan((corpus,), CONDITIONS, 4), folder)
    with pytest.raises(UsageError, match="other conditions"):
        prepare(StudyPlan((corpus,), ("C00",), 4), folder)
    with pytest.raises(UsageError, match="other cases"):
        prepare(StudyPlan(cases=5), folder)


@pytest.mark.parametrize("name", ["perfect", "sim/nobody", "sim/perfect:2", "sim/perfect:x"])
def test_names_that_are_no_reader_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"no .*reader"):
        check_reader(name)


def command(folder: Path, corpus: Path, provider: Provider) -> list[str]:
    options = ["--reader", MODEL, "--cases", "8", "--model-base-url", provider.base_url]
    options += [part for name in ("C00", "C10") for part in ("--condition", name)]
    return [sys.executable, "-m", "trace_prov", "study", "run", str(corpus), "--out", str(folder), *options]


@pytest.mark.parametrize(
    ("stop", "code"),
    [(signal.SIGKILL, -signal.SIGKILL), pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow)],
)
def test_a_stopped_study_goes_on_without_asking_twice(
    stop: signal.Signals, code: int, corpus: Path, tmp_path: Path
) -> None:
    """Stopped in the middle; what was answered is not asked again and all is answered in the end."""
    pytest.importorskip("bpe_openai")
    enough = threading.Event()
    served: list[str] = []

    def slow(messages: list[tuple[str, str]]) -> Reply:
        served.append(messages[-1][1])
        if len(served) == 7:
            enough.set()
            time.sleep(5)  # the kill comes while this answer is under way
        return is_perfect(messages)

    out = tmp_path / "study"
    environment = os.environ | {"LOCAL_API_KEY": "none"}
    with serving(slow) as provider:
        process = subprocess.Popen(command(out, corpus, provider), env=environment, stdout=subprocess.DEVNULL)
        assert enough.wait(120)
        process.send_signal(stop)
        assert process.wait(60) == code
        folder = StudyFolder(out)
        path = journal_path(folder.responses, MODEL)
        answered = [entry.key for entry in read_journal(path) if entry.closes]
        assert len(answered) == 6
        again = [sys.executable, "-m", "trace_prov", "study", "run", "--out", str(out)]
        done = subprocess.run(again, env=environment, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    times = Counter(served)
    assert len(times) == 16
    assert [times[text] for text in served[:6]] == [1] * 6
    assert sorted(times.values()) == [1] * 15 + [2]  # only the one whose answer the kill lost
    assert times[served[6]] == 2
    closed = Counter(entry.key for entry in read_journal(path) if entry.closes)
    assert len(closed) == 16
    assert set(closed.values()) == {1}
    assert [entry.key for entry in read_journal(path) if entry.closes][:6] == answered
    assert all(result.score.g for result in results_of(folder) if result.reader == MODEL)
    assert (out / "report" / "index.html").exists()


def lines_of(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_the_whole_command_is_killed_at_every_stage_and_ends_as_if_it_had_not_been(
    corpus: Path, tmp_path: Path
) -> None:
    """Killed while it makes runs, while it makes packages, while readers answer; then the same command ends."""
    pytest.importorskip("bpe_openai")
    out, simulated = tmp_path / "study", ("sim/copy-h", "sim/over-abstain:0.5")
    plan = StudyPlan((corpus,), ("C00", "C10"), cases=20)
    arguments = ["study", "run", "--out", str(out), "--cases", "20", "--condition", "C00", "--condition", "C10"]
    arguments += [part for name in simulated for part in ("--reader", name)]
    journal = journal_path(StudyFolder(out).responses, simulated[1])
    stages: tuple[Callable[[], bool], ...] = (
        lambda: len(list((out / "corpus").rglob("*.native.json"))) >= 9,
        lambda: len(list(out.glob("packages/*/*/*/*/*/*/data/evidence.json"))) >= 5,
        lambda: lines_of(journal) >= 9,
    )
    for reached in stages:
        process = subprocess.Popen([sys.executable, "-m", "trace_prov", *arguments], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 180
        while not reached():
            assert process.poll() is None, "it ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.kill()
        assert process.wait(60) == -signal.SIGKILL
    before = [entry for entry in read_journal(journal) if entry.closes]
    assert 0 < len(before) < 40
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output

    undisturbed = StudyFolder(tmp_path / "undisturbed")
    prepare(plan, undisturbed)
    for reader in simulated:
        ask(undisturbed, reader)
        ours, theirs = (
            [entry for entry in read_journal(journal_path(each.responses, reader)) if entry.closes]
            for each in (StudyFolder(out), undisturbed)
        )
        assert ours == theirs  # each question once, in the pinned order
    write_scores(undisturbed, results_of(undisturbed))
    for name in ("scores.jsonl", "questions.jsonl", "supported.jsonl", "comparator.jsonl", "inventory.jsonl"):
        assert (out / name).read_bytes() == (undisturbed.path / name).read_bytes()


def test_a_study_that_is_run_twice_gives_the_same_bytes(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but Inspect's own logs, which hold times."""
    pytest.importorskip("bpe_openai")
    files = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        arguments = ["study", "run", str(corpus), "--out", "study", "--cases", "5", "--reader", "sim/guess-order"]
        result = CliRunner().invoke(main, [*arguments, "--reader", "sim/drop-locator:0.5"])
        assert result.exit_code == 0, result.output
        found = {
            path.relative_to(tmp_path / name): path.read_bytes() for path in Path.cwd().rglob("*") if path.is_file()
        }
        files.append({path: data for path, data in found.items() if path.suffix != ".eval"})
    assert files[0] == files[1]
    assert len(files[0]) > 5 * 8 * 4


@pytest.mark.slow
def test_one_command_runs_the_whole_study_offline(tmp_path: Path) -> None:
    arguments = ["study", "run", "--out", str(tmp_path / "study"), "--cases", "64"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    folder = StudyFolder(tmp_path / "study")
    outcomes = Counter((r.reader, r.outcome) for r in results_of(folder) if r.question == "q1")
    assert len(outcomes) == 7
    assert set(outcomes.values()) == {64 * 8}
    assert (folder.report / "index.html").exists()
