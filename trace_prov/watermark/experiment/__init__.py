"""Experiments: embed, attack and detect over grids, resumable, with tables and plots beside the published figures.

cells -> results.jsonl -> tables (Markdown, CSV) and plots (SVG) -> REPORT.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from trace_prov.errors import UsageError
from trace_prov.watermark.errors import EnvironmentMissingError
from trace_prov.watermark.experiment import published
from trace_prov.watermark.experiment.grids import (
    LIMITS,
    SIZES,
    STANDARD,
    SYNTHETIC_PARTS,
    Size,
    episode_cells,
    source_of,
)
from trace_prov.watermark.experiment.plots import draw_plots
from trace_prov.watermark.experiment.store import Cell, Store, compute
from trace_prov.watermark.experiment.tables import all_tables

#: which grids make sense in which world, in the order in which they run
PARTS: dict[str, tuple[str, ...]] = {
    "synthetic": ("deletion", "rewriting", "joint", "baselines", "single", "overhead"),
    "toolbench": ("deletion", "rewriting", "pooling", "overhead"),
    "textworld": ("episodes", "deletion", "rewriting", "joint", "single", "overhead"),
    "alfworld": ("episodes", "deletion", "rewriting", "joint", "single", "overhead"),
}


def run_experiments(
    world: str, out: Path, *, size: str | Size = "small", only: Sequence[str] = (), seed: int = 42
) -> list[Path]:
    """Run the grids of a world into `out` and return the files written. Finished cells of an earlier run are kept."""
    unknown = sorted(set(only) - set(PARTS[world]))
    if unknown:
        raise UsageError(f"no experiment {unknown[0]!r} in the world {world}; there are {', '.join(PARTS[world])}")
    amount = SIZES[size] if isinstance(size, str) else size
    out.mkdir(parents=True, exist_ok=True)
    store = Store(out / "results.jsonl")
    for part in PARTS[world]:
        if not only or part in only or (part == "episodes" and world in LIMITS):
            compute(_cells(part, world, out, amount, seed, store), store)
    return report(store, world, out, seed)


def _cells(part: str, world: str, out: Path, size: Size, seed: int, store: Store) -> Iterator[Cell]:  # noqa: PLR0917
    if part == "episodes":
        yield from episode_cells(world, out, size, seed)
        return
    amount = size if world not in LIMITS else Size(size.keys, size.pool, size.games, size.plays, size.keys)
    yield from SYNTHETIC_PARTS[part](source_of(world, size, seed, store), amount, seed)


def report(store: Store, world: str, out: Path, seed: int) -> list[Path]:
    """Write tables, plots and REPORT.md from what is in the store."""
    made = all_tables(store, world)
    written = [table.write_csv(out) for table in made]
    try:
        drawn = draw_plots(store, world, out)
    except EnvironmentMissingError as error:
        print(f"no plots: {error}", file=sys.stderr)
        drawn = []
    lines = [
        f"# TRACE watermark, world {world}",
        "",
        f"Scheme {STANDARD.digest}; seed {seed}. Means are over keys (± standard error of the mean).",
        "",
        *(table.markdown() for table in made),
        *(f"![{path.stem}]({path.name})\n" for path in drawn),
        "## Where these figures differ from the published ones, and why",
        "",
        *(f"- {reason}" for reason in published.WHY_DIFFERENT),
        "",
    ]
    path = out / "REPORT.md"
    path.write_text("\n".join(lines), encoding="utf-8")
    return [path, *written, *drawn]
