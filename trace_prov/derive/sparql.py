"""The query path: findings from a store of run graphs by the files in `queries/sparql/` alone (CONTRACT §3 to §6).

Nothing is decided here: the queries select targets, find records, join citations and tell what is answerable; this
module binds their parameters and puts the rows into findings. It must agree with the native path on every run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import pyoxigraph

from trace_prov.derive.needed import needed_for_cited
from trace_prov.derive.target import Question
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
from trace_prov.graph import iris
from trace_prov.graph.literals import from_rdf, to_rdf
from trace_prov.graph.store import TraceStore
from trace_prov.model import Basis, BasisState, Binding, Locator, Run

Found = Finding | NotApplicable
Row = dict[str, str]


def derive_run(run: Run, question: Question | None = None) -> Iterator[Found]:
    """The findings of one run, through a graph of its own in memory."""
    yield from derive(TraceStore.in_memory([run]), [run.id], question)


def derive(
    store: TraceStore, runs: Iterable[str] | None = None, question: Question | None = None
) -> Iterator[Found]:
    """The findings of the runs named by their IRIs, or of all runs of the store."""
    asked = question or Question()
    for run in store.runs() if runs is None else runs:
        asker = _Asker(store, run)
        for target in _targets(asker, asked):
            yield target if isinstance(target, NotApplicable) else _finding(asker, target)


@dataclass
class _Asker:
    """The store's queries with the run bound; rows as text, IRIs of this ontology by their name."""

    store: TraceStore
    run: str
    log: str = ""

    def rows(self, query: str, **parameters: str) -> list[Row]:
        bound = {name: pyoxigraph.Literal(to_rdf(text)) for name, text in parameters.items()}
        rows = self.store.ask(query, run=pyoxigraph.NamedNode(self.run), **bound)
        names = [variable.value for variable in rows.variables]
        return [
            {name: _text(term) for name, term in zip(names, row, strict=True) if term is not None} for row in rows
        ]

    def not_applicable(self, reason: str, action: str | None = None) -> NotApplicable:
        return NotApplicable(self.log, self.run, reason, action)


def _text(term: object) -> str:
    if isinstance(term, pyoxigraph.NamedNode):
        return term.value.removeprefix(iris.TRACE)
    assert isinstance(term, pyoxigraph.Literal)
    return from_rdf(term.value)


def _targets(asker: _Asker, question: Question) -> Iterator[Target | NotApplicable]:
    (case,) = asker.rows("target")
    asker.log = case["log"]
    if question.all_actions or question.action is not None:
        named = {} if question.action is None else {"action": question.action}
        rows = asker.rows("arguments", **named)
        if not rows:
            yield asker.not_applicable(
                "the run has no action" if question.all_actions else f"the run has no action {question.action}"
            )
        for action, arguments in groupby(rows, key=lambda row: row["action"]):
            yield _target(asker, question, action, list(arguments), action)
    elif "action" not in case:
        yield asker.not_applicable(case["reason"])
    elif question.argument is None and question.literal is None:
        yield Target(case["action"], case["argument"], case["literal"])
    else:
        yield _target(asker, question, case["action"], asker.rows("arguments", action=case["action"]), None)


def _target(
    asker: _Asker, question: Question, action: str, arguments: list[Row], named: str | None
) -> Target | NotApplicable:
    """What is asked of one action: a literal, the argument named, or the first by key."""
    if question.literal is not None:
        return Target(action, question.argument, question.literal)
    usable = [row for row in arguments if "literal" in row and question.argument in (None, row["argument"])]
    if usable:
        return Target(action, usable[0]["argument"], usable[0]["literal"])
    if question.argument is not None:
        return asker.not_applicable(f"{action} has no non-empty text argument {question.argument!r}", named)
    return asker.not_applicable(f"{action} has no non-empty top-level text argument", named)


@dataclass(frozen=True)
class _Supported:
    """What answerability.rq says of one question."""

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


def _finding(asker: _Asker, target: Target) -> Finding:
    asked = {"action": target.action, "literal": target.literal}
    supported = {
        row["question"]: _Supported(Status(row["status"]), _locators(row["certain"]), _locators(row["possible"]))
        for row in asker.rows("answerability", **asked)
    }
    basis_rows = asker.rows("basis", action=target.action)
    return Finding(
        log=asker.log,
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
    return Basis(BasisState(rows[0]["basisState"].removeprefix("Basis").lower()), ids, rows[0].get("basisText"))


def _cited_answer(
    supported: dict[str, _Supported], basis_rows: list[Row], target: Target, matches: tuple[Match, ...]
) -> RecordsAnswer:
    q2, q3 = supported["Q2"], supported["Q3"]
    cited = {row["localId"]: row for row in basis_rows if "position" in row}
    bindings = tuple(
        Binding(local_id, Locator.parse(row["locator"])) for local_id, row in cited.items() if "locator" in row
    )
    unbound = _standing(cited, "unbound")
    needed = needed_for_cited(
        target.action,
        _basis(basis_rows).state,
        table_complete=basis_rows[0]["tableState"] == "TableComplete",
        matched=q2.certain,
        hidden=q2.hidden,
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
