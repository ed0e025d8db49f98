"""From finished cells to tables: means with standard errors, intervals over keys, published figures beside ours."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trace_prov.watermark.experiment import published
from trace_prov.watermark.experiment.grids import LIMITS, STANDARD, auroc, rate_at
from trace_prov.watermark.experiment.store import Store

Row = dict[str, Any]
BOOTSTRAPS = 10_000


@dataclass(frozen=True, slots=True)
class TableData:
    """One table: its name, what it shows, its columns, and its rows as text."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [f"| {' | '.join(self.columns)} |", f"|{' --- |' * len(self.columns)}"]
        lines += [f"| {' | '.join(row)} |" for row in self.rows]
        return f"### {self.title}\n\n" + "\n".join(lines) + "\n"

    def write_csv(self, folder: Path) -> Path:
        """Write the table as CSV and return its path."""
        path = folder / f"{self.name}.csv"
        with path.open("w", newline="", encoding="utf-8") as handle:
            csv.writer(handle).writerows([self.columns, *self.rows])
        return path


def grouped(rows: Sequence[Row], *names: str) -> dict[tuple[Any, ...], list[Row]]:
    """Group rows by some of their parameters, in order of first appearance."""
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in names)].append(row)
    return found


def mean_se(rows: Sequence[Row], name: str) -> str:
    """Mean and standard error."""
    values = np.array([row[name] for row in rows], dtype=float)
    if len(values) < 2:
        return f"{values.mean():.1f}"
    return f"{values.mean():.1f} ± {values.std(ddof=1) / math.sqrt(len(values)):.1f}"


def mean(rows: Sequence[Row], name: str) -> float:
    """Mean of one result."""
    return float(np.mean([row[name] for row in rows]))


def deletion_table(store: Store) -> TableData:
    """z against deletion by kind, the published pair beside it."""
    rows = []
    for (kind, rate), cells in grouped(store.rows("deletion"), "kind", "deletion").items():
        paper = published.SELECTION_Z.get(rate) if kind == "groups" else None
        rows.append(
            (
                kind,
                f"{rate:g}",
                mean_se(cells, "z_selection"),
                mean_se(cells, "z_tally"),
                "" if paper is None else f"{paper:g}",
            )
        )
    columns = ("deletion of", "rate", "z selection", "z tally", "published z selection (kind not stated)")
    return TableData("deletion", "z against deletion", columns, tuple(rows))


def rewriting_table(store: Store) -> TableData:
    """z against rewriting."""
    rows = [
        (f"{rate:g}", mean_se(cells, "z_selection"), mean_se(cells, "z_tally"), f"{published.TALLY_Z:g}")
        for (rate,), cells in grouped(store.rows("rewriting"), "rewriting").items()
    ]
    columns = ("rewriting", "z selection", "z tally", "published z tally (about 206 groups)")
    return TableData("rewriting", "z against rewriting", columns, tuple(rows))


def joint_tables(store: Store) -> list[TableData]:
    """The joint grid: z selection / z tally / share detected."""
    out = []
    for (scheme,), cells in grouped(store.rows("joint"), "scheme").items():
        by = grouped(cells, "deletion", "rewriting")
        deletions, rewritings = sorted({k[0] for k in by}), sorted({k[1] for k in by})
        rows = []
        for d in deletions:
            texts = [_joint_cell(by[d, r]) if (d, r) in by else "" for r in rewritings]
            rows.append((f"{d:g}", *texts))
        title = f"Joint grid, {'prefix-keyed' if scheme == 'standard' else 'index-keyed, aligned'} tally"
        note = f"{title}: z selection / z tally / share with joint p < {STANDARD.alpha:g}"
        columns = ("deletion \\ rewriting", *(f"{r:g}" for r in rewritings))
        out.append(TableData(f"joint-{scheme}", note, columns, tuple(rows)))
    return out


def _joint_cell(cells: Sequence[Row]) -> str:
    share = rate_at([c["log_p_joint"] for c in cells], STANDARD.alpha)
    return f"{mean(cells, 'z_selection'):.1f} / {mean(cells, 'z_tally'):.1f} / {share:.2f}"


def baseline_table(store: Store) -> TableData:
    """Mean z of every scheme under the same attacks."""
    by = grouped(store.rows("baselines"), "method", "attack")
    methods, names = list(dict.fromkeys(k[0] for k in by)), list(dict.fromkeys(k[1] for k in by))
    rows = [(_shown(m), *(mean_se(by[m, a], "z") if (m, a) in by else "" for a in names)) for m in methods]
    return TableData("baselines", "Mean z of each scheme's own exact test", ("scheme", *names), tuple(rows))


def _shown(method: str) -> str:
    return "TRACE selection channel" if method == "standard" else method


def pooling_table(store: Store) -> TableData:
    """Runs to detection."""
    rows = []
    for (count,), cells in grouped(store.rows("pooling"), "pooled").items():
        if any(cell["runs"] < count for cell in cells):
            continue
        tests = ("log_p_selection", "log_p_tally", "log_p_joint")
        found = [rate_at([cell[test] for cell in cells], STANDARD.alpha) for test in tests]
        rows.append(
            (
                str(count),
                mean_se(cells, "n"),
                mean_se(cells, "z_selection"),
                mean_se(cells, "z_tally"),
                *(f"{f:.2f}" for f in found),
            )
        )
    columns = ("runs", "decisions scored", "z selection", "z tally", "found by selection", "by tally", "jointly")
    paper = f"published: about {published.TOOLBENCH_POOL} pooled ToolBench runs"
    title = f"Runs to detection at p < {STANDARD.alpha:g} ({paper})"
    return TableData("pooling", title, columns, tuple(rows))


