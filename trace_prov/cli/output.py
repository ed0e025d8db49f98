"""How answers, problems and diagnostics are printed: untrusted text never reaches a terminal unescaped."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import click
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from trace_prov.load import Ignored, Loaded, Problem
from trace_prov.model import Run, Severity

#: A line in a file or a pipe is never folded; a terminal has its own width.
PIPE_WIDTH = 1_000_000_000

# Characters that reorder or hide text on a screen.
_UNSEEN = {*range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF, 0x061C}


def _is_safe(char: str) -> bool:
    return char.isprintable() and ord(char) not in _UNSEEN


def printable(text: str, limit: int | None = None) -> str:
    """A text as one line that is safe to show: control, reordering and invisible characters as escapes."""
    shown = "".join(
        char if _is_safe(char) else char.encode("unicode_escape", "surrogatepass").decode()
        for char in (text if limit is None else text[: limit + 1])
    )
    return shown if limit is None or len(text) <= limit else shown[:limit] + "…"


def to_line(value: Any) -> str:
    """One JSON line of valid UTF-8, without bare NaN; a lone surrogate stays as its JSON escape."""
    try:
        line = json.dumps(value, ensure_ascii=False, allow_nan=False)
        line.encode()
    except UnicodeEncodeError:
        line = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return line


def csv_cell(value: Any) -> Any:
    """A value as CSV has it: truth values in lower case, a lone surrogate as its escape."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


class DataOut:
    """Standard output for JSON, CSV and Turtle: as it is in a file or a pipe, without control characters on a terminal.

    There each becomes the escape that JSON and Turtle have for it.
    """

    def __init__(self) -> None:
        self._shows = sys.stdout.isatty()

    def write(self, text: str) -> None:
        if self._shows:
            text = "".join(char if char in "\n\t" or _is_safe(char) else json.dumps(char)[1:-1] for char in text)
        click.echo(text, nl=False)


def console() -> Console:
    """Standard output for people; without colour or a narrow width when it is no terminal."""
    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, width=PIPE_WIDTH)


@dataclass(frozen=True, slots=True)
class HeadedLines:
    """(heading, text) pairs for `console`: on a terminal folded beside their headings, elsewhere one line each."""

    pairs: tuple[tuple[str, str], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if console.is_terminal:
            grid = Table.grid(padding=(0, 2))
            grid.add_column(style="bold", no_wrap=True)
            grid.add_column(overflow="fold")  # half a locator is no locator, so nothing is cut off
            for heading, text in self.pairs:
                grid.add_row(Text(heading), Text(text))
            yield grid
        else:
            yield from _lines(self.pairs)


def headed_lines(pairs: Iterable[tuple[str, str]]) -> HeadedLines:
    return HeadedLines(tuple((printable(heading), printable(text)) for heading, text in pairs))


@dataclass(frozen=True, slots=True)
class ShownTable:
    """Rows under headings for `console`; on a terminal that is too narrow, each row as lines beside the headings."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str | None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.title is not None:
            yield Text(self.title, style="italic")
        lines = [line.rstrip() for line in _aligned((self.headings, *self.rows), indent=" ")]
        if not console.is_terminal or max(map(cell_len, lines)) <= options.max_width:
            for number, line in enumerate(lines):
                yield _unfolded(line, "" if number else "bold")
            return
        for number, row in enumerate(self.rows):
            if number:
                yield Text()
            yield HeadedLines(tuple(pair for pair in zip(self.headings, row, strict=False) if pair[1]))


def shown_table(headings: Iterable[str], rows: Iterable[Iterable[str]], title: str | None = None) -> ShownTable:
    return ShownTable(
        tuple(map(printable, headings)), tuple(tuple(printable(cell) for cell in row) for row in rows), title
    )


def _lines(rows: Sequence[Sequence[str]]) -> Iterator[Text]:
    return (_unfolded(line.rstrip()) for line in _aligned(rows))


def _aligned(rows: Sequence[Sequence[str]], indent: str = "") -> Iterator[str]:
    """Each row as one line; a row may have fewer cells than the first one has."""
    columns = zip_longest(*rows, fillvalue="")
    widths = [max(map(cell_len, column)) for column in columns]
    for row in rows:
        yield indent + "  ".join(
            cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=False)
        )


def _unfolded(line: str, style: str = "") -> Text:
    return Text(line, style=style, no_wrap=True, overflow="ignore")


def say(level: str, text: str) -> None:
    click.echo(f"{click.style(level, fg='red' if level == 'error' else 'yellow')}: {printable(text)}", err=True)


class Reporter:
    """Tells what went wrong while runs go by, and remembers whether the exit code must say so."""

    def __init__(self) -> None:
        self.damaged = False
        self.ignored = 0
        self.runs = 0

    def runs_of(self, loaded: Iterator[Loaded]) -> Iterator[Run]:
        """The runs, with every problem and every warning of theirs reported on standard error as it comes."""
        for item in loaded:
            if isinstance(item, Problem):
                self.damaged = True
                say("error", str(item.error))
            elif isinstance(item, Ignored):
                self.ignored += 1
            else:
                self.runs += 1
                self._report(item)
                yield item

    def _report(self, run: Run) -> None:
        for diagnostic in run.diagnostics:
            if diagnostic.severity is Severity.NOTE:
                continue
            self.damaged = self.damaged or diagnostic.severity is Severity.ERROR
            say(diagnostic.severity.value, f"{run.source.name}, {diagnostic.place}: {diagnostic.message}")

    def close(self) -> None:
        """Say what was passed over, and end with exit code 2 when something was damaged or refused."""
        if self.ignored:
            files = "1 file that does" if self.ignored == 1 else f"{self.ignored} files that do"
            click.echo(f"passed over {files} not end in .json, .jsonl or .ndjson", err=True)
        if self.runs == 0 and not self.damaged:
            say("error", "no log was found")
            self.damaged = True
        if self.damaged:
            raise SystemExit(2)
