"""Literal occurrence: where a literal stands in recorded text (CONTRACT §2)."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from operator import itemgetter

from trace_prov.finding import How, Match
from trace_prov.model import Action, Record, RecordState, Result, Run
from trace_prov.text import decoding_may_show, pieces_of, unescapes_freely


@dataclass(frozen=True, slots=True)
class Needle:
    """A literal that is looked for, prepared once for many texts: its pieces in texts without and with backslashes."""

    literal: str
    plain: tuple[str, ...]
    escaped: tuple[str, ...]

    @classmethod
    def of(cls, literal: str) -> Needle:
        return cls(literal, pieces_of(literal, backslashes=False), pieces_of(literal, backslashes=True))

    def may_show(self, text: str) -> bool:
        """Whether reading the structure of a text that does not hold the literal as it is may show it."""
        if "\\" not in text:
            return decoding_may_show(self.plain, text)
        return unescapes_freely(text) or decoding_may_show(self.escaped, text)


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
    if not may_alias and not needle.may_show(text):
        return None
    return How.DECODED if any(needle.literal in string for string in record.decoded) else None


@dataclass(frozen=True, slots=True)
class Deliveries:
    """The results that the agent received, prepared for many searches.

    `plain` are those of which all is visible as one text without backslashes, in the order of delivery: what a search
    for a literal without blanks settles at once. `others` are the rest.
    """

    after_steps: tuple[int, ...]
    texts: tuple[str, ...]
    plain: tuple[Action, ...]
    others: tuple[Action, ...]

    @classmethod
    def of(cls, run: Run) -> Deliveries:
        plain: list[tuple[int, str, Action]] = []
        others = []
        for action in run.actions:
            result = action.result
            if result is None:
                continue
            text = _whole_text(result)
            if text is not None and "\\" not in text:
                plain.append((result.after_step, text, action))
            else:
                others.append(action)
        plain.sort(key=itemgetter(0))
        after_steps, texts, actions = zip(*plain, strict=True) if plain else ((), (), ())
        return cls(after_steps, texts, actions, tuple(others))

    def may_hold(self, needle: Needle, step: int) -> list[Action]:
        """The actions delivered before `step` whose records may hold the literal, or hide that they do.

        Searching texts as they are settles nearly all; a list is split, and structured text read, only for the rest.
        """
        literal, pieces = needle.literal, needle.plain
        # This loop is what deriving all actions of a long run costs.
        earlier = zip(self.texts[: bisect_left(self.after_steps, step)], self.plain, strict=False)
        if len(pieces) == 1:
            found = [action for text, action in earlier if literal in text]
        else:
            found = [action for text, action in earlier if literal in text or decoding_may_show(pieces, text)]
        found.extend(other for other in self.others if _may_hold(needle, other, step))
        return found


def _whole_text(result: Result) -> str | None:
    """The text of a result of which nothing is hidden and that is no structured list."""
    return result.content.text if result.content.state is RecordState.PRESENT and not result.elements else None


def _may_hold(needle: Needle, action: Action, step: int) -> bool:
    result = action.result
    if result is None or result.after_step >= step:
        return False
    text = _whole_text(result)
    return text is None or needle.literal in text or needle.may_show(text)


def matches_in(needle: Needle, action: Action) -> list[Match]:
    """The records of `action` in which the literal occurs.

    None in a result of unknown shape: what it visibly holds stands at an unknown locator.
    """
    if action.result is None or action.result.has_unknown_shape:
        return []
    found = ((record.locator, occurs(needle, record)) for record in action.records)
    return [Match(locator, how) for locator, how in found if how is not None]
