"""Tables as Markdown, CSV and LaTeX. Names in them are untrusted: each form escapes what it would read as its own."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from trace_prov.study.tables import Cell, Table, signed

_SIGNED = frozenset({"change", "low", "high"})


def cell_text(cell: Cell, column: str) -> str:
    """A cell as people read it: changes with sign and two digits, other fractions with one digit."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return signed(cell) if column in _SIGNED else f"{cell:.1f}"
    return str(cell)


def texts(table: Table) -> list[list[str]]:
    return [[cell_text(cell, column) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows]


def is_number(cell: Cell) -> bool:
    return isinstance(cell, int | float)


def numeric_columns(table: Table) -> list[bool]:
    """Which columns hold numbers only; they are set flush right."""
    return [all(is_number(row[k]) or row[k] is None for row in table.rows) for k in range(len(table.columns))]


def to_markdown(tables: Iterable[Table], title: str) -> str:
    parts = [f"# {_markdown(title)}\n"]
    for table in tables:
        rule = ["---:" if numeric else "---" for numeric in numeric_columns(table)]
        lines = [_markdown_row(table.columns), f"| {' | '.join(rule)} |", *map(_markdown_row, texts(table))]
        parts.append(f"## {_markdown(table.title)}\n\n{_markdown(table.note)}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_markdown, cells))} |"


def _markdown(text: str) -> str:
    """A text that Markdown shows as it is, on one line, and never as HTML."""
    one_line = _one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(f"\\{char}" if char in "\\|`*_[]~$" else char for char in one_line)


def to_csv(table: Table) -> str:
    """The table with unrounded numbers; an empty field where there is no value."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(["" if cell is None else cell for cell in row] for row in table.rows)
    return text.getvalue()


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "–": "--",
    '"': r"\textquotedbl{}",
}


def to_latex(tables: Iterable[Table]) -> str:
    """Tables for a LaTeX document that loads booktabs, each to be put in or left out."""
    parts = ["% needs \\usepackage[T1]{fontenc} and \\usepackage{booktabs}\n"]
    for table in tables:
        columns = "".join("r" if numeric else "l" for numeric in numeric_columns(table))
        body = "\n".join(f"{' & '.join(map(_latex, row))} \\\\" for row in texts(table))
        parts.append(
            f"\\begin{{table}}\n\\caption{{{_latex(table.title)}. {_latex(table.note)}}}\n"
            f"\\label{{tab:{table.id}}}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n"
            f"{' & '.join(map(_latex, table.columns))} \\\\\n\\midrule\n{body}\n\\bottomrule\n"
            "\\end{tabular}\n\\end{table}\n"
        )
    return "\n".join(parts)


def _latex(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in _one_line(text))


def _one_line(text: str) -> str:
    """A text without line breaks and control characters, which no table can hold."""
    return "".join(char if char.isprintable() else " " for char in text)
