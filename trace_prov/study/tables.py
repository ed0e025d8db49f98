"""The tables of a report, shaped like the paper's: counts by reader and condition, changes with intervals, errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from trace_prov.finding import Status
from trace_prov.study.answers import Answer, Invalid
from trace_prov.study.folder import NEEDS_NO_TABLE, NEEDS_TABLE
from trace_prov.study.results import COMPARATOR, Result
from trace_prov.study.score import ErrorKind
from trace_prov.study.statistics import Change, paired_change

Cell = str | int | float | None

#: Study, question, what it is for, after minus before (the paper's analysis plan).
CONTRASTS = (
    ("I", "q2", "primary", "R10", "R00"),
    ("I", "q2", "primary", "R11", "R01"),
    ("II", "q3", "primary", "C10", "C00"),
    ("II", "q3", "primary", "C11", "C01"),
    ("II", "q2", "negative control", "C10", "C00"),
    ("II", "q2", "negative control", "C11", "C01"),
)


#: Study I asks about native input, not about tables.
STUDY_I = ("R00", "R10", "R01", "R11")


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a stable id; `note` says what is counted."""

    id: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


class Results:
    """Results in the order of readers and conditions, with the selections that tables are made of."""

    def __init__(self, results: Iterable[Result], conditions: Sequence[str]) -> None:
        self.all = tuple(results)
        self.readers = tuple(dict.fromkeys(result.reader for result in self.all))
        self.conditions = tuple(conditions)
        self._by_cell: dict[tuple[str, str, str], list[Result]] = {}
        for result in self.all:
            self._by_cell.setdefault((result.reader, result.condition, result.question), []).append(result)

    @property
    def models(self) -> tuple[str, ...]:
        """The readers without the comparator."""
        return tuple(reader for reader in self.readers if reader != COMPARATOR)

    def of(self, reader: str, condition: str, question: str) -> list[Result]:
        return self._by_cell.get((reader, condition, question), [])

    def by_case(self, reader: str, condition: str, question: str) -> dict[str, Result]:
        return {result.case: result for result in self.of(reader, condition, question)}

    def present(self, *conditions: str) -> bool:
        return all(condition in self.conditions for condition in conditions)


def score_table(results: Results, question: str) -> Table:
    """G, D, A, U, W of a question by reader and condition."""
    rows: list[tuple[Cell, ...]] = [
        (reader, condition, *_counts(results.of(reader, condition, question)))
        for reader in results.readers
        for condition in results.conditions
    ]
    return Table(
        f"{question}-scores",
        f"{question.upper()} by reader and condition",
        "Cases. G grounded, D grounded and definite, A justified abstention, U unsupported, W right by the complete "
        "record; of invalid or missing answers U is unknown.",
        ("reader", "condition", "n", "G", "D", "A", "U", "W", "invalid"),
        tuple(rows),
    )


def _counts(results: Sequence[Result]) -> tuple[int, ...]:
    scores = [result.score for result in results]
    return (
        len(scores),
        sum(score.g for score in scores),
        sum(score.d for score in scores),
        sum(score.a for score in scores),
        sum(score.u or 0 for score in scores),
        sum(score.w for score in scores),
        sum(not score.valid for score in scores),
    )


def exact_table(results: Results, question: str = "q2") -> Table:
    """How many sets are exactly the supported ones, a column a condition."""
    rows: list[tuple[Cell, ...]] = [
        (
            reader,
            *(
                sum(result.score.g for result in results.of(reader, condition, question))
                for condition in results.conditions
            ),
        )
        for reader in results.readers
    ]
    return Table(
        f"{question}-exact",
        f"{question.upper()}: exact sets",
        "Cases whose answer is exactly the supported one (G).",
        ("reader", *results.conditions),
        tuple(rows),
    )


def strata_table(results: Results) -> Table:
    """Q3 for the cases that need the table and for those that do not."""
    rows: list[tuple[Cell, ...]] = []
    for reader in results.readers:
        for condition in results.conditions:
            if condition in STUDY_I:
                continue
            for stratum in (NEEDS_TABLE, NEEDS_NO_TABLE):
                part = [result for result in results.of(reader, condition, "q3") if result.stratum == stratum]
                rows.append((reader, condition, stratum, *_counts(part)))
    return Table(
        "q3-strata",
        "Q3 by need of the table",
        "A case needs the table if its account leaves Q3 open and the table answers it, set before any reading.",
        ("reader", "condition", "stratum", "n", "G", "D", "A", "U", "W", "invalid"),
        tuple(rows),
    )


#: The kinds of Q3 answers.
OUTCOMES = ("basis_missing", "empty", "non-empty", "abstain")


def comparator_table(results: Results) -> Table:
    """What the packages support for Q3, as the comparator answers it."""
    rows: list[tuple[Cell, ...]] = []
    for condition in results.conditions:
        found = results.of(COMPARATOR, condition, "q3")
        kinds = Counter(outcome_of(result.given) for result in found)
        counts = _counts(found)
        rows.append((condition, len(found), *(kinds[kind] for kind in OUTCOMES), counts[1], counts[4]))
    return Table(
        "comparator",
        "Q3 of the comparator",
        "What each condition's packages support; G must be n and U 0.",
        ("condition", "n", *OUTCOMES, "G", "U"),
        tuple(rows),
    )


