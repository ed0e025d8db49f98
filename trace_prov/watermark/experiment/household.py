"""Problems in ALFWorld's PDDL domain, generated: a kitchen, a few objects, one thing to treat and to put away.

`next_command` is the plan's next step from any state. The domain is so regular that a rule gives what the planner
would; replanning with Fast Downward after every step takes seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: receptacle -> (how many, openable, PDDL type)
FURNITURE: dict[str, tuple[int, bool, str]] = {
    "fridge": (1, True, "FridgeType"),
    "microwave": (1, True, "MicrowaveType"),
    "sinkbasin": (1, False, "SinkBasinType"),
    "countertop": (3, False, "CounterTopType"),
    "cabinet": (6, True, "CabinetType"),
    "drawer": (4, True, "DrawerType"),
    "diningtable": (1, False, "DiningTableType"),
    "garbagecan": (1, False, "GarbageCanType"),
    "stoveburner": (2, False, "StoveBurnerType"),
    "shelf": (1, False, "ShelfType"),
}
OBJECTS = ("apple", "egg", "potato", "tomato", "lettuce", "bread", "mug", "cup", "plate", "bowl")
TREATMENTS = {"heat": ("isHot", "heatable"), "cool": ("isCool", "coolable"), "clean": ("isClean", "cleanable")}
START = "loc_start"


@dataclass(frozen=True, slots=True)
class Problem:
    """One generated problem: the task in words, and its PDDL."""

    task: str
    pddl: str
    wanted: str
    treatment: str
    target: str


def problem(number: int) -> Problem:
    """Return problem `number`; the same number gives the same problem."""
    rng = np.random.default_rng([number, 1])
    places = [
        (f"{kind}_{index}", openable, rtype)
        for kind, (count, openable, rtype) in FURNITURE.items()
        for index in range(1, count + 1)
    ]
    things = [f"{kind}_1" for kind in rng.permutation(OBJECTS)[:6]]
    treatment = str(rng.choice(list(TREATMENTS)))
    wanted = things[0]
    targets = [
        place for place in places if place[2] in {"CounterTopType", "DiningTableType", "ShelfType", "CabinetType"}
    ]
    target = targets[int(rng.integers(len(targets)))]
    holders = {thing: places[int(rng.integers(3, len(places)))] for thing in things}
    while holders[wanted] == target:
        holders[wanted] = places[int(rng.integers(3, len(places)))]
    state, _ = TREATMENTS[treatment]
    facts = [f"(atLocation agent_1 {START})", *_place_facts(places), *_thing_facts(things, holders)]
    text = f"""(define (problem household_{number})
 (:domain alfred)
 (:objects agent_1 - agent
  {" ".join([START, *(f"loc_{name}" for name, _, _ in places)])} - location
  {" ".join(name for name, _, _ in places)} - receptacle
  {" ".join(things)} - object
  {" ".join(sorted({rtype for _, _, rtype in places}))} - rtype
  {" ".join(f"{thing.split('_')[0].capitalize()}Type" for thing in things)} - otype)
 (:init (= (total-cost) 0)
  {chr(10).join(facts)})
 (:goal (and ({state} {wanted}) (inReceptacle {wanted} {target[0]})))
 (:metric minimize (total-cost)))
"""
    words = (wanted.split("_")[0], target[0].replace("_", " "))
    return Problem(f"{treatment} some {words[0]} and put it in {words[1]}.", text, wanted, treatment, target[0])


def _place_facts(places: list[tuple[str, bool, str]]) -> list[str]:
    facts = []
    for name, openable, rtype in places:
        facts += [f"(receptacleAtLocation {name} loc_{name})", f"(receptacleType {name} {rtype})"]
        if openable:
            facts.append(f"(openable {name})")
    return facts


def _thing_facts(things: list[str], holders: dict[str, tuple[str, bool, str]]) -> list[str]:
    facts = []
    for thing in things:
        holder, otype = holders[thing][0], f"{thing.split('_')[0].capitalize()}Type"
        facts += [f"(objectType {thing} {otype})", f"(pickupable {thing})"]
        facts += [f"(inReceptacle {thing} {holder})", f"(objectAtLocation {thing} loc_{holder})"]
        facts += [f"({able} {thing})" for _, able in TREATMENTS.values()]
        facts += [f"(canContain {rtype} {otype})" for rtype in sorted({r for _, _, r in FURNITURE.values()})]
    return facts


APPLIANCES = {"heat": "microwave_1", "cool": "fridge_1", "clean": "sinkbasin_1"}
Facts = set[tuple[str, ...]]


def next_command(made: Problem, facts: Facts) -> str:
    """Return the next command of a shortest plan; `facts` are (predicate, argument, …) in lower case."""
    here = next(fact[2] for fact in facts if fact[0] == "atlocation").removeprefix("loc_")
    held = next((fact[2] for fact in facts if fact[0] == "holds"), None)
    treated = (TREATMENTS[made.treatment][0].lower(), made.wanted) in facts
    if held is not None and held != made.wanted:
        return _put_down(held, here, facts)
    if held is None:
        holder = next(fact[2] for fact in facts if fact[0] == "inreceptacle" and fact[1] == made.wanted)
        return _at(holder, here, facts) or _said(f"take {made.wanted} from {holder}")
    if not treated:
        appliance = APPLIANCES[made.treatment]
        if here != appliance:
            return _said(f"go to {appliance}")
        return _said(f"{made.treatment} {made.wanted} with {appliance}")
    return _at(made.target, here, facts) or _said(f"move {made.wanted} to {made.target}")


def _at(receptacle: str, here: str, facts: Facts) -> str | None:
    """Return what is still to do before a receptacle can be reached into."""
    if here != receptacle:
        return _said(f"go to {receptacle}")
    if ("openable", receptacle) in facts and ("opened", receptacle) not in facts:
        return _said(f"open {receptacle}")
    return None


def _put_down(held: str, here: str, facts: Facts) -> str:
    place = "countertop_1" if here == "start" else here
    return _at(place, here, facts) or _said(f"move {held} to {place}")


def _said(command: str) -> str:
    return command.replace("_", " ")
