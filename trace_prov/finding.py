"""Findings: the answers to the three questions, with what they rest on (CONTRACT §5, §6, §10)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from trace_prov.model import Basis, Binding, Locator


class Status(StrEnum):
    ANSWERED = "answered"
    BASIS_MISSING = "basis_missing"
    ABSTAIN = "abstain"


class How(StrEnum):
    """Where the literal was found: in the text as recorded, or only in a scalar of it after unescaping."""

    RAW = "raw"
    DECODED = "decoded"


@dataclass(frozen=True, order=True, slots=True)
class Match:
    """The target literal occurs in the record at `locator` (CONTRACT §2)."""

    locator: Locator
    how: How


@dataclass(frozen=True, slots=True)
class Bounds:
    """The certain and the possible set of an open question; every completion lies between (CONTRACT §6)."""

    certain: tuple[Locator, ...]
    possible: tuple[Locator, ...]


@dataclass(frozen=True, slots=True)
class RequestAnswer:
    """Q1. `value` is None when it abstains; `matches` are the turns in which the literal occurs."""

    status: Status
    value: bool | None
    matches: tuple[Match, ...] = ()
    needed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordsAnswer:
    """Q2 or Q3. `locators` is None unless answered, `bounds` None unless it abstains.

    `matches` say how each certain locator was found, `bindings` are the rows used (Q3), `dangling` the cited ids
    that name no record, `unbound` those that no visible row explains, `needed` the smallest additional evidence.
    """

    status: Status
    locators: tuple[Locator, ...] | None
    bounds: Bounds | None = None
    matches: tuple[Match, ...] = ()
    bindings: tuple[Binding, ...] = ()
    dangling: tuple[str, ...] = ()
    unbound: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """The literal asked about and the action that used it; `argument` is None when the analyst named a literal."""

    action: str
    argument: str | None
    literal: str


@dataclass(frozen=True, slots=True)
class Finding:
    """The three answers for one target of one run."""

    log: str
    run: str
    target: Target
    q1: RequestAnswer
    q2: RecordsAnswer
    basis: Basis
    q3: RecordsAnswer


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A run, or one action of it, without a target: it stays in the inventory with the reason (CONTRACT §3)."""

    log: str
    run: str
    reason: str
    action: str | None = None


def to_json(finding: Finding | NotApplicable) -> dict[str, Any]:
    """The interchange form of CONTRACT §10, with further keys for bounds, evidence and what is missing."""
    if isinstance(finding, NotApplicable):
        named = {} if finding.action is None else {"action": finding.action}
        return {"log": finding.log, "run": finding.run, "applicable": False, **named, "reason": finding.reason}
    return {
        "log": finding.log,
        "run": finding.run,
        "applicable": True,
        "action": finding.target.action,
        "argument": finding.target.argument,
        "target": finding.target.literal,
        "q1": request_answer_to_json(finding.q1),
        "q2": records_answer_to_json(finding.q2),
        "basis": {"state": finding.basis.state.value, "ids": list(finding.basis.ids)},
        "q3": records_answer_to_json(finding.q3),
    }


def request_answer_to_json(answer: RequestAnswer) -> dict[str, Any]:
    body: dict[str, Any] = {"status": answer.status.value, "value": answer.value}
    return body | _given(matches=_matches(answer.matches), needed=list(answer.needed))


def records_answer_to_json(answer: RecordsAnswer) -> dict[str, Any]:
    body: dict[str, Any] = {
        "status": answer.status.value,
        "locators": None if answer.locators is None else locators_to_json(answer.locators),
    }
    if answer.bounds is not None:
        body["bounds"] = {
            "certain": locators_to_json(answer.bounds.certain),
            "possible": locators_to_json(answer.bounds.possible),
        }
    return body | _given(
        matches=_matches(answer.matches),
        bindings=[{"id": row.local_id, "locator": str(row.locator)} for row in answer.bindings],
        dangling=list(answer.dangling),
        unbound=list(answer.unbound),
        needed=list(answer.needed),
    )


def locators_to_json(locators: Iterable[Locator]) -> list[str]:
    """Locators as text, sorted by action then element, the request first (CONTRACT §10)."""
    return [str(locator) for locator in sorted(set(locators))]


def _matches(matches: Iterable[Match]) -> list[dict[str, str]]:
    return [{"locator": str(match.locator), "how": match.how.value} for match in sorted(matches)]


def _given(**lists: list[Any]) -> dict[str, Any]:
    return {name: value for name, value in lists.items() if value}
