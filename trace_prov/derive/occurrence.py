"""Literal occurrence: where a literal stands in recorded text (CONTRACT §2)."""

from __future__ import annotations

from trace_prov.finding import How, Match
from trace_prov.model import Action, Record, RecordState
from trace_prov.text import decoding_may_show


def occurs(literal: str, record: Record) -> How | None:
    """How `literal` occurs in the record; None when it does not, or not in what is visible of it.

    Code point by code point: no trimming, case folding, normalisation or change of white space. In a cut text only
    the text as recorded counts, since a part of it proves nothing about how the whole would be read.
    """
    text = record.text
    if text is None:
        return None
    if literal in text:
        return How.RAW
    if record.state is not RecordState.PRESENT or not decoding_may_show(literal, text):
        return None
    return How.DECODED if any(literal in string for string in record.decoded) else None


def matches_in(literal: str, action: Action) -> list[Match]:
    """The records of `action` in which `literal` occurs. A list is split only when it may hold the literal."""
    result = action.result
    if result is None:
        return []
    text = result.content.text
    if not result.elements and text is not None and literal not in text and not decoding_may_show(literal, text):
        return []
    found = ((record.locator, occurs(literal, record)) for record in action.records)
    return [Match(locator, how) for locator, how in found if how is not None]
