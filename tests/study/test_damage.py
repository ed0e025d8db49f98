"""Studies that were damaged, and readers that answer with anything: a clear error or a score, never a traceback."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.corpus.provider import Reply, serving
from tests.once import made_once
from trace_prov.cli import main
from trace_prov.language_model import ModelOptions
from trace_prov.study.folder import PREPARED, StudyFolder
from trace_prov.study.journal import journal_path, read_journal
from trace_prov.study.prepare import StudyPlan, prepare
from trace_prov.study.readers import ask
from trace_prov.study.results import results_of
from trace_prov.study.score import Reason

pytest.importorskip("inspect_ai")
READER = "sim/copy-h"


@pytest.fixture(scope="module")
def whole(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of three cases under two conditions with one reader's answers."""
    pytest.importorskip("bpe_openai")

    def make(path: Path) -> None:
        folder = StudyFolder(path)
        manifest = prepare(StudyPlan((corpus,), ("C00", "C10"), cases=3), folder)
        folder.write_manifest(manifest | {"readers": {"sim/perfect": {"base_url": None}, READER: {"base_url": None}}})
        ask(folder, READER)

    return made_once(tmp_path_factory, "small-study", make)


@pytest.fixture
def study(whole: Path, tmp_path: Path) -> StudyFolder:
    shutil.copytree(whole, tmp_path / "study")
    return StudyFolder(tmp_path / "study")


def journal(study: StudyFolder) -> Path:
    return journal_path(study.responses, READER)


def called(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["study", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def refused(study: StudyFolder, *said: str, commands: tuple[str, ...] = ("run", "score", "report")) -> None:
    """Each command ends with exit code 2, says what is wrong, and leaves the folder as it was."""
    before = {path: path.read_bytes() for path in study.path.rglob("*") if path.is_file()}
    for command in commands:
        where = ["--out", study.path] if command == "run" else [study.path]
        code, output = called(command, *where)
        assert code == 2, output
        for text in said:
            assert text in output
    assert {path: path.read_bytes() for path in study.path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", ["manifest.json", *PREPARED])
@pytest.mark.parametrize("damage", ["half", "gone", "empty", "another line"])
def test_a_file_that_scores_rest_on_and_that_was_damaged(name: str, damage: str, study: StudyFolder) -> None:
    path = study.path / name
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
        if name == "manifest.json":
            refused(study, "no study here", commands=("score", "report"))
            return
    else:
        lines = data.splitlines(keepends=True)
        path.write_bytes({"half": data[: len(data) // 2], "empty": b"", "another line": b"".join(lines[:-1])}[damage])
    refused(study, name)


def changed(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda manifest: manifest.update({key: value})


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (changed("format", "trace-prov-study 9"), "format"),
        (changed("format", None), "format"),
        (changed("conditions", [1]), "conditions"),
        (changed("conditions", None), "conditions"),
        (changed("cases", "64"), "cases"),
        (changed("readers", {"sim/perfect": 3}), "readers"),
        (changed("readers", {"sim/perfect": {"base_url": 3}}), "readers"),
        (changed("files_sha256", {"cases.jsonl": 3}), "files_sha256"),
        (changed("files_sha256", {}), "cases.jsonl"),
    ],
)
def test_a_manifest_that_says_what_no_study_wrote(
    change: Callable[[dict[str, Any]], None], place: str, study: StudyFolder
) -> None:
    manifest = json.loads(study.manifest.read_text())
    change(manifest)
    study.manifest.write_text(json.dumps(manifest))
    refused(study, "manifest.json" if place != "cases.jsonl" else place, place)


@pytest.mark.parametrize("answered", [True, False])
@pytest.mark.parametrize("damage", ["a byte more", "gone", "a folder"])
def test_one_damaged_package_stops_the_readers(damage: str, answered: bool, study: StudyFolder) -> None:
    question = study.questions()[3]
    path = study.package(question.case, question.condition) / "data" / "evidence.json"
    data = path.read_bytes()
    path.unlink()
    if damage == "a byte more":
        path.write_bytes(data + b" ")
    elif damage == "a folder":
        path.mkdir()
    if not answered:
        journal(study).unlink()
    refused(study, "evidence.json", "the evidence that the study was prepared with", commands=("run",))


def test_a_journal_cut_in_half_loses_what_was_cut_and_nothing_else(study: StudyFolder) -> None:
    path = journal(study)
    data = path.read_bytes()
    kept = [entry for entry in read_journal(path) if entry.closes]
    path.write_bytes(data[: len(data) // 2])
    left = [entry for entry in read_journal(path) if entry.closes]
    assert left == kept[: len(left)]
    assert 0 < len(left) < 6
    code, output = called("score", study.path)
    assert code == 0, output
    assert sum(not r.score.valid for r in results_of(study) if r.reader == READER) == 3 * (6 - len(left))
    code, output = called("run", "--out", study.path)
    assert code == 0, output
    again = [entry for entry in read_journal(path) if entry.closes]
    assert [(entry.key, entry.response) for entry in again] == [(entry.key, entry.response) for entry in kept]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"[1, 2]", "line 2"),
        (b"null", "line 2"),
        (b"\xff\xfe", "line 2"),
        (b'{"event": "response"}', "line 2"),
        (b'{"event": "guessed", "case": "a", "condition": "C00", "package_sha256": "0"}', "line 2"),
        (b'{"event": "response", "case": "a", "condition": "C00", "package_sha256": "0", "response": {}}', "line 2"),
        (b'{"event": "response", "case": 1, "condition": "C00", "package_sha256": "0"}', "line 2"),
        (b'{"event": "asked", "event": "failed", "case": "a", "condition": "C00", "package_sha256": "0"}', "line 2"),
        (b'{"event": "asked", "case": "a", "condition": "C00", "package_sha256": "0"}', "of this study, found none"),
    ],
)
def test_a_journal_with_a_line_that_is_no_entry_of_this_study(line: bytes, said: str, study: StudyFolder) -> None:
    path = journal(study)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], line, *lines[1:]]))
    refused(study, path.name, said)


