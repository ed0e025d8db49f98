"""Whether run graphs are well formed: shapes/graph.ttl, and what the agent claims kept in its own graph.

The shapes are checked by shacl-rust, a fast engine; tests/graph compares its verdicts with pySHACL's over generated
damage. Graphs are handed to it some at a time: reading the shapes costs more than one small graph, and the engine
slows down on large ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import shacl_rust  # type: ignore[import-untyped]

from trace_prov.errors import GraphError
from trace_prov.graph import iris

#: How many run graphs are handed to the engine at once; measured on real logs, 20 cost the least a run.
GRAPHS_AT_ONCE = 20

_SUBJECT_AND_GRAPH = re.compile(rb"^<([^>]*)>.* <([^>]*)> \.$", re.MULTILINE)
_CLAIM = re.compile(
    rf"^<([^>]*)> <{re.escape(iris.RDF_TYPE)}> <{re.escape(iris.TRACE)}(?:Account|Note|Basis|Citation)> ".encode(),
    re.MULTILINE,
)


def damaged(graphs: Sequence[bytes]) -> dict[int, GraphError]:
    """The graphs, by their index, that are not well formed, and why.

    Each graph is the canonical N-Quads of one run: its run graph and its account bundle.
    """
    found: dict[int, GraphError] = {}
    for start in range(0, len(graphs), GRAPHS_AT_ONCE):
        batch = graphs[start : start + GRAPHS_AT_ONCE]
        if any(_misplaced(graph) for graph in batch) or not _conform(b"".join(map(_triples, batch))):
            errors = ((start + index, error_in(graph)) for index, graph in enumerate(batch))
            found.update({index: error for index, error in errors if error is not None})
    return found


def error_in(graph: bytes) -> GraphError | None:
    """What is wrong with a graph of one run, if anything; the error names the first node and says how many more."""
    place = _misplaced(graph)
    if place is not None:
        return GraphError(
            place,
            expected="what was observed in the run graph, what the agent wrote in its account bundle",
            found="a statement in another graph",
        )
    results = list(violations(graph))
    if not results:
        return None
    node, path, message = results[0]
    more = f" (and {len(results) - 1} more)" if len(results) > 1 else ""
    return GraphError(
        node,
        place=path,
        expected="a run graph as shapes/graph.ttl has it",
        found=message + more,
        hint="was it written by another version, or changed since?",
    )


def violations(graph: bytes) -> Iterator[tuple[str, str | None, str]]:
    """(node, property, message) of each violation of a shape in a graph of one run, sorted."""
    report: dict[str, Any] = shacl_rust.validate(_triples(graph).decode(), shapes(), data_format="nt")
    for result in sorted(report["results"], key=lambda result: (result["focusNode"], result.get("resultPath", ""))):
        path = result.get("resultPath")
        messages = result.get("messages") or [result["sourceConstraintComponent"]]
        yield _name(result["focusNode"]), None if path is None else _name(path), "; ".join(messages)


def _name(term: str) -> str:
    return term.strip("<>").replace(iris.TRACE, "trace:").replace(iris.PROV, "prov:")


def _conform(triples: bytes) -> bool:
    return bool(shacl_rust.conforms(triples.decode(), shapes(), data_format="nt", experimental_index=True))


def _triples(graph: bytes) -> bytes:
    """The N-Quads without their graphs, which canonical N-Quads name at the end of each line."""
    return b"".join([line[: line.rindex(b" <")] + b" .\n" for line in graph.split(b"\n") if line])


def _misplaced(graph: bytes) -> str | None:
    """The first node that is stated in the wrong graph: claims belong in the account bundle and nothing else does."""
    stated: set[tuple[bytes, bytes]] = set(_SUBJECT_AND_GRAPH.findall(graph))
    names = {name for _, name in stated}
    run = next((name for name in names if iris.is_run(name.decode())), b"")
    bundle = run + b":account"
    if names - {run, bundle}:
        return min(names - {run, bundle}).decode()
    claims: set[bytes] = set(_CLAIM.findall(graph))
    wrong = {node for node, name in stated if (name == bundle) != (node in claims)}
    return min(wrong).decode() if wrong else None


@cache
def shapes() -> str:
    """The text of shapes/graph.ttl."""
    return (files("trace_prov.shapes") / "graph.ttl").read_text("utf-8")
