"""A study of 64 cases under the eight conditions, made offline, with readers that answer without any model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.once import made_once
from trace_prov.cli.corpus import STUDY
from trace_prov.corpus.make import make_corpus
from trace_prov.study.folder import Question, StudyFolder
from trace_prov.study.journal import journal_path
from trace_prov.study.policies import SimulatedReader
from trace_prov.study.prepare import StudyPlan, prepare
from trace_prov.study.prompt import question_text
from trace_prov.study.results import Result, results_of

CASES = 64
READERS = (
    "sim/perfect",
    "sim/guess-order",
    "sim/copy-h",
    "sim/over-abstain",
    "sim/over-abstain:0.3",
    "sim/extra-locator",
    "sim/extra-locator:0.3",
    "sim/drop-locator",
    "sim/drop-locator:0.3",
    "sim/blind-matcher",
    "sim/no-json:0.3",
)


@dataclass(frozen=True)
class Studied:
    folder: StudyFolder
    logs: Path
    results: list[Result]

    def of(self, reader: str, condition: str | None = None, question: str = "q3") -> list[Result]:
        return [
            result
            for result in self.results
            if result.reader == reader and result.question == question and condition in (None, result.condition)
        ]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("agentdojo")
    return made_once(tmp_path_factory, "study-corpus", lambda folder: make_corpus(STUDY, folder)) / "runs"


@pytest.fixture(scope="session")
def studied(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Studied:
    pytest.importorskip("bpe_openai")

    def make(path: Path) -> None:
        folder = StudyFolder(path)
        prepare(StudyPlan((corpus,), cases=CASES), folder)
        texts = {question: question_text(folder.evidence(question)) for question in folder.questions()}
        for reader in READERS:
            answer_all(folder, reader, texts, SimulatedReader.parse(reader).answer)

    folder = StudyFolder(made_once(tmp_path_factory, "study", make))
    return Studied(folder, corpus, results_of(folder))


def answer_all(folder: StudyFolder, reader: str, texts: Mapping[Question, str], answer: Callable[[str], str]) -> None:
    """Answer every question as the reader would, straight into its journal."""
    lines = [
        {
            "event": "response",
            "case": question.case,
            "condition": question.condition,
            "package_sha256": question.package_sha256,
            "response": answer(text),
            "input_tokens": question.tokens,
        }
        for question, text in texts.items()
    ]
    path = journal_path(folder.responses, reader)
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
