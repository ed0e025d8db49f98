"""Typing (50) and what can never be (51 to 56), on a normal form."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import networkx as nx

from trace_prov.prov_constraints.normal_form import NormalForm
from trace_prov.prov_constraints.statements import (
    ACTIVITY,
    AGENT,
    DISJOINT_RELATIONS,
    ENTITY,
    IDENTIFIED,
    OBJECTS,
    PLACES,
    Statement,
)
from trace_prov.prov_constraints.terms import Placeholder, Term
from trace_prov.prov_constraints.violations import Violation, violation

PROV = "http://www.w3.org/ns/prov#"
EMPTY_COLLECTION = PROV + "EmptyCollection"

#: What a prov:type from the PROV namespace says about its bearer. EmptyCollection is Constraint 50, item 21; the
#: others are PROV-DM 5.7.2.4 (reserved types) read with the classes of PROV-O, where prov:type is rdf:type.
DECLARED_OBJECTS: dict[str, str] = {
    **dict.fromkeys(("Entity", "Bundle", "Collection", "EmptyCollection", "Plan"), ENTITY),
    "Activity": ACTIVITY,
    **dict.fromkeys(("Agent", "Person", "Organization", "SoftwareAgent"), AGENT),
}
DECLARED_RELATIONS: dict[str, str] = {
    "Generation": "wasGeneratedBy",
    "Usage": "used",
    "Communication": "wasInformedBy",
    "Start": "wasStartedBy",
    "End": "wasEndedBy",
    "Invalidation": "wasInvalidatedBy",
    "Attribution": "wasAttributedTo",
    "Association": "wasAssociatedWith",
    "Delegation": "actedOnBehalfOf",
    **dict.fromkeys(("Derivation", "Revision", "Quotation", "PrimarySource"), "wasDerivedFrom"),
}

Reasons = dict[Term, dict[str, Statement]]


def impossible(form: NormalForm) -> Iterator[Violation]:
    """Yield the violations of Constraints 51 to 56."""
    objects, relations = _types(form)
    yield from _unspecified_derivations(form)
    yield from _reflexive_specializations(form)
    yield from _property_overlaps(relations)
    yield from _object_property_overlaps(objects, relations)
    yield from _entity_activity_overlaps(objects)
    yield from _members_of_empty_collections(form)


def _types(form: NormalForm) -> tuple[Reasons, Reasons]:
    """Constraint 50: term -> type -> the first statement that gives it, for objects and for relations."""
    objects: Reasons = defaultdict(dict)
    relations: Reasons = defaultdict(dict)
    for statement in form.statements:
        if statement.id is not None:
            kinds = objects if statement.relation in OBJECTS else relations
            kinds[statement.id].setdefault(statement.relation, statement)
            for name in (uri.removeprefix(PROV) for uri in statement.types if uri.startswith(PROV)):
                if name in DECLARED_OBJECTS:
                    objects[statement.id].setdefault(DECLARED_OBJECTS[name], statement)
                elif name in DECLARED_RELATIONS:
                    relations[statement.id].setdefault(DECLARED_RELATIONS[name], statement)
        for place, term in zip(PLACES[statement.relation], statement.args, strict=True):
            if place.kind in OBJECTS and not isinstance(term, Placeholder):
                objects[term].setdefault(place.kind, statement)
    return objects, relations


def _unspecified_derivations(form: NormalForm) -> Iterator[Violation]:
    for derivation in form.of("wasDerivedFrom"):
        activity, generation, usage = derivation.args[2:]
        if isinstance(activity, Placeholder):
            named = [
                word
                for word, term in (("generation", generation), ("usage", usage))
                if not isinstance(term, Placeholder)
            ]
            if named:
                message = f"the derivation names its {' and '.join(named)} but no activity"
                yield violation(51, message, derivation.sources)


def _reflexive_specializations(form: NormalForm) -> Iterator[Violation]:
    graph: nx.DiGraph[Term] = nx.DiGraph()
    for statement in [*form.of("specializationOf"), *form.of("mentionOf")]:
        graph.add_edge(statement.args[0], statement.args[1], statement=statement)
    for component in nx.strongly_connected_components(graph):
        inside = graph.subgraph(component)
        if inside.number_of_edges() == 0:
            continue
        cycle = nx.find_cycle(inside)
        names = ", ".join(str(edge[0]) for edge in cycle)
        sources = [inside.edges[edge[0], edge[1]]["statement"].sources for edge in cycle]
        message = f"no entity specializes itself, but this follows for {names}"
        yield violation(52, message, *sources, involved=(19,) if len(cycle) > 1 else ())


def _property_overlaps(relations: Reasons) -> Iterator[Violation]:
    for term, kinds in relations.items():
        found = sorted(kinds.keys() & DISJOINT_RELATIONS)
        if len(found) > 1:
            message = f"{term} identifies statements of different relations: {', '.join(found)}"
            yield violation(53, message, *(kinds[kind].sources for kind in found))


def _object_property_overlaps(objects: Reasons, relations: Reasons) -> Iterator[Violation]:
    for term, kinds in relations.items():
        found = sorted(kinds.keys() & IDENTIFIED)
        if found and term in objects:
            also = sorted(objects[term])
            message = f"{term} is an object ({', '.join(also)}) and identifies a relation ({', '.join(found)})"
            sources = [objects[term][kind].sources for kind in also] + [kinds[kind].sources for kind in found]
            yield violation(54, message, *sources)


def _entity_activity_overlaps(objects: Reasons) -> Iterator[Violation]:
    for term, kinds in objects.items():
        if ENTITY in kinds and ACTIVITY in kinds:
            message = f"{term} is an entity and an activity"
            yield violation(55, message, kinds[ENTITY].sources, kinds[ACTIVITY].sources, involved=(50,))


def _members_of_empty_collections(form: NormalForm) -> Iterator[Violation]:
    empty = {s.id: s for s in form.statements if s.id is not None and EMPTY_COLLECTION in s.types}
    for membership in form.of("hadMember"):
        collection = empty.get(membership.args[0])
        if collection is not None:
            message = f"{membership.args[0]} is an empty collection, but {membership.args[1]} is a member of it"
            yield violation(56, message, membership.sources, collection.sources, involved=(50,))
