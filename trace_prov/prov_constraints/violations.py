"""What is wrong with an instance: the constraint, the statements concerned, and a sentence."""

from __future__ import annotations

from dataclasses import dataclass

#: Number in PROV-CONSTRAINTS -> its name there. 0 stands for PROV-DM 5: a statement lacks a mandatory place.
NAMES: dict[int, str] = {
    0: "mandatory place (PROV-DM 5)",
    22: "key-object",
    23: "key-properties",
    24: "unique-generation",
    25: "unique-invalidation",
    26: "unique-wasStartedBy",
    27: "unique-wasEndedBy",
    28: "unique-startTime",
    29: "unique-endTime",
    30: "start-precedes-end",
    31: "start-start-ordering",
    32: "end-end-ordering",
    33: "usage-within-activity",
    34: "generation-within-activity",
    35: "wasInformedBy-ordering",
    36: "generation-precedes-invalidation",
    37: "generation-precedes-usage",
    38: "usage-precedes-invalidation",
    39: "generation-generation-ordering",
    40: "invalidation-invalidation-ordering",
    41: "derivation-usage-generation-ordering",
    42: "derivation-generation-generation-ordering",
    43: "wasStartedBy-ordering",
    44: "wasEndedBy-ordering",
    45: "specialization-generation-ordering",
    46: "specialization-invalidation-ordering",
    47: "wasAssociatedWith-ordering",
    48: "wasAttributedTo-ordering",
    49: "actedOnBehalfOf-ordering",
    50: "typing",
    51: "impossible-unspecified-derivation-generation-use",
    52: "impossible-specialization-reflexive",
    53: "impossible-property-overlap",
    54: "impossible-object-property-overlap",
    55: "entity-activity-disjoint",
    56: "membership-empty-collection",
}


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule. `constraint` is its number, `involved` further constraints that took part (a cycle's)."""

    constraint: int
    message: str
    statements: tuple[str, ...]
    involved: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return NAMES[self.constraint]

    def as_json(self) -> dict[str, object]:
        return {
            "constraint": self.constraint or None,
            "name": self.name,
            "involved": list(self.involved),
            "message": self.message,
            "statements": list(self.statements),
        }


def violation(constraint: int, message: str, *sources: tuple[str, ...], involved: tuple[int, ...] = ()) -> Violation:
    """Return a violation whose statements are those of all sources, each once, in order."""
    return Violation(constraint, message, tuple(dict.fromkeys(s for group in sources for s in group)), involved)
