"""What a reader answered: its response read as the interchange form of CONTRACT §10, question by question.

A response is taken as given: it must be one JSON object and nothing else, in which no name occurs twice, for then it
says two things. A question whose part is missing or has another form is invalid by itself; the others still count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from trace_prov.finding import Finding, RecordsAnswer, RequestAnswer, Status
from trace_prov.model import Locator
from trace_prov.study.lines import RepeatedNameError, strict_json

QUESTIONS = ("q1", "q2", "q3")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to one question, free of order and repetition.

    `value` is set for an answered Q1, `locators` for an answered Q2 or Q3. A text that is no locator is kept as it is:
    it asserts something, and nothing supports it.
    """

    status: Status
    value: bool | None = None
    locators: frozenset[str] | None = None

    def to_json(self, question: str) -> dict[str, Any]:
        """The interchange form; locators sorted by action then element (CONTRACT §10)."""
        if question == "q1":
            return {"status": self.status.value, "value": self.value}
        ordered = None if self.locators is None else sorted(self.locators, key=_locator_order)
        return {"status": self.status.value, "locators": ordered}


@dataclass(frozen=True, slots=True)
class Invalid:
    """No answer to a question, and why."""

    reason: str


Given = Answer | Invalid
Answers = Mapping[str, Given]


def _locator_order(text: str) -> tuple[int, Locator, str]:
    try:
        return 0, Locator.parse(text), text
    except ValueError:
        return 1, Locator(0), text


def answer_of(given: RequestAnswer | RecordsAnswer) -> Answer:
    """The answer in a finding, without its evidence."""
    if isinstance(given, RequestAnswer):
        return Answer(given.status, value=given.value)
    locators = None if given.locators is None else frozenset(str(locator) for locator in given.locators)
    return Answer(given.status, locators=locators)


def answers_of(finding: Finding) -> dict[str, Answer]:
    return {"q1": answer_of(finding.q1), "q2": answer_of(finding.q2), "q3": answer_of(finding.q3)}


def read_response(text: str | None) -> dict[str, Given]:
    """The answers in a response; each question is Invalid where there is none."""
    if text is None:
        return _all_invalid("no response")
    try:
        document = strict_json(text)
    except RepeatedNameError as error:
        return _all_invalid(str(error))
    except ValueError:
        return _all_invalid("the response is no JSON")
    if not isinstance(document, dict):
        return _all_invalid("the response is no JSON object")
    return {question: read_answer(question, document.get(question)) for question in QUESTIONS}


def read_answer(question: str, body: Any) -> Given:
    """One question's part of a response, or of a file of answers."""
    if not isinstance(body, dict):
        return Invalid("the question has no answer object" if body is None else "the answer is no object")
    status = body.get("status")
    if status not in _STATUSES[question]:
        return Invalid("the status is none of the question's")
    name, read = _PAYLOADS[question]
    payload = body.get(name)
    if status != Status.ANSWERED:
        # An empty list with an abstention asserts nothing; a value or a locator contradicts it.
        return Answer(Status(status)) if payload in (None, []) else Invalid(f"{status} with a {name[:-1]}")
    answer = read(payload)
    return Invalid(f"answered without {name}") if answer is None else answer


def _read_value(payload: Any) -> Answer | None:
    return Answer(Status.ANSWERED, value=payload) if isinstance(payload, bool) else None


def _read_locators(payload: Any) -> Answer | None:
    if not isinstance(payload, list) or not all(isinstance(item, str) for item in payload):
        return None
    return Answer(Status.ANSWERED, locators=frozenset(payload))


def _all_invalid(reason: str) -> dict[str, Given]:
    return dict.fromkeys(QUESTIONS, Invalid(reason))


_STATUSES: Mapping[str, tuple[str, ...]] = {
    "q1": (Status.ANSWERED, Status.ABSTAIN),
    "q2": (Status.ANSWERED, Status.ABSTAIN),
    "q3": (Status.ANSWERED, Status.BASIS_MISSING, Status.ABSTAIN),
}
_PAYLOADS: Mapping[str, tuple[str, Callable[[Any], Answer | None]]] = {
    "q1": ("value", _read_value),
    "q2": ("locators", _read_locators),
    "q3": ("locators", _read_locators),
}
