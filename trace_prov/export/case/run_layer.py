"""What the agent did: one run as UCO actions and content data (CASE-side words; trace: terms where UCO has none)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import orjson

from trace_prov.export.case.nodes import (
    DECLARED,
    LOCAL_ID,
    LOCATOR,
    NATIVE_ID,
    RUN_ID,
    Node,
    Nodes,
    link,
    named,
    one_or_all,
    payload_facet,
    reference,
)
from trace_prov.model import (
    Account,
    Action,
    Argument,
    BasisState,
    Content,
    Locator,
    Record,
    RecordState,
    Result,
    Run,
)

_STATES = {
    RecordState.ABSENT: "The call never got a result.",
    RecordState.CUT: "A limit shortened the content: its beginning is shown, its size and hash are not known.",
    RecordState.REDACTED: "The content existed and was blacked out.",
    RecordState.WITHHELD: "The content existed and is not shown.",
    RecordState.UNREADABLE: "The content is damaged.",
}


@dataclass
class RunNodes:
    """The nodes of one run that others refer to."""

    run: Run
    nodes: Nodes
    action: Node = field(default_factory=dict)
    #: The content at each locator, whole results included.
    contents: dict[Locator, Node] = field(default_factory=dict)
    actions: dict[int, Node] = field(default_factory=dict)
    #: Everything that was taken out of the log, in order.
    extracted: list[Node] = field(default_factory=list)

    def extract(self, class_: str | list[str], *key: str, **properties: object) -> Node:
        made = self.nodes.add(class_, self.run.id, *key, **properties)
        self.extracted.append(made)
        return made

    def bound_ids(self, locator: Locator) -> list[Node]:
        """References to the rows of the binding table that name exactly this locator."""
        return [
            link(_row(self.run, position, row.local_id))
            for position, row in enumerate(self.run.table.rows, start=1)
            if row.locator == locator
        ]


def add_run(nodes: Nodes, run: Run, files: list[Node]) -> RunNodes:
    """Add the run's nodes; `files` are the log and the sidecar that it was read from."""
    made = RunNodes(run, nodes)
    agent = nodes.add(
        "uco-tool:ConfiguredTool",
        run.id,
        "agent",
        core_name=run.agent,
        core_description=None if run.agent is not None else "The log does not name the agent.",
        tool_toolType="LLM agent",
    )
    user = nodes.add("uco-identity:Identity", run.id, "user", core_description="Who made the request.")
    for turn, locator in zip(run.turns, run.turn_locators, strict=True):
        _turn(made, made.run.turn_record(turn), turn.number, turn.after_step, locator)
    tools: dict[str, Node] = {}
    for action in run.actions:
        _arguments(made, action)
        if action.result is not None:
            _result(made, action, action.result)
    for action in run.actions:
        _action(made, action, agent, tools)
    _sequence(made)
    _accounts(made)
    table = _table(made)
    inputs = _inputs(made)
    _diagnostics(made)
    requests = [made.contents[locator] for locator in run.turn_locators]
    made.action = nodes.add(
        "uco-action:Action",
        run.id,
        "run",
        core_name="agent run",
        core_externalReference=reference(RUN_ID, run.id, run.id, "run"),
        action_performer=agent,
        action_participant=user,
        action_object=one_or_all(requests),
        action_subaction=one_or_all(list(made.actions.values())),
        trace_task=run.task,
        trace_format=run.source.format,
        trace_member=run.source.member,
        trace_recordedIn=one_or_all(files),
        trace_hasTable=table,
        trace_hasInput=one_or_all(inputs),
    )
    return made


def _content(
    made: RunNodes,
    class_: list[str],
    record: Record | None,
    content: Content,
    *key: str,
    name: str,
    further: Sequence[Node] = (),
    recorded: bool = True,
    **properties: object,
) -> Node:
    """A ContentData with its state: a tag and a sentence where it is not simply there.

    `further` are external references beside the record's locator and local ids. A content that is not `recorded` by
    itself was read from another, and has no state of its own.
    """
    owner = (made.run.id, *key)
    references = [] if record is None else [reference(LOCATOR, str(record.locator), *owner)]
    references += [] if record is None else made.bound_ids(record.locator)
    references += further
    hidden = content.state is not RecordState.PRESENT
    whole = content.state is RecordState.PRESENT
    return made.extract(
        class_,
        *key,
        core_name=name,
        core_externalReference=one_or_all(references),
        core_tag=content.state.value if hidden else None,
        core_description=_STATES.get(content.state),
        core_hasFacet=payload_facet(content.text, *owner, whole=whole, mime_type=_mime_type(content.text)),
        trace_state=_state(content.state.value) if recorded else None,
        **properties,
    )


