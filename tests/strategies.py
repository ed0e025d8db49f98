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

local_ids = st.integers(1, 4).map(lambda n: f"in-{n}")
Texts = st.SearchStrategy[str]


def plain_texts(literals: Texts) -> Texts:
    pieces = st.one_of(literals, literals, literals, st.sampled_from(["x", " to ", ": ", "\n", "é"]))
    return st.lists(pieces, min_size=1, max_size=5).map("".join)


def values(literals: Texts) -> st.SearchStrategy[Any]:
    """JSON values in which the literals are common."""
    leaves = st.one_of(literals, literals, plain_texts(literals), st.integers(-5, 99999), st.booleans(), st.none())
    keys = st.sampled_from(["id", "to", "note", "it's"])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
        max_leaves=6,
    )


@st.composite
def result_texts(draw: st.DrawFn, literals: Texts) -> str:
    """Plain text, JSON, YAML lists and mappings (folded and escaped), Python dict text, and near misses of these."""
    kind = draw(
        st.sampled_from(
            ["plain", "json", "json-list", "yaml", "yaml-list", "python", "broken-list", "empty", "yaml-shared"]
        )
    )
    if kind == "plain":
        return draw(plain_texts(literals))
    if kind == "empty":
        return draw(st.sampled_from(["", "[]", "{}", "None", "- "]))
    if kind == "broken-list":
        return "- " + draw(plain_texts(literals)) + "\n: - ["
    inner = values(literals)
    value = draw(st.lists(inner, max_size=4) if kind.endswith("list") else inner)
    if kind.startswith("json"):
        return json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))
    if kind == "python":
        return str({"message": value})
    if kind == "yaml-shared":
        value = [value, {"to": value}, value]  # written once with an anchor, then as aliases
    width = draw(st.sampled_from([8, 80]))
    return yaml.safe_dump(value, width=width, allow_unicode=draw(st.booleans()), default_flow_style=False)


def arguments(literals: Texts) -> st.SearchStrategy[dict[str, Any]]:
    value = st.one_of(literals, literals, literals, values(literals), st.just(""))
    return st.dictionaries(st.sampled_from(ARGUMENT_NAMES), value, min_size=1, max_size=3)


@st.composite
def account_texts(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["none", "no-basis", "ids", "ids", "ids", "ids", "ids", "two", "empty", "malformed"]))
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
    literals = st.sampled_from(draw(st.lists(st.sampled_from(LITERALS), min_size=1, max_size=2)))
    for _ in range(draw(st.integers(0, 2))):
        conversation.request(draw(plain_texts(literals)))
    pending: list[Call] = []
    for step in range(draw(st.integers(1, 4))):
        calls = [
            Call(
                draw(st.sampled_from(TOOLS)),
                draw(arguments(literals)),
                draw(st.sampled_from([None, "c1", "c2", f"s{step}-{k}"])),
            )
            for k in range(draw(st.integers(1, 3)))
        ]
        conversation.assistant(draw(account_texts()), calls, f"message {step}")
        pending.extend(calls)
        delivered = draw(st.permutations(range(len(pending))))
        if draw(st.booleans()):
            delivered = delivered[: draw(st.integers(0, len(pending)))]
        for index in delivered:
            conversation.result(
                Outcome(draw(result_texts(literals)), pending[index].native_id, pending[index]), "result"
            )
        pending = [call for index, call in enumerate(pending) if index not in delivered]
        if draw(st.integers(0, 12)) == 7:
            conversation.damage("line 9", "a torn line")
        if draw(st.integers(0, 5)) == 0:
            conversation.request(draw(plain_texts(literals)))
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
    ids = draw(st.lists(local_ids, unique=True, min_size=1, max_size=4))
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
