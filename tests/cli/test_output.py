"""Tables and headed lines: one line a row where there is room, one line a cell where there is none."""

from __future__ import annotations

from io import StringIO
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from trace_prov.cli.output import PIPE_WIDTH, headed_lines, printable, shown_table

HEADINGS = ("log", "target", "Q2 records (H)")
ROW = ("bill-payment.json", "recipient = UK12345678901234567890", "act-01.result[5]")


def shown(renderable: Any, *, width: int = PIPE_WIDTH, terminal: bool = False) -> str:
    out = StringIO()
    Console(file=out, width=width, force_terminal=terminal, color_system=None, highlight=False).print(renderable)
    return out.getvalue()


def test_a_table_with_room_has_a_line_for_each_row() -> None:
    expected = (
        " log                target                              Q2 records (H)\n"
        " bill-payment.json  recipient = UK12345678901234567890  act-01.result[5]\n"
    )
    assert shown(shown_table(HEADINGS, [ROW])) == expected
    assert shown(shown_table(HEADINGS, [ROW]), width=80, terminal=True) == expected


def test_a_table_without_room_has_a_line_for_each_cell_that_is_not_empty() -> None:
    lines = [
        line.rstrip() for line in shown(shown_table(HEADINGS, [ROW, ("b.json",)]), width=60, terminal=True).split("\n")
    ]
    assert lines == [
        "log             bill-payment.json",
        "target          recipient = UK12345678901234567890",
        "Q2 records (H)  act-01.result[5]",
        "",
        "log  b.json",
        "",
    ]


def test_a_table_in_a_pipe_is_never_folded() -> None:
    row = ("x" * 200_000, "y", "z")
    assert shown(shown_table(HEADINGS, [row])).splitlines()[1] == f" {row[0]}  y       z"


def test_a_title_stands_above_its_table() -> None:
    assert shown(shown_table(("a",), [("1",)], "What is counted")) == "What is counted\n a\n 1\n"


def test_a_table_without_rows_has_its_headings() -> None:
    assert shown(shown_table(HEADINGS, [])) == " log  target  Q2 records (H)\n"


def test_headed_lines_have_no_blanks_at_their_ends_in_a_pipe() -> None:
    assert shown(headed_lines([("log", "a"), ("", "a longer text")])) == "log  a\n     a longer text\n"


cells = st.lists(st.text(max_size=40), min_size=1, max_size=4)


@given(cells, st.lists(cells, max_size=4), st.integers(20, 120))
def test_nothing_is_cut_off_and_no_line_is_too_wide(headings: list[str], rows: list[list[str]], width: int) -> None:
    rows = [row[: len(headings)] for row in rows]
    table = shown_table([printable(heading)[:8] for heading in headings], rows)  # 8 characters, also of an escape
    text = shown(table, width=width, terminal=True)
    assert all(cell_len(line) <= width for line in text.splitlines())
    squeezed = "".join(text.split())
    for row in table.rows:
        for cell in row:
            assert all(word in squeezed for word in cell.split())


def test_a_heading_is_escaped_like_a_cell() -> None:
    assert shown(shown_table(("a\n\x1b[31m",), [("1",)])) == " a\\n\\x1b[31m\n 1\n"
