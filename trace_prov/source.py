"""Evidence as received: bytes that are read once, hashed and never changed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from trace_prov.errors import FormatError, SourceError

#: Larger files are refused unless the caller raises the limit: a log is held in memory while it is read.
DEFAULT_MAX_BYTES = 2**30

_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class LogFile:
    """A file as received. `name` is how it is shown: the path below the folder that was given."""

    name: str
    path: Path
    data: bytes

    @classmethod
    def read(cls, path: Path, name: str, max_bytes: int = DEFAULT_MAX_BYTES) -> LogFile:
        """Read a file; raises SourceError when it cannot be read, is empty or is larger than `max_bytes`."""
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - opening a pipe would wait for ever
                raise SourceError(name, expected="a file", found="something else, such as a folder, pipe or device")
            with open(path, "rb") as file:  # noqa: PTH123 - a third faster than Path.open, for each log
                size = os.fstat(file.fileno()).st_size
                if size > max_bytes:
                    raise SourceError(
                        name,
                        expected=f"at most {max_bytes:,} bytes",
                        found=f"{size:,}",
                        hint="raise the limit with --max-bytes if this really is one log",
                    )
                data = file.read()
        except OSError as error:
            raise SourceError(name, expected="a readable file", found=error.strerror or str(error)) from None
        return cls(name, path, data)

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def document(self) -> ParsedJson:
        """The whole file as one JSON value; raises FormatError with line and column when it is none."""
        if not self.data.strip():
            raise FormatError(self.name, expected="a log", found="an empty file")
        return parse_json(self.data, self.name)

    @cached_property
    def exact_document(self) -> ParsedJson:
        """The same with whole numbers of any length kept; slower. Raises FormatError as `document` does."""
        return parse_json(self.data, self.name, exact=True)

    @cached_property
    def is_lines(self) -> bool:
        """Whether each line of the file holds a JSON object or a list of them, be some damaged; not one JSON value."""
        try:
            return self.document is None
        except FormatError:
            return self._looks_like_lines()

    def _looks_like_lines(self) -> bool:
        lines = [line for line in self._line_bytes[:65536].split(b"\n") if line.strip()]
        if len(self._line_bytes) > 65536 and len(lines) > 1:
            lines.pop()  # the sample may end in the middle of it
        whole = sum(_holds_objects(line) for line in lines)
        return len(lines) > 1 and (whole * 2 >= len(lines) or _holds_objects(lines[0]))

    @cached_property
    def _line_bytes(self) -> bytes:
        """The file's bytes, in UTF-8 where it is UTF-16: there line ends are no single bytes."""
        if not _is_utf_16(self.data):
            return self.data
        padded = self.data + b"\0" * (len(self.data) % 2)  # a torn last character is shown as another, not dropped
        return padded.decode("utf-16", "surrogatepass").encode("utf-8", "surrogatepass")

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """(number from 1, bytes) of each line that is not blank."""
        start, number, data = 0, 0, self._line_bytes
        while start < len(data):
            end = data.find(b"\n", start)
            end = len(data) if end < 0 else end
            number += 1
            line = data[start:end]
            if line.strip():
                yield number, line
            start = end + 1


@dataclass(frozen=True, slots=True)
class ParsedJson:
    """A JSON value; `oddities` name what strict JSON or UTF-8 cannot hold (non-finite numbers, lone surrogates)."""

    value: Any
    oddities: tuple[str, ...] = ()


def _holds_objects(line: bytes) -> bool:
    try:
        value = _parse(line).value
    except (ValueError, RecursionError):
        return False
    return isinstance(value[0] if isinstance(value, list) and value else value, dict)


class WrittenNumber(float):
    """A number with a fraction or an exponent, and its text in the file, which a float does not keep (`1.50`)."""

    text: str

    @classmethod
    def of(cls, text: str) -> WrittenNumber:
        number = cls(text)
        number.text = text
        return number


def parse_json(data: bytes, name: str, place: str = "", *, exact: bool = False) -> ParsedJson:
    """Read JSON text; raises FormatError with the place when it is none.

    Lone surrogates, which Python's own JSON writes, are kept. With `exact` so are whole numbers of any length and, as
    `WrittenNumber`, all others, which a fast parser would round.
    """
    try:
        return _parse_leniently(data) if exact else _parse(data)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}" if not place else f"{place}, column {error.colno}"
        ended = error.pos >= len(error.doc.rstrip())
        raise FormatError(
            name,
            place=where,
            expected="JSON",
            found="the end of the text" if ended else ascii(error.doc[error.pos : error.pos + 12]),
            hint="it may be cut off" if ended else error.msg,
        ) from None
    except UnicodeDecodeError as error:
        where = f"{place}, byte {error.start}" if place else f"byte {error.start}"
        raise FormatError(name, place=where, expected="UTF-8 text", found=f"byte 0x{data[error.start]:02x}") from None
    except RecursionError:
        raise FormatError(name, place=place or None, expected="JSON", found="brackets nested too deeply") from None
    except ValueError:
        # Python turns no more digits than this into a number (sys.set_int_max_str_digits).
        limit = f"numbers of at most {sys.get_int_max_str_digits():,} digits"
        raise FormatError(name, place=place or None, expected=limit, found="a longer one") from None


def _parse(data: bytes) -> ParsedJson:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return _parse_leniently(data)
    return ParsedJson(value)


def _parse_leniently(data: bytes) -> ParsedJson:
    return parse_exact_json(data.decode("utf-16" if _is_utf_16(data) else "utf-8-sig"), parse_float=WrittenNumber.of)


def _is_utf_16(data: bytes) -> bool:
    return data.startswith((b"\xff\xfe", b"\xfe\xff"))


def parse_exact_json(text: str, parse_float: Callable[[str], float] = float) -> ParsedJson:
    """JSON with whole numbers of any length and with what Python's own parser accepts beyond the standard, named.

    Raises ValueError, or RecursionError for brackets nested too deeply.
    """
    non_finite: list[str] = []

    def constant(name: str) -> float:
        non_finite.append(name)
        return float(name)

    value = json.loads(text, parse_constant=constant, parse_float=parse_float)
    oddities = []
    if non_finite:
        oddities.append(f"non-finite number ({', '.join(sorted(set(non_finite)))})")
    if _SURROGATE_ESCAPE.search(text) is not None and _holds_surrogate(value):
        oddities.append("lone surrogate")
    return ParsedJson(value, tuple(oddities))


def _holds_surrogate(value: Any) -> bool:
    if isinstance(value, str):
        return _SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(_holds_surrogate(item) for pair in value.items() for item in pair)
    return isinstance(value, list) and any(_holds_surrogate(item) for item in value)


def holds_rounded_number(value: Any) -> bool:
    """Whether the fast parser may have rounded a whole number in `value`: it keeps 64 bits, JSON has no limit."""
    return any(abs(number) >= 2**63 for number in _floats(value))


def holds_float(value: Any) -> bool:
    """Whether `value` holds a number whose text in the file may be another than Python's."""
    return any(True for _ in _floats(value))


def _floats(value: Any) -> Iterator[float]:
    waiting = [value]  # a stack of our own: brackets may be nested deeper than calls
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, float):
            yield item
