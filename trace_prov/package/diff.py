"""Two packages side by side: which evidence one has more, and what that changes in the answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trace_prov.finding import Finding
from trace_prov.model import Action, BasisState, RecordState, Run, TableState
from trace_prov.package.comparator import finding_of
from trace_prov.package.labels import ids_of
from trace_prov.package.lattice import QUESTIONS, answer_to
from trace_prov.package.model import Package


@dataclass(frozen=True)
class Difference:
    """Addresses of evidence that only one shows, or that both show differently, and the answers of both."""

    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    changed: tuple[str, ...]
    first: Finding
    second: Finding
    #: Set where the packages ask different things or are of different records.
    apart: str | None = None

    def changes(self) -> tuple[str, ...]:
        """The questions that the two packages answer differently."""
        return tuple(name for name in QUESTIONS if self._answer(self.first, name) != self._answer(self.second, name))

    @staticmethod
    def _answer(finding: Finding, question: str) -> tuple[object, ...]:
        answer = answer_to(finding, question)
        return tuple(getattr(answer, name, None) for name in ("status", "value", "locators", "bounds"))


def diff(first: Package, second: Package) -> Difference:
    """Compare two packages, address by address."""
    one, other = dict(_evidence(first.run)), dict(_evidence(second.run))
    return Difference(
        only_first=tuple(address for address in one if address not in other),
        only_second=tuple(address for address in other if address not in one),
        changed=tuple(address for address in one if address in other and one[address] != other[address]),
        first=finding_of(first),
        second=finding_of(second),
        apart=_apart(first, second),
    )


def _apart(first: Package, second: Package) -> str | None:
    if [(action.id, action.tool) for action in first.run.actions] != [
        (action.id, action.tool) for action in second.run.actions
    ]:
        return "the packages are of different records: their actions differ"
    if first.target != second.target:
        return "the packages ask about different targets"
    if first.contract.labels is not second.contract.labels and ids_of(first.run) and ids_of(second.run):
        return "the packages label ids differently: accounts and rows cannot be compared by their ids"
    return None


def _evidence(run: Run) -> Iterator[tuple[str, object]]:
    """Everything that a visible run shows: (address, content)."""
    for turn in run.turns:
        if turn.content.text is not None:
            yield str(run.turn_record(turn).locator), turn.content
    for action in run.actions:
        yield from _evidence_of(action)
    if run.table.state is not TableState.NONE:
        yield "binding table", run.table.state
    for row in run.table.rows:
        yield f"row of {row.local_id}", row.locator
    for recorded in run.inputs:
        yield f"recorded input {recorded.local_id}", recorded


def _evidence_of(action: Action) -> Iterator[tuple[str, object]]:
    for argument in action.arguments:
        if argument.state is RecordState.PRESENT:
            yield f"{action.id}.argument.{argument.name}", repr(argument.value)
    if action.arguments_text is not None:
        yield f"{action.id}.arguments", action.arguments_text
    if action.account.basis.state is not BasisState.WITHHELD:
        yield f"{action.id}.account", action.account
    for locator in () if action.result is None else action.result.declared:
        yield f"{locator} (declared)", None
    for record in action.records:
        if record.text is not None:
            yield str(record.locator), record.content