def _state(value: str, kind: str = "") -> Node:
    return {"@id": f"trace:{kind}{value.capitalize()}"}


def _mime_type(text: str | None) -> str | None:
    if text is None:
        return None
    if text[:1] in ("{", "["):
        try:
            orjson.loads(text)
        except ValueError:
            return "text/plain"
        return "application/json"
    return "text/plain"


def _turn(made: RunNodes, record: Record, number: int, after_step: int, locator: Locator) -> None:
    content = _content(
        made,
        ["uco-observable:ContentData", "trace:RequestTurn"],
        record,
        record.content,
        "turn",
        str(number),
        name="user request",
        trace_number=number,
        trace_afterStep=after_step,
    )
    made.contents[locator] = content
    key = ("message", str(number))
    facet = None
    if record.text is not None:
        facet = named("uco-observable:MessageFacet", made.run.id, *key, observable_messageText=record.text)
    message = made.extract("uco-observable:Message", *key, core_name="user request message", core_hasFacet=facet)
    _contained(made, content, message, *key)


def _contained(made: RunNodes, part: Node, whole: Node, *key: str) -> None:
    made.nodes.add(
        "uco-observable:ObservableRelationship",
        made.run.id,
        "contained",
        *key,
        core_isDirectional=True,
        core_kindOfRelationship="Contained_Within",
        core_source=part,
        core_target=whole,
    )


def _arguments(made: RunNodes, action: Action) -> None:
    """The arguments of a call as one content, beside the facet that each has; a hidden argument is a node of its own.

    Kept under the locator `act-NN.args`, which is no record's.
    """
    for position, argument in enumerate(action.arguments, start=1):
        if argument.state is not RecordState.PRESENT:
            _hidden_argument(made, action, argument, position)
    text = action.arguments_text
    if text is None and all(argument.state is RecordState.PRESENT for argument in action.arguments):
        text = json.dumps({argument.name: argument.value for argument in action.arguments}, ensure_ascii=False)
    state = RecordState.PRESENT if text is not None else RecordState.REDACTED
    _content(
        made,
        ["uco-observable:ContentData"],
        None,
        Content(text, state),
        action.id,
        "arguments",
        name=f"{action.id} arguments",
        further=[reference(LOCATOR, f"{action.id}.args", made.run.id, action.id, "arguments")],
    )


def _hidden_argument(made: RunNodes, action: Action, argument: Argument, position: int) -> None:
    text = None if argument.value is None else argument_text(argument)
    _content(
        made,
        ["uco-observable:ContentData", "trace:Argument"],
        None,
        Content(text, argument.state),
        action.id,
        "argument",
        str(position),
        name=f"{action.id} argument {argument.name}",
        trace_argumentName=argument.name,
        trace_position=position,
        trace_valueType=None if text is None else value_type(argument),
    )


def argument_text(argument: Argument) -> str:
    """The value as text: a string as it is, anything else as its JSON."""
    return argument.value if isinstance(argument.value, str) else json.dumps(argument.value, ensure_ascii=False)


def value_type(argument: Argument) -> str:
    names = {str: "string", bool: "boolean", int: "number", float: "number", list: "array", dict: "object"}
    return names.get(type(argument.value), "null")


def _result(made: RunNodes, action: Action, result: Result) -> None:
    whole = Record(Locator(action.number), result.content)
    declared = [
        reference(DECLARED, str(locator), made.run.id, action.id, str(position), trace_position=position)
        for position, locator in enumerate(result.declared, start=1)
    ]
    elements = [record for record in action.records if record.locator.element]
    node = _content(
        made,
        ["uco-observable:ContentData", "trace:ListResult" if elements else "trace:Result"],
        whole,
        result.content,
        action.id,
        "result",
        name=f"{action.id} result",
        further=declared,
        trace_afterStep=result.after_step,
        trace_order=result.order,
        trace_isError=result.is_error,
        trace_elementsGiven=result.elements is not None,
    )
    made.contents[whole.locator] = node
    for record in elements:
        number = str(record.locator.element)
        element = _content(
            made,
            ["uco-observable:ContentData", "trace:ListElement"],
            record,
            record.content,
            action.id,
            "element",
            number,
            name=f"{action.id} result, element {number}",
            recorded=bool(result.elements),
            trace_position=record.locator.element,
        )
        made.contents[record.locator] = element
        _contained(made, element, node, action.id, number)


