"""Runs as a property graph for networkx: the nodes and relationships of docs/neo4j.md, and the findings as edges."""

from __future__ import annotations

import json
import re
from typing import Any

from trace_prov.errors import UsageError
from trace_prov.export.errors import ExportError
from trace_prov.export.material import Material
from trace_prov.finding import Finding
from trace_prov.graph import iris
from trace_prov.graph.literals import to_rdf
from trace_prov.graph.write import run_to_quads
from trace_prov.neo4j.mapping import rows_of

#: The characters that XML 1.0 (2.2, Char) has no way to write, be it as a reference.
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
CONTAINS = "CONTAINS_LITERAL"
# GEXF takes the attributes `id` and `type` for its own.
_NAMES = {"id": "actionId"}


def networkx_library() -> Any:
    """The `networkx` module; raises UsageError that says how to get it."""
    try:
        import networkx
    except ImportError:
        raise UsageError("GraphML and GEXF need the package networkx: pip install 'trace-prov[networkx]'") from None
    return networkx


def property_graph(material: Material, format_name: str) -> Any:
    """The graph (networkx.MultiDiGraph); nodes are named by their IRI and have `labels`, edges have a `kind`.

    Raises ExportError for a text that XML cannot hold, as both formats are XML. Lists (`decoded`) are JSON.
    """
    graph = networkx_library().MultiDiGraph()
    for run in material.runs:
        rows = rows_of(run_to_quads(run))
        for labels, nodes in rows.nodes.items():
            for properties in nodes:
                values = {_NAMES.get(key, key): _value(value) for key, value in properties.items() if key != "uri"}
                _check(values, properties["uri"], format_name)
                graph.add_node(properties["uri"], labels=" ".join(labels), label=_caption(labels, properties), **values)
        for kind, edges in rows.edges.items():
            for edge in edges:
                graph.add_edge(edge["start"], edge["end"], key=_key(kind, edge), kind=kind, graph=edge["graph"])
        for finding in material.findings.get(run.id, ()):
            if isinstance(finding, Finding):
                _add_finding(graph, run.id, finding, format_name)
    return graph


def _key(kind: str, edge: dict[str, Any]) -> str:
    return f"{kind} {edge['start']} {edge['end']}"


def _add_finding(graph: Any, run: str, finding: Finding, format_name: str) -> None:
    """H as edges from the action to the records that hold the literal; `cited` are those in J."""
    action = f"{run}:{finding.target.action}"
    cited = {match.locator for match in finding.q3.matches}
    for match in sorted({*finding.q1.matches, *finding.q2.matches}):
        record = iris.record(run, match.locator)
        values = {
            "kind": CONTAINS,
            "graph": "finding",
            "argument": finding.target.argument or "",
            "literal": to_rdf(finding.target.literal),
            "how": match.how.value,
            "cited": match.locator in cited,
        }
        _check(values, action, format_name)
        key = f"{CONTAINS} {action} {record} {json.dumps([finding.target.argument, finding.target.literal])}"
        graph.add_edge(action, record, key=key, **values)


def _caption(labels: tuple[str, ...], properties: dict[str, Any]) -> str:
    """What a drawing shows on the node."""
    for key in ("locator", "id", "localId", "name", "code"):
        if isinstance(properties.get(key), str) and properties[key]:
            return str(properties[key])
    return labels[-1]


def _value(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def _check(values: dict[str, Any], node: str, format_name: str) -> None:
    for key, value in values.items():
        found = NOT_XML.search(value) if isinstance(value, str) else None
        if found is not None:
            raise ExportError(
                format_name,
                place=f"{key} of {node}",
                expected="characters that XML 1.0 can hold",
                found=f"U+{ord(found[0]):04X}",
                hint="--to prov-n, prov-json, prov-jsonld, trig and nquads carry it",
            )
