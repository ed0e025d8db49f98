"""What `package` never writes, whatever the log: rules on a whole package that go beyond single nodes of its graph.

The shapes say what a condition shows and hides. These rules close the ways in which a package that keeps to them could
still tell something of its own: a number that counts nothing, an order that is not the order of anything, a word in
the declaration, a label of no id. Both engines share them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise, zip_longest

from trace_prov.account import is_local_id, read_account
from trace_prov.conversation import to_json_text
from trace_prov.model import HIDDEN_STATES, Locator, RecordedInput, RecordState, Result, Run, Severity, TableState
from trace_prov.package.condition import Labels
from trace_prov.package.declaration import arguments_text_of, has_account, hidden_addresses, hidden_layers
from trace_prov.package.labels import as_seen, foreign_labels, id_like_words, id_order, ids_of, labels_in
from trace_prov.package.model import Layer, Package, Why, Withheld
from trace_prov.package.shacl import Grade
from trace_prov.sidecar import text_difference


@dataclass(frozen=True, slots=True)
class Unsound:
    """A rule that is not kept: the rule, the place, and words."""

    rule: str
    place: str
    message: str
    grade: Grade = Grade.REQUIRED


def unsound(package: Package, case: str | None = None) -> Iterator[Unsound]:
    """What in a package cannot have been written as one; `case` is its name, where an inventory tells it."""
    for rule in _RULES:
        yield from rule(package)
    if case is not None:
        yield from _labels_of_the_case(package, case)


# Time and order (CONTRACT §1)


def _steps(package: Package) -> Iterator[Unsound]:
    before = 0
    for action in package.run.actions:
        if action.step not in (before, before + 1) or action.step == 0:
            yield Unsound("record", action.id, f"step {action.step} after step {before}: steps count the messages")
        before = action.step


def _turns(package: Package) -> Iterator[Unsound]:
    run = package.run
    last = _last_step(run)
    for number, turn in enumerate(run.turns, start=1):
        if turn.number != number:
            yield Unsound("record", str(run.turn_record(turn).locator), f"turn {turn.number} where {number} is due")
        if turn.after_step > last:
            yield Unsound("record", str(run.turn_record(turn).locator), f"after step {turn.after_step} of {last}")
    for turn, following in pairwise(run.turns):
        if following.after_step < turn.after_step:
            yield Unsound("record", str(run.turn_record(following).locator), "before the turn that comes before it")


def _deliveries(package: Package) -> Iterator[Unsound]:
    run = package.run
    results = [(action, action.result) for action in run.actions if action.result is not None]
    last = _last_step(run)
    for action, result in results:
        if not action.step <= result.after_step <= last:
            message = f"delivered after step {result.after_step}: its call is in step {action.step} of {last}"
            yield Unsound("record", f"{action.id}.result", message)
        if result.content.state is RecordState.ABSENT:
            yield Unsound("record", f"{action.id}.result", "a result of a call that never got one")
    if sorted(result.order for _, result in results) != list(range(1, len(results) + 1)):
        yield Unsound("record", "the results", f"their places among the deliveries are not 1 to {len(results)}")
    # A result that is hidden may have been lost, and a lost one has its place after all that were delivered.
    seen = sorted((result.order, result.after_step, action.id) for action, result in results if _is_seen(result))
    for (_, earlier, _), (_, later, name) in pairwise(seen):
        if later < earlier:
            yield Unsound("record", f"{name}.result", "delivered before one that it is said to follow")


def _is_seen(result: Result) -> bool:
    return bool(result.elements) or result.content.state in (RecordState.PRESENT, RecordState.CUT)


def _last_step(run: Run) -> int:
    return max((action.step for action in run.actions), default=0)


# What stands in the record


def _arguments(package: Package) -> Iterator[Unsound]:
    for action in package.run.actions:
        names = [argument.name for argument in action.arguments]
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield Unsound("record", f"{action.id}.argument.{name}", "an argument given twice")
        if action.arguments and action.arguments_text is not None:
            yield Unsound("record", action.id, "the text of its arguments beside them: a call has one or the other")


def _declared_elements(package: Package) -> Iterator[Unsound]:
    for action in package.run.actions:
        result = action.result
        if result is None or not result.declared:
            continue
        place = f"{action.id}.result"
        if result.elements or result.content.state not in HIDDEN_STATES:
            yield Unsound("declaration", place, "elements are made known of a result that is shown")
        if result.declared != tuple(Locator(action.number, k) for k in range(1, len(result.declared) + 1)):
            yield Unsound("declaration", place, "the elements made known are not all from 1, in their order")


def _accounts(package: Package) -> Iterator[Unsound]:
    """The calls of one message share its account, and its parts are what its text says (CONTRACT §4, §10)."""
    for step, actions in groupby(package.run.actions, key=lambda action: action.step):
        calls = list(actions)
        if any(action.account != calls[0].account for action in calls):
            yield Unsound("account-shown", f"step {step}", "the calls of one message have different accounts")
        if has_account(calls[0]) and read_account(calls[0].account.text or "") != calls[0].account:
            message = "paragraph, Note and Basis are not what the account's text says"
            yield Unsound("account-shown", f"{calls[0].id}.account", message)


# The declaration


def _declaration(package: Package) -> Iterator[Unsound]:
    run, contract = package.run, package.contract
    texts = _hidden_arguments_texts(package)
    layers = list(hidden_layers(contract))
    addresses = list(hidden_addresses(run, contract, texts))
    due = [*layers, *(Withheld(hidden.what, hidden.state, Why.LOG, hidden.declares) for hidden in addresses)]
    for number, (line, expected) in enumerate(zip_longest(package.withheld, due), start=1):
        if expected is None:
            yield Unsound("declaration", f"line {number} of the declaration", f"there is no such thing: {line.what!r}")
            return
        if line is None:
            yield Unsound("declaration", expected.what, "hidden, and no line of the declaration says so")
            return
        either = line.why is not Why.CONDITION and number > len(layers)
        if (line.what, line.state, line.declares) != (expected.what, expected.state, expected.declares) or not (
            either or line.why is expected.why
        ):
            said = f"{line.what!r} is {line.state} by {line.why}"
            message = f"{said}, where {expected.what!r}, {expected.state}, is due"
            yield Unsound("declaration", f"line {number} of the declaration", message)
            return


def _hidden_arguments_texts(package: Package) -> set[str]:
    """The actions whose arguments are said to be a hidden text, as far as this can be: none of them is shown."""
    said = {line.what for line in package.withheld}
    without = (action for action in package.run.actions if not action.arguments and action.arguments_text is None)
    return {action.id for action in without if arguments_text_of(action) in said}


# Ids


def _rows(package: Package) -> Iterator[Unsound]:
    run = package.run
    ids = [row.local_id for row in run.table.rows]
    order: Callable[[str], object] = str if package.contract.labels is Labels.OPAQUE else id_order
    if ids != sorted(ids, key=order):  # type: ignore[arg-type]
        yield Unsound("bindings", "the binding table", "its rows are not in the order of their ids")
    inputs = {(row.local_id, row.locator) for row in run.inputs}
    for row in run.table.rows:
        if run.inputs and (row.local_id, row.locator) not in inputs:
            yield Unsound("inputs-shown", f"row of {row.local_id}", "a row of the id map without a recorded input")
    if len(inputs) != len(run.inputs):
        yield Unsound("inputs-shown", "the recorded inputs", "one of them is told twice")
    if package.contract.inputs is Layer.SHOWN and run.table.state is TableState.NONE:
        yield Unsound("inputs-shown", "the id map", "recorded inputs are shown, and no id map")
    for local_id in sorted(ids_of(run) | {row.local_id for row in run.inputs}):
        if not is_local_id(local_id):
            message = "no local id: a letter, then letters, digits, _ or -, with at least one digit"
            yield Unsound("bindings", f"the id {local_id!r}", message)


def _kept_words(package: Package) -> Iterator[Unsound]:
    if package.contract.labels is not Labels.OPAQUE:
        return
    words = id_like_words(package.run, _labels(package))
    for word in sorted(set(words) - set(package.kept)):
        message = f"something that reads like an original id is left in an account: {word!r}"
        yield Unsound("labels-opaque", "the claims", message)
    for word in sorted(set(package.kept) - set(words)):
        yield Unsound("labels-opaque", "the claims", f"no word of an account that reads like an id: {word!r}")
    if package.kept != tuple(sorted(set(package.kept))):
        yield Unsound("labels-opaque", "the claims", "the words that are kept are not in their order, each once")
    told = list(_evidence_texts(package))
    odd = [repr(word) for word in words if is_local_id(as_seen(word)) and not any(word in text for text in told)]
    if odd:
        message = "words that are kept have the form of local ids; only the log can tell that they are none"
        yield Unsound("labels-opaque", "the claims", f"{message}: {', '.join(odd)}", Grade.RECOMMENDED)


def _evidence_texts(package: Package) -> Iterator[str]:
    """What an account may name without naming an id: what stands in the target, in arguments, in records."""
    yield package.target.literal
    for action in package.run.actions:
        yield action.tool
        yield from (to_json_text(argument.value) for argument in action.arguments)
        yield from (record.text for record in action.records if record.text is not None)
    yield from (turn.content.text for turn in package.run.turns if turn.content.text is not None)


def _labels_of_ids(package: Package) -> Iterator[Unsound]:
    """Where all ids are known, every label is that of one (CONTRACT §7)."""
    if package.contract.labels is Labels.OPAQUE and _knows_all_ids(package):
        for label in sorted(_labels(package) - ids_of(package.run)):
            yield Unsound("labels-opaque", label, "a label of no id: neither issued nor cited")


def _labels_of_the_case(package: Package, case: str) -> Iterator[Unsound]:
    if package.contract.labels is Labels.OPAQUE:
        labels = _labels(package)
        number = len(ids_of(package.run)) if _knows_all_ids(package) else None
        for label in sorted(foreign_labels(labels, case, number=number)):
            yield Unsound("labels-opaque", label, f"not one of the labels that the case {case!r} has")


def _labels(package: Package) -> set[str]:
    """What stands for an id: a word that is kept is none, even where it has the form of a label."""
    return labels_in(package.run) - set(package.kept)


def _knows_all_ids(package: Package) -> bool:
    run = package.run
    return run.table.state is TableState.COMPLETE and all(map(has_account, run.actions))


# The recorded inputs


def _inputs(package: Package) -> Iterator[Unsound]:
    texts = {record.locator: record.text for action in package.run.actions for record in action.records}
    texts |= {record.locator: record.text for record in map(package.run.turn_record, package.run.turns)}
    pairs = ((row, row.text, texts.get(row.locator)) for row in package.run.inputs)
    differ = [row for row, given, recorded in pairs if given and recorded and _differs(given, recorded)]
    if differ:
        named = ", ".join(row.local_id for row in differ[:NAMED]) + (", …" if len(differ) > NAMED else "")
        message = f"{len(differ)} give another text than that of their record, which counts: {named}"
        yield Unsound("inputs-shown", "the recorded inputs", message, Grade.RECOMMENDED)
    for row in package.run.inputs:
        if not _is_channel(row):
            message = f"a channel is a word such as user or tool, not {row.channel!r}"
            yield Unsound("inputs-shown", f"input {row.local_id}", message, Grade.RECOMMENDED)


def _differs(given: str, recorded: str) -> bool:
    return text_difference(given, recorded) is Severity.WARNING


def _is_channel(row: RecordedInput) -> bool:
    return len(row.channel) <= _LONGEST_CHANNEL and row.channel.replace("_", "").replace("-", "").isalnum()


_LONGEST_CHANNEL = 24
#: How many recorded inputs are named before the rest is counted.
NAMED = 3
_RULES: tuple[Callable[[Package], Iterator[Unsound]], ...] = (
    _steps, _turns, _deliveries, _arguments, _declared_elements, _accounts, _declaration, _rows, _kept_words,
    _labels_of_ids, _inputs,
)  # fmt: skip
