"""A run as a graph: the quads of one `Run`, as canonical N-Quads in a fixed order (ontology/trace.ttl).

Two named graphs: what was observed (its name is the run's IRI) and, in a bundle of its own that is attributed to the
agent, what the agent wrote of it. Nothing the agent claims and no match of a text is ever a `prov:wasDerivedFrom`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO

import pyoxigraph

from trace_prov.graph import iris
from trace_prov.graph.literals import quoted, sha256_of, to_rdf
from trace_prov.model import (
    Account,
    Action,
    Argument,
    Content,
    Locator,
    Record,
    RecordState,
    Result,
    Run,
)


def _terms(namespace: str, names: str) -> dict[str, str]:
    return {name: f"<{namespace}{name}>" for name in names.split()}


_A = f"<{iris.RDF_TYPE}>"
_PROV = _terms(
    iris.PROV,
    "Activity Agent Bundle Collection Entity Influence SoftwareAgent actedOnBehalfOf hadMember qualifiedInfluence"
    " used wasAssociatedWith wasAttributedTo wasGeneratedBy wasInformedBy",
)
_TRUE = f'"true"^^<{iris.XSD}boolean>'
_FALSE = f'"false"^^<{iris.XSD}boolean>'


def run_to_nquads(run: Run) -> bytes:
    """The run's quads as canonical N-Quads, sorted: equal runs give equal bytes."""
    graph = _Graph(run.id)
    _run(graph, run)
    earlier = None
    for step in sorted({action.step for action in run.actions}):
        _step(graph, run, step, earlier)
        earlier = step
    for action in run.actions:
        _action(graph, run, action)
    accounts = _Graph(run.id, iris.account_bundle(run.id))
    _accounts(accounts, run)
    lines = sorted({*graph.lines, *accounts.lines})
    return "".join(lines).encode()


def run_to_quads(run: Run) -> Iterator[pyoxigraph.Quad]:
    """The same as terms of pyoxigraph."""
    return pyoxigraph.parse(run_to_nquads(run), format=pyoxigraph.RdfFormat.N_QUADS)


def write_nquads(runs: Iterable[Run], output: BytesIO) -> None:
    """Write the runs one after the other, each sorted; memory is that of one run."""
    for run in runs:
        output.write(run_to_nquads(run))


def quads_to_trig(quads: Iterable[pyoxigraph.Quad]) -> bytes:
    """Quads as TriG in the order given, which groups best when they are sorted."""
    data = pyoxigraph.serialize(quads, format=pyoxigraph.RdfFormat.TRIG, prefixes=iris.PREFIXES)
    assert data is not None
    return data


@dataclass
class _Graph:
    """The lines of one named graph."""

    run: str
    name: str = ""
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._end = f" <{self.name or self.run}> .\n"

    def add(self, subject: str, predicate: str, value: str) -> None:
        """A quad whose predicate and object are terms as N-Quads writes them."""
        self.lines.append(f"<{subject}> {predicate} {value}{self._end}")

    def types(self, subject: str, *classes: str) -> None:
        """Classes: names of this ontology, or terms as written."""
        for name in classes:
            self.add(subject, _A, name if name[0] == "<" else f"<{iris.TRACE}{name}>")

    def link(self, subject: str, predicate: str, target: str) -> None:
        self.add(subject, predicate if predicate[0] == "<" else f"<{iris.TRACE}{predicate}>", f"<{target}>")

    def text(self, subject: str, name: str, value: str | None) -> None:
        """A string, when there is one; a node with text that RDF cannot hold as it is gets marked."""
        if value is None:
            return
        written = to_rdf(value)
        if written is not value and written != value:
            self.flag(subject, "surrogates", True)
        self.add(subject, f"<{iris.TRACE}{name}>", quoted(written))

    def number(self, subject: str, name: str, value: int | None) -> None:
        if value is not None:
            self.add(subject, f"<{iris.TRACE}{name}>", f'"{value}"^^<{iris.XSD}integer>')

    def flag(self, subject: str, name: str, value: bool) -> None:
        self.add(subject, f"<{iris.TRACE}{name}>", _TRUE if value else _FALSE)

    def content(self, subject: str, content: Content) -> None:
        self.link(subject, "state", _state("", content.state))
        self.text(subject, "text", content.text)


