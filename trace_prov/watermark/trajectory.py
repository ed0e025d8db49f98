"""Trajectories as the watermark sees them: groups of one decision and its observations (WATERMARK §2.1).

The JSON form ("trace-prov-trajectory/1", or one run a line in JSONL) is described in docs/watermark.md.
"""

from __future__ import annotations

import codecs
import json
import math
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from trace_prov.watermark.errors import TrajectoryError

FORMAT = "trace-prov-trajectory/1"
DECISION, OBSERVATION = "D", "O"


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a log: a decision ("D") or an observation ("O").

    `args` is canonical JSON text; `call` the id of the decision that an observation answers.
    """

    tag: str
    content: str = ""
    tool: str | None = None
    args: str | None = None
    time: str | None = None
    id: str | None = None
    call: str | None = None

    @property
    def action(self) -> str:
        """The canonical action string: the tool call as canonical JSON, or the command text in NFC."""
        if self.tool is None:
            return self.content
        return f'{{"args":{self.args or "{}"},"tool":{json.dumps(self.tool, ensure_ascii=False)}}}'


@dataclass(frozen=True, slots=True)
class Group:
    """One decision and the observations that followed it; candidates and probabilities where they were logged."""

    decision: Record
    observations: tuple[Record, ...] = ()
    candidates: tuple[str, ...] | None = None
    probabilities: tuple[float, ...] | None = None

    @property
    def tags(self) -> str:
        """The group's part of the skeleton, such as "DOO"."""
        return DECISION + OBSERVATION * len(self.observations)


@dataclass(frozen=True, slots=True)
class Run:
    """One trajectory. `salt`: the run id that the provider issued and keeps in a ledger; None when it is gone."""

    id: str
    salt: str | None
    task: str | None
    groups: tuple[Group, ...]

    @property
    def tags(self) -> str:
        """The skeleton of the whole run."""
        return "".join(group.tags for group in self.groups)

    @property
    def record_count(self) -> int:
        """Number of records, decisions and observations."""
        return sum(1 + len(group.observations) for group in self.groups)


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no spaces and every string in NFC (WATERMARK §2.1). Raises `TrajectoryError`."""
    try:
        return json.dumps(_nfc(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except RecursionError:
        raise TrajectoryError(
            "a value", expected="one nested less than some hundred deep", found="a deeper one"
        ) from None


def canonical_text(text: str) -> str:
    """A command given as text, in NFC."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def canonical_action(tool: str, args: Any, registry: Mapping[str, str] | None = None) -> str:
    """The canonical action string of a tool call; a tool with a registry id is named by it."""
    return call_record(tool, args, registry=registry).action


def call_record(
    tool: str,
    args: Any,
    *,
    registry: Mapping[str, str] | None = None,
    content: str = "",
    time: str | None = None,
    id: str | None = None,
) -> Record:
    """Return the decision record of a tool call."""
    name = canonical_text((registry or {}).get(tool, tool))
    return Record(DECISION, content, name, canonical_json(args if args is not None else {}), time, id)


def command_record(text: str, *, time: str | None = None, id: str | None = None) -> Record:
    """Return the decision record of a command given as text."""
    return Record(DECISION, canonical_text(text), time=time, id=id)


