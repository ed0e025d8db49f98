"""Candidates of a model that names none: sample it k times; what it said is the candidate set.

The k samples are exchangeable, so a distortion-free choice among them by their frequencies has exactly the model's own
distribution, with no access to its probabilities. More samples carry more entropy, and cost more calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from trace_prov.watermark.trajectory import Record, canonical_json, canonical_text

T = TypeVar("T")
ANSWER = "answer"


def frequencies(samples: Sequence[T], action_of: Callable[[T], str]) -> tuple[list[str], list[float], dict[str, T]]:
    """Return distinct actions, their shares, and the first sample of each."""
    first: dict[str, T] = {}
    counts: Counter[str] = Counter()
    for sample in samples:
        action = canonical_text(action_of(sample))
        first.setdefault(action, sample)
        counts[action] += 1
    actions = sorted(counts)
    return actions, [counts[action] / len(samples) for action in actions], first


def calls_record(calls: Sequence[tuple[str, object]], *, content: str = "", id: str | None = None) -> Record:
    """Return the decision record of one assistant message: its tool calls, or the decision to answer.

    One call is that call; several are one action, in order.
    """
    if not calls:
        return Record("D", ANSWER, id=id)
    if len(calls) == 1:
        tool, args = calls[0]
        return Record("D", content, canonical_text(tool), canonical_json(args), id=id)
    many = canonical_json({"calls": [{"args": args, "tool": tool} for tool, args in calls]})
    return Record("D", content, "several", many, id=id)
