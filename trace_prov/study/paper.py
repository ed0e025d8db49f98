"""The published figures of the audit study, as data (paper.csv) with their source."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Published:
    """One published figure; `of` is the number of cases, `low` and `high` an interval in percentage points."""

    study: str
    reader: str
    condition: str
    question: str
    measure: str
    value: float
    of: int | None
    low: float | None
    high: float | None
    source: str


def published() -> list[Published]:
    """All figures in the order of the file."""
    text = files("trace_prov.study").joinpath("paper.csv").read_text(encoding="utf-8")
    return [_figure(row) for row in csv.DictReader(text.splitlines())]


def _figure(row: dict[str, str]) -> Published:
    return Published(
        study=row["study"],
        reader=row["reader"],
        condition=row["condition"],
        question=row["question"],
        measure=row["measure"],
        value=float(row["value"]),
        of=int(row["of"]) if row["of"] else None,
        low=float(row["low"]) if row["low"] else None,
        high=float(row["high"]) if row["high"] else None,
        source=row["source"],
    )
