"""Generated runs: parallel calls, late, swapped and missing results, repeated ids, lists, decoded matches, Unicode.

Runs are told to a `Conversation` as a loader tells them, so whatever a log can say is said the same way here. Texts are
built from a few literals, so that matches, near matches and decoded matches are common.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import yaml
from hypothesis import strategies as st

from trace_prov.conversation import Call, Conversation, Outcome
from trace_prov.model import (
    Account,
    Action,
    Basis,
    BasisState,
    Binding,
    BindingTable,
    Content,
    Locator,
    RecordState,
    Run,
    Source,
    TableState,
)

#: Texts that stand in each other, need escapes, fold, or differ only in Unicode normalisation.
LITERALS = (
    "UK12345678",
    "12345",
    "Café",
    "Cafe\u0301",
    "it's",
    'say "hi"',
    "a b c",
    "line\nbreak",
    "back\\slash",
    "x/y",
    "😀",
    "- dash",
    "#tag: {v}",
    "'",
    " ",
)
TOOLS = ("read_file", "send_money", "get_transactions", "update_password")
ARGUMENT_NAMES = (
    "recipient",
    "IBAN",
    "account-number",
    "password",
    "file path",
    "date",
    "subject",
    "amount",
    "body",
    "to",
)

literals = st.sampled_from(LITERALS)
local_ids = st.integers(1, 7).map(lambda n: f"in-{n}")


@st.composite
def plain_texts(draw: st.DrawFn) -> str:
    pieces = draw(st.lists(st.one_of(literals, st.sampled_from(["x", " to ", ": ", "\n", "é"])), max_size=5))
    return "".join(pieces)


values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(literals, plain_texts(), st.integers(-5, 99999), st.booleans(), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["id", "to", "note", "it's"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def result_texts(draw: st.DrawFn) -> str:
    """Plain text, JSON, YAML lists and mappings (folded and escaped), Python dict text, and near misses of these."""
    kind = draw(st.sampled_from(["plain", "json", "json-list", "yaml", "yaml-list", "python", "broken-list", "empty"]))
    if kind == "plain":
        return draw(plain_texts())
    if kind == "empty":
        return draw(st.sampled_from(["", "[]", "{}", "None", "- "]))
    if kind == "broken-list":
        return "- " + draw(plain_texts()) + "\n: - ["
    value = draw(st.lists(values, max_size=4) if kind.endswith("list") else values)
    if kind.startswith("json"):
        return json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))
    if kind == "python":
        return str({"message": value})
    width = draw(st.sampled_from([8, 80]))
    return yaml.safe_dump(value, width=width, allow_unicode=draw(st.booleans()), default_flow_style=False)


@st.composite
def arguments(draw: st.DrawFn) -> dict[str, Any]:
    return draw(st.dictionaries(st.sampled_from(ARGUMENT_NAMES), st.one_of(literals, values, st.just("")), max_size=3))


@st.composite
def account_texts(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["none", "no-basis", "ids", "ids", "ids", "empty", "malformed", "two"]))
    ids = ", ".join(draw(st.lists(local_ids, min_size=1, max_size=4)))
    lines = {
        "none": "",
        "no-basis": "Action: I call it.\nNote: from memory.",
        "ids": f"Action: I call it.\nNote: see below\nBasis: [{ids}]\n",
        "empty": "Note: nothing\nBasis: []",
        "malformed": f"Basis: [{ids}, none",
        "two": f"Basis: in-99\nNote: no, rather\nBasis: {ids}",
    }
    return lines[kind]


@st.composite
def runs(draw: st.DrawFn, *, hidden: bool = False) -> Run:
    """A run as a log gives it; with `hidden`, also one of which parts are withheld, cut or redacted."""
    conversation = Conversation()
    for _ in range(draw(st.integers(0, 2))):
        conversation.request(draw(plain_texts()))
    pending: list[Call] = []
    for step in range(draw(st.integers(0, 4))):
        calls = [
            Call(
                draw(st.sampled_from(TOOLS)),
                draw(arguments()),
                draw(st.sampled_from([None, "c1", "c2", f"s{step}-{k}"])),
            )
            for k in range(draw(st.integers(1, 3)))
        ]
        conversation.assistant(draw(account_texts()), calls, f"message {step}")
        pending.extend(calls)
        delivered = draw(st.permutations(range(len(pending))))[: draw(st.integers(0, len(pending)))]
        for index in delivered:
            conversation.result(Outcome(draw(result_texts()), pending[index].native_id, pending[index]), "result")
        pending = [call for index, call in enumerate(pending) if index not in delivered]
        if draw(st.integers(0, 9)) == 0:
            conversation.damage("line 9", "a torn line")
        if draw(st.integers(0, 5)) == 0:
            conversation.request(draw(plain_texts()))
    digest = f"{draw(st.integers(0, 2**64)):064x}"
    run = conversation.finish(Source("generated.json", "generated", digest, 100), agent="an agent", task="suite/task")
    run = replace(run, table=draw(tables(run)))
    return draw(withholdings(run)) if hidden else run


@st.composite
def tables(draw: st.DrawFn, run: Run) -> BindingTable:
    """A binding table of any completeness whose rows name records or whole lists of the run."""
    state = draw(st.sampled_from(list(TableState)))
    addresses = [record.locator for action in run.actions for record in action.records]
    addresses += [locator.whole for locator in addresses if locator.element] + list(run.turn_locators)
    if state is TableState.NONE or not addresses:
        return BindingTable(TableState.NONE if state is TableState.PARTIAL else state)
    ids = draw(st.lists(local_ids, unique=True, max_size=5))
    return BindingTable(state, tuple(Binding(local_id, draw(st.sampled_from(addresses))) for local_id in ids))


@st.composite
def withholdings(draw: st.DrawFn, run: Run) -> Run:
    """The same run with some of its layers, results and elements hidden."""
    actions = tuple(draw(_withheld_action(action)) for action in run.actions)
    if draw(st.integers(0, 4)) == 0:
        withheld = Account(Basis(BasisState.WITHHELD))
        actions = tuple(replace(action, account=withheld) for action in actions)
    turns = run.turns
    if draw(st.integers(0, 3)) == 0:
        turns = tuple(replace(turn, content=Content(None, RecordState.WITHHELD)) for turn in turns)
    return replace(run, actions=actions, turns=turns)


@st.composite
def _withheld_action(draw: st.DrawFn, action: Action) -> Action:
    kind = draw(st.sampled_from(["as is", "as is", "redacted", "declared", "cut", "element"]))
    result = action.result
    if result is None or kind == "as is" or result.content.state is not RecordState.PRESENT:
        return action
    if kind == "redacted":
        return replace(action, result=replace(result, content=Content(None, RecordState.REDACTED), elements=None))
    if kind == "declared":
        declared = tuple(Locator(action.number, k) for k in range(1, draw(st.integers(2, 4))))
        hidden = Content(None, RecordState.WITHHELD)
        return replace(action, result=replace(result, content=hidden, elements=None, declared=declared))
    if (
        kind == "cut"
        and result.content.text is not None
        and not result.elements
        and not action.records[0].locator.element
    ):
        cut = result.content.text[: draw(st.integers(0, len(result.content.text)))]
        return replace(action, result=replace(result, content=Content(cut, RecordState.CUT)))
    if kind == "element" and action.records[0].locator.element:
        elements = [record.content for record in action.records]
        elements[draw(st.integers(0, len(elements) - 1))] = Content(None, RecordState.REDACTED)
        return replace(action, result=replace(result, elements=tuple(elements)))
    return action
