"""Triples in memory, indexed both ways: the lookups of a validation run, without a store's overhead."""

from __future__ import annotations

from collections.abc import Iterable

from rdflib import RDF, RDFS
from rdflib.term import Node

Triple = tuple[Node, Node, Node]


class Triples:
    """A set of triples; `objects` and `subjects` return lists without repetition."""

    def __init__(self, triples: Iterable[Triple] = ()) -> None:
        self.by_subject: dict[Node, dict[Node, list[Node]]] = {}
        self.by_predicate: dict[Node, dict[Node, list[Node]]] = {}
        self._above: dict[Node, frozenset[Node]] = {}
        for subject, predicate, object_ in dict.fromkeys(triples):
            self.by_subject.setdefault(subject, {}).setdefault(predicate, []).append(object_)
            self.by_predicate.setdefault(predicate, {}).setdefault(object_, []).append(subject)

    def with_more(self, triples: Iterable[Triple]) -> Triples:
        """Return these triples and more; what the new ones do not touch is shared, not copied."""
        more = Triples(triples)
        joined = Triples()
        joined.by_subject = _overlaid(self.by_subject, more.by_subject)
        joined.by_predicate = _overlaid(self.by_predicate, more.by_predicate)
        return joined

    def objects(self, subject: Node, predicate: Node) -> list[Node]:
        return self.by_subject.get(subject, {}).get(predicate, [])

    def subjects(self, predicate: Node, object_: Node) -> list[Node]:
        return self.by_predicate.get(predicate, {}).get(object_, [])

    def value(self, subject: Node, predicate: Node) -> Node | None:
        """Return one object, or None."""
        found = self.objects(subject, predicate)
        return found[0] if found else None

    def items(self, head: Node) -> list[Node]:
        """Return the members of an RDF list."""
        members = []
        seen: set[Node] = set()
        node: Node | None = head
        while node is not None and node != RDF.nil and node not in seen:
            seen.add(node)
            members.extend(self.objects(node, RDF.first))
            node = self.value(node, RDF.rest)
        return members

    def reached(self, start: Node, predicate: Node, *, back: bool = False) -> set[Node]:
        """Return `start` and all that is reached from it along the predicate (or against it)."""
        found = {start}
        waiting = [start]
        while waiting:
            node = waiting.pop()
            steps = self.subjects(predicate, node) if back else self.objects(node, predicate)
            for step in steps:
                if step not in found:
                    found.add(step)
                    waiting.append(step)
        return found

    def classes_above(self, class_: Node) -> frozenset[Node]:
        """Return the class and all its superclasses."""
        known = self._above.get(class_)
        if known is None:
            known = self._above[class_] = frozenset(self.reached(class_, RDFS.subClassOf))
        return known

    def is_instance(self, node: Node, class_: Node) -> bool:
        """Say whether the node has the class or one below it as a type (SHACL instance)."""
        return any(class_ in self.classes_above(type_) for type_ in self.objects(node, RDF.type))

    def instances(self, class_: Node) -> set[Node]:
        """Return all SHACL instances of the class."""
        below = self.reached(class_, RDFS.subClassOf, back=True)
        return {node for type_ in below for node in self.subjects(RDF.type, type_)}


def _overlaid(
    base: dict[Node, dict[Node, list[Node]]], more: dict[Node, dict[Node, list[Node]]]
) -> dict[Node, dict[Node, list[Node]]]:
    joined = dict(base)
    for key, inner in more.items():
        known = joined.get(key)
        if known is None:
            joined[key] = inner
            continue
        merged = joined[key] = dict(known)
        for second, values in inner.items():
            old = known.get(second)
            merged[second] = values if old is None else list(dict.fromkeys([*old, *values]))
    return joined
