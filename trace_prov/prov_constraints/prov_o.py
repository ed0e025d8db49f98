"""PROV-O (RDF) -> instances, directly: each graph of a dataset is one instance.

Both forms are read, the direct property (`prov:used`) and the qualified one (`prov:qualifiedUsage`); where a
file has both, the direct one is a second statement that says less, which changes no verdict (it unifies or
stands beside). Blank nodes are existential variables, as in RDF, so that an unnamed event can turn out to be a
named one. A property with several values in one place gives several statements with one identifier, for
Constraint 23 to judge.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import rdflib
from rdflib import PROV, RDF
from rdflib.term import Node

from trace_prov.errors import FormatError
from trace_prov.prov_constraints.statements import Instance, Statement, stated
from trace_prov.prov_constraints.terms import PLACEHOLDER, Name, Term, Variable
from trace_prov.rdf_reading import quietly, refuse_remote_contexts

ENTITY_CLASSES = frozenset({PROV.Entity, PROV.Bundle, PROV.Collection, PROV.EmptyCollection, PROV.Plan})
AGENT_CLASSES = frozenset({PROV.Agent, PROV.Person, PROV.Organization, PROV.SoftwareAgent})

Direct = tuple[str, int, int, frozenset[str]]
#: Direct property -> relation, index of the subject's place, index of the object's place, added prov:type.
DIRECT: dict[Node, Direct] = {
    PROV[name]: (relation, subject, object_, frozenset({str(PROV[type_])} if type_ else ()))
    for name, relation, subject, object_, type_ in (
        ("used", "used", 0, 1, ""),
        ("wasGeneratedBy", "wasGeneratedBy", 0, 1, ""),
        ("generated", "wasGeneratedBy", 1, 0, ""),
        ("generatedAtTime", "wasGeneratedBy", 0, 2, ""),
        ("wasInformedBy", "wasInformedBy", 0, 1, ""),
        ("wasStartedBy", "wasStartedBy", 0, 1, ""),
        ("wasEndedBy", "wasEndedBy", 0, 1, ""),
        ("wasInvalidatedBy", "wasInvalidatedBy", 0, 1, ""),
        ("invalidated", "wasInvalidatedBy", 1, 0, ""),
        ("invalidatedAtTime", "wasInvalidatedBy", 0, 2, ""),
        ("wasDerivedFrom", "wasDerivedFrom", 0, 1, ""),
        ("wasRevisionOf", "wasDerivedFrom", 0, 1, "Revision"),
        ("wasQuotedFrom", "wasDerivedFrom", 0, 1, "Quotation"),
        ("hadPrimarySource", "wasDerivedFrom", 0, 1, "PrimarySource"),
        ("wasAttributedTo", "wasAttributedTo", 0, 1, ""),
        ("wasAssociatedWith", "wasAssociatedWith", 0, 1, ""),
        ("actedOnBehalfOf", "actedOnBehalfOf", 0, 1, ""),
        ("wasInfluencedBy", "wasInfluencedBy", 0, 1, ""),
        ("influenced", "wasInfluencedBy", 1, 0, ""),
        ("alternateOf", "alternateOf", 0, 1, ""),
        ("specializationOf", "specializationOf", 0, 1, ""),
        ("mentionOf", "specializationOf", 0, 1, ""),
        ("hadMember", "hadMember", 0, 1, ""),
    )
}
Qualified = tuple[str, tuple[tuple[str, ...], ...]]
#: Qualifying property -> relation, then for each place after the first the properties that may fill it.
QUALIFIED: dict[Node, Qualified] = {
    PROV[f"qualified{name}"]: (relation, places)
    for name, relation, places in (
        ("Usage", "used", (("entity",), ("atTime",))),
        ("Generation", "wasGeneratedBy", (("activity",), ("atTime",))),
        ("Invalidation", "wasInvalidatedBy", (("activity",), ("atTime",))),
        ("Communication", "wasInformedBy", (("activity",),)),
        ("Start", "wasStartedBy", (("entity",), ("hadActivity",), ("atTime",))),
        ("End", "wasEndedBy", (("entity",), ("hadActivity",), ("atTime",))),
        *(
            (kind, "wasDerivedFrom", (("entity",), ("hadActivity",), ("hadGeneration",), ("hadUsage",)))
            for kind in ("Derivation", "Revision", "Quotation", "PrimarySource")
        ),
        ("Attribution", "wasAttributedTo", (("agent",),)),
        ("Association", "wasAssociatedWith", (("agent",), ("hadPlan",))),
        ("Delegation", "actedOnBehalfOf", (("agent",), ("hadActivity",))),
        ("Influence", "wasInfluencedBy", (("influencer", "entity", "activity", "agent"),)),
    )
}


def parse_dataset(path: Path, text: str, format: str) -> rdflib.Dataset:
    """Parse RDF; raises FormatError with the parser's place, also for a JSON-LD context outside the file."""
    if format == "json-ld":
        refuse_remote_contexts(str(path), json.loads(text))
    dataset = rdflib.Dataset()
    try:
        with quietly():
            dataset.parse(data=text, format=format, publicID=path.absolute().as_uri())
    except Exception as error:  # rdflib's parsers raise what their libraries raise
        lines = getattr(error, "lines", None)
        place = f"line {lines + 1}" if isinstance(lines, int) else None
        found = " ".join(str(error).split())[:300] or type(error).__name__
        raise FormatError(str(path), place=place, expected=f"RDF in {format}", found=found) from error
    return dataset


