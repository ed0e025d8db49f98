"""The report's plots as SVG texts: no date, no random ids, no network; the same results give the same bytes."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from trace_prov.study.score import ErrorKind
from trace_prov.study.tables import Results, changes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Colours that stay apart for people who do not see all of them (Okabe and Ito 2008).
COLOURS = {"G": "#009E73", "D": "#56B4E9", "U": "#D55E00", "W": "#CC79A7"}
ERROR_COLOURS = ("#0072B2", "#D55E00", "#E69F00", "#999999")


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
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)

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
        panel.bar(places, heights, 0.2, label=name, color=colour)
    panel.set_title(reader, fontsize=9, parse_math=False)
    panel.set_xticks(range(len(conditions)), conditions, fontsize=7, parse_math=False)
    panel.set_ylim(0, 100)
    panel.set_ylabel("% of cases", fontsize=7)
    panel.tick_params(axis="y", labelsize=7)


def _changes(results: Results) -> str | None:
    rows = list(changes(results))
    if not rows:
        return None

    def draw(figure: Any) -> None:
        panel = figure.subplots()
        for place, (_, _, change) in enumerate(rows):
            panel.plot([change.low, change.high], [place, place], color="#555555", linewidth=1.5)
            panel.plot([change.points], [place], "o", color="#0072B2")
        names = [
            f"{reader}: {question.upper()} {after}−{before}" for reader, (_, question, _, after, before), _ in rows
        ]
        panel.set_yticks(range(len(rows)), names, fontsize=7, parse_math=False)
        panel.invert_yaxis()
        panel.axvline(0, color="#999999", linewidth=0.8)
        panel.set_xlabel("percentage points, 95 % interval", fontsize=8)

    return _svg(draw, 8, 0.25 * len(rows) + 1)


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
        panel.set_yticks(range(len(readers)), readers, fontsize=7, parse_math=False)
        panel.invert_yaxis()
        panel.set_xlabel("answers over all conditions", fontsize=8)
        panel.legend(fontsize=7, frameon=False)

    return _svg(draw, 8, 0.35 * len(readers) + 1.2)


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
