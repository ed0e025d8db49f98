"""Everything that moves a figure, in one value; its digest stands in every report (WATERMARK §2.1)."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trace_prov.watermark.errors import SchemeError

CONTEXT_FIELDS = ("salt", "task", "actions", "observation")
#: more random keys than this need more memory than they add certainty
MOST_NULL_KEYS = 100_000
CHOICES: dict[str, tuple[str, ...]] = {
    "tally": ("prefix", "index"),
    "natural_rule": ("one", "parity", "declared"),
    "score": ("gamma", "llr"),
    "dedupe": ("context", "pair"),
    "joint_rule": ("sidak", "bonferroni", "fisher"),
}


@dataclass(frozen=True, slots=True)
class Scheme:
    """The rules of one watermark; two reports can be compared when their digests are equal.

    `version`         names the PRF layout and enters key derivation.
    `window`          how many previous decisions are in a selection context (desync radius).
    `context_fields`  what else is in it: "salt", "task", "actions", "observation" (last natural record).
    `mask_repeats`    a repeated context within a run is sampled normally and left unmarked.
    `q`               probability that a group gets a ghost record.
    `tally`           "prefix": bits keyed by all tags so far; "index": by the group's number, found by alignment.
    `tally_salted`    the run salt enters the tally context; without it all runs share the same bits.
    `natural_rule`    how the detector knows a ghost: "one" natural record, "parity", or "declared" counts.
    `natural_counts`  (tool, count) pairs for the rule "declared"; a tool that is not named has one.
    `score`           "gamma": sum of -ln(1-u); "llr": likelihood ratio with the logged probabilities (an e-value).
    `dedupe`          a repeated "context" counts once, or a repeated (context, action) "pair" does.
    `joint_rule`      how the two channels' p-values become one.
    `alpha`           level of the joint decision.
    `null_keys`       random keys behind the permutation p of the aligned tally.
    """

    version: str = "trace-prov-wm/1"
    window: int = 1
    context_fields: tuple[str, ...] = ("salt", "task", "actions")
    mask_repeats: bool = True
    q: float = 0.5
    tally: str = "prefix"
    tally_salted: bool = True
    natural_rule: str = "one"
    natural_counts: tuple[tuple[str, int], ...] = ()
    score: str = "gamma"
    dedupe: str = "context"
    joint_rule: str = "sidak"
    alpha: float = 1e-3
    null_keys: int = 1999

    def __post_init__(self) -> None:
        """Raise `SchemeError` on a value that no detector could interpret."""
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise _wrong(name, " or ".join(allowed), getattr(self, name))
        unknown = [field for field in self.context_fields if field not in CONTEXT_FIELDS]
        if unknown:
            raise _wrong("context_fields", f"a subset of {', '.join(CONTEXT_FIELDS)}", unknown[0])
        if "actions" in self.context_fields and self.window < 1:
            raise _wrong("window", "at least 1 when actions are in the context", self.window)
        if not 0 < self.q < 1:
            raise _wrong("q", "a number between 0 and 1", self.q)
        if self.tally == "index" and self.q != 0.5:
            raise _wrong("q", "0.5 with the index-keyed tally", self.q)
        if not 0 < self.alpha < 1:
            raise _wrong("alpha", "a number between 0 and 1", self.alpha)
        if not 99 <= self.null_keys <= MOST_NULL_KEYS:
            raise _wrong("null_keys", f"a number from 99 to {MOST_NULL_KEYS}", self.null_keys)

    def to_json(self) -> dict[str, Any]:
        """Return the scheme as JSON values."""
        return dataclasses.asdict(self)

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the canonical JSON of all fields."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def salt_in_context(self) -> bool:
        """Whether the selection channel cannot be read without the run salt."""
        return "salt" in self.context_fields

    def natural_count(self, tool: str | None) -> int:
        """How many records a call of this tool returns by itself (rules "one" and "declared")."""
        if self.natural_rule == "declared":
            return dict(self.natural_counts).get(tool or "", 1)
        return 1


def scheme_from_json(value: Mapping[str, Any], source: str = "scheme") -> Scheme:
    """Return the scheme that `value` describes; missing fields take their defaults. Raises `SchemeError`."""
    names = {field.name for field in dataclasses.fields(Scheme)}
    unknown = sorted(set(value) - names)
    if unknown:
        raise SchemeError(
            source, place=unknown[0], expected="a field of Scheme", hint=f"fields: {', '.join(sorted(names))}"
        )
    parts = dict(value)
    for name, kind in KINDS.items():
        if name in parts and type(parts[name]) not in kind:
            found = f"{parts[name]!r}"
            raise SchemeError(source, place=name, expected=WORDS[kind[0]], found=found)
    if "context_fields" in parts:
        parts["context_fields"] = tuple(parts["context_fields"])
    if "natural_counts" in parts:
        parts["natural_counts"] = tuple(_count(row, source) for row in parts["natural_counts"])
    try:
        return Scheme(**parts)
    except SchemeError as error:
        raise SchemeError(source, place=error.place, expected=error.expected, found=error.found) from None


WORDS = {str: "a text", bool: "true or false", int: "a whole number", float: "a number", list: "a list"}
#: field -> the JSON types that it takes
KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("version", *CHOICES), (str,)),
    **dict.fromkeys(("mask_repeats", "tally_salted"), (bool,)),
    **dict.fromkeys(("window", "null_keys"), (int,)),
    **dict.fromkeys(("q", "alpha"), (float, int)),
    **dict.fromkeys(("context_fields", "natural_counts"), (list, tuple)),
}


def _count(row: Any, source: str) -> tuple[str, int]:
    if (
        isinstance(row, (list, tuple))
        and len(row) == 2
        and isinstance(row[0], str)
        and type(row[1]) is int
        and row[1] >= 0
    ):
        return row[0], row[1]
    raise SchemeError(source, place="natural_counts", expected='pairs such as ["search", 2]', found=f"{row!r}")


def _wrong(field: str, expected: str, found: object) -> SchemeError:
    return SchemeError("scheme", place=field, expected=expected, found=repr(found))
