"""A package as compact JSON for readers, and back (docs/packages.md has the form, field by field).

The member `record` holds what every condition shows, in the same bytes; the layers stand beside it. Reading is strict:
a member that has no place here, or lacks, is an error with its path, so nothing can travel along unseen.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from trace_prov.account import WITHHELD
from trace_prov.errors import PackageError
from trace_prov.finding import Target
from trace_prov.model import (
    Account,
    Action,
    Argument,
    Basis,
    BasisState,
    Binding,
    BindingTable,
    Content,
    Locator,
    RecordedInput,
    RecordState,
    Result,
    Run,
    Source,
    TableState,
    Turn,
    action_id,
)
from trace_prov.package.condition import Labels
from trace_prov.package.model import (
    SOURCE_FORMAT,
    SOURCE_NAME,
    Contract,
    Counts,
    Layer,
    Package,
    Why,
    Withheld,
)

FORMAT = "trace-prov-evidence 1"
JsonObject = dict[str, Any]
State = TypeVar("State", bound=StrEnum)


def to_bytes(value: Any) -> bytes:
    """Compact JSON in UTF-8; ASCII escapes only where a text holds lone surrogates, which UTF-8 cannot."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


def identified(run: Run) -> Run:
    """The visible run under the identifier and source that its record gives it.

    They are drawn from what every condition of the case shows, and from nothing hidden: a hash over a hidden text
    would let a reader try guesses.
    """
    record = to_bytes(_record_json(run))
    digest = hashlib.sha256(record).hexdigest()
    source = Source(SOURCE_NAME, SOURCE_FORMAT, digest, len(record))
    return replace(run, id=f"urn:trace-prov:run:{digest[:32]}", source=source)


def package_to_bytes(package: Package) -> bytes:
    """The evidence file of a package."""
    return to_bytes(package_to_json(package)) + b"\n"


def package_to_json(package: Package) -> JsonObject:
    """The package as JSON; the layers that are not shown have no member."""
    run, contract = package.run, package.contract
    body: JsonObject = {
        "format": FORMAT,
        "contract": {name: str(value) for name, value in asdict(contract).items()},
        "target": asdict(package.target),
        "withheld": [_withheld_json(line) for line in package.withheld],
        "counts": asdict(package.counts),
        "record": _record_json(run),
    }
    if contract.account is Layer.SHOWN:
        body["accounts"] = list(_accounts_json(run))
    if contract.labels is Labels.OPAQUE:
        body["kept_words"] = list(package.kept)
    native: JsonObject = {}
    if contract.request is Layer.SHOWN:
        native["request"] = [
            {"locator": str(run.turn_record(turn).locator), **_content_json(turn.content)} for turn in run.turns
        ]
    rows = [{"id": row.local_id, "locator": str(row.locator)} for row in run.table.rows]
    if contract.inputs is Layer.SHOWN:
        native["inputs"] = [_input_json(row, run) for row in run.inputs]
        native["id_map"] = rows
        native["id_map_state"] = str(run.table.state)
    if native:
        body["native"] = native
    if isinstance(contract.table, TableState):
        body["bindings"] = rows
    return body


def _withheld_json(line: Withheld) -> JsonObject:
    body: JsonObject = {"what": line.what, "state": str(line.state), "why": str(line.why)}
    return body | ({"declares": [str(locator) for locator in line.declares]} if line.declares else {})


def _record_json(run: Run) -> JsonObject:
    return {
        "turns": [
            {"locator": str(run.turn_record(turn).locator), "number": turn.number, "after_step": turn.after_step}
            for turn in run.turns
        ],
        "actions": [_action_json(action) for action in run.actions],
    }


def _action_json(action: Action) -> JsonObject:
    body: JsonObject = {
        "action": action.id,
        "step": action.step,
        "tool": action.tool,
        "arguments": [_argument_json(argument) for argument in action.arguments],
    }
    if action.arguments_text is not None:
        body["arguments_text"] = action.arguments_text
    body["result"] = None if action.result is None else _result_json(action, action.result)
    return body


