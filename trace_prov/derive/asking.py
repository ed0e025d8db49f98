"""Findings from the query files, whatever engine answers them (CONTRACT §3 to §6).

Nothing is decided here: the queries select targets, find records, join citations and tell what is answerable; this
module binds their parameters and puts the rows into findings. Every engine must agree with the native path on every
run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from trace_prov.derive.needed import needed_for_cited
from trace_prov.derive.target import NO_ACTION, Question, no_such_action, no_such_argument
from trace_prov.finding import (
    Bounds,
    Finding,
    How,
    Match,
    NotApplicable,
    RecordsAnswer,
    RequestAnswer,
    Status,
    Target,
)
from trace_prov.model import Basis, BasisState, Binding, Locator, TableState

Found = Finding | NotApplicable
#: a row of an answer: its bound columns as text; states as the contract's words, sets of locators joined by blanks
Row = dict[str, str]


class Asker(Protocol):
    """Something that answers the query files for one run."""

    @property
    def run(self) -> str:
        """The IRI of the run asked about."""

    def rows(self, query: str, **parameters: str) -> list[Row]:
        """The rows of a query file, with `run` and these parameters bound."""


def findings(asker: Asker, question: Question) -> Iterator[Found]:
    """The findings of the run that `asker` is about."""
    (case,) = asker.rows("target")
    for target in _targets(asker, case, question):
        yield target if isinstance(target, NotApplicable) else _finding(asker, case["log"], target)


def _targets(asker: Asker, case: Row, question: Question) -> Iterator[Target | NotApplicable]:
    def not_applicable(reason: str) -> NotApplicable:
        return NotApplicable(case["log"], asker.run, reason)

    if question.all_actions or question.action is not None:
        named = {} if question.action is None else {"action": question.action}
        rows = asker.rows("arguments", **named)
        if not rows:
            known = [*dict.fromkeys(row["action"] for row in asker.rows("arguments"))]
            yield not_applicable(NO_ACTION if question.action is None else no_such_action(question.action, known))
        for _, arguments in groupby(rows, key=lambda row: row["action"]):
            yield _target(case["log"], asker.run, question, list(arguments), named=True)
    elif "action" not in case:
        yield not_applicable(case["reason"])
    elif question.argument is None and question.literal is None:
        yield Target(case["action"], case["argument"], case["literal"])
    else:
        rows = asker.rows("arguments", action=case["action"])
        yield _target(case["log"], asker.run, question, rows, named=False)


def _target(log: str, run: str, question: Question, arguments: list[Row], *, named: bool) -> Target | NotApplicable:
    """What is asked of one action: a literal, the argument named, or the first by key."""
    action = arguments[0]["action"]
    if question.literal is not None:
        return Target(action, question.argument, question.literal)
    usable = [row for row in arguments if "literal" in row and question.argument in (None, row["argument"])]
    if usable:
        return Target(action, usable[0]["argument"], usable[0]["literal"])
    known = [row["argument"] for row in arguments if "literal" in row]
    return NotApplicable(log, run, no_such_argument(action, question.argument, known), action if named else None)


@dataclass(frozen=True)
class _Supported:
    """What the query `answerability` says of one question."""

    status: Status
    certain: tuple[Locator, ...]
    possible: tuple[Locator, ...]

    @property
    def hidden(self) -> tuple[Locator, ...]:
        return tuple(locator for locator in self.possible if locator not in self.certain)

    @property
    def bounds(self) -> Bounds | None:
        return Bounds(self.certain, self.possible) if self.status is Status.ABSTAIN else None

    @property
    def locators(self) -> tuple[Locator, ...] | None:
        return self.certain if self.status is Status.ANSWERED else None


def _finding(asker: Asker, log: str, target: Target) -> Finding:
    asked = {"action": target.action, "literal": target.literal}
    supported = {
        row["question"]: _Supported(Status(row["status"]), _locators(row["certain"]), _locators(row["possible"]))
        for row in asker.rows("answerability", **asked)
    }
    basis_rows = asker.rows("basis", action=target.action)
    return Finding(
        log=log,
        run=asker.run,
        target=target,
        q1=_request_answer(supported["Q1"], _matches(asker.rows("q1", **asked))),
        q2=_records_answer(supported["Q2"], _matches(asker.rows("h", **asked))),
        basis=_basis(basis_rows),
        q3=_cited_answer(supported, basis_rows, target, _matches(asker.rows("j", **asked))),
    )


def _locators(text: str) -> tuple[Locator, ...]:
    return tuple(sorted(Locator.parse(locator) for locator in text.split()))


def _matches(rows: list[Row]) -> tuple[Match, ...]:
    return tuple(sorted({Match(Locator.parse(row["locator"]), How(row["how"])) for row in rows}))


def _request_answer(supported: _Supported, matches: tuple[Match, ...]) -> RequestAnswer:
    if supported.status is Status.ABSTAIN:
        return RequestAnswer(Status.ABSTAIN, None, needed=tuple(map(str, supported.hidden)))
    return RequestAnswer(Status.ANSWERED, bool(supported.certain), matches)


def _records_answer(supported: _Supported, matches: tuple[Match, ...]) -> RecordsAnswer:
    needed = tuple(map(str, supported.hidden)) if supported.status is Status.ABSTAIN else ()
    return RecordsAnswer(supported.status, supported.locators, supported.bounds, matches, needed=needed)


def _basis(rows: list[Row]) -> Basis:
    ids = tuple(row["localId"] for row in rows if "position" in row)
    return Basis(BasisState(rows[0]["basisState"]), ids, rows[0].get("basisText"))


def _cited_answer(
    supported: dict[str, _Supported], basis_rows: list[Row], target: Target, matches: tuple[Match, ...]
) -> RecordsAnswer:
    q2, q3 = supported["Q2"], supported["Q3"]
    cited = {row["localId"]: row for row in basis_rows if "position" in row}
    bindings = tuple(
        Binding(local_id, Locator.parse(row["locator"])) for local_id, row in cited.items() if "locator" in row
    )
    unbound = _standing(cited, "unbound")
    basis = _basis(basis_rows)
    # A withheld Basis over a complete table can cite no more than Q3 has as possible.
    within = q3.possible if basis.state is BasisState.WITHHELD else q2.possible
    needed = needed_for_cited(
        target.action,
        basis.state,
        table_complete=basis_rows[0]["tableState"] == TableState.COMPLETE,
        matched=[locator for locator in q2.certain if locator in within],
        hidden=[locator for locator in within if locator not in q2.certain],
        bound=[row.locator for row in bindings],
        unbound=unbound,
    )
    return RecordsAnswer(
        q3.status,
        q3.locators,
        q3.bounds,
        matches,
        bindings=bindings,
        dangling=_standing(cited, "dangling"),
        unbound=unbound,
        needed=needed if q3.status is Status.ABSTAIN else (),
    )


def _standing(cited: dict[str, Row], standing: str) -> tuple[str, ...]:
    return tuple(local_id for local_id, row in cited.items() if row["standing"] == standing)
