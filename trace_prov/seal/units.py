"""What a seal commits to: the units of a run, one leaf each.

Units are the records (CONTRACT §1), the actions and their arguments, the accounts, the rows of the binding table and
the recorded inputs, in an order that depends on the run alone. A unit that is hidden keeps its place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trace_prov.model import Account, Action, BasisState, Record, RecordState, Run


@dataclass(frozen=True)
class Unit:
    """`content` is what the leaf is made of; `hidden` when its text is not shown, and then it says no more than that.

    `layer` is "record", "action", "argument", "account", "binding" or "input".
    """

    name: str
    layer: str
    content: dict[str, Any]
    hidden: bool = False


def units_of(run: Run) -> list[Unit]:
    """The units of a run as far as it is visible."""
    return [
        *(_record(run.turn_record(turn), turn.after_step) for turn in run.turns),
        *(unit for action in run.actions for unit in _action(action)),
        *_accounts(run),
        *(
            Unit(f"binding {row.local_id}", "binding", {"unit": f"binding {row.local_id}", "locator": str(row.locator)})
            for row in run.table.rows
        ),
        *_inputs(run),
    ]


def _record(record: Record, after_step: int) -> Unit:
    name, hidden = str(record.locator), record.state is not RecordState.PRESENT
    content: dict[str, Any] = {"unit": name, "state": record.state.value, "after_step": after_step}
    if record.text is not None:
        content["text"] = record.text
    return Unit(name, "record", content, hidden)


def _action(action: Action) -> Iterator[Unit]:
    result = action.result
    content: dict[str, Any] = {"unit": action.id, "tool": action.tool, "step": action.step}
    if result is not None:
        content |= {"result_order": result.order, "result_is_error": result.is_error}
    yield Unit(action.id, "action", content)
    for argument in action.arguments:
        name = f"{action.id}.argument.{argument.name}"
        value: dict[str, Any] = {"unit": name, "state": argument.state.value}
        if argument.state is RecordState.PRESENT:
            # As JSON text: a number keeps the form in which the log has it, whatever reads the leaf.
            value["value"] = json.dumps(argument.value, sort_keys=False)
        yield Unit(name, "argument", value, argument.state is not RecordState.PRESENT)
    if action.arguments_text is not None:
        name = f"{action.id}.arguments"
        yield Unit(name, "argument", {"unit": name, "text": action.arguments_text})
    if result is not None:
        for record in action.records:
            yield _record(record, result.after_step)


def _accounts(run: Run) -> Iterator[Unit]:
    """One account a step, as all calls of a message share theirs."""
    groups: dict[tuple[int, Account], list[str]] = {}
    for action in run.actions:
        groups.setdefault((action.step, action.account), []).append(action.id)
    for (_, account), actions in groups.items():
        name = f"{actions[0]}.account"
        basis = account.basis
        content: dict[str, Any] = {"unit": name, "actions": actions, "basis": basis.state.value}
        hidden = basis.state is BasisState.WITHHELD
        if not hidden:
            content |= {
                "text": account.text,
                "action_paragraph": account.action_paragraph,
                "note": account.note,
                "basis_text": basis.text,
                "basis_ids": list(basis.ids),
            }
        yield Unit(name, "account", content, hidden)


def _inputs(run: Run) -> Iterator[Unit]:
    for row in run.inputs:
        name = f"input {row.local_id}"
        content = {"unit": name, "channel": row.channel, "locator": str(row.locator)}
        # A package leaves out the text of an input whose record it hides.
        yield Unit(name, "input", content if row.text is None else content | {"text": row.text}, row.text is None)