def test_answers_to_packages_of_another_study_never_count(study: StudyFolder) -> None:
    path = journal(study)
    digest = study.questions()[0].package_sha256
    path.write_text(path.read_text().replace(digest, "0" * 64))
    refused(study, path.name, "expected a package of this study, found another one")


def test_files_that_are_no_journal_of_a_reader(study: StudyFolder) -> None:
    stray = study.responses / "comparator.jsonl"
    shutil.copy(journal(study), stray)
    refused(study, "no reader may be called 'comparator'", commands=("score", "report"))
    stray.unlink()
    stray.with_name("x.jsonl").mkdir()
    refused(study, "x.jsonl", commands=("score", "report"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: [row], "line 1: expected an object"),
        (lambda row: row | {"case": 3}, "no package C"),
        (lambda row: row | {"condition": None}, "no package None"),
    ],
)
def test_files_of_answers_that_fit_no_package(
    change: Callable[[dict[str, Any]], Any], said: str, study: StudyFolder
) -> None:
    row = json.loads((study.path / "supported.jsonl").read_text().splitlines()[0])
    other = study.path / "other.jsonl"
    other.write_text(json.dumps(change(row)))
    code, output = called("score", study.path, "--answers", other)
    assert (code, said in output) == (2, True), output
    other.write_text(json.dumps(row) + "\n" + json.dumps(row))
    code, output = called("score", study.path, "--answers", other)
    assert (code, "a second answer" in output) == (2, True), output
    other.write_text(json.dumps(row)[:-9])
    code, output = called("score", study.path, "--answers", other)
    assert (code, "line 1: expected JSON" in output) == (2, True), output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--reader", "openai/" + "x" * 300], "too long"),
        (["--condition", "C00", "--condition", "C00"], "two conditions have the name C00"),
        (["--condition", "C99"], "no condition 'C99'"),
        (["--reader", "nowhere/model"], "nowhere"),
        (["--cases", "0"], "0"),
        (["--model-base-url", "http://me:secret@localhost/v1"], "must hold no user"),
        (["--model-base-url", "http://localhost/v1?key=secret"], "must hold no user"),
        (["--model-base-url", "localhost:80"], "no address of a model"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments: list[str], said: str, corpus: Path, tmp_path: Path) -> None:
    one = next(corpus.rglob("none.json"))
    code, output = called("run", one, "--out", tmp_path / "study", *arguments)
    assert (code, said in output) == (2, True), output
    assert "secret" not in output
    assert not (tmp_path / "study").exists()


