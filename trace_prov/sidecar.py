"""The native sidecar of a run, `NAME.native.json`: what the agent was given, under which id (CONTRACT §10).

It is a complete binding table. Its texts are never the record: where they differ from it, a diagnostic says so; where
its ids and locators cannot be those of this run, it contradicts the log and is refused.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trace_prov.account import is_local_id
from trace_prov.errors import SidecarError
from trace_prov.model import (
    Binding,
    BindingTable,
    Diagnostic,
    Locator,
    Record,
    RecordedInput,
    RecordState,
    Run,
    Severity,
    TableState,
)
from trace_prov.source import LogFile


@dataclass(frozen=True, slots=True)
class Sidecar:
    """A sidecar as read: the request as given to the agent and its inputs in order of issue."""

    file: LogFile
    request: str | None
    inputs: tuple[RecordedInput, ...]

    @property
    def table(self) -> BindingTable:
        return BindingTable(TableState.COMPLETE, tuple(Binding(row.local_id, row.locator) for row in self.inputs))


def read_sidecar(file: LogFile) -> Sidecar:
    """Read a sidecar; raises SidecarError with the row that is no input, names no locator or repeats an id."""
    document = file.document.value
    if not isinstance(document, dict) or not isinstance(document.get("inputs"), list):
        raise SidecarError(file.name, expected='an object with "request" and a list "inputs"', found=_kind(document))
    request = document.get("request")
    if request is not None and not isinstance(request, str):
        raise SidecarError(file.name, place="request", expected="a text", found=_kind(request))
    inputs = tuple(_read_input(file.name, k, row) for k, row in enumerate(document["inputs"], start=1))
    _refuse_repeated_ids(file.name, inputs)
    return Sidecar(file, request, inputs)


def _read_input(source: str, number: int, row: Any) -> RecordedInput:
    place = f"input {number}"
    if not isinstance(row, dict):
        raise SidecarError(source, place=place, expected="an object with id, channel, locator, text", found=_kind(row))
    local_id, locator, text = row.get("id"), row.get("locator"), row.get("text")
    if not isinstance(local_id, str) or not is_local_id(local_id):
        raise SidecarError(source, place=place, expected="an id such as in-3", found=repr(local_id))
    try:
        parsed = Locator.parse(locator if isinstance(locator, str) else repr(locator))
    except ValueError:
        raise SidecarError(
            source,
            place=place,
            expected="a locator such as act-02.result[1]",
            found=repr(locator),
            hint="elements count from 1, in square brackets",
        ) from None
    if text is not None and not isinstance(text, str):
        raise SidecarError(source, place=place, expected="a text", found=_kind(text))
    return RecordedInput(local_id, str(row.get("channel", "")), parsed, text)


def _refuse_repeated_ids(source: str, inputs: tuple[RecordedInput, ...]) -> None:
    seen: dict[str, int] = {}
    for number, row in enumerate(inputs, start=1):
        if row.local_id in seen:
            raise SidecarError(
                source,
                place=f"input {number}",
                expected="each id once",
                found=f"{row.local_id}, which input {seen[row.local_id]} has already",
            )
        seen[row.local_id] = number


def compare(sidecar: Sidecar, run: Run) -> Iterator[Diagnostic]:
    """What in the sidecar differs from the log. Raises SidecarError where it cannot belong to this run."""
    records = _records(run)
    requests = {record.text for locator, record in records.items() if locator.is_request}
    if sidecar.request is not None and requests and not requests & {sidecar.request, None}:
        raise SidecarError(
            sidecar.file.name,
            place="request",
            expected="the request of the log beside it",
            found="another request",
            hint="the sidecar seems to belong to another run",
        )
    lists = {locator.whole for locator in records if locator.element}
    unreadable = {record.locator for record in records.values() if record.state is RecordState.UNREADABLE}
    for number, row in enumerate(sidecar.inputs, start=1):
        record = records.get(row.locator)
        if record is None and row.locator in lists:
            continue  # a binding to a whole list addresses all of its elements
        if record is None and not row.locator.is_request and row.locator.whole in unreadable:
            continue  # it may have been a list
        if record is None:
            raise SidecarError(
                sidecar.file.name,
                place=f"input {number}",
                expected=f"the locator of a record in {run.source.name}",
                found=f"{row.locator}, which the log does not have",
            )
        severity = None if row.text is None or record.text is None else text_difference(row.text, record.text)
        if severity is not None:
            yield Diagnostic(
                "sidecar-text-differs",
                severity,
                f"{sidecar.file.name}, input {number}",
                f"the text given under {row.local_id} differs from the record {row.locator}; the record counts",
            )


def _records(run: Run) -> dict[Locator, Record]:
    records = {record.locator: record for action in run.actions for record in action.records}
    for turn in run.turns:
        record = run.turn_record(turn)
        records[record.locator] = record
    if len(run.turns) > 1:
        records[Locator(0)] = run.turn_record(run.turns[0])
    return records


def text_difference(given: str, recorded: str) -> Severity | None:
    """How much a text given beside the log says otherwise than the record; None for no more than dash and indentation.

    A note where only blanks differ.
    """
    if given == recorded or _dedented(given) == _dedented(_undashed(recorded)):
        return None
    return Severity.WARNING if given.split() != _undashed(recorded).split() else Severity.NOTE


def _undashed(text: str) -> str:
    return "  " + text[2:] if text.startswith("- ") else text


def _dedented(text: str) -> str:
    return textwrap.dedent(text).strip()


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
