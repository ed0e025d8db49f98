"""Quads of the PROV view <-> documents of the `prov` library, each way without loss for what we write ourselves.

A graph is a bundle. A node is an entity, an activity or an agent by its class, or an influence; its further classes
are `prov:type`, its text is `prov:value`, everything else of this ontology an attribute. Direct PROV-O properties are
relations without an identifier.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyoxigraph

from trace_prov.errors import UsageError
from trace_prov.export.case.nodes import CASE, KB, UCO
from trace_prov.graph import iris

RUN_NAMESPACE = "urn:trace-prov:run:"
PREFIXES = {
    "run": RUN_NAMESPACE,
    "trace": iris.TRACE,
    "tp": "urn:trace-prov:",
    "kb": KB,
    "uco-core": f"{UCO}core/",
    "case-investigation": f"{CASE}investigation/",
}

#: Classes that say which kind of record a node is; what a node has beside them is its prov:type.
KINDS = {"Entity": "entity", "Activity": "activity", "Agent": "agent", "Influence": "influence"}
#: PROV-O properties between two nodes, and the method of a bundle that states them.
RELATIONS = {
    "used": "usage",
    "wasGeneratedBy": "generation",
    "wasInformedBy": "communication",
    "wasAssociatedWith": "association",
    "wasAttributedTo": "attribution",
    "actedOnBehalfOf": "delegation",
    "wasDerivedFrom": "derivation",
    "hadMember": "membership",
}
_TIMES = ("startedAtTime", "endedAtTime")


def prov_library() -> Any:
    """The `prov.model` module; raises UsageError that says how to get it."""
    try:
        import prov.model
    except ImportError:
        raise UsageError(
            "PROV-N, PROV-JSON, PROV-XML and PROV-JSONLD need the package prov: pip install 'trace-prov[prov]'"
        ) from None
    return prov.model


@dataclass
class _Node:
    """What one graph says of a node."""

    classes: list[str] = field(default_factory=list)
    values: list[tuple[str, Any]] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)


def to_document(quads: Iterable[pyoxigraph.Quad]) -> Any:
    """The ProvDocument of a PROV view: a bundle for each graph, in the order in which the graphs come."""
    graphs: dict[str, dict[str, _Node]] = {}
    for quad in quads:
        nodes = graphs.setdefault(getattr(quad.graph_name, "value", ""), defaultdict(_Node))
        _add(nodes[quad.subject.value], quad)  # type: ignore[union-attr]
    return _Writer(prov_library(), PREFIXES).document(graphs)


def _add(node: _Node, quad: pyoxigraph.Quad) -> None:
    predicate, term = quad.predicate.value, quad.object
    if isinstance(term, pyoxigraph.Literal):
        node.values.append((predicate, _python(term)))
    elif predicate == iris.RDF_TYPE:
        node.classes.append(term.value)  # type: ignore[union-attr]
    else:
        node.links.append((predicate, term.value))  # type: ignore[union-attr]


def _python(term: pyoxigraph.Literal) -> Any:
    kind = term.datatype.value.removeprefix(iris.XSD)
    if kind == "integer":
        return int(term.value)
    return term.value == "true" if kind == "boolean" else term.value


class _Writer:
    """Builds a document; keeps one name object an IRI, which is most of the time that `prov` takes."""

    def __init__(self, model: Any, prefixes: dict[str, str]) -> None:
        self._model = model
        self._document = model.ProvDocument()
        self._namespaces = [self._document.add_namespace(prefix, uri) for prefix, uri in prefixes.items()]
        self._prov = model.PROV
        self._names: dict[str, Any] = {}

    def document(self, graphs: dict[str, dict[str, _Node]]) -> Any:
        for name, nodes in graphs.items():
            target = self._document.bundle(self._name(name)) if name else self._document
            for iri, node in nodes.items():
                self._record(target, iri, node, nodes)
            for iri, node in nodes.items():
                self._relations(target, iri, node, nodes)
        return self._document

    def _name(self, iri: str) -> Any:
        known = self._names.get(iri)
        if known is None:
            known = self._names[iri] = self._new_name(iri)
        return known

    def _new_name(self, iri: str) -> Any:
        if iri.startswith(iris.PROV):
            return self._prov[iri.removeprefix(iris.PROV)]
        for namespace in self._namespaces:
            if iri.startswith(namespace.uri):
                return namespace[iri.removeprefix(namespace.uri)]
        raise ValueError(f"no prefix for {iri}")

    def _record(self, target: Any, iri: str, node: _Node, nodes: dict[str, _Node]) -> None:
        kind = _kind(node)
        if kind in (None, "influence"):
            return
        attributes = self._attributes(node, is_entity=kind == "entity")
        if kind == "activity":
            times = {
                name: value for predicate, value in node.values for name in _TIMES if predicate == iris.PROV + name
            }
            target.activity(self._name(iri), times.get(_TIMES[0]), times.get(_TIMES[1]), attributes)
        else:
            getattr(target, kind)(self._name(iri), attributes)

    def _attributes(self, node: _Node, *, is_entity: bool) -> list[tuple[Any, Any]]:
        base = {iris.PROV + name for name in KINDS}
        attributes = [(self._prov["type"], self._name(name)) for name in node.classes if name not in base]
        for predicate, value in node.values:
            if is_entity and predicate == f"{iris.TRACE}text":
                attributes.append((self._prov["value"], value))
            elif not predicate.startswith(iris.PROV):
                attributes.append((self._name(predicate), value))
        for predicate, other in node.links:
            if not predicate.startswith(iris.PROV):
                attributes.append((self._name(predicate), self._name(other)))
        return attributes

    def _relations(self, target: Any, iri: str, node: _Node, nodes: dict[str, _Node]) -> None:
        for predicate, other in node.links:
            if not predicate.startswith(iris.PROV):
                continue
            relation = predicate.removeprefix(iris.PROV)
            if relation == "qualifiedInfluence":
                self._influence(target, iri, other, nodes[other])
            elif relation in RELATIONS:
                self._relation(target, relation, iri, other, nodes)

    def _relation(self, target: Any, relation: str, iri: str, other: str, nodes: dict[str, _Node]) -> None:
        method = getattr(target, RELATIONS[relation])
        if relation == "used":
            role = "arguments" if _is_argument(nodes, other) else "context"
            method(self._name(iri), self._name(other), other_attributes=[(self._prov["role"], role)])
        else:
            method(self._name(iri), self._name(other))

    def _influence(self, target: Any, iri: str, influence: str, node: _Node) -> None:
        influencer = next(other for predicate, other in node.links if predicate == f"{iris.PROV}influencer")
        target.influence(
            self._name(iri), self._name(influencer), self._name(influence), self._attributes(node, is_entity=False)
        )


def _kind(node: _Node) -> str | None:
    """The kind of record; entity before the others, as a bundle or collection is one."""
    names = {name.removeprefix(iris.PROV) for name in node.classes}
    return next((kind for name, kind in KINDS.items() if name in names), None)


def _is_argument(nodes: dict[str, _Node], iri: str) -> bool:
    return iri in nodes and f"{iris.TRACE}Argument" in nodes[iri].classes


def run_quads_of(document: Any) -> Iterator[pyoxigraph.Quad]:
    """The quads of the run graphs in a document that we wrote: the inverse of `to_document` for them.

    Bundles of anything else are left out; whether a document is one of ours is told by `is_ours`.
    """
    for bundle in document.bundles:
        name = bundle.identifier.uri
        if is_run_bundle(name):
            graph = pyoxigraph.NamedNode(name)
            for record in bundle.get_records():
                for subject, predicate, term in _triples(record):
                    yield pyoxigraph.Quad(pyoxigraph.NamedNode(subject), pyoxigraph.NamedNode(predicate), term, graph)


def is_ours(document: Any) -> bool:
    """Whether a bundle of the document is a run graph as we write it."""
    return any(iris.is_run(bundle.identifier.uri) for bundle in document.bundles)


def is_run_bundle(name: str) -> bool:
    """Whether this is the name of a run graph, or of the bundle of what the agent wrote in a run."""
    return iris.is_run(name.removesuffix(":account"))


Triple = tuple[str, str, pyoxigraph.NamedNode | pyoxigraph.Literal]


def _triples(record: Any) -> Iterator[Triple]:
    kind = record.get_type().localpart
    formal = [value for _, value in record.formal_attributes]
    if kind in KINDS and kind != "Influence":
        yield record.identifier.uri, iris.RDF_TYPE, pyoxigraph.NamedNode(iris.PROV + kind)
        yield from _attribute_triples(record, record.identifier.uri)
        for name, value in zip(_TIMES, formal, strict=False):
            if value is not None:
                yield record.identifier.uri, iris.PROV + name, _literal(value)
    elif kind == "Influence":
        influence = record.identifier.uri
        yield formal[0].uri, f"{iris.PROV}qualifiedInfluence", pyoxigraph.NamedNode(influence)
        yield influence, iris.RDF_TYPE, pyoxigraph.NamedNode(f"{iris.PROV}Influence")
        yield influence, f"{iris.PROV}influencer", pyoxigraph.NamedNode(formal[1].uri)
        yield from _attribute_triples(record, influence)
    else:
        relation = {"Usage": "used", "Membership": "hadMember", "Delegation": "actedOnBehalfOf"}.get(kind)
        relation = relation or _RELATION_OF[kind]
        yield formal[0].uri, iris.PROV + relation, pyoxigraph.NamedNode(formal[1].uri)


_RELATION_OF = {
    "Generation": "wasGeneratedBy",
    "Communication": "wasInformedBy",
    "Association": "wasAssociatedWith",
    "Attribution": "wasAttributedTo",
    "Derivation": "wasDerivedFrom",
}


def _attribute_triples(record: Any, subject: str) -> Iterator[Triple]:
    for key, value in record.extra_attributes:
        if key.uri == f"{iris.PROV}type":
            yield subject, iris.RDF_TYPE, pyoxigraph.NamedNode(value.uri)
        elif key.uri == f"{iris.PROV}value":
            yield subject, f"{iris.TRACE}text", _literal(value)
        elif hasattr(value, "uri"):
            yield subject, key.uri, pyoxigraph.NamedNode(value.uri)
        else:
            yield subject, key.uri, _literal(value)


def _literal(value: Any) -> pyoxigraph.Literal:
    if isinstance(value, bool):
        return pyoxigraph.Literal(value)
    if isinstance(value, int):
        return pyoxigraph.Literal(str(value), datatype=pyoxigraph.NamedNode(f"{iris.XSD}integer"))
    if hasattr(value, "isoformat"):
        return pyoxigraph.Literal(value.isoformat(), datatype=pyoxigraph.NamedNode(f"{iris.XSD}dateTime"))
    return pyoxigraph.Literal(str(getattr(value, "value", value)))


def serialized(document: Any, format: str) -> bytes:
    """The document in one of the formats of `prov`, as UTF-8 that ends with a line end."""
    text = document.serialize(format=format)
    assert isinstance(text, str)
    return (text if text.endswith("\n") else text + "\n").encode()
