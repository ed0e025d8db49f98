"""Truth files: what an attack did to every record, as JSON lines. The first line says which attacks and which logs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from trace_prov.watermark.attacks import Attacked, Fate, Place
from trace_prov.watermark.errors import TrajectoryError

TRUTH_FORMAT = "trace-prov-watermark-truth/1"


@dataclass(frozen=True, slots=True)
class Truth:
    """The attacks in order, their seed, the logs attacked as (name, SHA-256), the result's SHA-256, and the fates."""

    steps: tuple[str, ...]
    seed: int
    inputs: tuple[tuple[str, str], ...]
    output: str
    fates: tuple[Fate, ...]


def truth_of(attacked: Attacked, inputs: Sequence[tuple[str, str]], output: bytes) -> Truth:
    """Return the truth of an attack whose result was written as the bytes `output`."""
    named = tuple((Path(name).name, digest) for name, digest in inputs)
    return Truth(attacked.steps, attacked.seed, named, hashlib.sha256(output).hexdigest(), attacked.fates)


def dump_truth(truth: Truth) -> bytes:
    """Return the truth as JSON lines."""
    head = {
        "format": TRUTH_FORMAT,
        "attacks": truth.steps,
        "seed": truth.seed,
        "inputs": [{"name": name, "sha256": digest} for name, digest in truth.inputs],
        "output": truth.output,
    }
    lines = [{"old": fate.old, "new": fate.new, "changed": fate.changed} for fate in truth.fates]
    return b"".join(orjson.dumps(line) + b"\n" for line in [head, *lines])


def read_truth(path: Path) -> Truth:
    """Read a truth file. Raises `TrajectoryError` with the line."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise TrajectoryError(str(path), expected="a readable file", found=error.strerror) from error
    rows = [_line(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    head = rows[0] if rows else {}
    if head.get("format") != TRUTH_FORMAT:
        hint = "trace-prov watermark attack … --truth FILE writes one"
        raise TrajectoryError(str(path), place="line 1", expected=TRUTH_FORMAT, found="another line", hint=hint)
    try:
        return Truth(
            tuple(str(step) for step in head["attacks"]),
            int(head["seed"]),
            tuple((str(item["name"]), str(item["sha256"])) for item in head["inputs"]),
            str(head["output"]),
            tuple(_fate(path, number, row) for number, row in enumerate(rows[1:], 2)),
        )
    except (KeyError, TypeError, ValueError) as error:
        expected = "attacks, seed, inputs and output"
        raise TrajectoryError(str(path), place="line 1", expected=expected, found=str(error)) from error


def _line(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise TrajectoryError(str(path), place=f"line {number}", expected="JSON", found=str(error)) from error
    if not isinstance(value, dict):
        found = type(value).__name__
        raise TrajectoryError(str(path), place=f"line {number}", expected="an object", found=found)
    return value


def _fate(path: Path, number: int, row: dict[str, Any]) -> Fate:
    old, new, changed = (row.get(name) for name in ("old", "new", "changed"))
    places = [place for place in (old, new) if place is not None]
    if not places or not all(map(_is_place, places)) or not isinstance(changed, bool):
        expected = "old and new as [run, group, record] or null, and changed"
        raise TrajectoryError(str(path), place=f"line {number}", expected=expected, found="something else")
    return Fate(_place(old), _place(new), changed)


def _is_place(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 3 or not isinstance(value[0], str):
        return False
    return type(value[1]) is int and value[1] >= 1 and type(value[2]) is int and value[2] >= 0


def _place(value: Any) -> Place | None:
    return None if value is None else (value[0], value[1], value[2])