def _state(kind: str, state: str) -> str:
    """The individual for a state: trace:Present, trace:BasisMissing, trace:TableComplete, trace:SeverityNote."""
    return f"{iris.TRACE}{kind}{state.capitalize()}"


def _run(graph: _Graph, run: Run) -> None:
    agent, user, bundle = f"{run.id}:agent", f"{run.id}:user", iris.account_bundle(run.id)
    graph.types(run.id, "AgentRun", _PROV["Activity"])
    graph.text(run.id, "task", run.task)
    graph.link(run.id, _PROV["wasAssociatedWith"], agent)
    graph.link(run.id, "accountBundle", bundle)
    graph.types(agent, "Agent", _PROV["Agent"], _PROV["SoftwareAgent"])
    graph.text(agent, "name", run.agent)
    graph.link(agent, _PROV["actedOnBehalfOf"], user)
    graph.types(user, "User", _PROV["Agent"])
    graph.types(bundle, "AccountBundle", _PROV["Bundle"], _PROV["Entity"])
    graph.link(bundle, _PROV["wasAttributedTo"], agent)
    _source(graph, run)
    for turn, locator in zip(run.turns, run.turn_locators, strict=True):
        node = iris.record(run.id, locator)
        graph.types(node, "RequestTurn", "Record", _PROV["Entity"])
        graph.link(run.id, "hasTurn", node)
        graph.number(node, "number", turn.number)
        graph.number(node, "afterStep", turn.after_step)
        graph.link(node, _PROV["wasAttributedTo"], user)
        _record(graph, node, Record(locator, turn.content))
    _table(graph, run)
    for position, diagnostic in enumerate(run.diagnostics, start=1):
        node = f"{run.id}:diagnostic:{position}"
        graph.types(node, "Diagnostic", _PROV["Entity"])
        graph.link(run.id, "hasDiagnostic", node)
        graph.number(node, "position", position)
        graph.text(node, "code", diagnostic.code)
        graph.link(node, "severity", _state("Severity", diagnostic.severity))
        graph.text(node, "place", diagnostic.place)
        graph.text(node, "message", diagnostic.message)


def _source(graph: _Graph, run: Run) -> None:
    source, node = run.source, f"{run.id}:source"
    graph.types(node, "SourceLog", _PROV["Entity"])
    graph.link(run.id, "recordedIn", node)
    graph.text(node, "name", source.name)
    graph.text(node, "format", source.format)
    graph.text(node, "sha256", source.sha256)
    graph.number(node, "size", source.size)
    graph.number(node, "member", source.member)
    if (source.sidecar_name, source.sidecar_sha256, source.sidecar_size) != (None, None, None):
        node = f"{run.id}:sidecar"
        graph.types(node, "Sidecar", _PROV["Entity"])
        graph.link(run.id, "recordedIn", node)
        graph.text(node, "name", source.sidecar_name)
        graph.text(node, "sha256", source.sidecar_sha256)
        graph.number(node, "size", source.sidecar_size)


def _table(graph: _Graph, run: Run) -> None:
    table = f"{run.id}:table"
    graph.types(table, "BindingTable", _PROV["Collection"], _PROV["Entity"])
    graph.link(run.id, "hasTable", table)
    graph.link(table, "tableState", _state("Table", run.table.state))
    known = _addresses(run)
    for position, row in enumerate(run.table.rows, start=1):
        node = iris.binding(run.id, row.local_id)
        graph.types(node, "Binding", _PROV["Entity"])
        graph.link(table, _PROV["hadMember"], node)
        graph.link(node, "run", run.id)
        graph.number(node, "position", position)
        graph.text(node, "localId", row.local_id)
        graph.text(node, "bindsLocator", str(row.locator))
        named = [row.locator] if row.locator in known else [to for to in known if row.locator.covers(to)]
        for locator in named:
            graph.link(node, "bindsRecord", iris.record(run.id, locator))
    for position, row_input in enumerate(run.inputs, start=1):
        node = f"{run.id}:input:{position}"
        graph.types(node, "RecordedInput", _PROV["Entity"])
        graph.link(run.id, "hasInput", node)
        graph.number(node, "position", position)
        graph.text(node, "localId", row_input.local_id)
        graph.text(node, "channel", row_input.channel)
        graph.text(node, "bindsLocator", str(row_input.locator))
        graph.text(node, "inputText", row_input.text)


