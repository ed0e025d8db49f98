"""Files of JSON lines, and files that are there as a whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from trace_prov.errors import FormatError
from trace_prov.writing import write_whole


class RepeatedNameError(ValueError):
    """An object names a member twice, and so says two things."""


def strict_json(text: str) -> Any:
    """What a JSON text says; raises RepeatedNameError, or ValueError for all else that is no JSON."""
    try:
        return json.loads(text, object_pairs_hook=_without_repetition, parse_constant=_refused_constant)
    except RecursionError:
        raise ValueError("brackets nested too deeply") from None


def _without_repetition(members: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(members)
    if len(document) < len(members):
        raise RepeatedNameError("a name stands twice in an object")
    return document


def _refused_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines; raises FormatError with the line that is none."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = strict_json(line)
        except ValueError as error:
            raise FormatError(str(path), place=f"line {number}", expected="JSON", found=str(error)) from None
        if not isinstance(row, dict):
            raise FormatError(str(path), place=f"line {number}", expected="an object", found=type(row).__name__)
        yield row


def read_text(path: Path) -> str:
    """The text of a file; raises FormatError where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(str(path), expected="a readable file of JSON", found=str(error)) from None


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    write_whole(path, "".join(json.dumps(row) + "\n" for row in rows))
