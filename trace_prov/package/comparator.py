"""The comparator: a deterministic reader that gets the package and nothing else (CONTRACT §9).

Literal match and joins over what is visible. It knows no log: a `Package` is a value, read from its own folder only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trace_prov.derive.native import derive
from trace_prov.derive.target import Question
from trace_prov.errors import PackageError
from trace_prov.finding import (
    Finding,
    NotApplicable,
    RecordsAnswer,
    RequestAnswer,
    records_answer_to_json,
    request_answer_to_json,
)
from trace_prov.package.model import Package


@dataclass(frozen=True, slots=True)
class Answer:
    """The supported answers to a package."""

    case: str
    condition: str
    q1: RequestAnswer
    q2: RecordsAnswer
    q3: RecordsAnswer


def answer(package: Package, case: str) -> Answer:
    """What the package supports; raises PackageError where its target is none."""
    finding = finding_of(package, case)
    return Answer(case, package.contract.condition, finding.q1, finding.q2, finding.q3)


def finding_of(package: Package, case: str = "evidence") -> Finding:
    """The finding for the package's own target; errors name the case."""
    target = package.target
    if not target.literal:
        raise PackageError(case, place="target.literal", expected="a text", found="the empty one")
    (finding,) = derive(package.run, Question(action=target.action, literal=target.literal))
    if isinstance(finding, NotApplicable):
        raise PackageError(case, place="target.action", expected="an action of the record", found=finding.reason)
    return finding


def to_json(given: Answer) -> dict[str, Any]:
    """The interchange form of CONTRACT §10, with further keys for bounds, evidence and what is missing."""
    return {
        "case": given.case,
        "condition": given.condition,
        "q1": request_answer_to_json(given.q1),
        "q2": records_answer_to_json(given.q2),
        "q3": records_answer_to_json(given.q3),
    }
