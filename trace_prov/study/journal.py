"""The responses of one reader, one JSON line each, written as they come; the only place where a study keeps them.

A question is noted before it is asked and again with what came back, so that a crash at any moment loses at most the
response under way, and says so. What is answered, failed or too long is never asked again by itself.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from trace_prov.errors import FormatError, UsageError

Key = tuple[str, str]


class Event(StrEnum):
    ASKED = "asked"
    RESPONSE = "response"
    FAILED = "failed"
    TOO_LONG = "too long"


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a journal. `response` is the text as given, `error` what a provider said instead."""

    event: Event
    case: str
    condition: str
    package_sha256: str
    response: str | None = None
    error: str | None = None
    stop_reason: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None

    @property
    def key(self) -> Key:
        return self.case, self.condition

    @property
    def closes(self) -> bool:
        return self.event is not Event.ASKED


def journal_path(folder: Path, reader: str) -> Path:
    return folder / f"{quote(reader, safe=':+@=')}.jsonl"


def reader_of(path: Path) -> str:
    return unquote(path.name.removesuffix(".jsonl"))


def read_journal(path: Path) -> Iterator[Entry]:
    """The lines of a journal; one that a crash cut off is passed over. Raises FormatError for any other bad line."""
    if not path.exists():
        return
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            yield _entry(json.loads(line))
        except (ValueError, TypeError) as error:
            if number == len(lines):
                return
            raise FormatError(str(path), place=f"line {number}", expected="a journal entry", found=str(error)) from None


def _entry(body: dict[str, Any]) -> Entry:
    return Entry(**(body | {"event": Event(body["event"])}))


class Journal:
    """Appends to a reader's journal, alone; a response is on disk before the next question is asked."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise UsageError(f"{path}: another run is asking this reader; wait until it has ended") from None
        _drop_torn_line(path)

    def add(self, entry: Entry) -> None:
        body = {name: value for name, value in asdict(entry).items() if value is not None}
        self._file.write(json.dumps(body).encode("ascii") + b"\n")
        self._file.flush()
        if entry.closes:
            os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def _drop_torn_line(path: Path) -> None:
    """Cut off what follows the last line break, so that the next line stands alone."""
    if not path.exists():
        return
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        with path.open("r+b") as file:
            file.truncate(whole)
