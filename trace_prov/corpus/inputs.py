"""What an actor is given while it runs, under which local id (CONTRACT §4, §10: the native sidecar).

Ids count from `in-1`, the request, then one for each record as delivered; the elements of a list result get one each,
found by the same reading as a log's (CONTRACT §1), so that a sidecar always fits its log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trace_prov.model import Content, Locator, Record, RecordedInput, Result

REQUEST_CHANNEL = "user"
TOOL_CHANNEL = "tool"


@dataclass(slots=True)
class Inputs:
    """The inputs of one execution in order of issue, with the records that they name."""

    rows: list[RecordedInput] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    @property
    def request(self) -> str:
        return self.rows[0].text or ""

    def give_request(self, text: str) -> None:
        self._give(REQUEST_CHANNEL, Record(Locator(0), Content(text)))

    def give_result(self, action: int, text: str) -> list[RecordedInput]:
        """Issue ids to the records in the result of action number `action`; returns the new rows."""
        result = Result(Content(text), after_step=action, order=action)
        return [self._give(TOOL_CHANNEL, record) for record in result.records(action)]

    def _give(self, channel: str, record: Record) -> RecordedInput:
        row = RecordedInput(f"in-{len(self.rows) + 1}", channel, record.locator, record.text)
        self.rows.append(row)
        self.records.append(record)
        return row

    def sidecar(self) -> dict[str, Any]:
        """The native sidecar as CONTRACT §10 fixes it."""
        return {
            "request": self.request,
            "inputs": [
                {"id": row.local_id, "channel": row.channel, "locator": str(row.locator), "text": row.text}
                for row in self.rows
            ],
        }


def result_text(message: Mapping[str, Any]) -> str:
    """The text of an AgentDojo tool message as a loader reads it: the error where there is one, else the content."""
    error = message.get("error")
    return error if isinstance(error, str) and error else text_of(message.get("content"))


def text_of(content: Sequence[Mapping[str, Any]] | None) -> str:
    """The text blocks of an AgentDojo message, joined with a newline (CONTRACT §1: blocks are transport)."""
    return "\n".join(block["content"] or "" for block in content or () if block["type"] == "text")
