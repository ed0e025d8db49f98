"""The query path: findings from a store of run graphs by the files in `queries/sparql/` alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyoxigraph

from trace_prov.derive.asking import Found, Row, findings
from trace_prov.derive.target import Question
from trace_prov.graph import iris
from trace_prov.graph.literals import from_rdf, to_rdf
from trace_prov.graph.store import TraceStore
from trace_prov.model import Run

_STATE = re.compile(f"{re.escape(iris.TRACE)}(?:Basis|Table|Severity)?(\\w+)")


def derive_run(run: Run, question: Question | None = None) -> Iterator[Found]:
    """The findings of one run, through a graph of its own in memory."""
    yield from derive(TraceStore.in_memory([run]), [run.id], question)


def derive(store: TraceStore, runs: Iterable[str] | None = None, question: Question | None = None) -> Iterator[Found]:
    """The findings of the runs named by their IRIs, or of all runs of the store."""
    for run in store.runs() if runs is None else runs:
        yield from findings(_StoreAsker(store, run), question or Question())


@dataclass(frozen=True)
class _StoreAsker:
    """The store's queries with the run bound."""

    store: TraceStore
    run: str

    def rows(self, query: str, **parameters: str) -> list[Row]:
        bound = {name: pyoxigraph.Literal(to_rdf(text)) for name, text in parameters.items()}
        rows = self.store.ask(query, run=pyoxigraph.NamedNode(self.run), **bound)
        names = [variable.value for variable in rows.variables]
        return [{name: _text(term) for name, term in zip(names, row, strict=True) if term is not None} for row in rows]


def _text(term: object) -> str:
    """A literal's text; of an individual its word in the contract: `missing` for trace:BasisMissing."""
    if isinstance(term, pyoxigraph.NamedNode):
        state = _STATE.fullmatch(term.value)
        return term.value if state is None else state[1].lower()
    assert isinstance(term, pyoxigraph.Literal)
    return from_rdf(term.value)
