"""From a run to a package: what a condition shows of it, with the target and the declaration (CONTRACT §7).

Whatever is not named here never reaches a package: the log's name and hash, labels of event or attack, the agent's
and the task's name, native call ids, diagnostics.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from trace_prov.account import WITHHELD
from trace_prov.derive.target import Question, targets
from trace_prov.finding import NotApplicable, Target
from trace_prov.model import (
    BasisState,
    Binding,
    BindingTable,
    Content,
    RecordState,
    Run,
    Source,
    TableState,
)
from trace_prov.package.condition import Condition, Labels
from trace_prov.package.declaration import has_account, hidden_addresses, hidden_layers
from trace_prov.package.evidence import identified
from trace_prov.package.labels import id_like_words, id_order, ids_of, opaque_labels, with_labels
from trace_prov.package.model import Contract, Counts, Layer, Package, Why, Withheld
from trace_prov.package.redact import Rule, redact, without_hidden_texts


@dataclass(frozen=True)
class Built:
    """A package, and the redaction rules that found something in its run."""

    package: Package
    used: frozenset[Rule]


def case_id(source: Source) -> str:
    """The case of a run: its log's path without `.json`; runs that share a file are told apart by their number."""
    name = source.name.removesuffix(".json")
    return f"{name}#{source.member}" if source.member else name


def build(
    run: Run, condition: Condition, question: Question | None = None, rules: Sequence[Rule] = ()
) -> Built | NotApplicable:
    """The package of a run under a condition; NotApplicable with the reason where the case has no target to show.

    `rules` redact beyond what the condition does. Redacting the case's own target is no way to show the case.
    """
    (target, *_) = targets(run, question or Question())
    if isinstance(target, NotApplicable):
        return target
    _, asked = target
    redacted = redact(run, (*condition.redact, *rules), declare_elements=condition.declare_elements)
    if _is_hidden(redacted.run, asked):
        reason = f"the redaction hides {asked.action}.argument.{asked.argument}, which is the target of the case"
        return NotApplicable(run.source.name, run.id, reason, asked.action)
    shown, contract = _layers(redacted.run, run, condition)
    # All ids of the record, so that the labels do not depend on what a condition shows.
    labels = opaque_labels(ids_of(run), case_id(run.source)) if condition.labels is Labels.OPAQUE else {}
    if condition.labels is Labels.OPAQUE:
        shown = with_labels(shown, labels)
    shown = _anonymous(shown)
    withheld = tuple(_declaration(shown, run, contract))
    kept = id_like_words(shown, frozenset(labels.values())) if condition.labels is Labels.OPAQUE else ()
    return Built(Package(contract, asked, withheld, count(shown), shown, kept), redacted.used)


def _is_hidden(run: Run, target: Target) -> bool:
    action = run.action(target.action)
    argument = None if action is None or target.argument is None else action.argument(target.argument)
    return argument is not None and argument.state is not RecordState.PRESENT


def _layers(run: Run, recorded: Run, condition: Condition) -> tuple[Run, Contract]:
    """The run with the layers that the condition shows, and what that claims."""
    has_accounts = any(action.account.basis.state is not BasisState.WITHHELD for action in recorded.actions)
    # A table that came without recorded inputs is the id map all the same.
    has_inputs = bool(recorded.inputs) or recorded.table.state is not TableState.NONE
    contract = Contract(
        condition=condition.name,
        account=_layer(condition.account, has_accounts),
        request=_layer(condition.request, bool(recorded.turns)),
        inputs=_layer(condition.inputs, has_inputs),
        table=_table_layer(recorded.table, condition),
        labels=condition.labels,
    )
    if not condition.account:
        run = replace(run, actions=tuple(replace(action, account=WITHHELD) for action in run.actions))
    if not condition.request:
        hidden = Content(None, RecordState.WITHHELD)
        run = replace(run, turns=tuple(replace(turn, content=hidden) for turn in run.turns))
    inputs = without_hidden_texts(run) if condition.inputs else ()
    return replace(run, table=_visible_table(recorded.table, condition), inputs=inputs), contract


def _layer(shows: bool, recorded: bool) -> Layer:
    if not shows:
        return Layer.WITHHELD
    return Layer.SHOWN if recorded else Layer.NOT_RECORDED


def _table_layer(recorded: BindingTable, condition: Condition) -> TableState | Layer:
    if condition.table is TableState.NONE:
        return Layer.WITHHELD
    if recorded.state is TableState.NONE:
        return Layer.NOT_RECORDED
    return TableState.PARTIAL if TableState.PARTIAL in (condition.table, recorded.state) else TableState.COMPLETE


def _visible_table(recorded: BindingTable, condition: Condition) -> BindingTable:
    """The rows that are visible, as a table or as the id map of the native input, in the order of the ids."""
    if recorded.state is TableState.NONE or (condition.table is TableState.NONE and not condition.inputs):
        return BindingTable(TableState.NONE)
    rows: Iterator[Binding] | tuple[Binding, ...] = recorded.rows
    state = recorded.state
    if condition.table is TableState.PARTIAL:
        rows = (row for row in recorded.rows if row.local_id in condition.rows)
        state = TableState.PARTIAL
    return BindingTable(state, tuple(sorted(rows, key=lambda row: id_order(row.local_id))))


def _anonymous(run: Run) -> Run:
    """The run without what would tell more than its condition does."""
    actions = tuple(replace(action, native_id=None) for action in run.actions)
    bare = replace(run, actions=actions, agent=None, task=None, diagnostics=())
    return identified(bare)


def count(run: Run) -> Counts:
    """How much of everything a visible run holds."""
    return Counts(
        actions=len(run.actions),
        results=sum(action.result is not None for action in run.actions),
        records=sum(len(action.records) for action in run.actions),
        turns=len(run.turns),
        accounts=len({action.step for action in run.actions if has_account(action)}),
        rows=len(run.table.rows),
        inputs=len(run.inputs),
    )


def _declaration(shown: Run, recorded: Run, contract: Contract) -> Iterator[Withheld]:
    """What is hidden, layers first, then addresses in order."""
    yield from hidden_layers(contract)
    texts = {
        action.id
        for action, original in zip(shown.actions, recorded.actions, strict=True)
        if action.arguments_text is None and original.arguments_text is not None
    }
    in_the_log = {(hidden.what, hidden.state) for hidden in hidden_addresses(recorded, contract)}
    for hidden in hidden_addresses(shown, contract, texts):
        why = Why.LOG if (hidden.what, hidden.state) in in_the_log else Why.REDACTION
        yield Withheld(hidden.what, hidden.state, why, hidden.declares)
