"""A graph by node: what is said of each, with the property names shortened to the prefixes of the CASE community."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import pyoxigraph

from trace_prov.errors import GraphError
from trace_prov.graph import iris
from trace_prov.graph.literals import from_rdf

UCO = "https://ontology.unifiedcyberontology.org/uco/"
CASE = "https://ontology.caseontology.org/case/"
_PARTS = ("action", "analysis", "core", "identity", "observable", "tool", "types")
_SHORT = {
    iris.TRACE: "trace:",
    iris.PROV: "prov:",
    f"{CASE}investigation/": "investigation:",
    **{f"{UCO}{part}/": f"{part}:" for part in _PARTS},
}


def short(iri: str) -> str:
    """`action:object` for `https://…/uco/action/object`; an IRI of another namespace as it is."""
    cut = max(iri.rfind("/"), iri.rfind("#")) + 1
    prefix = _SHORT.get(iri[:cut])
    return iri if prefix is None else prefix + iri[cut:]


@dataclass
class Index:
    """Links and literals of each node by short property name, and the nodes of each class, in order of appearance."""

    links: dict[str, dict[str, list[str]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    literals: dict[str, dict[str, list[pyoxigraph.Literal]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    classes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, quads: Iterable[pyoxigraph.Quad | pyoxigraph.Triple]) -> Index:
        index = cls()
        for quad in quads:
            index._add(quad)
        return index

    def _add(self, quad: pyoxigraph.Quad | pyoxigraph.Triple) -> None:
        subject, predicate, term = quad.subject, quad.predicate.value, quad.object
        if isinstance(subject, pyoxigraph.Triple) or isinstance(term, pyoxigraph.Triple):
            return
        if isinstance(term, pyoxigraph.Literal):
            self.literals[subject.value][short(predicate)].append(term)
        elif predicate == iris.RDF_TYPE:
            self.classes[short(term.value)].append(subject.value)
        else:
            self.links[subject.value][short(predicate)].append(term.value)

    def all(self, node: str, name: str) -> list[str]:
        """The nodes that a property leads to."""
        return self.links[node][name] if node in self.links and name in self.links[node] else []

    def texts(self, node: str, name: str) -> list[str]:
        """The values of a property as texts, as they were before they were written to RDF."""
        if node not in self.literals or name not in self.literals[node]:
            return []
        return [from_rdf(literal.value) for literal in self.literals[node][name]]

    def text(self, node: str, name: str) -> str | None:
        """The one value, or None; raises GraphError when there are several."""
        values = self.texts(node, name)
        if len(values) > 1:
            raise GraphError(node, place=name, expected="one value", found=str(len(values)))
        return values[0] if values else None

    def number(self, node: str, name: str) -> int | None:
        value = self.text(node, name)
        try:
            return None if value is None else int(value)
        except ValueError:
            raise GraphError(node, place=name, expected="a whole number", found=repr(value)) from None

    def link(self, node: str, name: str) -> str | None:
        found = self.all(node, name)
        if len(found) > 1:
            raise GraphError(node, place=name, expected="one value", found=str(len(found)))
        return found[0] if found else None

    def of_class(self, name: str) -> list[str]:
        return self.classes.get(name, [])

    def members(self, name: str) -> frozenset[str]:
        return frozenset(self.of_class(name))

    def by_position(self, nodes: Iterable[str]) -> list[str]:
        """Nodes in the order of their `trace:position`."""
        return sorted(nodes, key=lambda node: (self.number(node, "trace:position") or 0, node))
