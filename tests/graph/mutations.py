"""Run graphs with one thing wrong: each kind of statement left out, said twice, or said of another kind of value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyoxigraph

from trace_prov.graph import iris

N_QUADS = pyoxigraph.RdfFormat.N_QUADS
Quad = pyoxigraph.Quad
_INTEGER = pyoxigraph.NamedNode(f"{iris.XSD}integer")


@dataclass(frozen=True)
class Mutation:
    """`name` says what was done, `quads` is the graph after it."""

    name: str
    quads: tuple[Quad, ...]


def mutations(data: bytes) -> Iterator[Mutation]:
    """Every mutation of one statement of each kind: class of its node, property, and value if it is a term."""
    quads = tuple(pyoxigraph.parse(data, format=N_QUADS))
    classes: dict[str, str] = {}
    for quad in quads:
        if quad.predicate.value == iris.RDF_TYPE:
            subject, name = str(quad.subject), str(quad.object.value)
            if name.startswith(iris.TRACE):
                classes[subject] = max(classes.get(subject, ""), name.removeprefix(iris.TRACE))
    seen: set[tuple[str, str, str]] = set()
    for index, quad in enumerate(quads):
        value = str(quad.object) if _is_term(quad) else ""
        kind = (classes.get(str(quad.subject), ""), quad.predicate.value, value)
        if kind in seen:
            continue
        seen.add(kind)
        label = f"{kind[0]} {quad.predicate.value.rsplit('#', 1)[-1]} {value.rsplit('#', 1)[-1]}".strip()
        rest = quads[:index] + quads[index + 1 :]
        yield Mutation(f"{label}: left out", rest)
        for how, other in _others(quad):
            changed = Quad(quad.subject, quad.predicate, other, quad.graph_name)
            yield Mutation(f"{label}: {how}", (*rest, changed))
            yield Mutation(f"{label}: also {how}", (*quads, changed))


def _is_term(quad: Quad) -> bool:
    term = quad.object
    return isinstance(term, pyoxigraph.NamedNode) and term.value.startswith((iris.TRACE, iris.PROV))


def _others(quad: Quad) -> Iterator[tuple[str, pyoxigraph.NamedNode | pyoxigraph.Literal]]:
    """Other values: of the same kind, and of another."""
    term = quad.object
    if isinstance(term, pyoxigraph.NamedNode):
        if _is_term(quad):
            yield "another term", pyoxigraph.NamedNode(f"{iris.TRACE}Unheard")
        else:
            yield "a node that is not there", pyoxigraph.NamedNode(term.value + "x")
            yield "itself", pyoxigraph.NamedNode(quad.subject.value)  # type: ignore[union-attr]
        yield "a string", pyoxigraph.Literal("x")
    elif isinstance(term, pyoxigraph.Literal):
        if term.datatype == _INTEGER:
            yield "another number", pyoxigraph.Literal(str(int(term.value) + 7), datatype=_INTEGER)
            yield "a negative number", pyoxigraph.Literal("-1", datatype=_INTEGER)
            yield "a number as a string", pyoxigraph.Literal(term.value)
        else:
            yield "another string", pyoxigraph.Literal(term.value + "x")
            yield "a text in a language", pyoxigraph.Literal(term.value, language="en")
        yield "a number", pyoxigraph.Literal("3", datatype=_INTEGER)
