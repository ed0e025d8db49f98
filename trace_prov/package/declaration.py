"""What a package must declare: the layers that it does not show in full, then the addresses that are hidden, in order.

It follows from what is visible and from what the package claims, all but one thing: whether the log itself or a
redaction hides an address.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from trace_prov.model import Action, BasisState, Locator, RecordState, Run, TableState
from trace_prov.package.model import Contract, Layer, Why, Withheld


@dataclass(frozen=True, slots=True)
class Hidden:
    """An address whose content is not, or not all, to be seen; `declares` are the elements made known of a list."""

    what: str
    state: RecordState
    declares: tuple[Locator, ...] = ()


def hidden_layers(contract: Contract) -> Iterator[Withheld]:
    """The lines on whole layers."""
    for name, layer in (
        ("account", contract.account),
        ("request", contract.request),
        ("recorded inputs", contract.inputs),
        ("binding table", contract.table),
    ):
        if layer is Layer.WITHHELD:
            yield Withheld(name, RecordState.WITHHELD, Why.CONDITION)
        elif layer is Layer.NOT_RECORDED:
            yield Withheld(name, RecordState.ABSENT, Why.LOG)
        elif layer is TableState.PARTIAL:
            yield Withheld(name, RecordState.CUT, Why.CONDITION)


def hidden_addresses(run: Run, contract: Contract, arguments_texts: Collection[str] = ()) -> Iterator[Hidden]:
    """What else is hidden. `arguments_texts` are the actions whose arguments the log has as a text that is hidden."""
    for turn in run.turns:
        if contract.request is Layer.SHOWN and turn.content.state is not RecordState.PRESENT:
            yield Hidden(str(run.turn_record(turn).locator), turn.content.state)
    for action in run.actions:
        for argument in action.arguments:
            if argument.state is not RecordState.PRESENT:
                yield Hidden(f"{action.id}.argument.{argument.name}", argument.state)
        if action.id in arguments_texts:
            yield Hidden(arguments_text_of(action), RecordState.REDACTED)
        if contract.account is Layer.SHOWN and not has_account(action):
            yield Hidden(f"{action.id}.account", RecordState.WITHHELD)
        for record in action.records:
            if record.state is not RecordState.PRESENT:
                declares = action.result.declared if action.result and record.locator.element == 0 else ()
                yield Hidden(str(record.locator), record.state, declares)


def arguments_text_of(action: Action) -> str:
    """The address of arguments that the log has as one text."""
    return f"{action.id}.arguments"


def has_account(action: Action) -> bool:
    """Whether the account before this call is to be seen, be it one that says nothing."""
    return action.account.basis.state is not BasisState.WITHHELD