def _nfc(value: Any) -> Any:
    if isinstance(value, str):
        return canonical_text(value)
    if isinstance(value, Mapping):
        return {canonical_text(str(key)): _nfc(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_nfc(item) for item in value]
    return value


def read_runs(path: Path, registry: Mapping[str, str] | None = None) -> list[Run]:
    """Read a trajectory file (.json, or .jsonl with one run a line). Raises `TrajectoryError` with the place."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TrajectoryError(str(path), expected="a readable file", found=error.strerror) from error
    return parse_runs(data, str(path), registry)


def parse_runs(data: bytes, source: str, registry: Mapping[str, str] | None = None) -> list[Run]:
    """Parse the bytes of a trajectory file. Raises `TrajectoryError`."""
    runs = [_run(value, _Place(source, place), registry) for place, value in _documents(data, source)]
    if not runs:
        raise TrajectoryError(source, expected="at least one run", found="none")
    return runs


def dump_runs(runs: Iterable[Run]) -> bytes:
    """Return the runs in the trajectory format."""
    document = {"format": FORMAT, "runs": [run_to_json(run) for run in runs]}
    return orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"


def run_to_json(run: Run) -> dict[str, Any]:
    """Return one run as JSON values; absent fields are left out."""
    head = {"id": run.id, "salt": run.salt, "task": run.task}
    groups = []
    for group in run.groups:
        value: dict[str, Any] = {"decision": _record_to_json(group.decision)}
        if group.candidates is not None:
            value["candidates"] = list(group.candidates)
        if group.probabilities is not None:
            value["probabilities"] = list(group.probabilities)
        value["observations"] = [_record_to_json(record) for record in group.observations]
        groups.append(value)
    return {**{key: item for key, item in head.items() if item is not None}, "groups": groups}


def _record_to_json(record: Record) -> dict[str, Any]:
    value: dict[str, Any] = {}
    if record.tool is not None:
        value["tool"] = record.tool
    if record.args is not None:
        value["args"] = json.loads(record.args)
    if record.content or record.tool is None:
        value["content"] = record.content
    if record.time is not None:
        value["time"] = record.time
    if record.id is not None:
        value["id"] = record.id
    if record.call is not None:
        value["call"] = record.call
    return value


class _Place:
    """A position in a file, and the error that names it."""

    def __init__(self, source: str, place: str) -> None:
        self.source, self.place = source, place

    def at(self, part: str) -> _Place:
        return _Place(self.source, f"{self.place}.{part}" if self.place else part)

    def wrong(self, expected: str, found: object, hint: str | None = None) -> TrajectoryError:
        shown = found if isinstance(found, str) else type(found).__name__
        return TrajectoryError(self.source, place=self.place or None, expected=expected, found=shown, hint=hint)


def _documents(data: bytes, source: str) -> list[tuple[str, Any]]:
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as whole:
        lines = [(number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip()]
        # One document over many lines is no JSON lines: then the place in the whole is the one to tell.
        if len(lines) < 2 or not _is_json(lines[0][1]):
            raise TrajectoryError(source, expected="JSON or JSON lines", found=str(whole)) from whole
        return [(f"line {number}", _line(line, source, number)) for number, line in lines]
    if isinstance(value, dict) and "groups" in value:
        return [("run", value)]
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        found = repr(value.get("format")) if isinstance(value, dict) else type(value).__name__
        raise TrajectoryError(source, place="format", expected=FORMAT, found=found, hint="see docs/watermark.md")
    if not isinstance(value.get("runs"), list):
        raise TrajectoryError(source, place="runs", expected="a list", found=type(value.get("runs")).__name__)
    return [(f"runs[{index}]", item) for index, item in enumerate(value["runs"], 1)]


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


def _line(line: bytes, source: str, number: int) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise TrajectoryError(source, place=f"line {number}", expected="a run as JSON", found=str(error)) from error


def _run(value: Any, place: _Place, registry: Mapping[str, str] | None) -> Run:
    if not isinstance(value, dict):
        raise place.wrong("an object", value)
    groups = value.get("groups")
    if not isinstance(groups, list):
        raise place.at("groups").wrong("a list of groups", groups)
    run_id = value.get("id")
    if not isinstance(run_id, str) or not run_id:
        raise place.at("id").wrong("a non-empty text", run_id)
    return Run(
        run_id,
        _text_or_none(value, "salt", place),
        _text_or_none(value, "task", place),
        tuple(_group(item, place.at(f"groups[{n}]"), registry) for n, item in enumerate(groups, 1)),
    )


def _group(value: Any, place: _Place, registry: Mapping[str, str] | None) -> Group:
    if not isinstance(value, dict):
        raise place.wrong("an object", value)
    observations = value.get("observations", [])
    if not isinstance(observations, list):
        raise place.at("observations").wrong("a list", observations)
    candidates = _candidates(value.get("candidates"), place.at("candidates"), registry)
    return Group(
        _record(DECISION, value.get("decision"), place.at("decision"), registry),
        tuple(
            _record(OBSERVATION, item, place.at(f"observations[{n}]"), registry)
            for n, item in enumerate(observations, 1)
        ),
        candidates,
        _probabilities(value.get("probabilities"), candidates, place.at("probabilities")),
    )


def _record(tag: str, value: Any, place: _Place, registry: Mapping[str, str] | None) -> Record:
    if isinstance(value, str):
        return Record(tag, canonical_text(value) if tag == DECISION else value)
    if not isinstance(value, dict):
        raise place.wrong("a text or an object with tool, args, content", value)
    content = value.get("content", "")
    if not isinstance(content, str):
        raise place.at("content").wrong("a text", content)
    tool = _text_or_none(value, "tool", place)
    time, record_id = _text_or_none(value, "time", place), _text_or_none(value, "id", place)
    if tag == OBSERVATION:
        named = (registry or {}).get(tool, tool) if tool else None
        return Record(tag, content, named, None, time, record_id, _text_or_none(value, "call", place))
    if tool is None:
        if not content:
            raise place.wrong("a tool or a command as content", "neither")
        return command_record(content, time=time, id=record_id)
    try:
        return call_record(tool, value.get("args"), registry=registry, content=content, time=time, id=record_id)
    except TrajectoryError as error:
        raise place.at("args").wrong(error.expected or "", error.found or "") from None


def _candidates(value: Any, place: _Place, registry: Mapping[str, str] | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise place.wrong("a list of actions", value)
    return tuple(_candidate(item, place.at(f"[{n}]"), registry) for n, item in enumerate(value, 1))


def _candidate(value: Any, place: _Place, registry: Mapping[str, str] | None) -> str:
    if isinstance(value, str) and value.startswith('{"args":'):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return canonical_text(str(value))
    if isinstance(value, (str, dict)):
        return _record(DECISION, value, place, registry).action
    raise place.wrong("a text or an object with tool and args", value)


def _probabilities(value: Any, candidates: tuple[str, ...] | None, place: _Place) -> tuple[float, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(p, (int, float)) and not isinstance(p, bool) for p in value):
        raise place.wrong("a list of numbers", value)
    numbers = tuple(float(p) for p in value)
    if candidates is None or len(numbers) != len(candidates):
        raise place.wrong("one number for each candidate", f"{len(numbers)} for {len(candidates or ())} candidates")
    if any(not math.isfinite(p) or p < 0 for p in numbers) or abs(sum(numbers) - 1) > 1e-6:
        raise place.wrong("non-negative numbers that sum to 1 within 1e-6", f"a sum of {sum(numbers)!r}")
    return numbers


def _text_or_none(value: Mapping[str, Any], key: str, place: _Place) -> str | None:
    found = value.get(key)
    if found is None or isinstance(found, str):
        return found
    if isinstance(found, (int, float)) and not isinstance(found, bool):
        return str(found)
    raise place.at(key).wrong("a text", found)
