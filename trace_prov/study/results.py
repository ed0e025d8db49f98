"""From a study's folder to its results: every answer of every reader with its score."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trace_prov.errors import UsageError
from trace_prov.study.answers import QUESTIONS, Answer, Given, Invalid, read_answer, read_response
from trace_prov.study.folder import Case, StudyFolder
from trace_prov.study.journal import Entry, Event, Key, read_responses, reader_of
from trace_prov.study.lines import read_lines, write_lines
from trace_prov.study.score import Score, score

COMPARATOR = "comparator"


@dataclass(frozen=True, slots=True)
class Result:
    """One reader's answer to one question about one package, with its score."""

    reader: str
    case: str
    task: str
    condition: str
    stratum: str
    question: str
    given: Given
    supported: Answer
    complete: Answer
    score: Score
    outcome: str
    input_tokens: int | None = None
    model: str | None = None

    def to_json(self) -> dict[str, Any]:
        """A row of scores.jsonl. `u` is null where it is unknown."""
        given = self.given
        invalid = {"invalid": given.reason} if isinstance(given, Invalid) else {}
        return {
            "reader": self.reader,
            "case": self.case,
            "task": self.task,
            "condition": self.condition,
            "stratum": self.stratum,
            "question": self.question,
            "w": self.score.w,
            "g": self.score.g,
            "d": self.score.d,
            "a": self.score.a,
            "u": self.score.u,
            "reason": self.score.reason.value,
            "error": None if self.score.error is None else self.score.error.value,
            "answer": None if isinstance(given, Invalid) else given.to_json(self.question),
            "supported": self.supported.to_json(self.question),
            "complete": self.complete.to_json(self.question),
            "outcome": self.outcome,
            "input_tokens": self.input_tokens,
            "model": self.model,
            **invalid,
        }


def results_of(folder: StudyFolder, answer_files: Sequence[Path] = ()) -> list[Result]:
    """The scored answers of the comparator, of every reader asked, and of files of answers in the interchange form."""
    folder.require()
    cases, supported = folder.cases(), folder.answers("supported")
    packages = {question.key: question.package_sha256 for question in folder.questions()}
    readers = [(COMPARATOR, _of_answers(folder.answers(COMPARATOR)))]
    for path in sorted(folder.responses.glob("*.jsonl")):
        if reader_of(path) == COMPARATOR:
            raise UsageError(f"{path}: no reader may be called {COMPARATOR!r}; take the file out of the folder")
        readers.append((reader_of(path), _of_journal(path, packages)))
    names = {name for name, _ in readers}
    for path in answer_files:
        if path.stem in names:
            raise UsageError(f"{path}: the study has a reader {path.stem!r} already; rename the file")
        names.add(path.stem)
        readers.append((path.stem, _of_file(path, supported.keys())))
    return [result for reader, replies in readers for result in _scored(reader, replies, cases, supported)]


@dataclass(frozen=True, slots=True)
class _Reply:
    answers: Mapping[str, Given]
    outcome: str
    input_tokens: int | None = None
    model: str | None = None


_NO_REPLY = _Reply(read_response(None), "not asked")


def _scored(
    reader: str, replies: Mapping[Key, _Reply], cases: Mapping[str, Case], supported: Mapping[Key, Mapping[str, Answer]]
) -> Iterator[Result]:
    for (case_name, condition), answers in sorted(supported.items()):
        case, reply = cases[case_name], replies.get((case_name, condition), _NO_REPLY)
        for question in QUESTIONS:
            given = reply.answers[question]
            yield Result(
                reader=reader,
                case=case_name,
                task=case.task,
                condition=condition,
                stratum=case.stratum,
                question=question,
                given=given,
                supported=answers[question],
                complete=case.complete[question],
                score=score(given, answers[question], case.complete[question]),
                outcome=reply.outcome,
                input_tokens=reply.input_tokens,
                model=reply.model,
            )


def _of_answers(answers: Mapping[Key, Mapping[str, Answer]]) -> dict[Key, _Reply]:
    return {key: _Reply(given, "response") for key, given in answers.items()}


def _of_journal(path: Path, packages: Mapping[Key, str]) -> dict[Key, _Reply]:
    """The last closed entry of each question; one that was only asked has lost its response."""
    entries: dict[Key, Entry] = {}
    for entry in read_responses(path, packages):
        entries[entry.key] = entry
    return {key: _reply(entry) for key, entry in entries.items()}


def _reply(entry: Entry) -> _Reply:
    text = entry.response if entry.event is Event.RESPONSE else None
    outcome = "no response" if entry.event is Event.ASKED else entry.event.value
    return _Reply(read_response(text), outcome, entry.input_tokens, entry.model)


def _of_file(path: Path, known: Iterable[Key]) -> dict[Key, _Reply]:
    """Answers in the interchange form; what is no valid answer is invalid, rows of other packages are refused."""
    keys, replies = set(known), {}
    for number, row in enumerate(read_lines(path), start=1):
        key = (str(row.get("case")), str(row.get("condition")))
        if key not in keys:
            raise UsageError(f"{path}, line {number}: the study has no package {key[1]} of case {key[0]!r}")
        if key in replies:
            raise UsageError(f"{path}, line {number}: a second answer to {key[1]} of case {key[0]!r}")
        replies[key] = _Reply(
            {question: read_answer(question, row.get(question)) for question in QUESTIONS}, "response"
        )
    return replies


def write_scores(folder: StudyFolder, results: Iterable[Result]) -> None:
    write_lines(folder.scores, (result.to_json() for result in results))
