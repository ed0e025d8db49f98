"""Literal occurrence: where a literal stands in recorded text (CONTRACT §2)."""

from __future__ import annotations

from dataclasses import dataclass

from trace_prov.finding import How, Match
from trace_prov.model import Action, Record, RecordState
from trace_prov.text import decoding_may_show, pieces_of, unescapes_freely


@dataclass(frozen=True, slots=True)
class Needle:
    """A literal that is looked for, prepared once for many texts."""

    literal: str
    pieces: tuple[str, ...]

    @classmethod
    def of(cls, literal: str) -> Needle:
        return cls(literal, pieces_of(literal))


def occurs(needle: Needle, record: Record) -> How | None:
    """How the literal occurs in the record; None when it does not, or not in what is visible of it.

    Code point by code point: no trimming, case folding, normalisation or change of white space. In a cut text only
    the text as recorded counts, since a part of it proves nothing about how the whole would be read.
    """
    text = record.text
    if text is None:
        return None
    if needle.literal in text:
        return How.RAW
    if record.state is not RecordState.PRESENT:
        return None
    if not decoding_may_show(needle.pieces, text, free=unescapes_freely(text)):
        return None
    return How.DECODED if any(needle.literal in string for string in record.decoded) else None


def matches_in(needle: Needle, action: Action) -> list[Match]:
    """The records of `action` in which the literal occurs. A list is split only when it may hold the literal.

    None in a result of unknown shape: what it visibly holds stands at an unknown locator.
    """
    result = action.result
    if result is None or result.has_unknown_shape:
        return []
    text = result.content.text
    if (
        text is not None
        and not result.elements
        and needle.literal not in text
        and not decoding_may_show(needle.pieces, text, free=result.unescapes_freely)
    ):
        return []
    found = ((record.locator, occurs(needle, record)) for record in action.records)
    return [Match(locator, how) for locator, how in found if how is not None]
