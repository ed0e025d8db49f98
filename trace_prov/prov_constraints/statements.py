"""PROV statements as PROV-CONSTRAINTS sees them: a relation, an identifier, and places in a fixed order.

Table 3 of the Recommendation says which places may be expanded to an existential variable; PROV-DM 5 says
which must be filled. `actedOnBehalfOf` is the one place where this table is wider than Table 3: its
responsible agent may be `-`, as the W3C test case unification-delegation-s3 (PASS) has it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from trace_prov.prov_constraints.terms import PLACEHOLDER, Name, Placeholder, Term

ENTITY, ACTIVITY, AGENT = "entity", "activity", "agent"
TIME, USAGE, GENERATION, ANY = "time", "usage", "generation", "any"


@dataclass(frozen=True, slots=True)
class Place:
    """One argument: what stands in it, whether `-` is allowed there, and whether `-` means "something"."""

    name: str
    kind: str
    mandatory: bool = False
    expandable: bool = False


def _must(name: str, kind: str) -> Place:
    return Place(name, kind, mandatory=True)


def _may(name: str, kind: str) -> Place:
    return Place(name, kind, expandable=True)


def _kept(name: str, kind: str) -> Place:
    return Place(name, kind)


PLACES: dict[str, tuple[Place, ...]] = {
    "entity": (),
    "activity": (_may("start time", TIME), _may("end time", TIME)),
    "agent": (),
    "wasGeneratedBy": (_must("entity", ENTITY), _may("activity", ACTIVITY), _may("time", TIME)),
    "used": (_must("activity", ACTIVITY), _may("entity", ENTITY), _may("time", TIME)),
    "wasInformedBy": (_must("informed activity", ACTIVITY), _must("informant activity", ACTIVITY)),
    "wasStartedBy": (
        _must("started activity", ACTIVITY),
        _may("trigger", ENTITY),
        _may("starter", ACTIVITY),
        _may("time", TIME),
    ),
    "wasEndedBy": (
        _must("ended activity", ACTIVITY),
        _may("trigger", ENTITY),
        _may("ender", ACTIVITY),
        _may("time", TIME),
    ),
    "wasInvalidatedBy": (_must("entity", ENTITY), _may("activity", ACTIVITY), _may("time", TIME)),
    "wasDerivedFrom": (
        _must("generated entity", ENTITY),
        _must("used entity", ENTITY),
        _kept("activity", ACTIVITY),
        _kept("generation", GENERATION),
        _kept("usage", USAGE),
    ),
    "wasAttributedTo": (_must("entity", ENTITY), _must("agent", AGENT)),
    "wasAssociatedWith": (_must("activity", ACTIVITY), _may("agent", AGENT), _kept("plan", ENTITY)),
    "actedOnBehalfOf": (
        _must("delegate", AGENT),
        _may("responsible agent", AGENT),
        _may("activity", ACTIVITY),
    ),
    "wasInfluencedBy": (_must("influencee", ANY), _must("influencer", ANY)),
    "alternateOf": (_must("alternate", ENTITY), _must("alternate", ENTITY)),
    "specializationOf": (_must("specific entity", ENTITY), _must("general entity", ENTITY)),
    "hadMember": (_must("collection", ENTITY), _must("member", ENTITY)),
    "mentionOf": (
        _must("specific entity", ENTITY),
        _must("general entity", ENTITY),
        _must("bundle", ENTITY),
    ),
}

#: Objects: Constraint 22 makes the identifier their key.
OBJECTS = frozenset({"entity", "activity", "agent"})
#: Relations that have an identifier: Constraint 23 makes it their key; Constraint 54 keeps it apart from objects.
IDENTIFIED = frozenset(PLACES) - OBJECTS - {"alternateOf", "specializationOf", "hadMember", "mentionOf"}
#: Relations whose identifiers Constraint 53 keeps apart from each other.
DISJOINT_RELATIONS = IDENTIFIED - {"wasDerivedFrom", "wasInfluencedBy"}


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement; `types` are the URIs of its prov:type values, `sources` the records that it comes from."""

    relation: str
    id: Term | None
    args: tuple[Term, ...] = ()
    types: frozenset[str] = frozenset()
    sources: tuple[str, ...] = ()

    def __str__(self) -> str:
        return written(self.relation, self.id, self.args)

    def at(self, *, id: Term | None, args: tuple[Term, ...]) -> Statement:
        """Return the same statement with its terms resolved."""
        return self if id == self.id and args == self.args else replace(self, id=id, args=args)


@dataclass(frozen=True, slots=True)
class Instance:
    """The statements of a document's top level (`name` is None) or of one bundle."""

    name: Name | None
    statements: tuple[Statement, ...]


def written(relation: str, id: Term | None, args: tuple[Term, ...]) -> str:
    """Return PROV-N without attributes; places at the end that say nothing are left out."""
    shown = [term.isoformat() if hasattr(term, "isoformat") else str(term) for term in args]
    if relation in OBJECTS:
        return f"{relation}({', '.join([str(id), *shown])})"
    prefix = f"{id}; " if isinstance(id, Name) else ""
    return f"{relation}({prefix}{', '.join(shown)})"


def stated(relation: str, id: Term | None, args: tuple[Term, ...], types: frozenset[str]) -> Statement:
    """Return a statement as it stands in a document: its source is itself."""
    filled = args + (PLACEHOLDER,) * (len(PLACES[relation]) - len(args))
    return Statement(relation, id, filled, types, (written(relation, id, filled),))


def missing_places(statement: Statement) -> list[str]:
    """Return the mandatory places (PROV-DM 5) that the statement leaves open."""
    places = zip(PLACES[statement.relation], statement.args, strict=True)
    missing = [place.name for place, term in places if place.mandatory and isinstance(term, Placeholder)]
    if statement.relation in OBJECTS and statement.id is None:
        missing.insert(0, "identifier")
    return missing
