"""The report's plots as SVG texts: no date, no random ids, no network; the same results give the same bytes."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from trace_prov.study.score import ErrorKind
from trace_prov.study.statistics import Change
from trace_prov.study.tables import Results, changes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Colours that stay apart for people who do not see all of them (Okabe and Ito 2008).
COLOURS = {"G": "#009E73", "D": "#56B4E9", "U": "#D55E00", "W": "#CC79A7"}
MEANINGS = {"G": "G grounded", "D": "D grounded and definite", "U": "U unsupported", "W": "W right by the full record"}
ERROR_COLOURS = ("#0072B2", "#D55E00", "#E69F00", "#999999")


#: Longest name of a reader in a plot; a longer one would leave no room for what is drawn.
MAX_NAME = 36


def shortened(name: str) -> str:
    """A reader's name on one line, its middle left out where it is long, without what has no sign."""
    shown = "".join(char if char.isprintable() else "?" for char in name)
    half = MAX_NAME // 2
    return shown if len(shown) <= MAX_NAME else f"{shown[:half]}…{shown[-half:]}"


def plots_of(results: Results) -> list[tuple[str, str]]:
    """Title and SVG of each plot that the results have something for."""
    drawn = [
        ("Q3 by reader and condition", _scores(results)),
        ("Task-equal paired change of grounded answers", _changes(results)),
        ("Kinds of error in Q3", _errors(results)),
    ]
    return [(title, svg) for title, svg in drawn if svg is not None]


def _scores(results: Results) -> str | None:
    readers, conditions = results.readers, results.conditions
    columns = min(3, len(readers))
    rows = -(-len(readers) // columns)

    def draw(figure: Any) -> None:
        axes = figure.subplots(rows, columns, squeeze=False, sharey=True).flat
        for panel, reader in zip(axes, [*readers, *[None] * (rows * columns - len(readers))], strict=True):
            if reader is None:
                panel.set_axis_off()
            else:
                _panel(panel, results, reader, conditions)
        figure.legend(
            *figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False, fontsize=8
        )

    return _svg(draw, 3.4 * columns, 2.3 * rows + 0.4)


def _panel(panel: Axes, results: Results, reader: str, conditions: tuple[str, ...]) -> None:
    """Shares of G, D, U and W of one reader, a group of bars a condition."""
    for k, (name, colour) in enumerate(COLOURS.items()):
        heights = []
        for condition in conditions:
            found = results.of(reader, condition, "q3")
            total = sum(getattr(result.score, name.lower()) or 0 for result in found)
            heights.append(100 * total / len(found) if found else 0)
        places = [place + (k - 1.5) * 0.2 for place in range(len(conditions))]
        panel.bar(places, heights, 0.2, label=MEANINGS[name], color=colour)
    panel.set_title(shortened(reader), fontsize=9, parse_math=False)
    panel.set_xticks(range(len(conditions)), conditions, fontsize=7, parse_math=False)
    panel.set_ylim(0, 100)
    panel.set_ylabel("% of cases", fontsize=7)
    panel.tick_params(axis="y", labelsize=7)


def _changes(results: Results) -> str | None:
    """A panel a contrast, a line a reader; all on one scale."""
    panels: dict[tuple[str, ...], list[tuple[str, Change]]] = {}
    for reader, contrast, change in changes(results):
        panels.setdefault(contrast, []).append((reader, change))
    if not panels:
        return None
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    readers = max(len(lines) for lines in panels.values())

    def draw(figure: Any) -> None:
        axes = list(figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flat)
        for panel, (contrast, lines) in zip(axes, panels.items(), strict=False):
            _change_panel(panel, contrast, lines)
        for panel in axes[len(panels) :]:
            panel.set_axis_off()
        axes[0].set_ylim(readers - 0.5, -0.5)
        figure.supxlabel("percentage points, 95 % interval", fontsize=8)

    return _svg(draw, 10, rows * (0.24 * readers + 0.6) + 0.4)


def _change_panel(panel: Axes, contrast: tuple[str, ...], lines: list[tuple[str, Change]]) -> None:
    study, question, use, after, before = contrast
    panel.axvline(0, color="#999999", linewidth=0.8)
    for place, (_, change) in enumerate(lines):
        panel.plot([change.low, change.high], [place, place], color="#555555", linewidth=1.5)
        panel.plot([change.points], [place], "o", color="#0072B2", markersize=5)
    panel.set_yticks(range(len(lines)), [shortened(reader) for reader, _ in lines], fontsize=7, parse_math=False)
    panel.set_title(f"Study {study}, {question.upper()}, {after}−{before} ({use})", fontsize=8)
    panel.tick_params(axis="x", labelsize=7)


def _errors(results: Results) -> str | None:
    kinds = {
        reader: Counter(
            result.score.error for result in results.all if result.reader == reader and result.question == "q3"
        )
        for reader in results.models
    }
    readers = [reader for reader in results.models if any(kinds[reader][kind] for kind in ErrorKind)]
    if not readers:
        return None

    def draw(figure: Any) -> None:
        panel = figure.subplots()
        left = [0] * len(readers)
        for kind, colour in zip(ErrorKind, ERROR_COLOURS, strict=True):
            widths = [kinds[reader][kind] for reader in readers]
            panel.barh(range(len(readers)), widths, left=left, color=colour, label=kind.value)
            left = [start + width for start, width in zip(left, widths, strict=True)]
        panel.set_yticks(range(len(readers)), map(shortened, readers), fontsize=7, parse_math=False)
        panel.invert_yaxis()
        panel.set_xlabel("answers over all conditions", fontsize=8)
        panel.tick_params(axis="x", labelsize=7)
        figure.legend(loc="outside lower center", ncols=len(ErrorKind), fontsize=8, frameon=False)

    return _svg(draw, 10, 0.3 * len(readers) + 1.2)


def _svg(draw: Callable[[Any], None], width: float, height: float) -> str:
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": "trace-prov", "svg.fonttype": "none", "text.usetex": False}):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]
