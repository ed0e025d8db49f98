"""The shapes that a package must keep to, composed for its contract (shapes/contract/*.ttl).

A rule is one file; a condition is a file that imports rules. For a condition that users define, the same rules are
imported by what the package claims to show.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import pyoxigraph

from trace_prov.model import TableState
from trace_prov.package.condition import BUILT_IN
from trace_prov.package.model import Contract, Layer

RULE = "https://w3id.org/trace-prov/shapes/contract/"
_SH = "http://www.w3.org/ns/shacl#"
_IMPORTS = "http://www.w3.org/2002/07/owl#imports"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_TARGET_CLASS, _TARGET_SUBJECTS = f"{_SH}targetClass", f"{_SH}targetSubjectsOf"
_PARTS = (f"{_SH}property", f"{_SH}sparql")
_NAME = re.compile(r"[A-Za-z0-9-]+")


@dataclass(frozen=True)
class Shapes:
    """Shapes of several rules as one graph. `shapes` are the node shapes: name -> (rule, target kind, target)."""

    rules: tuple[str, ...]
    turtle: str
    shapes: Mapping[str, tuple[str, str, str]]
    #: Shape or part of one -> the rule whose file it stands in, and the node shape that it is or belongs to.
    owner: Mapping[str, str]
    shape_of: Mapping[str, str]

    def focus_counts(self, quads: Iterable[pyoxigraph.Quad]) -> dict[str, int]:
        """How many nodes each shape sees in the data, by the name of the shape."""
        members: dict[str, set[object]] = defaultdict(set)
        subjects: dict[str, set[object]] = defaultdict(set)
        for quad in quads:
            if quad.predicate.value == _TYPE and isinstance(quad.object, pyoxigraph.NamedNode):
                members[quad.object.value].add(quad.subject)
            subjects[quad.predicate.value].add(quad.subject)
        by_kind = {_TARGET_CLASS: members, _TARGET_SUBJECTS: subjects}
        return {name: len(by_kind[kind].get(target, ())) for name, (_, kind, target) in self.shapes.items()}


def shapes_for(contract: Contract) -> Shapes:
    """The shapes that a package with these claims must keep to."""
    if contract.condition in BUILT_IN:
        return shapes_of((contract.condition,))
    return shapes_of(tuple(_rules_of(contract)))


def _rules_of(contract: Contract) -> Iterator[str]:
    yield "always"
    for name in ("account", "request", "inputs"):
        yield f"{name}-withheld" if getattr(contract, name) is Layer.WITHHELD else f"{name}-shown"
    if contract.table is Layer.WITHHELD:
        yield "table-withheld"
    else:
        yield "table-partial" if contract.table is TableState.PARTIAL else "table-complete"
    yield f"labels-{contract.labels}"


@lru_cache(maxsize=64)
def shapes_of(rules: tuple[str, ...]) -> Shapes:
    """The shapes of these rules and of all that they import; blank nodes have names, so that results point at them."""
    read: dict[str, list[pyoxigraph.Quad]] = {}
    waiting = list(rules)
    while waiting:
        rule = waiting.pop()
        if rule not in read:
            read[rule] = list(_named(rule))
            waiting.extend(
                quad.object.value.removeprefix(RULE)
                for quad in read[rule]
                if quad.predicate.value == _IMPORTS and isinstance(quad.object, pyoxigraph.NamedNode)
            )
    shapes: dict[str, tuple[str, str, str]] = {}
    owner: dict[str, str] = {}
    shape_of: dict[str, str] = {}
    triples: list[pyoxigraph.Triple] = []
    for rule in sorted(read):
        for quad in read[rule]:
            subject, term = quad.subject, quad.object
            if isinstance(subject, pyoxigraph.NamedNode):
                owner[subject.value] = rule
            if quad.predicate.value == _IMPORTS:
                continue
            triples.append(quad.triple)
            if quad.predicate.value in _PARTS and isinstance(term, pyoxigraph.NamedNode):
                assert isinstance(subject, pyoxigraph.NamedNode)
                shape_of[term.value] = subject.value.removeprefix(RULE)
            if quad.predicate.value in (_TARGET_CLASS, _TARGET_SUBJECTS):
                assert isinstance(subject, pyoxigraph.NamedNode)
                assert isinstance(term, pyoxigraph.NamedNode)
                shapes[subject.value.removeprefix(RULE)] = (rule, quad.predicate.value, term.value)
    data = pyoxigraph.serialize(triples, format=pyoxigraph.RdfFormat.N_TRIPLES)
    assert data is not None
    shape_of |= {f"{RULE}{name}": name for name in shapes}
    return Shapes(tuple(sorted(read)), data.decode(), shapes, owner, shape_of)


def _named(rule: str) -> Iterator[pyoxigraph.Quad]:
    """The triples of a rule's file, its property shapes and constraints named by the rule and their order."""
    assert _NAME.fullmatch(rule), rule
    data = files("trace_prov.shapes").joinpath("contract", f"{rule}.ttl").read_bytes()
    quads = list(pyoxigraph.parse(data, format=pyoxigraph.RdfFormat.TURTLE))
    parts = [quad.object for quad in quads if quad.predicate.value in _PARTS]
    blank = [part for part in parts if isinstance(part, pyoxigraph.BlankNode)]
    # Paths and lists stay blank: a path with a name would be a predicate.
    names = {part: pyoxigraph.NamedNode(f"{RULE}{rule}/part-{k}") for k, part in enumerate(blank, start=1)}

    def named(term: object) -> object:
        return names.get(term, term) if isinstance(term, pyoxigraph.BlankNode) else term

    for quad in quads:
        yield pyoxigraph.Quad(named(quad.subject), quad.predicate, named(quad.object))  # type: ignore[arg-type]
