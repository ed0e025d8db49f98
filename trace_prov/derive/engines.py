"""Who can derive: a registry of functions with one signature, all of which must give the same findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from trace_prov.derive.native import derive as derive_natively
from trace_prov.derive.target import Question
from trace_prov.finding import Finding, NotApplicable
from trace_prov.model import Run

if TYPE_CHECKING:
    from trace_prov.graph.store import TraceStore

Derive = Callable[[Run, Question], Iterator[Finding | NotApplicable]]

#: `cypher` needs a server or the embedded engine, so it is opened by trace_prov.neo4j.derive.cypher_engine
ENGINES = ("native", "sparql", "cypher")


def engine_named(name: str) -> Derive:
    """The function that derives; other engines than the native one are imported only when they are asked for.

    Not for `cypher`, which is a context (see ENGINES).
    """
    if name == "native":
        return derive_natively
    assert name == "sparql"
    from trace_prov.derive.sparql import derive_run

    return derive_run


def on_store(engine: Derive, store: TraceStore | None) -> Derive:
    """The same engine for runs that were read back from a store: the SPARQL one asks the store itself."""
    if store is None:
        return engine
    from trace_prov.derive import sparql

    if engine is not sparql.derive_run:
        return engine
    return lambda run, question: sparql.derive(store, [run.id], question)
