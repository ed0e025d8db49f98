"""The responses of one reader, one JSON line each, written as they come; the only place where a study keeps them.

A question is noted before it is asked and again with what came back, so that a crash at any moment loses at most the
response under way, and says so. What is answered, failed or too long is never asked again by itself.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from trace_prov.errors import FormatError, UsageError
from trace_prov.study.lines import strict_json

Key = tuple[str, str]

#: Longest name of a journal's file without its ending, in bytes; file systems take 255.
MAX_NAME = 240


class Event(StrEnum):
    ASKED = "asked"
    RESPONSE = "response"
    FAILED = "failed"
    TOO_LONG = "too long"


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a journal. `response` is the text as given, `error` what a provider said instead; `cached` is set
    where the response was given before, to the same question of another study."""

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
    cached: bool | None = None

    @property
    def key(self) -> Key:
        return self.case, self.condition

    @property
    def closes(self) -> bool:
        return self.event is not Event.ASKED


def journal_path(folder: Path, reader: str) -> Path:
    """The journal of a reader; raises UsageError for a name that is too long for a file."""
    name = quote(reader, safe=":+@=", errors="surrogatepass")
    if len(name) > MAX_NAME:
        raise UsageError(f"the reader's name {reader[:40]!r}… is too long: {MAX_NAME} bytes at most")
    return folder / f"{name}.jsonl"


def read_responses(path: Path, packages: Mapping[Key, str]) -> Iterator[Entry]:
    """The lines of a journal; raises FormatError for one about a package that is none of these.

    `packages` gives the SHA-256 of the evidence that each question was asked about: an answer to another package must
    never count as an answer to this one.
    """
    for entry in read_journal(path):
        if packages.get(entry.key) != entry.package_sha256:
            raise FormatError(
                str(path), place=f"case {entry.case!r}, {entry.condition}", expected="a package of this study",
                found="another one" if entry.key in packages else "none",
                hint="the journal belongs to another study; take it out of the folder",
            )  # fmt: skip
        yield entry


def reader_of(path: Path) -> str:
    return unquote(path.name.removesuffix(".jsonl"), errors="surrogatepass")


def read_journal(path: Path) -> Iterator[Entry]:
    """The lines of a journal; one that a crash cut off is passed over. Raises FormatError for any other bad line."""
    if not path.exists():
        return
    if not path.is_file():
        raise FormatError(str(path), expected="a journal of responses", found="no file")
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            yield _entry(strict_json(line.decode("ascii")))
        except ValueError as error:
            if number == len(lines):
                return
            raise FormatError(str(path), place=f"line {number}", expected="a journal entry", found=str(error)) from None


def _entry(body: Any) -> Entry:
    """The entry of a line; raises ValueError where a member is none of an entry's or of another kind."""
    if not isinstance(body, dict):
        raise ValueError(type(body).__name__)
    for name in body.keys() | _NEEDED:
        if type(body.get(name)) is not _KINDS.get(name):
            raise ValueError(f"{name}: {body.get(name)!r:.40}")
    return Entry(**(body | {"event": Event(body["event"])}))


_NEEDED = frozenset({"event", "case", "condition", "package_sha256"})
_KINDS: dict[str, type] = {
    **dict.fromkeys(_NEEDED | {"response", "error", "stop_reason", "model"}, str),
    **dict.fromkeys(("input_tokens", "output_tokens"), int),
    "cached": bool,
}


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