def _addresses(run: Run) -> set[Locator]:
    """Every locator that has a node: turns, whole results, list elements."""
    known = set(run.turn_locators)
    for action in run.actions:
        if action.records:
            known.add(Locator(action.number))
            known.update(record.locator for record in action.records)
    return known


def _step(graph: _Graph, run: Run, step: int, earlier: int | None) -> None:
    """The agent's turn that issued calls. It used what had been delivered since the step before it."""
    node = f"{run.id}:step:{step}"
    graph.types(node, "Step", _PROV["Activity"])
    graph.number(node, "number", step)
    graph.link(node, _PROV["wasAssociatedWith"], f"{run.id}:agent")
    if earlier is not None:
        graph.link(node, _PROV["wasInformedBy"], f"{run.id}:step:{earlier}")
    for turn, locator in zip(run.turns, run.turn_locators, strict=True):
        if (earlier is None or earlier <= turn.after_step) and turn.after_step < step:
            graph.link(node, _PROV["used"], iris.record(run.id, locator))
    for action in run.actions:
        after = action.result.after_step if action.result is not None and action.records else step
        if (earlier is None or earlier <= after) and after < step:
            graph.link(node, _PROV["used"], iris.record(run.id, Locator(action.number)))


def _action(graph: _Graph, run: Run, action: Action) -> None:
    node = iris.action(run.id, action.number)
    graph.types(node, "Action", _PROV["Activity"])
    graph.link(run.id, "hasAction", node)
    graph.text(node, "actionId", action.id)
    graph.number(node, "number", action.number)
    graph.number(node, "step", action.step)
    graph.link(node, _PROV["wasInformedBy"], f"{run.id}:step:{action.step}")
    graph.link(node, _PROV["wasAssociatedWith"], f"{run.id}:agent")
    graph.text(node, "nativeId", action.native_id)
    graph.text(node, "argumentsText", action.arguments_text)
    tool = iris.tool(run.id, action.tool)
    graph.types(tool, "Tool", _PROV["Entity"])
    graph.text(tool, "name", action.tool)
    graph.link(node, "tool", tool)
    for position, argument in enumerate(action.arguments, start=1):
        _argument(graph, node, action, argument, position)
    if action.result is not None:
        _result(graph, node, action, action.result)


def _argument(graph: _Graph, owner: str, action: Action, argument: Argument, position: int) -> None:
    node = iris.part(owner, "argument", position)
    graph.types(node, "Argument", _PROV["Entity"])
    graph.link(owner, _PROV["used"], node)
    graph.link(node, _PROV["wasGeneratedBy"], f"{graph.run}:step:{action.step}")
    graph.number(node, "position", position)
    graph.text(node, "argumentName", argument.name)
    graph.text(node, "locator", f"{action.id}.argument.{argument.name}")
    text = None
    if argument.value is not None or argument.state is RecordState.PRESENT:
        is_string = isinstance(argument.value, str)
        text = argument.value if is_string else json.dumps(argument.value, ensure_ascii=False)
        graph.text(node, "valueType", _value_type(argument))
    content = Content(text, argument.state)
    graph.content(node, content)
    for string in Record(Locator(action.number), content).decoded:
        graph.text(node, "decoded", string)


def _value_type(argument: Argument) -> str:
    # A number may be of a class of its own, with its text; True is a number to Python.
    for kind, name in (str, "string"), (bool, "boolean"), ((int, float), "number"), (list, "array"), (dict, "object"):
        if isinstance(argument.value, kind):
            return name
    return "null"


