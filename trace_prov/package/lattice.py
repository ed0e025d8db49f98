"""Which layers a case needs for which question: every combination of layers, answered by the completion rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from trace_prov.derive.target import Question
from trace_prov.finding import Finding, NotApplicable, RecordsAnswer, RequestAnswer, Status, Target
from trace_prov.model import BasisState, Run, TableState
from trace_prov.package.build import build
from trace_prov.package.comparator import finding_of
from trace_prov.package.condition import BUILT_IN, Condition
from trace_prov.package.redact import parse_rule

LAYERS = ("request", "results", "account", "table")
QUESTIONS = ("Q1", "Q2", "Q3")
_ALL_RESULTS = (parse_rule("*.result"),)

Layers = tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """What a combination of layers supports."""

    layers: Layers
    finding: Finding

    def supports(self, question: str) -> bool:
        return answer_to(self.finding, question).status is not Status.ABSTAIN


@dataclass(frozen=True)
class Lattice:
    """All combinations of the layers that the log has, smaller ones first, and the smallest for each question."""

    case: str
    target: Target
    recorded: Layers
    cells: tuple[Cell, ...]

    def minimal(self, question: str) -> list[Layers]:
        """The combinations that support the question while no part of them does; empty where nothing does."""
        enough = [set(cell.layers) for cell in self.cells if cell.supports(question)]
        return [tuple(name for name in LAYERS if name in one) for one in enough if not any(o < one for o in enough)]


def answer_to(finding: Finding, question: str) -> RequestAnswer | RecordsAnswer:
    """The answer to `Q1`, `Q2` or `Q3`."""
    answers: dict[str, RequestAnswer | RecordsAnswer] = {"Q1": finding.q1, "Q2": finding.q2, "Q3": finding.q3}
    return answers[question]


def lattice(run: Run, case: str, question: Question | None = None) -> Lattice | NotApplicable:
    """The lattice of a case. Layers that the log does not have are left out; results count as one layer."""
    recorded = tuple(_recorded(run))
    cells = []
    target = None
    for size in range(len(recorded) + 1):
        for layers in combinations(recorded, size):
            condition = Condition(
                "lattice",
                account="account" in layers,
                request="request" in layers,
                table=TableState.COMPLETE if "table" in layers else TableState.NONE,
            )
            rules = () if "results" in layers else _ALL_RESULTS
            built = build(run, condition, question, rules)
            if isinstance(built, NotApplicable):
                return built
            target = built.package.target
            cells.append(Cell(layers, finding_of(built.package)))
    assert target is not None
    return Lattice(case, target, recorded, tuple(cells))


def _recorded(run: Run) -> Iterator[str]:
    if run.turns:
        yield "request"
    if any(action.has_records for action in run.actions):
        yield "results"
    if any(action.account.basis.state is not BasisState.WITHHELD for action in run.actions):
        yield "account"
    if run.table.state is not TableState.NONE:
        yield "table"


def outcome(answer: RequestAnswer | RecordsAnswer) -> str:
    """A supported answer in one word, as the tables count it."""
    if answer.status is not Status.ANSWERED:
        return str(answer.status)
    if isinstance(answer, RequestAnswer):
        return "yes" if answer.value else "no"
    return "non-empty" if answer.locators else "empty"


@dataclass
class Counts:
    """Supported answers over many cases, by condition and question, and why runs have no case."""

    cases: int = 0
    answers: dict[str, dict[str, Counter[str]]] = field(
        default_factory=lambda: {name: {question: Counter() for question in QUESTIONS} for name in BUILT_IN}
    )
    not_applicable: Counter[str] = field(default_factory=Counter)

    def add(self, run: Run, question: Question | None = None) -> None:
        """Count the answers of one run under the eight conditions."""
        findings = {}
        for name, condition in BUILT_IN.items():
            built = build(run, condition, question)
            if isinstance(built, NotApplicable):
                self.not_applicable[built.reason] += 1
                return
            findings[name] = finding_of(built.package)
        self.cases += 1
        for name, finding in findings.items():
            for asked in QUESTIONS:
                self.answers[name][asked][outcome(answer_to(finding, asked))] += 1


def count_all(runs: Iterable[Run], question: Question | None = None) -> Counts:
    """The counts of all runs, one by one; memory does not grow with their number."""
    counts = Counts()
    for run in runs:
        counts.add(run, question)
    return counts
