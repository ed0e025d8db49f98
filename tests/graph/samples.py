"""A run by hand that has every kind of node a run graph can hold."""

from __future__ import annotations

from trace_prov.model import (
    Account,
    Action,
    Argument,
    Basis,
    BasisState,
    Binding,
    BindingTable,
    Content,
    Diagnostic,
    Locator,
    RecordedInput,
    RecordState,
    Result,
    Run,
    Severity,
    Source,
    TableState,
    Turn,
)

RUN_ID = f"urn:trace-prov:run:{'0123456789abcdef' * 2}"
IBAN = "UK12345678901234567890"


def full_run(run_id: str = RUN_ID) -> Run:
    """Two turns, four steps, a list, an error, a hidden, a cut and a missing result, every Basis state, a table."""
    cited = Account(
        Basis(BasisState.IDS, ("in-2", "in-9", "in-2"), "[in-2, in-9, in-2]"),
        text="Action: I pay.\nNote: The bill names it.\nBasis: [in-2, in-9, in-2]",
        action_paragraph="I pay.",
        note="The bill names it.",
    )
    actions = (
        Action(1, 1, "read_file", (Argument("file_path", "bill.txt"), Argument("n", 3)), cited, _result(1, _BILL)),
        Action(2, 1, "get_balance", (), cited, _result(2, "ValueError: none", is_error=True), native_id="call_2"),
        Action(3, 2, "send_money", (Argument("recipient", IBAN),), _stated(BasisState.MISSING), _declared(3)),
        Action(4, 3, "send_money", (Argument("to", [IBAN]),), _stated(BasisState.EMPTY, "[]"), _cut(4)),
        Action(5, 3, "read", (Argument("p", None, RecordState.REDACTED),), _stated(BasisState.MALFORMED, "x"), None),
        Action(6, 4, "odd\ud800", (), Account(Basis(BasisState.WITHHELD)), _given(6), arguments_text="{broken"),
    )
    rows = (Binding("in-1", Locator(0, 1)), Binding("in-2", Locator(1)), Binding("in-3", Locator(1, 2)))
    return Run(
        id=run_id,
        source=Source("a/log.json", "agentdojo", "0" * 64, 12, 0, "a/log.native.json", "1" * 64, 3),
        turns=(Turn(1, Content("Pay the bill.")), Turn(2, Content(None, RecordState.WITHHELD), 2)),
        actions=actions,
        table=BindingTable(TableState.PARTIAL, rows),
        inputs=(RecordedInput("in-1", "user", Locator(0, 1), "Pay the bill."),),
        agent="a model",
        task="banking/user_task_0",
        diagnostics=(Diagnostic("odd", Severity.NOTE, "message 3", "an oddity"),),
    )


_BILL = f'\n- Bill for December\n- to: {IBAN}\n  text: "a\\tb"\n'


def _stated(state: BasisState, text: str | None = None) -> Account:
    return Account(Basis(state, (), text), text=text)


def _result(number: int, text: str, *, is_error: bool = False) -> Result:
    return Result(Content(text), after_step=1, order=number, is_error=is_error)


def _declared(number: int) -> Result:
    hidden = Content(None, RecordState.WITHHELD)
    return Result(hidden, after_step=2, order=number, declared=(Locator(number, 1), Locator(number, 2)))


def _cut(number: int) -> Result:
    return Result(Content("- a", RecordState.CUT), after_step=3, order=number)


def _given(number: int) -> Result:
    elements = (Content("one"), Content(None, RecordState.REDACTED))
    return Result(Content("[one]"), after_step=4, order=number, elements=elements)