def outcome_of(given: Answer | Invalid) -> str:
    """The kind of a Q3 answer."""
    if isinstance(given, Invalid):
        return "invalid"
    if given.status is not Status.ANSWERED:
        return given.status.value
    return "non-empty" if given.locators else "empty"


def changes(results: Results) -> Iterator[tuple[str, tuple[str, str, str, str, str], Change]]:
    """Each reader's task-equal paired change of G for each contrast whose conditions were asked."""
    for contrast in CONTRASTS:
        _, question, _, after, before = contrast
        if not results.present(after, before):
            continue
        for reader in results.models:
            change = change_of(results, reader, question, after, before)
            if change is not None:
                yield reader, contrast, change


def change_of(results: Results, reader: str, question: str, after: str, before: str) -> Change | None:
    """The task-equal paired change of G; None where no case was asked under both conditions."""
    first, last = (results.of(reader, condition, question) for condition in (before, after))
    tasks = {result.case: result.task for result in (*first, *last)}
    return paired_change(_grounded(first), _grounded(last), tasks)


def _grounded(results: Iterable[Result]) -> dict[str, int]:
    return {result.case: result.score.g for result in results}


def change_table(results: Results) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            reader,
            f"Study {study}",
            question.upper(),
            use,
            f"{after}−{before}",
            change.points,
            change.low,
            change.high,
            change.cases,
            change.tasks,
        )
        for reader, (study, question, use, after, before), change in changes(results)
    ]
    return Table(
        "changes",
        "Task-equal paired change of grounded answers",
        "Percentage points: mean within each task, then over tasks; interval from the 2.5 and 97.5 percentiles of "
        "10,000 bootstrap draws of tasks, seed 42.",
        ("reader", "study", "question", "use", "contrast", "change", "low", "high", "cases", "tasks"),
        tuple(rows),
    )


def change_summary(results: Results) -> Table:
    """The same in few columns, for a terminal."""
    rows: list[tuple[Cell, ...]] = [
        (
            reader,
            f"{study} {question.upper()} {after}−{before}",
            interval(change.points, change.low, change.high),
            change.tasks,
        )
        for reader, (study, question, _, after, before), change in changes(results)
    ]
    title = "Task-equal paired change of grounded answers, percentage points"
    return Table("change-summary", title, "", ("reader", "contrast", "change (95 % interval)", "tasks"), tuple(rows))


def error_table(results: Results) -> Table:
    """The error audit: answers that are neither right nor invalid, by kind."""
    rows: list[tuple[Cell, ...]] = []
    for reader in results.models:
        for condition in results.conditions:
            for question in ("q1", "q2", "q3"):
                kinds = Counter(result.score.error for result in results.of(reader, condition, question))
                if any(kinds[kind] for kind in ErrorKind):
                    rows.append((reader, condition, question.upper(), *(kinds[kind] for kind in ErrorKind)))
    return Table(
        "errors",
        "Error audit",
        "Wrong valid answers by kind; an answer to what the package leaves open is among the others.",
        ("reader", "condition", "question", *(kind.value for kind in ErrorKind)),
        tuple(rows),
    )


def outcome_table(results: Results) -> Table:
    """What became of the questions: responses, failures, packages that were too long."""
    rows: list[tuple[Cell, ...]] = []
    for reader in results.models:
        asked = [result for result in results.all if result.reader == reader and result.question == "q1"]
        counts = Counter(result.outcome for result in asked)
        invalid = Counter(
            result.given.reason
            for result in results.all
            if result.reader == reader and isinstance(result.given, Invalid) and result.outcome == "response"
        )
        reasons = "; ".join(f"{reason}: {count}" for reason, count in invalid.most_common())
        models = "; ".join(sorted({result.model for result in asked if result.model}))
        rows.append(
            (
                reader,
                models,
                len(asked),
                *(counts[name] for name in ("response", "failed", "too long", "no response", "not asked")),
                reasons,
            )
        )
    return Table(
        "outcomes",
        "What became of the questions",
        "Packages put to each reader, and the model that answered as the provider names it. Too long: over the input "
        "cap, recorded and not cut. The last column counts invalid answers by question and reason.",
        (
            "reader",
            "model",
            "packages",
            "response",
            "failed",
            "too long",
            "no response",
            "not asked",
            "invalid answers",
        ),
        tuple(rows),
    )


def inventory_table(inventory: Iterable[Mapping[str, object]]) -> Table:
    """How many logs there were and why some are no case."""
    rows = list(inventory)
    reasons = Counter(str(row["reason"]) for row in rows if not row["applicable"])
    asked = [row for row in rows if row.get("asked")]
    body: list[tuple[Cell, ...]] = [
        ("logs", len(rows)),
        ("applicable", sum(bool(row["applicable"]) for row in rows)),
        ("cases of this study", len(asked)),
        ("tasks of these", len({row["task"] for row in asked})),
    ]
    body += [(f"not applicable: {reason}", count) for reason, count in reasons.most_common()]
    return Table(
        "inventory",
        "Inventory",
        "Inapplicable logs are kept with the reason and never replaced.",
        ("what", "count"),
        tuple(body),
    )


def interval(points: float, low: float, high: float) -> str:
    return f"{signed(points)} ({signed(low)} to {signed(high)})"


def signed(number: float) -> str:
    """A change with its sign and two digits; zero has none to its name."""
    return f"{number + 0.0:+.2f}".replace("-", "−")