def _result(graph: _Graph, owner: str, action: Action, result: Result) -> None:
    node = iris.record(graph.run, Locator(action.number))
    graph.link(owner, "hasResult", node)
    graph.types(node, "Result", _PROV["Entity"])
    graph.number(node, "order", result.order)
    graph.flag(node, "isError", result.is_error)
    graph.flag(node, "elementsGiven", result.elements is not None)
    if result.has_unknown_shape:
        graph.flag(node, "unknownShape", True)
    for position, locator in enumerate(result.declared, start=1):
        declaration = iris.part(node, "declared", position)
        graph.types(declaration, "Declaration", _PROV["Entity"])
        graph.link(node, "declares", declaration)
        graph.number(declaration, "position", position)
        graph.text(declaration, "declaresLocator", str(locator))
    text = result.content.text
    if text is not None:
        graph.text(node, "sha256", sha256_of(text))
    if result.content.state is not RecordState.ABSENT:
        graph.link(node, _PROV["wasGeneratedBy"], owner)
    records = action.records
    if len(records) == 1 and records[0].locator.element == 0:
        graph.types(node, "ExternalRecord", "Record")
        _record(graph, node, records[0])
    else:
        graph.text(node, "locator", str(Locator(action.number)))
        graph.link(node, "state", _state("", result.content.state))
        if records:
            _elements(graph, node, owner, result, records)
        else:
            graph.text(node, "wholeText", text)
    graph.number(node, "afterStep", result.after_step)


def _elements(graph: _Graph, node: str, owner: str, result: Result, records: tuple[Record, ...]) -> None:
    """The elements are the records of a list; the whole keeps what stands around them, so that nothing is lost."""
    graph.types(node, "ListResult", _PROV["Collection"])
    for record in records:
        element = iris.record(graph.run, record.locator)
        graph.types(element, "ListElement", "ExternalRecord", "Record", _PROV["Entity"])
        graph.link(node, _PROV["hadMember"], element)
        graph.link(element, _PROV["wasGeneratedBy"], owner)
        graph.number(element, "position", record.locator.element)
        graph.number(element, "afterStep", result.after_step)
        _record(graph, element, record)
    whole = result.content.text
    if whole is None:
        return
    slices = "".join(record.text or "" for record in records)
    if result.elements or slices not in whole:
        graph.text(node, "wholeText", whole)
    else:
        start = whole.index(slices)
        graph.text(node, "listStart", whole[:start])
        graph.text(node, "listEnd", whole[start + len(slices) :])


def _record(graph: _Graph, node: str, record: Record) -> None:
    graph.text(node, "locator", str(record.locator))
    graph.content(node, record.content)
    for string in record.decoded:
        graph.text(node, "decoded", string)


def _accounts(graph: _Graph, run: Run) -> None:
    """One account a step, as all calls of a message share theirs; more only where the calls' accounts differ."""
    written: dict[tuple[int, Account], str] = {}
    for action in run.actions:
        key = (action.step, action.account)
        owner = iris.action(run.id, action.number)
        if key not in written:
            written[key] = owner
            _account(graph, owner, action.account)
        graph.link(f"{written[key]}.account", "accountOf", owner)


def _account(graph: _Graph, owner: str, account: Account) -> None:
    node, basis = f"{owner}.account", f"{owner}.basis"
    graph.types(node, "Account", _PROV["Entity"])
    graph.link(node, _PROV["wasAttributedTo"], f"{graph.run}:agent")
    graph.text(node, "accountText", account.text)
    graph.text(node, "actionParagraph", account.action_paragraph)
    if account.note is not None:
        note = f"{owner}.note"
        graph.types(note, "Note", _PROV["Entity"])
        graph.link(node, "hasNote", note)
        graph.text(note, "noteText", account.note)
    graph.types(basis, "Basis", _PROV["Entity"])
    graph.link(node, "hasBasis", basis)
    graph.link(basis, "basisState", _state("Basis", account.basis.state))
    graph.text(basis, "basisText", account.basis.text)
    for position, local_id in enumerate(account.basis.ids, start=1):
        citation = iris.part(owner, "citation", position)
        graph.types(citation, "Citation", _PROV["Influence"])
        graph.link(basis, _PROV["qualifiedInfluence"], citation)
        graph.number(citation, "position", position)
        graph.text(citation, "localId", local_id)
