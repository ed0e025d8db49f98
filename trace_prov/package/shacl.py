"""SHACL engines behind one signature: data and shapes in, results out, in one order.

The fast one is shacl-rust, the reference is pySHACL; tests hold their results equal on every kind of damage
(docs/packages.md has the measurements). Both are young or slow enough to be replaced: nothing else imports them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pyoxigraph

from trace_prov.errors import UsageError
from trace_prov.package.contract import Shapes

_SH = "http://www.w3.org/ns/shacl#"


class Grade(StrEnum):
    """How binding a rule is: SHACL's Violation, Warning and Info, in the words of crate validators."""

    REQUIRED = "required"
    RECOMMENDED = "recommended"
    OPTIONAL = "optional"


_GRADES = {
    f"{_SH}Violation": Grade.REQUIRED,
    f"{_SH}Warning": Grade.RECOMMENDED,
    f"{_SH}Info": Grade.OPTIONAL,
}


@dataclass(frozen=True, order=True, slots=True)
class Result:
    """One SHACL result: IRIs and texts bare, `value` None where the result has none."""

    shape: str
    focus: str
    path: str
    value: str
    message: str
    grade: Grade


Engine = Callable[[str, Shapes], list[Result]]


def engine_named(name: str) -> Engine:
    """The engine of this name; raises UsageError when it is unknown or not installed."""
    if name not in ENGINES:
        raise UsageError(f"no SHACL engine {name!r}; known: {', '.join(ENGINES)}")
    module, engine = ENGINES[name]
    try:
        importlib.import_module(module)
    except ImportError:
        raise UsageError(
            f"the engine {name} needs the package {module.replace('_', '-')}, which is not installed"
        ) from None
    return engine


def to_ntriples(quads: Iterable[pyoxigraph.Quad]) -> str:
    """The triples of all graphs as one graph, which is what SHACL looks at."""
    data = pyoxigraph.serialize({quad.triple for quad in quads}, format=pyoxigraph.RdfFormat.N_TRIPLES)
    assert data is not None
    return data.decode()


def run_fast(data: str, shapes: Shapes) -> list[Result]:
    """The results of shacl-rust."""
    import shacl_rust  # type: ignore[import-untyped]

    report = shacl_rust.validate(data, shapes.turtle, data_format="nt", shapes_format="nt")
    return sorted(
        Result(
            shape=_bare(result["sourceShape"]),
            focus=_bare(result["focusNode"]),
            path=_bare(result.get("resultPath")),
            value=_bare(result.get("value")),
            message=_message(result),
            grade=_GRADES[_bare(result["severity"])],
        )
        for result in report["results"]
    )


def _message(result: dict[str, Any]) -> str:
    """The author's message, with the value in it as text and not as a term.

    It comes after the engine's own; a query's comes first, and after it that of its shape.
    """
    by_query = _bare(result["sourceConstraintComponent"]) == f"{_SH}SPARQLConstraintComponent"
    message: str = result["messages"][0 if by_query else -1]
    value = result.get("value")
    return message if value is None else message.replace(value, _bare(value))


def _bare(term: str | None) -> str:
    """A term as N-Triples has it: the IRI or text alone."""
    if term is None:
        return ""
    if term.startswith('"'):
        ((_, _, value),) = [
            (triple.subject, triple.predicate, triple.object)
            for triple in pyoxigraph.parse(f"<urn:s> <urn:p> {term} .", format=pyoxigraph.RdfFormat.N_TRIPLES)
        ]
        assert isinstance(value, pyoxigraph.Literal)
        return value.value
    return term.removeprefix("<").removesuffix(">")


def run_reference(data: str, shapes: Shapes) -> list[Result]:
    """The results of pySHACL."""
    import pyshacl
    import rdflib
    from rdflib.namespace import SH

    def graph_of(text: str) -> rdflib.Graph:
        # rdflib would rewrite numbers in their canonical form.
        return rdflib.Graph().parse(data=text, format="nt")

    _, report, _ = pyshacl.validate(graph_of(data), shacl_graph=graph_of(shapes.turtle))
    assert isinstance(report, rdflib.Graph)

    def value(node: Any, predicate: Any) -> str:
        term = report.value(node, predicate)
        return "" if term is None or isinstance(term, rdflib.BNode) else str(term)

    return sorted(
        Result(
            shape=value(result, SH.sourceShape),
            focus=value(result, SH.focusNode),
            path=value(result, SH.resultPath),
            value=value(result, SH.value),
            message=value(result, SH.resultMessage),
            grade=_GRADES[value(result, SH.resultSeverity)],
        )
        for result in report.objects(None, SH.result)
    )


ENGINES: dict[str, tuple[str, Engine]] = {
    "fast": ("shacl_rust", run_fast),
    "pyshacl": ("pyshacl", run_reference),
}