def _action(made: RunNodes, action: Action, agent: Node, tools: dict[str, Node]) -> None:
    run, key = made.run, (made.run.id, action.id)
    if action.tool not in tools:
        tools[action.tool] = made.nodes.add(
            "uco-tool:Tool", run.id, "function", action.tool, core_name=action.tool, tool_toolType="agent function"
        )
    facets = [
        named(
            "uco-action:ActionArgumentFacet",
            *key,
            str(position),
            action_argumentName=argument.name,
            action_value=argument_text(argument),
            trace_position=position,
            trace_valueType=value_type(argument),
        )
        for position, argument in enumerate(action.arguments, start=1)
        if argument.state is RecordState.PRESENT
    ]
    hidden = [
        {"@id": made_name(made, action, position)}
        for position, argument in enumerate(action.arguments, start=1)
        if argument.state is not RecordState.PRESENT
    ]
    inputs = [*_context(made, action), _link_of(made, action, "arguments"), *hidden]
    result = action.result
    content = made.contents.get(Locator(action.number)) if result is not None else None
    got = action.has_records
    made.actions[action.number] = made.nodes.add(
        "uco-action:Action",
        *key,
        core_name=f"{action.id} {action.tool}",
        core_externalReference=None if action.native_id is None else reference(NATIVE_ID, action.native_id, *key),
        core_hasFacet=one_or_all(facets),
        action_actionStatus=_status(action),
        action_performer=agent,
        action_instrument=tools[action.tool],
        action_object=one_or_all(inputs),
        action_result=content if got else None,
        action_error=content if result is not None and result.is_error else None,
        trace_actionId=action.id,
        trace_number=action.number,
        trace_step=action.step,
        trace_argumentsText=action.arguments_text,
        trace_hasResult=content,
    )


def made_name(made: RunNodes, action: Action, position: int) -> str:
    return str(named("uco-observable:ContentData", made.run.id, action.id, "argument", str(position))["@id"])


def _link_of(made: RunNodes, action: Action, part: str) -> Node:
    return link(named("uco-observable:ContentData", made.run.id, action.id, part))


def _status(action: Action) -> str:
    """From UCO's vocabulary. That a result came says that the call ended, not that it did what it should."""
    if action.result is None or not action.has_records:
        return "Unknown"
    return "Error" if action.result.is_error else "Complete/Finish"


def _context(made: RunNodes, action: Action) -> list[Node]:
    """What was delivered since the step before this action's: what is new in its context; the rest is there still."""
    run = made.run
    before = max((other.step for other in run.actions if other.step < action.step), default=None)

    def is_new(after: int) -> bool:
        return after < action.step and (before is None or after >= before)

    turns = [
        made.contents[locator]
        for turn, locator in zip(run.turns, run.turn_locators, strict=True)
        if is_new(turn.after_step)
    ]
    results = [
        made.contents[Locator(other.number)]
        for other in run.actions
        if other.result is not None and other.has_records and is_new(other.result.after_step)
    ]
    return [*turns, *results]


def _sequence(made: RunNodes) -> None:
    ordered = list(made.actions.items())
    for (number, first), (_, second) in itertools.pairwise(ordered):
        made.nodes.add(
            "uco-core:Relationship",
            made.run.id,
            "followed",
            str(number),
            core_isDirectional=True,
            core_kindOfRelationship="Followed_By",
            core_source=first,
            core_target=second,
        )


def _accounts(made: RunNodes) -> None:
    """One account a step, as all calls of a message share theirs; more only where the calls' accounts differ."""
    groups: dict[tuple[int, Account], list[Action]] = {}
    for action in made.run.actions:
        groups.setdefault((action.step, action.account), []).append(action)
    for (_, account), actions in groups.items():
        _account(made, account, actions)