def instances_of_dataset(dataset: rdflib.Dataset) -> Iterator[Instance]:
    """Yield the default graph as the document's top level, then each named graph as a bundle."""
    reader = _Reader(dataset)
    default = dataset.default_graph
    yield Instance(None, tuple(reader.statements(default)))
    for graph in sorted(dataset.graphs(), key=lambda graph: str(graph.identifier)):
        if graph.identifier != default.identifier and len(graph):
            yield Instance(reader.bundle_name(graph.identifier), tuple(reader.statements(graph)))


@dataclass
class _Reader:
    dataset: rdflib.Dataset

    def __post_init__(self) -> None:
        self._variables: dict[Node, Variable] = {}

    def bundle_name(self, node: Node) -> Name:
        return Name(str(node), self._written(node))

    def statements(self, graph: rdflib.Graph) -> Iterator[Statement]:
        for subject in sorted(set(graph.subjects()), key=str):
            yield from self._objects(graph, subject)
        for property_, direct in DIRECT.items():
            yield from self._direct(graph, property_, direct)
        for property_, qualified in QUALIFIED.items():
            pairs = sorted(graph.subject_objects(property_), key=str)
            yield from self._qualified(graph, property_, qualified, pairs)
        yield from self._ownerless(graph)

    def _ownerless(self, graph: rdflib.Graph) -> Iterator[Statement]:
        """Events and the like that nothing points at: statements whose first, mandatory place is open."""
        owned = {node for property_ in QUALIFIED for node in graph.objects(None, property_)}
        for property_, qualified in QUALIFIED.items():
            class_: Node = PROV[str(property_).partition("#qualified")[2]]
            nodes: list[tuple[Node | None, Node]] = [
                (None, node) for node in sorted(graph.subjects(RDF.type, class_), key=str) if node not in owned
            ]
            if class_ != PROV.Influence:
                yield from self._qualified(graph, property_, qualified, nodes)

    def _objects(self, graph: rdflib.Graph, subject: Node) -> Iterator[Statement]:
        classes = set(graph.objects(subject, RDF.type))
        types = frozenset(map(str, classes))
        term = self._term(subject)
        if classes & ENTITY_CLASSES:
            yield stated("entity", term, (), types)
        if classes & AGENT_CLASSES:
            yield stated("agent", term, (), types)
        starts = list(graph.objects(subject, PROV.startedAtTime))
        ends = list(graph.objects(subject, PROV.endedAtTime))
        if PROV.Activity in classes or starts or ends:
            for times in itertools.product(self._terms(starts), self._terms(ends)):
                yield stated("activity", term, times, types)

    def _direct(self, graph: rdflib.Graph, property_: Node, direct: Direct) -> Iterator[Statement]:
        relation, subject_place, object_place, types = direct
        for subject, object_ in sorted(graph.subject_objects(property_), key=str):
            args: list[Term] = [PLACEHOLDER] * (max(subject_place, object_place) + 1)
            args[subject_place], args[object_place] = self._term(subject), self._term(object_)
            yield stated(relation, None, tuple(args), types)

    def _qualified(
        self,
        graph: rdflib.Graph,
        property_: Node,
        qualified: Qualified,
        pairs: Iterable[tuple[Node | None, Node]],
    ) -> Iterator[Statement]:
        relation, places = qualified
        for subject, node in pairs:
            first = PLACEHOLDER if subject is None else self._term(subject)
            types = frozenset(str(type_) for type_ in graph.objects(node, RDF.type))
            if "Derivation" not in str(property_) and relation == "wasDerivedFrom":
                types |= {str(property_).replace("qualified", "")}
            values = [
                self._terms([value for name in names for value in graph.objects(node, PROV[name])]) for names in places
            ]
            for rest in itertools.product(*values):
                yield stated(relation, self._term(node), (first, *rest), types)

    def _terms(self, nodes: Iterable[Node]) -> list[Term]:
        return [self._term(node) for node in sorted(nodes, key=str)] or [PLACEHOLDER]

    def _term(self, node: Node) -> Term:
        if isinstance(node, rdflib.BNode):
            # Negative numbers: apart from the variables that the normal form makes.
            return self._variables.setdefault(node, Variable(-len(self._variables) - 1))
        if isinstance(node, rdflib.Literal):
            return node.value if isinstance(node.value, datetime) else str(node)
        return Name(str(node), self._written(node))

    def _written(self, node: Node) -> str:
        try:
            return self.dataset.namespace_manager.normalizeUri(str(node))
        except ValueError:
            return f"<{node}>"
