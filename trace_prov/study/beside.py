"""The published figures with a study's own beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from trace_prov.study.paper import Published
from trace_prov.study.results import COMPARATOR, Result
from trace_prov.study.tables import Cell, Results, Table, change_of, comparator_table, interval


def beside_table(results: Results, figures: Sequence[Published]) -> Table:
    """The published figures, and this study's readers beside them."""
    readers = list(dict.fromkeys(figure.reader for figure in figures if figure.reader and figure.reader != COMPARATOR))
    keys = list(
        dict.fromkeys(
            (figure.study, figure.condition, figure.question, figure.measure)
            for figure in figures
            if figure.reader in readers
        )
    )
    known = {
        (figure.study, figure.condition, figure.question, figure.measure, figure.reader): figure for figure in figures
    }
    rows: list[tuple[Cell, ...]] = []
    for key in keys:
        study, condition, question, measure = key
        theirs = [_shown(known.get((*key, reader))) for reader in readers]
        ours = [_own(results, reader, condition, question, measure) for reader in results.models]
        rows.append((f"Study {study}", condition.replace("-", "−"), question.upper(), measure, *theirs, *ours))
    return Table(
        "beside-the-paper",
        "Beside the published figures",
        "Counts of cases, changes in percentage points with their intervals. The first columns are published "
        "(paper.csv has the sources), the others are this study's readers; corpora, actors and readers differ.",
        (
            "study",
            "condition",
            "question",
            "measure",
            *(f"{reader} (published)" for reader in readers),
            *results.models,
        ),
        tuple(rows),
    )


def reference_table(results: Results, inventory: Sequence[Mapping[str, object]], figures: Sequence[Published]) -> Table:
    """The published inventory and comparator, and this study's beside them."""
    own = dict(_inventory_counts(inventory)) | dict(_comparator_counts(results))
    rows: list[tuple[Cell, ...]] = [
        (
            f"Study {figure.study}",
            figure.condition or None,
            figure.question.upper() or None,
            figure.measure,
            int(figure.value),
            own.get((figure.condition, figure.measure)),
        )
        for figure in figures
        if figure.reader in ("", COMPARATOR)
    ]
    return Table(
        "beside-the-comparator",
        "Inventory and comparator beside the published ones",
        "Counts of cases. The comparator's answers are what the packages support; they depend on the corpus.",
        ("study", "condition", "question", "measure", "published", "this study"),
        tuple(rows),
    )


def _inventory_counts(inventory: Sequence[Mapping[str, object]]) -> Iterator[tuple[tuple[str, str], int]]:
    asked = [row for row in inventory if row.get("asked")]
    yield ("", "candidates"), len(inventory)
    yield ("", "cases"), len(asked)
    yield ("", "tasks"), len({row["task"] for row in asked})


def _comparator_counts(results: Results) -> Iterator[tuple[tuple[str, str], int]]:
    table = comparator_table(results)
    for condition, *counts in table.rows:
        for measure, count in zip(table.columns[1:], counts, strict=True):
            assert isinstance(count, int)
            yield (str(condition), measure), count


def _shown(figure: Published | None) -> str | None:
    if figure is None:
        return None
    if figure.low is not None and figure.high is not None:
        return interval(figure.value, figure.low, figure.high)
    return f"{figure.value:.0f} of {figure.of}"


def _own(results: Results, reader: str, condition: str, question: str, measure: str) -> str | None:
    if measure == "change of G":
        change = change_of(results, reader, question, *condition.split("-"))
        return None if change is None else interval(change.points, change.low, change.high)
    found = results.of(reader, condition, question)
    pick: Callable[[Result], int] = {
        "G": lambda result: result.score.g,
        "D": lambda result: result.score.d,
        "U": lambda result: result.score.u or 0,
        "W": lambda result: result.score.w,
    }[measure]
    return f"{sum(map(pick, found))} of {len(found)}" if found else None
