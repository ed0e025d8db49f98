"""Terms of a PROV instance and their unification (PROV-CONSTRAINTS 2.3, 6.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier: two names are one when their URIs are equal, whatever prefix they were written with."""

    uri: str
    text: str = field(compare=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Variable:
    """An existential variable: something that must exist and may turn out to be any term."""

    number: int

    def __str__(self) -> str:
        return f"_{self.number}"


@dataclass(frozen=True, slots=True)
class Placeholder:
    """The marker `-` in a place that must not be expanded: a constant of its own, equal only to itself."""

    def __str__(self) -> str:
        return "-"


PLACEHOLDER = Placeholder()

#: A time that cannot be read as xsd:dateTime stays the string that it was.
Instant = datetime | str
Term = Name | Variable | Placeholder | datetime | str


class Substitution:
    """What the variables are bound to so far; only ever grows."""

    def __init__(self) -> None:
        self._bound: dict[Variable, Term] = {}
        self._count = 0

    def fresh(self) -> Variable:
        """Return a variable that occurs nowhere else."""
        self._count += 1
        return Variable(self._count)

    def resolve(self, term: Term) -> Term:
        """Return the term that `term` stands for now; shortens the chain it walked."""
        if not isinstance(term, Variable):
            return term
        walked = []
        while isinstance(term, Variable) and term in self._bound:
            walked.append(term)
            term = self._bound[term]
        for variable in walked[:-1]:
            self._bound[variable] = term
        return term

    def unifiable(self, left: Term, right: Term) -> bool:
        """Say whether the two could become equal, taken alone."""
        left, right = self.resolve(left), self.resolve(right)
        return left == right or isinstance(left, Variable) or isinstance(right, Variable)

    def unify(self, left: Term, right: Term) -> bool:
        """Make the two equal; False when both are constants and differ (6.1: merging fails)."""
        left, right = self.resolve(left), self.resolve(right)
        if left == right:
            return True
        if isinstance(left, Variable):
            self._bound[left] = right
            return True
        if isinstance(right, Variable):
            self._bound[right] = left
            return True
        return False

    def __len__(self) -> int:
        return len(self._bound)
