"""PROV-N documents made at random over few names, so that statements meet: about a third of them are invalid."""

from __future__ import annotations

import random
import re

from trace_prov.prov_constraints.statements import OBJECTS, PLACES

ENTITIES = ("ex:e1", "ex:e2", "ex:e3")
ACTIVITIES = ("ex:a1", "ex:a2")
AGENTS = ("ex:ag1", "ex:ag2", "ex:e1", "ex:a1")
TIMES = ("2026-03-02T09:00:00", "2026-03-02T10:00:00")
KINDS: dict[str, tuple[str, ...]] = {
    "entity": ENTITIES,
    "activity": ACTIVITIES,
    "agent": AGENTS,
    "time": TIMES,
    "generation": ("ex:gen1", "ex:gen2"),
    "usage": ("ex:use1", "ex:use2"),
    "any": ENTITIES + ACTIVITIES,
}
IDENTIFIERS: dict[str, tuple[str, ...]] = {
    "wasGeneratedBy": ("ex:gen1", "ex:gen2"),
    "used": ("ex:use1", "ex:use2"),
    "wasInvalidatedBy": ("ex:inv1",),
    "wasStartedBy": ("ex:start1", "ex:start2"),
    "wasEndedBy": ("ex:end1",),
}
WITHOUT_IDENTIFIER = {"alternateOf", "specializationOf", "hadMember"}
RELATIONS = tuple(sorted(set(PLACES) - {"mentionOf"}))


def _value(rng: random.Random, kind: str, noise: bool) -> str:
    """Return a value of the kind; with noise now and then one of another kind."""
    if noise and kind in ("entity", "activity") and rng.random() < 0.03:
        kind = "activity" if kind == "entity" else "entity"
    return rng.choice(KINDS[kind])


def statement(rng: random.Random, relation: str, noise: bool) -> str:
    """Return one statement; optional places are open half of the time, mandatory ones never."""
    args = [
        "-" if not place.mandatory and rng.random() < 0.5 else _value(rng, place.kind, noise)
        for place in PLACES[relation]
    ]
    if relation in OBJECTS:
        types = ["[prov:type='prov:EmptyCollection']"] if relation == "entity" and rng.random() < 0.1 else []
        return f"{relation}({', '.join([_value(rng, relation, noise), *args, *types])})"
    if relation == "wasDerivedFrom" and args[2] == "-" and rng.random() < 0.8:
        args[3:] = ["-", "-"]
    if relation in WITHOUT_IDENTIFIER or rng.random() < 0.6:
        return f"{relation}({', '.join(args)})"
    identifier = rng.choice(IDENTIFIERS.get(relation, (f"ex:{relation}1", f"ex:{relation}2")))
    if noise and rng.random() < 0.1:
        identifier = rng.choice(("ex:shared", "ex:e1", "ex:gen1"))
    return f"{relation}({identifier}; {', '.join(args)})"


def statements(rng: random.Random, *, noise: bool = True) -> list[str]:
    """Return the statements of one document, 2 to 9 of them; `noise` gives things of one kind another's name."""
    relations = rng.sample(RELATIONS, k=rng.randint(3, 7))
    return [statement(rng, rng.choice(relations), noise) for _ in range(rng.randint(2, 9))]


def for_the_peer(lines: list[str]) -> list[str]:
    """Declare the activities of a communication: ProvToolbox 2.2.1 ends with an exception where they are not."""
    informed = [line for line in lines if line.startswith("wasInformedBy")]
    activities = {name for line in informed for name in re.findall(r"ex:\w+", line.partition(";")[2] or line)}
    return [*lines, *(f"activity({activity}, -, -)" for activity in sorted(activities))]


def document(lines: list[str]) -> str:
    """Return a PROV-N document of these statements."""
    return "\n".join(["document", "prefix ex <http://example.org/>", *lines, "endDocument", ""])
