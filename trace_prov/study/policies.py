"""Simulated readers: deterministic policies that imitate the kinds of error that readers make.

A policy gets the prompt that a model would get and answers with text. `NAME:RATE` makes the error in that share of
the packages, drawn from the package's own bytes; without a rate it is made wherever it can be.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from trace_prov.derive.occurrence import Needle, matches_in
from trace_prov.errors import UsageError
from trace_prov.finding import Finding, Status
from trace_prov.model import Action, BasisState, Locator, Run, TableState
from trace_prov.package.comparator import finding_of
from trace_prov.package.evidence import package_from_bytes
from trace_prov.package.labels import id_order
from trace_prov.study.answers import QUESTIONS, Answer, answers_of
from trace_prov.study.prompt import evidence_in

PREFIX = "sim/"

Answers = dict[str, Answer]
#: From the visible run, its finding and the right answers to the policy's; None where its error is not possible.
Policy = Callable[[Run, Finding, Answers], Answers | str | None]


@dataclass(frozen=True, slots=True)
class SimulatedReader:
    """A policy with the share of packages in which it errs."""

    name: str
    rate: float = 1.0

    @classmethod
    def parse(cls, text: str) -> SimulatedReader:
        """Read `sim/NAME` or `sim/NAME:RATE`."""
        name, _, rate = text.removeprefix(PREFIX).partition(":")
        try:
            reader = cls(name, float(rate) if rate else 1.0)
        except ValueError:
            reader = cls(name, -1.0)
        if name not in POLICIES or not 0 <= reader.rate <= 1:
            raise UsageError(
                f"no simulated reader {text!r}; known: {', '.join(PREFIX + known for known in POLICIES)}, "
                "each also with a rate of error such as :0.2"
            )
        return reader

    def answer(self, message: str) -> str:
        """The response to the user message of a question."""
        evidence = evidence_in(message)
        package = package_from_bytes(evidence)
        finding = finding_of(package)
        right = answers_of(finding)
        wrong = POLICIES[self.name](package.run, finding, dict(right)) if self.errs(evidence) else None
        given = right if wrong is None else wrong
        return given if isinstance(given, str) else to_response(given)

    def errs(self, evidence: bytes) -> bool:
        """Whether the draw of this package is an error; it is made only where the policy's error is possible."""
        digest = hashlib.sha256(f"{self.name}|".encode() + evidence.rstrip()).digest()
        return int.from_bytes(digest[:8], "big") / 2**64 < self.rate


def to_response(given: Mapping[str, Answer]) -> str:
    return json.dumps({question: given[question].to_json(question) for question in QUESTIONS})


def _perfect(run: Run, finding: Finding, right: Answers) -> Answers | None:
    return None


def _guess_order(run: Run, finding: Finding, right: Answers) -> Answers | None:
    """Takes the k-th id for the k-th input where no table says what it names."""
    action = _target_action(run, finding)
    if run.table.state is TableState.COMPLETE or action.account.basis.state is not BasisState.IDS:
        return None
    order = [Locator(0), *(record.locator for record in run.records_before(action))]
    cited = sorted(set(action.account.basis.ids), key=id_order)
    numbers = [id_order(local_id)[1] for local_id in cited]
    # Opaque labels have no number to go by: their rank among those cited is what is left to guess from.
    guessed = [order[n - 1] for n in numbers if 0 < n <= len(order)] or order[1 : len(cited) + 1]
    held = right["q2"].locators or frozenset()
    return right | {"q3": _set(held & {str(locator) for locator in guessed})}


def _copy_h(run: Run, finding: Finding, right: Answers) -> Answers | None:
    """Takes J for H wherever it sees an account."""
    if finding.basis.state is BasisState.WITHHELD or right["q2"].status is not Status.ANSWERED:
        return None
    return right | {"q3": right["q2"]}


def _over_abstain(run: Run, finding: Finding, right: Answers) -> Answers | None:
    """Abstains from Q3 though it could be answered."""
    return None if right["q3"].status is Status.ABSTAIN else right | {"q3": Answer(Status.ABSTAIN)}


def _extra_locator(run: Run, finding: Finding, right: Answers) -> Answers | None:
    """Adds one record that does not belong to Q3."""
    if right["q3"].locators is None:
        return None
    action = _target_action(run, finding)
    others = [str(record.locator) for record in run.records_before(action)]
    extra = next((other for other in others if other not in (right["q3"].locators or ())), f"{action.id}.result")
    return right | {"q3": _set(right["q3"].locators | {extra})}


def _drop_locator(run: Run, finding: Finding, right: Answers) -> Answers | None:
    """Leaves out the first locator of Q3."""
    if not right["q3"].locators:
        return None
    return right | {"q3": _set(right["q3"].locators - {min(right["q3"].locators)})}


def _blind_matcher(run: Run, finding: Finding, right: Answers) -> Answers | None:
    """Counts results of the same step and the action's own as earlier."""
    action = _target_action(run, finding)
    needle = Needle.of(finding.target.literal)
    found = {match.locator for other in run.actions if other.step <= action.step for match in matches_in(needle, other)}
    q2 = _set(frozenset(str(locator) for locator in found))
    return None if q2 == right["q2"] else right | {"q2": q2}


def _no_json(run: Run, finding: Finding, right: Answers) -> str:
    """Wraps its answer in prose."""
    return f"Here is my answer: {to_response(right)}"


def _set(locators: frozenset[str]) -> Answer:
    return Answer(Status.ANSWERED, locators=locators)


def _target_action(run: Run, finding: Finding) -> Action:
    action = run.action(finding.target.action)
    assert action is not None
    return action


POLICIES: dict[str, Policy] = {
    "perfect": _perfect,
    "guess-order": _guess_order,
    "copy-h": _copy_h,
    "over-abstain": _over_abstain,
    "extra-locator": _extra_locator,
    "drop-locator": _drop_locator,
    "blind-matcher": _blind_matcher,
    "no-json": _no_json,
}
