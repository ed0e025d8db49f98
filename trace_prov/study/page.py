"""The report as one HTML page that needs nothing else: tables, plots, what was pinned."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from trace_prov.study.render import numeric_columns, texts
from trace_prov.study.tables import Table

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2.2rem}p.note{color:#555;max-width:50rem}
div.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.87rem}
th,td{padding:.15rem .6rem;text-align:left;white-space:nowrap;vertical-align:top}tr.first td{border-top:1px solid #ddd}
td.w{white-space:normal;min-width:16rem}
th{border-bottom:2px solid #888;background:#fff}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}
tbody tr:hover{background:#f4f7fb}svg{max-width:100%;height:auto}nav ul{columns:2;font-size:.9rem;margin:0}
pre{white-space:pre-wrap;background:#f6f6f6;padding:.8rem;font-size:.8rem}
"""
#: What the page may load: nothing; styles are its own.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

#: A table of more rows is folded, a cell of more characters is broken into lines.
LONG, WIDE = 80, 60

#: What of the manifest the page shows; the folder has the rest.
_SHOWN = (
    "versions", "conditions", "cases", "seed", "temperature", "max_input_tokens", "input_counted_with",
    "max_output_tokens", "retries", "instructions_sha256", "readers",
)  # fmt: skip


def to_html(tables: Sequence[Table], plots: Iterable[tuple[str, str]], manifest: Mapping[str, Any], title: str) -> str:
    """The page. Every text is escaped; the plots are SVG of our own making."""
    links = "".join(f'<li><a href="#{escape(table.id)}">{escape(table.title)}</a></li>' for table in tables)
    drawn = "".join(f"<h2>{escape(name)}</h2>{svg}" for name, svg in plots)
    pinned = json.dumps({name: manifest.get(name) for name in _SHOWN}, indent=1)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body><h1>{escape(title)}</h1>\n"
        f"<nav><ul>{links}</ul></nav>\n{drawn}\n{''.join(map(_table, tables))}\n"
        f"<h2>What was pinned</h2><pre>{escape(pinned)}</pre>\n</body></html>\n"
    )


def _table(table: Table) -> str:
    numeric = numeric_columns(table)
    head = _row(table.columns, numeric, "th")
    rows = texts(table)
    firsts = [None, *(row[0] for row in rows)]
    body = "\n".join(_row(row, numeric, "td", begins=row[0] != first) for row, first in zip(rows, firsts, strict=False))
    shown = f'<div class="wide"><table><thead>{head}</thead><tbody>\n{body}\n</tbody></table></div>\n'
    if len(rows) > LONG:
        shown = f"<details><summary>{len(rows)} rows</summary>{shown}</details>\n"
    return f'<h2 id="{escape(table.id)}">{escape(table.title)}</h2>\n<p class="note">{escape(table.note)}</p>\n{shown}'


def _row(cells: Sequence[str], numeric: Sequence[bool], tag: str, *, begins: bool = False) -> str:
    """A row; one that `begins` a group, such as that of a reader, is set off from the row before."""
    kinds = (
        ' class="n"' if right else ' class="w"' if len(cell) > WIDE else ""
        for cell, right in zip(cells, numeric, strict=True)
    )
    marked = "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))
    return f'<tr class="first">{marked}</tr>' if begins else f"<tr>{marked}</tr>"
