"""Plots shaped like the paper's, with its figures drawn beside ours where they are known. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trace_prov.watermark.errors import EnvironmentMissingError
from trace_prov.watermark.experiment import published
from trace_prov.watermark.experiment.grids import LIMITS, STANDARD, rate_at
from trace_prov.watermark.experiment.store import Store
from trace_prov.watermark.experiment.tables import grouped, mean, utility_table


def _pyplot() -> Any:
    try:
        import matplotlib as mpl  # type: ignore[import-not-found,unused-ignore]

        mpl.use("Agg")
        # With a fixed salt, and no date in the file, the same results give the same bytes.
        mpl.rcParams["svg.hashsalt"] = "trace-prov"
        from matplotlib import pyplot  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        hint = "pip install trace-prov[watermark-plots]"
        raise EnvironmentMissingError("matplotlib", expected="an installed package", found="none", hint=hint) from error
    return pyplot


def _save(figure: Any, path: Path) -> Path:
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    _pyplot().close(figure)
    return path


def _line(axes: Any, cells: Sequence[dict[str, Any]], x: str, y: str, label: str, **style: Any) -> None:
    by = grouped(cells, x)
    places = sorted(by)
    values = [mean(by[place], y) for place in places]
    spread = [float(np.std([c[y] for c in by[place]])) for place in places]
    axes.errorbar([place[0] for place in places], values, yerr=spread, label=label, capsize=2, **style)


def deletion_plot(store: Store, folder: Path) -> Path:
    """z of the selection channel against deletion, by kind."""
    figure, axes = _pyplot().subplots(figsize=(6.4, 4))
    for (kind,), cells in grouped(store.rows("deletion"), "kind").items():
        if kind == "groups, index tally":
            continue
        _line(axes, cells, "deletion", "z_selection", f"selection: {kind}", marker="o")
    for kind, label in (
        ("groups", "tally: groups, prefix-keyed"),
        ("groups, index tally", "tally: groups, index-keyed"),
    ):
        cells = [row for row in store.rows("deletion") if row["kind"] == kind]
        _line(axes, cells, "deletion", "z_tally", label, linestyle="--", marker="x")
    axes.plot(*zip(*published.SELECTION_Z.items(), strict=True), "k*", label="published (kind and pool not stated)")
    axes.set(xlabel="deletion rate", ylabel="z", title="z against deletion (bars: SD over keys)")
    axes.legend(fontsize=7)
    return _save(figure, folder / "deletion.svg")


def rewriting_plot(store: Store, folder: Path) -> Path:
    """z of both channels against rewriting."""
    figure, axes = _pyplot().subplots(figsize=(6.4, 4))
    cells = store.rows("rewriting")
    _line(axes, cells, "rewriting", "z_selection", "selection", marker="o")
    _line(axes, cells, "rewriting", "z_tally", "tally", marker="x")
    axes.axhline(published.TALLY_Z, color="k", linestyle=":", label="published tally, constant")
    axes.set(xlabel="rewriting rate", ylabel="z", title="z against rewriting (bars: SD over keys)")
    axes.legend(fontsize=8)
    return _save(figure, folder / "rewriting.svg")


def joint_plot(store: Store, folder: Path) -> Path:
    """Share detected over the joint grid, both tallies; the published corner is outlined."""
    groups = grouped(store.rows("joint"), "scheme")
    figure, panels = _pyplot().subplots(1, len(groups), figsize=(5 * len(groups), 4), squeeze=False)
    for axes, ((scheme,), cells) in zip(panels[0], groups.items(), strict=True):
        by = grouped(cells, "deletion", "rewriting")
        deletions, rewritings = sorted({k[0] for k in by}), sorted({k[1] for k in by})
        share = [[rate_at([c["log_p_joint"] for c in by[d, r]], STANDARD.alpha) for r in rewritings] for d in deletions]
        image = axes.imshow(share, vmin=0, vmax=1, cmap="viridis", aspect="auto")
        axes.set_xticks(range(len(rewritings)), [f"{r:g}" for r in rewritings])
        axes.set_yticks(range(len(deletions)), [f"{d:g}" for d in deletions])
        for row, d in enumerate(deletions):
            for column, r in enumerate(rewritings):
                shade = "k" if share[row][column] > 0.6 else "w"
                axes.text(column, row, f"{share[row][column]:.2f}", ha="center", va="center", fontsize=7, color=shade)
                if d >= 0.7 and r > 0.6:
                    axes.plot(column, row, "rs", markersize=24, fillstyle="none")
        axes.set(xlabel="rewriting", ylabel="deletion", title=f"detected at p < {STANDARD.alpha:g}, {scheme} tally")
        figure.colorbar(image, ax=axes)
    figure.suptitle("red: where the paper says that both channels fall", fontsize=8)
    return _save(figure, folder / "joint.svg")


def utility_plot(store: Store, world: str, folder: Path) -> Path:
    """Success by method with the range over keys, published bars beside ours."""
    table = utility_table(store, world)
    limit = str(max(LIMITS[world]))
    rows = [row for row in table.rows if row[0] == limit]
    figure, axes = _pyplot().subplots(figsize=(8, 4.5))
    names = [row[1] for row in rows]
    values = np.array([float(row[2]) for row in rows])
    ranges = np.array([[float(part) for part in row[3].split(" to ")] for row in rows])
    error = np.abs(np.stack([values - ranges[:, 0], ranges[:, 1] - values]))
    axes.bar(
        np.arange(len(rows)) - 0.2, values, 0.4, yerr=error, capsize=3, label=f"ours, {limit} steps (range over keys)"
    )
    paper = [(place, float(row[7])) for place, row in enumerate(rows) if row[7]]
    axes.bar([p + 0.2 for p, _ in paper], [v for _, v in paper], 0.4, label="published, ALFWorld", color="lightgray")
    axes.set_xticks(range(len(rows)), names, rotation=35, ha="right", fontsize=7)
    axes.set(ylabel="success", ylim=(0, 1.05), title=f"{world}: success")
    axes.legend(fontsize=8)
    return _save(figure, folder / "utility.svg")


def pooling_plot(store: Store, folder: Path) -> Path:
    """z and share detected against pooled runs."""
    figure, axes = _pyplot().subplots(figsize=(6.4, 4))
    cells = [row for row in store.rows("pooling") if row["runs"] == row["pooled"]]
    _line(axes, cells, "pooled", "z_selection", "selection", marker="o")
    _line(axes, cells, "pooled", "z_tally", "tally", marker="x")
    axes.axvline(published.TOOLBENCH_POOL, color="k", linestyle=":", label="published: about 10 ToolBench runs")
    axes.set(xscale="log", xlabel="pooled runs", ylabel="z", title="z against pooled runs")
    axes.legend(fontsize=8)
    return _save(figure, folder / "pooling.svg")


def overhead_plot(store: Store, folder: Path) -> Path:
    """Records and characters that the ghosts add."""
    figure, axes = _pyplot().subplots(figsize=(4.5, 4))
    cells = store.rows("overhead")
    values = [mean(cells, "share_of_records"), mean(cells, "share_of_characters")]
    axes.bar(["records", "characters"], values)
    axes.axhline(STANDARD.q / 2, color="k", linestyle=":", label="q / 2 of two-record groups")
    axes.set(ylabel="share added", title="Record overhead")
    axes.legend(fontsize=8)
    return _save(figure, folder / "overhead.svg")


def draw_plots(store: Store, world: str, folder: Path) -> list[Path]:
    """Draw every plot that the finished cells allow."""
    makers = {
        "deletion": deletion_plot,
        "rewriting": rewriting_plot,
        "joint": joint_plot,
        "pooling": pooling_plot,
        "overhead": overhead_plot,
    }
    out = [utility_plot(store, world, folder)] if store.rows("episodes") else []
    return out + [make(store, folder) for name, make in makers.items() if store.rows(name)]