def _argument_json(argument: Argument) -> JsonObject:
    if argument.state is not RecordState.PRESENT:
        return {"name": argument.name, "state": str(argument.state)}
    if _is_strict(argument.value):
        return {"name": argument.name, "value": argument.value}
    return {"name": argument.name, "value_text": json.dumps(argument.value, ensure_ascii=False)}


def _is_strict(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _content_json(content: Content) -> JsonObject:
    body: JsonObject = {} if content.state is RecordState.PRESENT else {"state": str(content.state)}
    return body | ({} if content.text is None else {"text": content.text})


def _result_json(action: Action, result: Result) -> JsonObject:
    body: JsonObject = {
        "locator": str(Locator(action.number)),
        "after_step": result.after_step,
        "order": result.order,
        "is_error": result.is_error,
    }
    if result.declared:
        body["declares"] = [str(locator) for locator in result.declared]
    records = action.records
    if not records or records[0].locator.element == 0:
        return body | _content_json(result.content)
    elements = [{"locator": str(record.locator), **_content_json(record.content)} for record in records]
    if result.elements:
        body |= {"given_apart": True, **_content_json(result.content)}
        return body | {"elements": elements}
    whole, slices = result.content.text or "", "".join(record.text or "" for record in records)
    start = whole.index(slices)
    return body | {"before": whole[:start], "elements": elements, "after": whole[start + len(slices) :]}


def _accounts_json(run: Run) -> Iterator[JsonObject]:
    """One account for the calls that share it, in the order of the calls."""
    shared: dict[tuple[int, Account], list[str]] = {}
    for action in run.actions:
        if action.account.basis.state is not BasisState.WITHHELD:
            shared.setdefault((action.step, action.account), []).append(action.id)
    for (_, account), actions in shared.items():
        parts = {"text": account.text, "action": account.action_paragraph, "note": account.note}
        basis: JsonObject = {"state": str(account.basis.state), "ids": list(account.basis.ids)}
        if account.basis.text is not None:
            basis["text"] = account.basis.text
        shown = {name: text for name, text in parts.items() if text is not None}
        yield {"actions": actions, **shown, "basis": basis}


def _input_json(row: RecordedInput, run: Run) -> JsonObject:
    """A recorded input; `after_step` is when its record had arrived, as far as the log tells time."""
    body: JsonObject = {"id": row.local_id, "channel": row.channel, "locator": str(row.locator)}
    after = _arrival(row.locator, run)
    body |= {} if after is None else {"after_step": after}
    return body | ({} if row.text is None else {"text": row.text})


def _arrival(locator: Locator, run: Run) -> int | None:
    if locator.is_request:
        return next((turn.after_step for turn in run.turns if turn.number == (locator.element or 1)), None)
    action = run.action(str(locator.whole).removesuffix(".result"))
    return None if action is None or action.result is None else action.result.after_step


# Reading


def package_from_bytes(data: bytes, source: str = "evidence.json") -> Package:
    """The package that an evidence file holds; raises PackageError with the path of what is wrong."""
    try:
        body = json.loads(data.decode())
    except UnicodeDecodeError as error:
        raise PackageError(source, place=f"byte {error.start}", expected="UTF-8 text", found="other bytes") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise PackageError(source, place=where, expected="JSON", found=error.msg) from None
    except ValueError:
        raise PackageError(source, expected="numbers of at most 4,300 digits", found="a longer one") from None
    except RecursionError:
        raise PackageError(source, expected="JSON", found="brackets nested too deeply") from None
    node = _Node(source, "", body)
    try:
        return _package(node)
    except RecursionError:
        raise PackageError(source, expected="evidence", found="values nested too deeply") from None


@dataclass(frozen=True, slots=True)
class _Node:
    """A JSON value with its path; every access says what it expects."""

    source: str
    path: str
    value: Any

    def wrong(self, expected: str, found: str | None = None) -> PackageError:
        return PackageError(
            self.source, place=self.path or "top", expected=expected, found=found or _shortened(self.value)
        )

    def members(self, *needed: str, maybe: tuple[str, ...] = ()) -> dict[str, _Node]:
        """The members of an object that has the needed ones, perhaps the others, and nothing else."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        for name in needed:
            if name not in self.value:
                raise self.wrong(f"a member {name!r}", "none")
        for name in self.value:
            if name not in needed and name not in maybe:
                raise self.wrong(f"only the members {', '.join((*needed, *maybe))}", repr(name))
        return {
            name: _Node(self.source, f"{self.path}.{name}".lstrip("."), value) for name, value in self.value.items()
        }

    def items(self) -> list[_Node]:
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return [_Node(self.source, f"{self.path}[{k}]", value) for k, value in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        return self.value

    def number(self, least: int = 0) -> int:
        if not isinstance(self.value, int) or isinstance(self.value, bool) or self.value < least:
            raise self.wrong(f"a whole number from {least}")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def locator(self) -> Locator:
        try:
            return Locator.parse(self.text())
        except ValueError:
            raise self.wrong("a locator such as act-02.result[1]") from None

    def one_of(self, kind: type[State]) -> State:
        try:
            return kind(self.text())
        except ValueError:
            raise self.wrong(f"one of {', '.join(kind)}") from None


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _package(node: _Node) -> Package:
    top = node.members(
        "format", "contract", "target", "withheld", "counts", "record",
        maybe=("accounts", "kept_words", "native", "bindings"),
    )  # fmt: skip
    if top["format"].text() != FORMAT:
        raise top["format"].wrong(repr(FORMAT))
    contract = _contract(top["contract"])
    native = top["native"].members(maybe=("request", "inputs", "id_map", "id_map_state")) if "native" in top else {}
    for name, there, shown in (
        ("accounts", "accounts" in top, contract.account is Layer.SHOWN),
        ("kept_words", "kept_words" in top, contract.labels is Labels.OPAQUE),
        ("bindings", "bindings" in top, isinstance(contract.table, TableState)),
        ("native.request", "request" in native, contract.request is Layer.SHOWN),
        ("native.inputs", "inputs" in native, contract.inputs is Layer.SHOWN),
        ("native.id_map", "id_map" in native, contract.inputs is Layer.SHOWN),
        ("native.id_map_state", "id_map_state" in native, contract.inputs is Layer.SHOWN),
        ("native", "native" in top, Layer.SHOWN in (contract.request, contract.inputs)),
    ):
        if there is not shown:
            expected = f"{name} {'as' if shown else 'left out, as'} the contract says"
            raise node.wrong(expected, "none" if shown else f"a member {name}")
    run = _run(top, native, contract)
    return Package(
        contract=contract,
        target=_target(top["target"]),
        withheld=tuple(_withheld(line) for line in top["withheld"].items()),
        counts=_counts(top["counts"]),
        run=identified(run),
        kept=tuple(word.text() for word in top["kept_words"].items()) if "kept_words" in top else (),
    )


def _contract(node: _Node) -> Contract:
    claims = node.members("condition", "account", "request", "inputs", "table", "labels")
    table = claims["table"]
    is_layer = table.value in (str(Layer.WITHHELD), str(Layer.NOT_RECORDED))
    return Contract(
        condition=claims["condition"].text(),
        account=claims["account"].one_of(Layer),
        request=claims["request"].one_of(Layer),
        inputs=claims["inputs"].one_of(Layer),
        table=table.one_of(Layer) if is_layer else table.one_of(TableState),
        labels=claims["labels"].one_of(Labels),
    )


def _target(node: _Node) -> Target:
    parts = node.members("action", "argument", "literal")
    argument = None if parts["argument"].value is None else parts["argument"].text()
    return Target(parts["action"].text(), argument, parts["literal"].text())


def _withheld(node: _Node) -> Withheld:
    line = node.members("what", "state", "why", maybe=("declares",))
    declares = tuple(locator.locator() for locator in line["declares"].items()) if "declares" in line else ()
    return Withheld(line["what"].text(), line["state"].one_of(RecordState), line["why"].one_of(Why), declares)


def _counts(node: _Node) -> Counts:
    names = tuple(Counts.__dataclass_fields__)
    parts = node.members(*names)
    return Counts(**{name: parts[name].number() for name in names})


def _run(top: dict[str, _Node], native: dict[str, _Node], contract: Contract) -> Run:
    record = top["record"].members("turns", "actions")
    accounts = _accounts(top["accounts"]) if "accounts" in top else {}
    actions = tuple(
        _action(action, number, accounts) for number, action in enumerate(record["actions"].items(), start=1)
    )
    unknown = accounts.keys() - {action.id for action in actions}
    if unknown:
        raise top["accounts"].wrong("accounts of actions of the record", ", ".join(sorted(unknown)))
    rows_of = native.get("id_map") or top.get("bindings")
    state = TableState.NONE
    if "id_map_state" in native:
        state = native["id_map_state"].one_of(TableState)
    elif isinstance(contract.table, TableState):
        state = contract.table
    return Run(
        id="",
        source=Source(SOURCE_NAME, SOURCE_FORMAT, "", 0),
        turns=_turns(record["turns"], native.get("request")),
        actions=actions,
        table=BindingTable(state, () if rows_of is None else tuple(_row(row) for row in rows_of.items())),
        inputs=tuple(_input(row) for row in native["inputs"].items()) if "inputs" in native else (),
    )


def _turns(record: _Node, request: _Node | None) -> tuple[Turn, ...]:
    hidden = Content(None, RecordState.WITHHELD)
    turns = []
    texts = None if request is None else request.items()
    for number, node in enumerate(record.items(), start=1):
        parts = node.members("locator", "number", "after_step")
        content = hidden
        if texts is not None:
            if number > len(texts):
                raise record.wrong("a request text for each turn", f"{len(texts)}")
            shown = texts[number - 1].members("locator", maybe=("state", "text"))
            if shown["locator"].text() != parts["locator"].text():
                raise shown["locator"].wrong(repr(parts["locator"].value))
            content = _content(texts[number - 1], shown)
        turns.append(Turn(parts["number"].number(1), content, parts["after_step"].number()))
    if texts is not None and len(texts) != len(turns):
        raise record.wrong("a turn for each request text", f"{len(turns)} for {len(texts)}")
    return tuple(turns)


def _content(node: _Node, parts: dict[str, _Node]) -> Content:
    text = parts["text"].text() if "text" in parts else None
    state = parts["state"].one_of(RecordState) if "state" in parts else RecordState.PRESENT
    if (text is None) is (state is RecordState.PRESENT) and state is not RecordState.CUT:
        raise node.wrong("a text exactly where the content is shown", f"state {state}")
    return Content(text, state)


def _action(node: _Node, number: int, accounts: dict[str, Account]) -> Action:
    parts = node.members("action", "step", "tool", "arguments", "result", maybe=("arguments_text",))
    if parts["action"].text() != action_id(number):
        raise parts["action"].wrong(f"{action_id(number)!r}, the next in order")
    result = None if parts["result"].value is None else _result(parts["result"], number)
    action = Action(
        number=number,
        step=parts["step"].number(1),
        tool=parts["tool"].text(),
        arguments=tuple(_argument(argument) for argument in parts["arguments"].items()),
        account=WITHHELD,
        result=result,
        arguments_text=parts["arguments_text"].text() if "arguments_text" in parts else None,
    )
    return replace(action, account=accounts.get(action.id, WITHHELD))


def _argument(node: _Node) -> Argument:
    parts = node.members("name", maybe=("value", "value_text", "state"))
    name = parts["name"].text()
    if len(parts) != 2:
        raise node.wrong("a value, a value_text or a state")
    if "state" in parts:
        state = parts["state"].one_of(RecordState)
        if state is RecordState.PRESENT:
            raise parts["state"].wrong("a state that hides the value")
        return Argument(name, None, state)
    if "value_text" in parts:
        try:
            return Argument(name, json.loads(parts["value_text"].text()))
        except ValueError:
            raise parts["value_text"].wrong("JSON") from None
    return Argument(name, parts["value"].value)


def _result(node: _Node, number: int) -> Result:
    parts = node.members(
        "locator", "after_step", "order", "is_error",
        maybe=("declares", "state", "text", "given_apart", "before", "elements", "after"),
    )  # fmt: skip
    if parts["locator"].locator() != Locator(number):
        raise parts["locator"].wrong(repr(str(Locator(number))))
    content, elements = _result_content(node, parts, number)
    return Result(
        content=content,
        after_step=parts["after_step"].number(),
        order=parts["order"].number(1),
        is_error=parts["is_error"].flag(),
        elements=elements,
        declared=tuple(locator.locator() for locator in parts["declares"].items()) if "declares" in parts else (),
    )


def _result_content(node: _Node, parts: dict[str, _Node], number: int) -> tuple[Content, tuple[Content, ...] | None]:
    if "elements" not in parts:
        for name in ("given_apart", "before", "after"):
            if name in parts:
                raise parts[name].wrong("only beside elements")
        return _content(node, parts), None
    elements = []
    for k, element in enumerate(parts["elements"].items(), start=1):
        shown = element.members("locator", maybe=("state", "text"))
        if shown["locator"].locator() != Locator(number, k):
            raise shown["locator"].wrong(repr(str(Locator(number, k))))
        elements.append(_content(element, shown))
    if not elements:
        raise parts["elements"].wrong("at least one element")
    if "given_apart" in parts:
        if not parts["given_apart"].flag() or "before" in parts or "after" in parts:
            raise parts["given_apart"].wrong("true, and nothing before or after the elements")
        return _content(node, parts), tuple(elements)
    if "before" not in parts or "after" not in parts or "text" in parts or "state" in parts:
        raise node.wrong("the text before and after the elements", ", ".join(parts))
    if any(element.state is not RecordState.PRESENT for element in elements):
        raise node.wrong("given_apart where an element is hidden")
    whole = parts["before"].text() + "".join(element.text or "" for element in elements) + parts["after"].text()
    result = Result(Content(whole), 0, 1)
    if [record.text for record in result.records(number)] != [element.text for element in elements]:
        raise parts["elements"].wrong("the elements as the whole text reads")
    return Content(whole), None


def _accounts(node: _Node) -> dict[str, Account]:
    accounts: dict[str, Account] = {}
    for item in node.items():
        parts = item.members("actions", "basis", maybe=("text", "action", "note"))
        basis = parts["basis"].members("state", "ids", maybe=("text",))
        account = Account(
            Basis(
                basis["state"].one_of(BasisState),
                tuple(local_id.text() for local_id in basis["ids"].items()),
                basis["text"].text() if "text" in basis else None,
            ),
            *(parts[name].text() if name in parts else None for name in ("text", "action", "note")),
        )
        if account.basis.state is BasisState.WITHHELD:
            raise basis["state"].wrong("the state of a Basis that is shown")
        for action in parts["actions"].items():
            if action.text() in accounts:
                raise action.wrong("one account for each action")
            accounts[action.text()] = account
    return accounts


def _row(node: _Node) -> Binding:
    parts = node.members("id", "locator")
    return Binding(parts["id"].text(), parts["locator"].locator())


def _input(node: _Node) -> RecordedInput:
    parts = node.members("id", "channel", "locator", maybe=("after_step", "text"))
    return RecordedInput(
        parts["id"].text(),
        parts["channel"].text(),
        parts["locator"].locator(),
        parts["text"].text() if "text" in parts else None,
    )
