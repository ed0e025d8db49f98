"""The order of events: Constraints 30 to 49 as a graph; a cycle with a strict step in it is impossible (7.1).

All generations of an entity precede each other (39), so they happen at once; likewise its invalidations (40)
and an activity's starts (31) and ends (32). Each such class is one node here, which leaves the graph exact and
as large as the instance. Usages are nodes of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import networkx as nx

from trace_prov.prov_constraints.normal_form import NormalForm
from trace_prov.prov_constraints.statements import Statement
from trace_prov.prov_constraints.terms import PLACEHOLDER, Term
from trace_prov.prov_constraints.violations import Violation, violation


class Event(NamedTuple):
    """A class of simultaneous events ("generation" of an entity, …) or one usage."""

    kind: str
    of: Term

    def __str__(self) -> str:
        return f"{self.kind} of {self.of}" if self.kind != USAGE else f"usage {self.of}"


GENERATION, INVALIDATION, START, END, USAGE = "generation", "invalidation", "start", "end", "usage"
#: Where generations of an entity's generals have come together: lets 45 and 46 pass entities without events.
GENERALS, SPECIFICS = "generation of a general entity", "invalidation of a specific entity"

CLASSES = {
    "wasGeneratedBy": GENERATION,
    "wasInvalidatedBy": INVALIDATION,
    "wasStartedBy": START,
    "wasEndedBy": END,
}


@dataclass
class EventOrder:
    """The graph: an edge says "precedes", with the constraint, the statement, and whether it is strict."""

    form: NormalForm
    graph: nx.DiGraph[Event] = field(default_factory=nx.DiGraph)
    events: dict[Event, Statement] = field(default_factory=dict)
    usages: dict[Term, Event] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for relation, kind in CLASSES.items():
            for statement in self.form.of(relation):
                self.events.setdefault(Event(kind, statement.args[0]), statement)
        for build in (self._activities, self._entities, self._derivations, self._triggers):
            build()
        for build in (self._specializations, self._agents):
            build()

    def precedes(self, constraint: int, first: Event, second: Event, why: Statement, *, strict: bool = False) -> None:
        """Add an edge unless one of the two events is not there; a strict edge takes the place of another."""
        if first not in self.events and first.kind in CLASSES.values():
            return
        if second not in self.events and second.kind in CLASSES.values():
            return
        known = self.graph.get_edge_data(first, second)
        if known is None or (strict and not known["strict"]):
            self.graph.add_edge(first, second, constraint=constraint, strict=strict, why=why)

    def _activities(self) -> None:
        for event, statement in self.events.items():
            if event.kind == START:
                self.precedes(30, event, Event(END, event.of), statement)
        for usage in self.form.of("used"):
            assert usage.id is not None
            event = Event(USAGE, usage.id)
            self.usages[usage.id] = event
            self.precedes(33, Event(START, usage.args[0]), event, usage)
            self.precedes(33, event, Event(END, usage.args[0]), usage)
        for generation in self.form.of("wasGeneratedBy"):
            event = Event(GENERATION, generation.args[0])
            self.precedes(34, Event(START, generation.args[1]), event, generation)
            self.precedes(34, event, Event(END, generation.args[1]), generation)
        for communication in self.form.of("wasInformedBy"):
            informed, informant = communication.args
            self.precedes(35, Event(START, informant), Event(END, informed), communication)

    def _entities(self) -> None:
        for event, statement in list(self.events.items()):
            if event.kind == GENERATION:
                self.precedes(36, event, Event(INVALIDATION, event.of), statement)
        for usage in self.form.of("used"):
            assert usage.id is not None
            event, entity = self.usages[usage.id], usage.args[1]
            self.precedes(37, Event(GENERATION, entity), event, usage)
            self.precedes(38, event, Event(INVALIDATION, entity), usage)

    def _derivations(self) -> None:
        for derivation in self.form.of("wasDerivedFrom"):
            generated, used, activity, generation, usage = derivation.args
            after = Event(GENERATION, generated)
            if PLACEHOLDER not in (activity, generation, usage) and usage in self.usages:
                self.precedes(41, self.usages[usage], after, derivation)
            self.precedes(42, Event(GENERATION, used), after, derivation, strict=True)

    def _triggers(self) -> None:
        for constraint, relation, kind in ((43, "wasStartedBy", START), (44, "wasEndedBy", END)):
            for statement in self.form.of(relation):
                event, trigger = Event(kind, statement.args[0]), statement.args[1]
                self.precedes(constraint, Event(GENERATION, trigger), event, statement)
                self.precedes(constraint, event, Event(INVALIDATION, trigger), statement)

    def _specializations(self) -> None:
        """45 and 46, through Inference 19: also where an entity in between has no such event."""
        for statement in [*self.form.of("specializationOf"), *self.form.of("mentionOf")]:
            specific, general = statement.args[:2]
            self.precedes(45, Event(GENERATION, general), Event(GENERALS, general), statement)
            self.precedes(45, Event(GENERALS, general), Event(GENERALS, specific), statement)
            self.precedes(45, Event(GENERALS, general), Event(GENERATION, specific), statement)
            self.precedes(46, Event(INVALIDATION, specific), Event(SPECIFICS, specific), statement)
            self.precedes(46, Event(SPECIFICS, specific), Event(SPECIFICS, general), statement)
            self.precedes(46, Event(SPECIFICS, specific), Event(INVALIDATION, general), statement)

    def _agents(self) -> None:
        for association in self.form.of("wasAssociatedWith"):
            activity, agent = association.args[:2]
            self.precedes(47, Event(START, activity), Event(INVALIDATION, agent), association)
            self.precedes(47, Event(GENERATION, agent), Event(END, activity), association)
            self.precedes(47, Event(START, activity), Event(END, agent), association)
            self.precedes(47, Event(START, agent), Event(END, activity), association)
        for attribution in self.form.of("wasAttributedTo"):
            entity, agent = attribution.args
            self.precedes(48, Event(GENERATION, agent), Event(GENERATION, entity), attribution)
            self.precedes(48, Event(START, agent), Event(GENERATION, entity), attribution)
        for delegation in self.form.of("actedOnBehalfOf"):
            delegate, responsible = delegation.args[:2]
            self.precedes(49, Event(GENERATION, responsible), Event(INVALIDATION, delegate), delegation)
            self.precedes(49, Event(START, responsible), Event(END, delegate), delegation)


def disordered(form: NormalForm) -> Iterator[Violation]:
    """Yield one violation for each knot of events that must all precede each other, one of them strictly."""
    order = EventOrder(form)
    graph = order.graph
    for component in nx.strongly_connected_components(graph):
        if len(component) == 1 and not graph.has_edge(*component, *component):
            continue
        inside = graph.subgraph(component)
        strict = [(first, second) for first, second, edge in inside.edges(data=True) if edge["strict"]]
        if strict:
            shortest = min((nx.shortest_path(inside, b, a) for a, b in strict[:20]), key=len)
            yield _cycle(order, [shortest[-1], *shortest])


def _cycle(order: EventOrder, events: list[Event]) -> Violation:
    """Describe a cycle whose first step is a strict one; the violated constraint is that step's."""
    edges = [order.graph.edges[first, second] for first, second in pairwise(events)]
    parts = [str(events[0])]
    for edge, event in zip(edges, events[1:], strict=True):
        if event.kind not in (GENERALS, SPECIFICS):
            word = "strictly before" if edge["strict"] else "not after"
            parts.append(f"{word} (Constraint {edge['constraint']}) {event}")
    involved = dict.fromkeys(edge["constraint"] for edge in edges[1:])
    happened = (order.events[event].sources for event in events[1:] if event in order.events)
    message = f"events in a circle: {', '.join(parts)}"
    return violation(
        edges[0]["constraint"],
        message,
        *(edge["why"].sources for edge in edges),
        *happened,
        involved=tuple(number for number in involved if number != edges[0]["constraint"]),
    )