def test_a_study_without_a_case_says_why(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, output = called("run", tmp_path / "empty", "--out", tmp_path / "study", "--reader", "sim/perfect")
    assert (code, "there is no log" in output) == (2, True), output
    log = {"suite_name": "banking", "pipeline_name": "m", "user_task_id": "user_task_0", "messages": []}
    (tmp_path / "empty" / "none.json").write_text(json.dumps(log))
    code, output = called("run", tmp_path / "empty", "--out", tmp_path / "study", "--reader", "sim/perfect")
    assert (code, "none of the 1 logs has a target" in output) == (2, True), output
    assert not (tmp_path / "study" / "manifest.json").exists()


OUTSIDE = {"status": "answered", "locators": ["act-99.result", "request.user", "nonsense", "\ud800"]}
ANYTHING = [
    "",
    " \n",
    "garbage \x00\x01\x1b[31m \ud800",
    "x" * 2_000_000,
    "[" * 100_000,
    json.dumps({"q1": {"status": "answered", "value": "yes"}, "q2": [1], "q3": 3}),
    json.dumps({"q1": {"status": "abstain"}})[:-1] + ', "q1": {"status": "answered", "value": true}}',
    json.dumps({"q1": {"status": "abstain"}, "q2": OUTSIDE, "q3": OUTSIDE}),
    json.dumps({"q3": {"status": "answered", "locators": ["act-01.result"] * 50_000}}),
]
EXPECTED = [
    (Reason.INVALID, Reason.INVALID),
    (Reason.INVALID, Reason.INVALID),
    (Reason.INVALID, Reason.INVALID),
    (Reason.INVALID, Reason.INVALID),
    (Reason.INVALID, Reason.INVALID),
    (Reason.INVALID, Reason.INVALID),
    (Reason.INVALID, Reason.INVALID),
    (Reason.JUSTIFIED_ABSTENTION, Reason.EXTRA_LOCATOR),
    (Reason.INVALID, Reason.INVALID),
]


@pytest.mark.parametrize("model", ["openai-api/local/some-model", "anthropic/claude-some"])
def test_whatever_a_reader_answers_is_kept_as_given_and_scored(
    model: str, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("bpe_openai")
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    study = StudyFolder(tmp_path / "study")
    prepare(StudyPlan((corpus,), ("C10",), cases=len(ANYTHING)), study)
    left = iter(ANYTHING)
    with serving(lambda messages: Reply(next(left))) as provider:
        ask(study, model, ModelOptions(provider.url if model.startswith("anthropic") else provider.base_url))
    closed = [entry for entry in read_journal(journal_path(study.responses, model)) if entry.closes]
    assert [entry.response for entry in closed] == ANYTHING
    results = {(r.case, r.question): r for r in results_of(study) if r.reader == model}
    found = [tuple(results[entry.case, name].score.reason for name in ("q1", "q2")) for entry in closed]
    assert found == EXPECTED
    last = results[closed[-1].case, "q3"]
    assert last.score.valid
    assert len(last.given.locators or ()) == 1  # type: ignore[union-attr]
    code, output = called("report", study.path)
    assert code == 0, output
