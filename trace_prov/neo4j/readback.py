"""From the database back to RDF: the quads that were loaded."""

from __future__ import annotations

from collections.abc import Iterator

import neo4j
import pyoxigraph

from trace_prov.neo4j import statements
from trace_prov.neo4j.connection import Connection, in_words
from trace_prov.neo4j.mapping import quads_of


def runs_loaded(connection: Connection, *, packages: bool = False) -> list[str]:
    """Return the IRIs of the runs (or packages) that are completely loaded, sorted."""
    with in_words(connection.target), connection.session(read=True) as session:
        return session.execute_read(
            lambda transaction: [row["run"] for row in transaction.run(statements.RUNS, packages=packages)]
        )


def runs_known(connection: Connection) -> list[str]:
    """Return the IRIs of all runs and packages whose loading was begun, sorted."""
    with in_words(connection.target), connection.session(read=True) as session:
        return session.execute_read(lambda transaction: [row["run"] for row in transaction.run(statements.ALL_RUNS)])


def quads_of_run(connection: Connection, run: str) -> set[pyoxigraph.Quad]:
    """Return the quads of a run or package as RDF has them; the empty set when it is not there."""

    def read(transaction: neo4j.ManagedTransaction) -> set[pyoxigraph.Quad]:
        nodes = [(row["labels"], row["properties"]) for row in transaction.run(statements.NODES_OF_RUN, run=run)]
        found = transaction.run(statements.EDGES_OF_RUN, run=run)
        edges = [(row["type"], row["start"], row["end"], row["graph"]) for row in found]
        return quads_of(nodes, edges, run)

    with in_words(connection.target), connection.session(read=True) as session:
        return session.execute_read(read)


def all_quads(connection: Connection, *, packages: bool = False) -> Iterator[pyoxigraph.Quad]:
    """Yield the quads of every run that is loaded, run by run."""
    for run in runs_loaded(connection, packages=packages):
        yield from quads_of_run(connection, run)