def _account(made: RunNodes, account: Account, actions: list[Action]) -> None:
    first = actions[0].id
    about = one_or_all([made.actions[action.number] for action in actions])
    basis = _basis(made, account, first, about)
    note = None
    if account.note is not None:
        note = made.extract(
            ["uco-core:Annotation", "trace:Note"],
            first,
            "note",
            core_name=f"agent's note before {first}",
            core_object=about,
            core_statement=account.note,
        )
    withheld = account.basis.state is BasisState.WITHHELD
    made.extract(
        ["uco-core:Annotation", "trace:Account"],
        first,
        "account",
        core_name=f"agent's account before {first}",
        core_description="The account is not shown, or the log holds no accounts." if withheld else None,
        core_object=about,
        core_statement=account.text,
        core_tag="withheld" if withheld else None,
        trace_actionParagraph=account.action_paragraph,
        trace_hasNote=note,
        trace_hasBasis=basis,
    )
    _has_basis(made, account, first)


def _basis(made: RunNodes, account: Account, first: str, about: object) -> Node:
    ids = [
        reference(LOCAL_ID, local_id, made.run.id, first, "citation", str(position), trace_position=position)
        for position, local_id in enumerate(account.basis.ids, start=1)
    ]
    return made.extract(
        ["uco-core:Annotation", "trace:Basis"],
        first,
        "basis",
        core_name=f"Basis that the agent states before {first}",
        core_externalReference=one_or_all(ids),
        core_object=about,
        core_statement=account.basis.text,
        core_tag=f"Basis {account.basis.state.value}",
        trace_basisState=_state(account.basis.state.value, "Basis"),
    )


def _has_basis(made: RunNodes, account: Account, first: str) -> None:
    """What the agent claims to rest on, where a row of the table binds the cited id to a content of the bundle."""
    source = link(named("uco-core:Annotation", made.run.id, first, "account"))
    for local_id in dict.fromkeys(account.basis.ids):
        locator = made.run.table.locator_of(local_id)
        if locator is None or locator not in made.contents:
            continue
        made.nodes.add(
            "uco-core:Relationship",
            made.run.id,
            first,
            "has basis",
            local_id,
            core_description="The agent's own claim.",
            core_isDirectional=True,
            core_kindOfRelationship="Has_Basis",
            core_source=source,
            core_target=made.contents[locator],
        )


def _row(run: Run, position: int, local_id: str, **properties: object) -> Node:
    return reference(LOCAL_ID, local_id, run.id, "row", str(position), **properties)


def _table(made: RunNodes) -> Node:
    run = made.run
    rows = [
        _row(run, position, row.local_id, trace_position=position, trace_bindsLocator=str(row.locator))
        for position, row in enumerate(run.table.rows, start=1)
    ]
    return made.extract(
        ["uco-core:Grouping", "trace:BindingTable"],
        "table",
        core_name="table of local ids and evidence locators",
        core_externalReference=one_or_all(rows),
        core_tag=f"table {run.table.state.value}",
        trace_tableState=_state(run.table.state.value, "Table"),
    )


def _inputs(made: RunNodes) -> list[Node]:
    return [
        made.extract(
            ["uco-observable:ContentData", "trace:RecordedInput"],
            "input",
            str(position),
            core_name=f"recorded input {row.local_id}",
            core_description="What the sidecar says the agent was given; never the record itself.",
            core_hasFacet=payload_facet(row.text, made.run.id, "input", str(position)),
            trace_bindsLocator=str(row.locator),
            trace_channel=row.channel,
            trace_localId=row.local_id,
            trace_position=position,
        )
        for position, row in enumerate(made.run.inputs, start=1)
    ]


def _diagnostics(made: RunNodes) -> None:
    for position, diagnostic in enumerate(made.run.diagnostics, start=1):
        made.nodes.add(
            ["uco-core:Annotation", "trace:Diagnostic"],
            made.run.id,
            "diagnostic",
            str(position),
            core_name=f"reading the log: {diagnostic.code}",
            core_object=link(named(["uco-action:Action"], made.run.id, "run")),
            core_statement=diagnostic.message,
            trace_code=diagnostic.code,
            trace_place=diagnostic.place,
            trace_position=position,
            trace_severity=_state(diagnostic.severity.value, "Severity"),
        )
