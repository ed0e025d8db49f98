"""Literal occurrence: where a literal stands in recorded text (CONTRACT §2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from trace_prov.finding import How, Match
from trace_prov.model import Action, Record, RecordState, Run
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
    # An alias in an element stands for what an earlier element holds.
    may_alias = record.element_strings is not None and "*" in text
    if not decoding_may_show(needle.pieces, text, free=may_alias or unescapes_freely(text)):
        return None
    return How.DECODED if any(needle.literal in string for string in record.decoded) else None


class Delivery(NamedTuple):
    """A result that was delivered, prepared for many searches.

    `plain` is its text where that is one visible text of which nothing is hidden; None: look at its records.
    `free` is `unescapes_freely(plain)`.
    """

    after_step: int
    plain: str | None
    free: bool
    action: Action


def deliveries(run: Run) -> list[Delivery]:
    """The results that the agent received, in the order of their actions."""
    delivered = []
    for action in run.actions:
        result = action.result
        if result is not None:
            is_plain = result.content.state is RecordState.PRESENT and not result.elements
            plain = result.content.text if is_plain else None
            delivered.append(Delivery(result.after_step, plain, plain is not None and unescapes_freely(plain), action))
    return delivered


def may_hold(needle: Needle, delivered: Iterable[Delivery], step: int) -> Iterator[Action]:
    """The actions delivered before `step` whose records may hold the literal, or hide that they do.

    Searching texts as they are settles nearly all; a list is split, and structured text read, only for the rest.
    """
    literal, pieces = needle.literal, needle.pieces
    one_piece = len(pieces) == 1  # spares a call for each text: this loop is what deriving all actions costs
    for after_step, plain, free, action in delivered:
        if after_step < step and (
            plain is None
            or literal in plain
            or free
            or (not one_piece and decoding_may_show(pieces, plain, free=False))
        ):
            yield action


def matches_in(needle: Needle, action: Action) -> list[Match]:
    """The records of `action` in which the literal occurs.

    None in a result of unknown shape: what it visibly holds stands at an unknown locator.
    """
    if action.result is None or action.result.has_unknown_shape:
        return []
    found = ((record.locator, occurs(needle, record)) for record in action.records)
    return [Match(locator, how) for locator, how in found if how is not None]
