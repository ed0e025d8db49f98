"""A study's folder: cases, questions, packages, answers and the manifest that pins them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trace_prov.errors import FormatError, UsageError
from trace_prov.package.bag import EVIDENCE
from trace_prov.package.folders import case_folder
from trace_prov.study.answers import QUESTIONS, Answer, Invalid, read_answer
from trace_prov.study.lines import read_lines, read_text, strict_json, write_lines
from trace_prov.writing import write_whole

MANIFEST_FORMAT = "trace-prov-study 1"

#: What is written before any reader is asked and never again.
PREPARED = ("cases.jsonl", "questions.jsonl", "supported.jsonl", "comparator.jsonl", "inventory.jsonl")


def _are_texts(value: Any) -> bool:
    return all(isinstance(item, str) for item in value)


#: What of a manifest is read again, and whether a value can be it.
_PINNED: dict[str, Callable[[Any], bool]] = {
    "files_sha256": lambda value: isinstance(value, dict) and _are_texts(value.values()),
    "conditions": lambda value: isinstance(value, list) and _are_texts(value),
    "cases": lambda value: isinstance(value, int),
    "readers": lambda value: isinstance(value, dict) and all(map(_is_reader, value.values())),
}


def _is_reader(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("base_url"), str | None)


@dataclass(frozen=True, slots=True)
class Case:
    """A case of the study: where it comes from, its task, and what the complete record answers."""

    id: str
    task: str
    log_sha256: str
    sidecar_sha256: str | None
    action: str
    argument: str | None
    needs_table: bool
    complete: dict[str, Answer]

    @property
    def stratum(self) -> str:
        return NEEDS_TABLE if self.needs_table else NEEDS_NO_TABLE


NEEDS_TABLE, NEEDS_NO_TABLE = "needs the table", "does not"


@dataclass(frozen=True, slots=True)
class Question:
    """One package as it is put to a reader. `number` is its place in the shuffled order, from 1."""

    number: int
    case: str
    condition: str
    package_sha256: str
    tokens: int

    @property
    def key(self) -> tuple[str, str]:
        return self.case, self.condition


@dataclass(frozen=True)
class StudyFolder:
    """Where everything of a study lies."""

    path: Path

    @property
    def manifest(self) -> Path:
        return self.path / "manifest.json"

    @property
    def packages(self) -> Path:
        return self.path / "packages"

    @property
    def responses(self) -> Path:
        return self.path / "responses"

    @property
    def inspect_logs(self) -> Path:
        return self.path / "inspect"

    @property
    def report(self) -> Path:
        return self.path / "report"

    @property
    def scores(self) -> Path:
        return self.path / "scores.jsonl"

    def package(self, case: str, condition: str) -> Path:
        return self.packages / condition / case_folder(case)

    def evidence(self, question: Question) -> bytes:
        """The evidence file of a question; raises FormatError when it is not the one that the manifest pins."""
        path = self.package(question.case, question.condition) / EVIDENCE
        data = path.read_bytes() if path.is_file() else None
        if data is None or hashlib.sha256(data).hexdigest() != question.package_sha256:
            raise FormatError(
                str(path), expected="the evidence that the study was prepared with",
                found="none" if data is None else "other bytes", hint="restore it, or start anew in another folder",
            )  # fmt: skip
        return data

    def require(self) -> dict[str, Any]:
        """The manifest; raises UsageError when the folder holds no study, FormatError when it is damaged."""
        if not self.manifest.exists():
            raise UsageError(f"{self.path}: no study here; trace-prov study run makes one")
        manifest = self._read_manifest()
        for name in PREPARED:
            self._require_file(name, manifest["files_sha256"].get(name))
        return manifest

    def _read_manifest(self) -> dict[str, Any]:
        try:
            manifest = strict_json(read_text(self.manifest))
        except ValueError as error:
            raise FormatError(str(self.manifest), expected="the manifest of a study", found=str(error)) from None
        found = manifest.get("format") if isinstance(manifest, dict) else type(manifest).__name__
        if found != MANIFEST_FORMAT:
            raise FormatError(str(self.manifest), place="format", expected=MANIFEST_FORMAT, found=str(found))
        assert isinstance(manifest, dict)
        for name, holds in _PINNED.items():
            if not holds(manifest.get(name)):
                raise FormatError(
                    str(self.manifest), place=name, expected="what trace-prov study run writes there",
                    found=f"{manifest.get(name)!r:.60}", hint="restore it, or start anew in another folder",
                )  # fmt: skip
        return manifest

    def _require_file(self, name: str, pinned: str | None) -> None:
        """Raises FormatError when a file that answers and scores rest on is not the one that was prepared."""
        path = self.path / name
        found = file_sha256(path) if path.is_file() else None
        if found is None or found != pinned:
            raise FormatError(
                str(path), expected="the file that the study was prepared with",
                found="none" if found is None else "other bytes", hint="restore it, or start anew in another folder",
            )  # fmt: skip

    def prepared_files(self) -> dict[str, str]:
        """SHA-256 of each file that the scores rest on, for the manifest."""
        return {name: file_sha256(self.path / name) for name in PREPARED}

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        write_whole(self.manifest, json.dumps(manifest, indent=1) + "\n")

    def cases(self) -> dict[str, Case]:
        return {row["case"]: _case(row) for row in read_lines(self.path / "cases.jsonl")}

    def write_cases(self, cases: Iterable[Case]) -> None:
        write_lines(self.path / "cases.jsonl", map(_case_to_json, cases))

    def questions(self) -> list[Question]:
        """The questions in the order in which they are asked."""
        return [Question(**row) for row in read_lines(self.path / "questions.jsonl")]

    def write_questions(self, questions: Iterable[Question]) -> None:
        names = Question.__dataclass_fields__
        write_lines(self.path / "questions.jsonl", ({name: getattr(row, name) for name in names} for row in questions))

    def answers(self, name: str) -> dict[tuple[str, str], dict[str, Answer]]:
        """Answers in the interchange form, by case and condition: `supported` or `comparator`."""
        return dict(read_answers(self.path / f"{name}.jsonl"))

    def write_answers(self, name: str, rows: Iterable[tuple[str, str, dict[str, Answer]]]) -> None:
        write_lines(self.path / f"{name}.jsonl", (answers_to_json(*row) for row in rows))


def file_sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def answers_to_json(case: str, condition: str, answers: dict[str, Answer]) -> dict[str, Any]:
    return {"case": case, "condition": condition} | {name: answers[name].to_json(name) for name in QUESTIONS}


def read_answers(path: Path) -> Iterator[tuple[tuple[str, str], dict[str, Answer]]]:
    """Valid answers in the interchange form (CONTRACT §10); raises FormatError for a line that is none."""
    for number, row in enumerate(read_lines(path), start=1):
        answers = {}
        for question in QUESTIONS:
            given = read_answer(question, row.get(question))
            if isinstance(given, Invalid):
                raise FormatError(
                    str(path), place=f"line {number}, {question}", expected="an answer", found=given.reason
                )
            answers[question] = given
        yield (row["case"], row["condition"]), answers


def _case(row: dict[str, Any]) -> Case:
    complete = {}
    for question in QUESTIONS:
        given = read_answer(question, row["complete"][question])
        assert isinstance(given, Answer)
        complete[question] = given
    return Case(
        id=row["case"],
        task=row["task"],
        log_sha256=row["log_sha256"],
        sidecar_sha256=row["sidecar_sha256"],
        action=row["action"],
        argument=row["argument"],
        needs_table=row["needs_table"],
        complete=complete,
    )


def _case_to_json(case: Case) -> dict[str, Any]:
    return {
        "case": case.id,
        "task": case.task,
        "log_sha256": case.log_sha256,
        "sidecar_sha256": case.sidecar_sha256,
        "action": case.action,
        "argument": case.argument,
        "needs_table": case.needs_table,
        "complete": {question: case.complete[question].to_json(question) for question in QUESTIONS},
    }
