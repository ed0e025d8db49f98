"""The writing statements: labels and types from the mapping's fixed lists, every value a parameter."""

from __future__ import annotations

from importlib import resources
from typing import LiteralString

from trace_prov.neo4j.mapping import BASE, LABELS, TYPES


def nodes_statement(labels: tuple[str, ...]) -> LiteralString:
    """MERGE nodes by their key; `SET n = row` replaces, so that nothing of an earlier import stays."""
    unknown = set(labels) - LABELS
    if unknown:
        raise ValueError(f"not labels of the mapping: {unknown}")
    own = "".join(f":{label}" for label in labels if label != BASE)
    return f"UNWIND $rows AS row MERGE (n:{BASE} {{uri: row.uri}}) SET n = row, n{own}"


def edges_statement(type_: str) -> LiteralString:
    """MERGE relationships by ends, type and graph; returns how many, so that a missing end shows."""
    if type_ not in TYPES:
        raise ValueError(f"not a relationship type of the mapping: {type_}")
    return (
        f"UNWIND $rows AS row MATCH (a:{BASE} {{uri: row.start}}) MATCH (b:{BASE} {{uri: row.end}}) "
        f"MERGE (a)-[e:{type_} {{graph: row.graph}}]->(b) RETURN count(e) AS written"
    )


#: what is known of the runs named: whether they are loaded, completely, from which quads, and as what
IMPORTS = (
    "MATCH (i:Import) WHERE i.run IN $runs "
    "RETURN i.run AS run, i.sha256 AS sha256, i.complete AS complete, i.view AS view"
)
SET_IMPORTS = "UNWIND $rows AS row MERGE (i:Import {run: row.run}) SET i = row"
#: deletes some nodes of a run with their relationships; to be repeated until nothing is left
DELETE_SOME = f"MATCH (n:{BASE} {{run: $run}}) WITH n LIMIT $limit DETACH DELETE n RETURN count(n) AS deleted"
MARK_INCOMPLETE = "MATCH (i:Import {run: $run}) SET i.complete = false"
DELETE_IMPORT = "MATCH (i:Import {run: $run}) DELETE i"
#: what is there, for reading back
RUNS = "MATCH (i:Import) WHERE i.complete AND (i.view IS NOT NULL) = $packages RETURN i.run AS run ORDER BY run"
ALL_RUNS = "MATCH (i:Import) RETURN i.run AS run ORDER BY run"
NODES_OF_RUN = f"MATCH (n:{BASE} {{run: $run}}) RETURN labels(n) AS labels, properties(n) AS properties"
EDGES_OF_RUN = (
    f"MATCH (a:{BASE} {{run: $run}})-[e]->(b:{BASE}) "
    "RETURN type(e) AS type, a.uri AS start, b.uri AS end, e.graph AS graph"
)


def schema() -> list[LiteralString]:
    """Return the statements of queries/cypher/setup/schema.cypher, without comments."""
    text = resources.files("trace_prov.queries").joinpath("cypher", "setup", "schema.cypher").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("//")]
    return [part.strip() for part in "\n".join(lines).split(";") if part.strip()]