def single_table(store: Store) -> TableData:
    """AUROC and TPR at fixed FPR, thresholds from the exact p."""
    rows = []
    by = grouped(store.rows("single"), "method")
    if len(by) < 2:
        return TableData("single", "Single runs", (), ())
    for name in ("log_p_selection", "log_p_tally", "log_p_joint"):
        marked, base = ([v for cell in by[m,] for v in cell[name]] for m in ("standard", "base"))
        cells = [f"{auroc(marked, base):.3f}"]
        cells += [f"{rate_at(marked, level):.2f} ({rate_at(base, level):.3f})" for level in (1e-2, 1e-3, 1e-4)]
        rows.append((name.removeprefix("log_p_"), str(len(marked)), *cells))
    columns = ("test", "marked runs", "AUROC", "TPR (FPR seen) at 1e-2", "at 1e-3", "at 1e-4")
    return TableData("single", "Single runs: AUROC, and TPR at thresholds from exact p", columns, tuple(rows))


def overhead_table(store: Store) -> TableData:
    """Records, characters and time."""
    cells = store.rows("overhead")
    times = [row["ms_per_decision"] for row in store.rows("episodes") if row["method"] == "standard"]
    row = (
        str(sum(c["groups"] for c in cells)),
        f"{mean(cells, 'share_of_records'):.3f}",
        f"{mean(cells, 'share_of_characters'):.3f}",
        f"{mean(cells, 'detect_ms_per_decision'):.3f}",
        f"{np.mean(times):.3f}" if times else "",
    )
    columns = (
        "decisions",
        "records added (share)",
        "characters added (share)",
        "detection ms a decision",
        "embedding ms",
    )
    return TableData("overhead", "Overhead", columns, (row,))


def utility_table(store: Store, world: str) -> TableData:
    """Success by method, with a bootstrap interval over keys and games of the paired difference to base."""
    rows = []
    episodes = store.rows("episodes")
    for limit in LIMITS[world]:
        base = _success([r for r in episodes if r["method"] == "base"], limit)
        for (method,), cells in grouped(episodes, "method").items():
            won = _success(cells, limit)
            keys = [float(np.mean(v)) for v in _by(won, 1).values()]
            low, high, change = _difference(won, base)
            paper = published.ALFWORLD_SUCCESS.get(
                {"standard": "trace", "red-green (fair)": "red-green"}.get(method, method)
            )
            steps = np.mean([min(r["steps"], limit) for r in cells])
            rows.append(
                (
                    str(limit),
                    "TRACE" if method == "standard" else f"TRACE, {method}" if method in _VARIANTS else method,
                    f"{np.mean(list(won.values())):.3f}",
                    f"{min(keys):.2f} to {max(keys):.2f}",
                    "" if method == "base" else f"{change:+.3f} ({low:+.3f} to {high:+.3f})",
                    f"{steps:.1f}",
                    str(len(won)),
                    "" if paper is None else f"{paper:.3f}",
                )
            )
    columns = (
        "step limit",
        "method",
        "success",
        "range over keys",
        "change to base (95 %)",
        "steps",
        "plays",
        "published (ALFWorld)",
    )
    return TableData("utility", "Success, paired seeds, over several keys", columns, tuple(rows))


_VARIANTS = {"observation", "index", "previous action", "unmasked"}
Played = dict[tuple[int, int, int], float]


def _success(cells: Sequence[Row], limit: int) -> Played:
    return {(r["game"], r["key"], r["repeat"]): float(r["won"] and r["steps"] <= limit) for r in cells}


def _by(won: Played, place: int) -> dict[int, list[float]]:
    found: dict[int, list[float]] = defaultdict(list)
    for key, value in won.items():
        found[key[place]].append(value)
    return found


def _difference(won: Played, base: Played) -> tuple[float, float, float]:
    """Percentiles 2.5 and 97.5 of the paired change over bootstrapped games and keys, and the change."""
    shared = [place for place in won if place in base]
    if not shared:
        return math.nan, math.nan, math.nan
    games, keys = sorted({p[0] for p in shared}), sorted({p[1] for p in shared})
    change = np.full((len(games), len(keys)), np.nan)
    for i, game in enumerate(games):
        for j, key in enumerate(keys):
            values = [won[p] - base[p] for p in shared if p[0] == game and p[1] == key]
            change[i, j] = np.mean(values) if values else np.nan
    rng = np.random.default_rng(42)
    rows = rng.multinomial(len(games), np.full(len(games), 1 / len(games)), BOOTSTRAPS)
    columns = rng.multinomial(len(keys), np.full(len(keys), 1 / len(keys)), BOOTSTRAPS)
    there = ~np.isnan(change)
    with np.errstate(invalid="ignore"):
        draws = ((rows @ np.where(there, change, 0)) * columns).sum(axis=1) / ((rows @ there) * columns).sum(axis=1)
    low, high = np.nanpercentile(draws, [2.5, 97.5])
    return float(low), float(high), float(np.nanmean(change))


MAKERS: dict[str, Callable[[Store], list[TableData]]] = {
    "deletion": lambda store: [deletion_table(store)],
    "rewriting": lambda store: [rewriting_table(store)],
    "joint": joint_tables,
    "baselines": lambda store: [baseline_table(store)],
    "pooling": lambda store: [pooling_table(store)],
    "single": lambda store: [single_table(store)],
    "overhead": lambda store: [overhead_table(store)],
}


def all_tables(store: Store, world: str) -> list[TableData]:
    """Return every table that the finished cells allow."""
    out = [utility_table(store, world)] if store.rows("episodes") else []
    return out + [table for name, make in MAKERS.items() if store.rows(name) for table in make(store)]
