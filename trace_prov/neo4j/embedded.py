"""The same query files without a server: Ladybug, an embedded Cypher engine (MIT), in this process.

Ladybug wants tables and gives a node one label, so a run is a `Run` and every other node a `Node` with all columns;
the classes stand in its property `labels`. The query files name no other label, so they run as they are.
docs/neo4j.md lists which other statements differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ladybug

from trace_prov.errors import UsageError
from trace_prov.neo4j.mapping import DERIVED, EDGES, INDIVIDUALS, LITERALS, MANY_VALUED, Properties, Rows

_RUN, _NODE = "Run", "Node"
_COLUMN_TYPES = {"string": "STRING", "integer": "INT64", "boolean": "BOOL"}
#: Ladybug would take most of the machine's memory for its buffers
BUFFER_BYTES = 512 * 2**20


class EmbeddedGraph:
    """Runs as a property graph in a file or, without a path, in memory."""

    def __init__(self, path: Path | None = None) -> None:
        self._database = ladybug.Database("" if path is None else str(path), buffer_pool_size=BUFFER_BYTES)
        self._connection = ladybug.Connection(self._database)
        for statement in _tables():
            self._execute(statement)

    def close(self) -> None:
        self._connection.close()
        self._database.close()

    def __enter__(self) -> EmbeddedGraph:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, rows: Rows) -> None:
        """Store a run; one that is there already is left as it is."""
        if self.query("MATCH (r:Run) WHERE r.uri = $run RETURN r.uri AS run", {"run": rows.run}):
            return
        self._execute("BEGIN TRANSACTION")
        for labels, nodes in rows.nodes.items():
            self._create_nodes(labels, nodes)
        for type_, edges in rows.edges.items():
            self._create_edges(type_, edges, rows.run)
        self._execute("COMMIT")

    def query(self, text: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the rows of a query as maps; raises UsageError with the engine's words if it is not accepted."""
        try:
            answer = self._execute(text, parameters)
        except RuntimeError as error:
            raise UsageError(f"Ladybug does not accept the query: {error}") from None
        names = answer.get_column_names()
        return [dict(zip(names, row, strict=True)) for row in answer.get_all()]

    def _execute(self, text: str, parameters: dict[str, Any] | None = None) -> ladybug.QueryResult:
        answer = self._connection.execute(text, parameters or {})
        assert isinstance(answer, ladybug.QueryResult)
        return answer

    def _create_nodes(self, labels: tuple[str, ...], nodes: list[Properties]) -> None:
        """Create nodes of the same labels; a column that none of them has is not named, as its type is unknown."""
        names = sorted({name for node in nodes for name in node})
        columns = ", ".join(f"`{name}`: row.`{name}`" for name in names)
        table = _RUN if "Run" in labels else _NODE
        rows = [{name: node.get(name) for name in names} for node in nodes]
        statement = f"UNWIND $rows AS row CREATE (:{table} {{{columns}, labels: $labels}})"
        self._execute(statement, {"rows": rows, "labels": list(labels)})

    def _create_edges(self, type_: str, edges: list[Properties], run: str) -> None:
        by_tables: dict[tuple[str, str], list[Properties]] = defaultdict(list)
        for edge in edges:
            ends = (_RUN if edge["start"] == run else _NODE, _RUN if edge["end"] == run else _NODE)
            by_tables[ends].append(edge)
        for (start, end), some in by_tables.items():
            self._execute(
                f"UNWIND $rows AS row MATCH (a:{start} {{uri: row.`start`}}) MATCH (b:{end} {{uri: row.`end`}}) "
                f"CREATE (a)-[:{type_} {{graph: row.graph}}]->(b)",
                {"rows": some},
            )


def _tables() -> Iterator[str]:
    """The tables, made of the same fixed lists as Neo4j's labels and types."""
    columns = {"run": "STRING", "iri": "STRING", "graph": "STRING", "labels": "STRING[]"}
    for term, (property_, kind) in LITERALS.items():
        columns[property_] = _COLUMN_TYPES[kind] + ("[]" if term in MANY_VALUED else "")
    columns |= {property_: "STRING" for property_, _ in INDIVIDUALS.values()}
    listed = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
    for table in (_RUN, _NODE):
        yield f"CREATE NODE TABLE IF NOT EXISTS {table}(uri STRING PRIMARY KEY, {listed})"
    ends: dict[str, set[tuple[str, str]]] = {type_: {(_NODE, _NODE)} for type_ in DERIVED}
    for rule in EDGES:
        pairs = ends.setdefault(rule.type, set())
        pairs.add((_RUN if rule.start == _RUN else _NODE, _RUN if rule.end == _RUN else _NODE))
        if rule.start is None:
            pairs.add((_RUN, _NODE))
    for type_, pairs in ends.items():
        joined = ", ".join(f"FROM {start} TO {end}" for start, end in sorted(pairs))
        yield f"CREATE REL TABLE IF NOT EXISTS {type_}({joined}, graph STRING)"
