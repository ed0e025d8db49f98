"""The scores of an answer: W, G, D, A, U, with the reason, and what kind of error it is (CONTRACT §8)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from trace_prov.finding import Status
from trace_prov.study.answers import Answer, Given, Invalid


class Reason(StrEnum):
    """Why an answer scores as it does; exactly one holds for every answer."""

    SUPPORTED = "supported"
    JUSTIFIED_ABSTENTION = "justified abstention"
    INVALID = "invalid or missing"
    UNFOUNDED_ABSTENTION = "abstains though the package answers it"
    ANSWERED_UNANSWERABLE = "answers what the package leaves open"
    EXTRA_LOCATOR = "names a locator that is not supported"
    STRICT_SUBSET = "leaves out a part of the set"
    BASIS_NOT_MISSING = "says basis_missing though a Basis is visible"
    EMPTY_FOR_MISSING = "answers the empty set where the Basis is missing"
    YES_FOR_NO = "says yes though the request lacks the literal"
    NO_FOR_YES = "says no though the request holds the literal"


class ErrorKind(StrEnum):
    """The error audit's classes."""

    UNFOUNDED_ABSTENTION = "unfounded abstention"
    EXTRA_LOCATOR = "extra locator"
    STRICT_SUBSET = "strict subset"
    OTHER = "other"


_KINDS = {
    Reason.UNFOUNDED_ABSTENTION: ErrorKind.UNFOUNDED_ABSTENTION,
    Reason.EXTRA_LOCATOR: ErrorKind.EXTRA_LOCATOR,
    Reason.STRICT_SUBSET: ErrorKind.STRICT_SUBSET,
}
_RIGHT = frozenset({Reason.SUPPORTED, Reason.JUSTIFIED_ABSTENTION})
_UNSUPPORTED = frozenset(
    {Reason.ANSWERED_UNANSWERABLE, Reason.EXTRA_LOCATOR, Reason.BASIS_NOT_MISSING, Reason.YES_FOR_NO}
)


@dataclass(frozen=True, slots=True)
class Score:
    """What one answer is worth. `u` is None where there is no valid answer: unknown, and counted apart."""

    w: int
    g: int
    d: int
    u: int | None
    reason: Reason

    @property
    def a(self) -> int:
        return self.g - self.d

    @property
    def valid(self) -> bool:
        return self.reason is not Reason.INVALID

    @property
    def error(self) -> ErrorKind | None:
        """The class of the error, None for a right or an invalid answer."""
        if self.reason in _RIGHT or not self.valid:
            return None
        return _KINDS.get(self.reason, ErrorKind.OTHER)


def score(given: Given, supported: Answer, complete: Answer) -> Score:
    """The score of an answer against what its package supports and what the complete record answers."""
    if isinstance(given, Invalid):
        return Score(0, 0, 0, None, Reason.INVALID)
    reason = _reason(given, supported)
    right = reason in _RIGHT
    return Score(
        w=int(given == complete),
        g=int(right),
        d=int(reason is Reason.SUPPORTED),
        u=int(reason in _UNSUPPORTED),
        reason=reason,
    )


def _reason(given: Answer, supported: Answer) -> Reason:
    if given == supported:
        return Reason.JUSTIFIED_ABSTENTION if supported.status is Status.ABSTAIN else Reason.SUPPORTED
    if given.status is Status.ABSTAIN:
        return Reason.UNFOUNDED_ABSTENTION
    if supported.status is Status.ABSTAIN:
        return Reason.ANSWERED_UNANSWERABLE
    if given.status is Status.BASIS_MISSING:
        return Reason.BASIS_NOT_MISSING
    return _wrong_value(given, supported)


def _wrong_value(given: Answer, supported: Answer) -> Reason:
    """Why a definite answer is not the definite one that the package supports."""
    if given.value is not None:
        return Reason.YES_FOR_NO if given.value else Reason.NO_FOR_YES
    named = given.locators or frozenset()
    if supported.status is Status.BASIS_MISSING:
        return Reason.EXTRA_LOCATOR if named else Reason.EMPTY_FOR_MISSING
    return Reason.EXTRA_LOCATOR if named - (supported.locators or frozenset()) else Reason.STRICT_SUBSET
