"""Cells of a grid, kept as JSON lines: a crash loses at most the cell that was running, a rerun skips what is there."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from trace_prov.watermark.errors import TrajectoryError
from trace_prov.watermark.trajectory import canonical_json

Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One point of a grid: its experiment, its parameters, and how to compute it."""

    experiment: str
    parameters: Mapping[str, Any]
    compute: Callable[[], Result]

    @property
    def key(self) -> str:
        """What identifies the cell in the results file."""
        return canonical_json({"experiment": self.experiment, **self.parameters})


class Store:
    """The results file of one folder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.results: dict[str, Result] = {}
        if path.exists():
            self._read()

    def _read(self) -> None:
        lines = self._path.read_bytes().splitlines(keepends=True)
        kept = 0
        for number, line in enumerate(lines, 1):
            try:
                row = orjson.loads(line)
                if not line.endswith(b"\n"):
                    raise orjson.JSONDecodeError("cut", line.decode(errors="replace"), 0)
                json.loads(row["key"])["experiment"]
                self.results[row["key"]] = row["result"]
            except (ValueError, KeyError, TypeError) as error:
                whole = number < len(lines) or line.endswith(b"\n")
                if whole or not line.startswith(b'{"key":'[: len(line)]):
                    raise TrajectoryError(
                        str(self._path), place=f"line {number}", expected="a result", found=_said(error)
                    ) from error
                # A crash while writing leaves half a line at the end: that cell is computed again.
                with self._path.open("r+b") as handle:
                    handle.truncate(kept)
                return
            kept += len(line)

    def add(self, cell: Cell, result: Result) -> None:
        """Append one result and flush it."""
        self.results[cell.key] = result
        with self._path.open("ab") as handle:
            handle.write(orjson.dumps({"key": cell.key, "result": result}, option=orjson.OPT_SERIALIZE_NUMPY) + b"\n")

    def rows(self, experiment: str) -> list[dict[str, Any]]:
        """Return parameters and result of every finished cell of an experiment, in file order."""
        found = []
        for key, result in self.results.items():
            parameters = json.loads(key)
            if parameters.pop("experiment") == experiment:
                found.append({**parameters, **result})
        return found


def _said(error: Exception) -> str:
    return f"no {error}" if isinstance(error, KeyError) else str(error)


def compute(cells: Iterable[Cell], store: Store) -> int:
    """Compute the cells that are not in the store, with a progress bar on a terminal; return how many were."""
    todo = [cell for cell in cells if cell.key not in store.results]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    screen = Console(stderr=True)
    with Progress(*columns, console=screen, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("watermark experiment", total=len(todo))
        for cell in todo:
            progress.update(task, description=cell.experiment)
            store.add(cell, cell.compute())
            progress.advance(task)
    return len(todo)
