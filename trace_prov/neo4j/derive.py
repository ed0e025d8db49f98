"""The Cypher path: findings by the files in `queries/cypher/` alone, on a Neo4j server or in the embedded engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import neo4j

from trace_prov.derive.asking import Found, Row, findings
from trace_prov.derive.target import Question
from trace_prov.graph.literals import from_rdf, to_rdf
from trace_prov.model import Run
from trace_prov.neo4j.connection import Connection, Target, connected, in_words
from trace_prov.neo4j.load import graphs_of_runs, load, prepare
from trace_prov.neo4j.queryfiles import cypher_file

Derive = Callable[[Run, Question], Iterator[Found]]
#: Runs a query text with parameters and returns its rows as maps.
Ask = Callable[[str, dict[str, Any]], Sequence[Mapping[str, Any]]]


@contextmanager
def server_engine(target: Target) -> Iterator[Derive]:
    """Derive on a server; a run that is not there yet, or differs, is loaded first."""
    with connected(target) as connection:
        prepare(connection)

        def derive(run: Run, question: Question) -> Iterator[Found]:
            load(connection, graphs_of_runs([run]))
            yield from derive_loaded(connection, run.id, question)

        yield derive


@contextmanager
def embedded_engine() -> Iterator[Derive]:
    """Derive without a server, in an embedded engine that forgets everything in the end."""
    from trace_prov.neo4j.embedded import EmbeddedGraph

    with EmbeddedGraph() as graph:

        def derive(run: Run, question: Question) -> Iterator[Found]:
            for loaded in graphs_of_runs([run]):
                graph.add(loaded.rows())
            yield from findings(_CypherAsker(run.id, graph.query), question)

        yield derive


def cypher_engine(target: Target | None) -> AbstractContextManager[Derive]:
    """The engine on a server or, without one, the embedded one."""
    return embedded_engine() if target is None else server_engine(target)


def derive_loaded(connection: Connection, run: str, question: Question, *, package: bool = False) -> list[Found]:
    """Return the findings of a run, or of an evidence package, that is in the database."""

    def read(transaction: neo4j.ManagedTransaction) -> list[Found]:
        def ask(text: str, parameters: dict[str, Any]) -> Sequence[Mapping[str, Any]]:
            return [record.data() for record in transaction.run(text, parameters)]

        return list(findings(_CypherAsker(run, ask, package), question))

    with in_words(connection.target), connection.session(read=True) as session:
        return session.execute_read(read)


@dataclass(frozen=True)
class _CypherAsker:
    """The query files with the run bound; parameters that are left out are null."""

    run: str
    ask: Ask
    package: bool = False

    def rows(self, query: str, **parameters: str) -> list[Row]:
        file = cypher_file(query)
        values: dict[str, Any] = {parameter.name: None for parameter in file.parameters}
        values |= {name: to_rdf(text) for name, text in parameters.items()}
        values["run"] = self.run
        found = self.ask(file.for_packages if self.package else file.text, values)
        return [{name: _text(value) for name, value in row.items() if value is not None} for row in found]


def _text(value: Any) -> str:
    return " ".join(value) if isinstance(value, list) else from_rdf(str(value))
