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


#: What pdflatex sets without further packages: ASCII, and the letters of the languages of Europe.
_LATIN = frozenset(map(chr, [*range(0x20, 0x7F), *range(0xC0, 0x100), *range(0x100, 0x180)])) - set("ĦħĸĿŀŉŦŧſ")

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
    "…": r"\ldots{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    '"': r"\textquotedbl{}",
}


#: Of more rows a table does not fit on a page: it becomes a longtable.
PAGE_ROWS = 40

_PREAMBLE = """\
% needs \\usepackage[T1]{fontenc} \\usepackage{booktabs,longtable,graphicx}
% a table that is too wide is made as wide as the text, one that is too long runs over pages
"""


def to_latex(tables: Iterable[Table]) -> str:
    """Tables to be put into a LaTeX document, each to be taken or left out."""
    return "\n".join([_PREAMBLE, *(_latex_table(table) for table in tables)])


def _latex_table(table: Table) -> str:
    columns = "".join("r" if numeric else "l" for numeric in numeric_columns(table))
    caption = f"\\caption{{{_latex(table.title)}. {_latex(table.note)}}}\\label{{tab:{table.id}}}"
    head = f"\\toprule\n{_latex_row(table.columns)}\n\\midrule"
    body = "\n".join(map(_latex_row, texts(table)))
    if len(table.rows) > PAGE_ROWS:
        return (
            f"{{\\scriptsize\\setlength{{\\tabcolsep}}{{3pt}}\n\\begin{{longtable}}{{{columns}}}\n"
            f"{caption}\\\\\n{head}\n\\endfirsthead\n{head}\n\\endhead\n"
            f"\\bottomrule\n\\endfoot\n{body}\n\\end{{longtable}}}}\n"
        )
    return (
        f"\\begin{{table}}\n{caption}\n\\resizebox{{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}}{{!}}{{%\n"
        f"\\begin{{tabular}}{{{columns}}}\n{head}\n{body}\n\\bottomrule\n\\end{{tabular}}}}\n\\end{{table}}\n"
    )


def _latex_row(cells: Sequence[str]) -> str:
    # Braces keep a cell that begins with a bracket from being read as an argument of the row's end.
    return f"{{}}{' & '.join(map(_latex, cells))} \\\\"


def _latex(text: str) -> str:
    """A text that every LaTeX sets; what its Latin fonts have no sign for is named by its number."""
    return "".join(_LATEX.get(char) or (char if char in _LATIN else f"[U+{ord(char):04X}]") for char in _one_line(text))


def _one_line(text: str) -> str:
    """A text without line breaks and control characters, which no table can hold."""
    return "".join(char if char.isprintable() else " " for char in text)
