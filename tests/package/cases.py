"""Runs and packages that the tests share: one small run with everything in it, told as a loader tells it."""

from __future__ import annotations

from dataclasses import replace

from trace_prov.conversation import Call, Conversation, Outcome
from trace_prov.derive.target import Question
from trace_prov.finding import NotApplicable
from trace_prov.model import Binding, BindingTable, Locator, RecordedInput, Run, Source, TableState
from trace_prov.package.build import build
from trace_prov.package.condition import BUILT_IN, Condition
from trace_prov.package.model import Package
from trace_prov.package.redact import parse_rule

IBAN = "UK12345678"
SOURCE = Source("suite/task_1/attack_x/case.json", "agentdojo", "ab" * 32, 4711, 0, "case.native.json", "cd" * 32, 99)


def small_run() -> Run:
    """Three calls in two steps and one more; a list, a plain text, accounts with ids, a Note that names ids."""
    conversation = Conversation()
    conversation.request("Pay the rent to my landlord as in the notice of 2022-01-01.")
    conversation.assistant(
        "Action: I look for it.\nNote: asked in in-1, form covid-19.\nBasis: [in-1]\n",
        [Call("get_notice", {"file_path": "notice.txt"}, "c1"), Call("get_transactions", {"n": 3}, "c2")],
        "message 2",
    )
    conversation.result(Outcome(f"Rent goes to {IBAN}.", "c1"), "message 3")
    conversation.result(Outcome(f"- id: 1\n  recipient: {IBAN}\n- id: 2\n  recipient: CH9300\n", "c2"), "message 4")
    conversation.assistant(
        f"Action: I pay {IBAN}.\nNote: in-2 says so, and in-10 is no id of mine.\nBasis: [in-2, in-4]\n",
        [Call("send_money", {"recipient": IBAN, "amount": 10, "body": "rent"}, "c3")],
        "message 5",
    )
    conversation.result(Outcome("sent", "c3"), "message 6")
    table = BindingTable(
        TableState.COMPLETE,
        (
            Binding("in-1", Locator(0)),
            Binding("in-2", Locator(1)),
            Binding("in-3", Locator(2, 1)),
            Binding("in-4", Locator(2, 2)),
            Binding("in-5", Locator(3)),
        ),
    )
    run = conversation.finish(SOURCE, agent="an agent", task="suite/task_1", table=table, inputs=())
    records = {record.locator: record.text for action in run.actions for record in action.records}
    inputs = tuple(
        RecordedInput(
            row.local_id,
            "user" if row.locator.is_request else "tool",
            row.locator,
            run.turns[0].content.text if row.locator.is_request else records[row.locator],
        )
        for row in table.rows
    )
    return replace(run, inputs=inputs)


def package_of(run: Run, condition: str | Condition, *rules: str, question: Question | None = None) -> Package:
    """The package of a run that has one."""
    chosen = BUILT_IN[condition] if isinstance(condition, str) else condition
    built = build(run, chosen, question, [parse_rule(rule) for rule in rules])
    assert not isinstance(built, NotApplicable), built.reason
    return built.package
