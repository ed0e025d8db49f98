"""A run graph read back: quads -> `Run`, the inverse of `write`.

What the loading checks (shapes/graph.ttl) is taken for granted here as far as it goes without saying; a graph that
lacks what a run needs gives a GraphError that names the node.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import pyoxigraph

from trace_prov.errors import GraphError
from trace_prov.graph import iris
from trace_prov.graph.literals import from_rdf, sha256_of
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


def run_from_nquads(data: bytes) -> Run:
    """The run that `write.run_to_nquads` was given; raises GraphError when the quads are no run graph."""
    try:
        return run_from_quads(pyoxigraph.parse(data, format=pyoxigraph.RdfFormat.N_QUADS))
    except SyntaxError as error:
        raise GraphError("N-Quads", place=f"line {error.lineno}", expected="N-Quads", found=error.msg) from None


def run_from_quads(quads: Iterable[pyoxigraph.Quad]) -> Run:
    """The run whose graph and account bundle these quads are, in any order; raises GraphError when they are none."""
    nodes = _Nodes()
    for quad in quads:
        nodes.add(quad)
    runs = nodes.of_class("AgentRun")
    if len(runs) != 1:
        raise GraphError("graph", expected="the graph of one run", found=f"{len(runs)} nodes of class trace:AgentRun")
    try:
        return _run(nodes, runs[0])
    except ValueError as error:
        raise GraphError(runs[0], expected="a run graph as ontology/trace.ttl has it", found=str(error)) from None


@dataclass
class _Nodes:
    """The values of each node's properties: names of this ontology's terms, other predicates and types as IRIs."""

    values: dict[str, dict[str, list[str]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    classes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, quad: pyoxigraph.Quad) -> None:
        subject, predicate, term = quad.subject, quad.predicate.value, quad.object
        if not isinstance(subject, pyoxigraph.NamedNode):
            raise GraphError("graph", expected="nodes with an IRI", found=str(subject))
        if predicate == iris.RDF_TYPE:
            self.classes[_short(str(getattr(term, "value", term)))].append(subject.value)
        elif isinstance(term, pyoxigraph.Literal):
            self.values[subject.value][_short(predicate)].append(from_rdf(term.value))
        elif isinstance(term, pyoxigraph.NamedNode):
            self.values[subject.value][_short(predicate)].append(term.value)

    def of_class(self, name: str) -> list[str]:
        return self.classes.get(name, [])

    def all(self, node: str, name: str) -> list[str]:
        return self.values[node][name] if node in self.values and name in self.values[node] else []

    def get(self, node: str, name: str) -> str | None:
        values = self.all(node, name)
        if len(values) > 1:
            raise GraphError(node, place=f"trace:{name}", expected="one value", found=f"{len(values)}")
        return values[0] if values else None

    def one(self, node: str, name: str) -> str:
        value = self.get(node, name)
        if value is None:
            raise GraphError(node, place=f"trace:{name}", expected="a value", found="none")
        return value

    def number(self, node: str, name: str) -> int:
        return int(self.one(node, name))

    def flag(self, node: str, name: str) -> bool:
        return self.one(node, name) in ("true", "1")

    def state(self, node: str, name: str, kind: str = "") -> str:
        return self.one(node, name).removeprefix(iris.TRACE + kind).lower()

    def ordered(self, nodes: Iterable[str], by: str = "position") -> list[str]:
        return sorted(nodes, key=lambda node: self.number(node, by))

    def content(self, node: str) -> Content:
        return Content(self.get(node, "text"), RecordState(self.state(node, "state")))


def _short(iri: str) -> str:
    return iri.removeprefix(iris.TRACE)


def _run(nodes: _Nodes, run: str) -> Run:
    accounts = {action: account for account in nodes.of_class("Account") for action in nodes.all(account, "accountOf")}
    arguments = set(nodes.of_class("Argument"))
    return Run(
        id=run,
        source=_source(nodes),
        turns=tuple(_turn(nodes, node) for node in nodes.ordered(nodes.of_class("RequestTurn"), "number")),
        actions=tuple(
            _action(nodes, node, arguments, accounts.get(node))
            for node in nodes.ordered(nodes.of_class("Action"), "number")
        ),
        table=_table(nodes, nodes.one(run, "hasTable")),
        inputs=tuple(_input(nodes, node) for node in nodes.ordered(nodes.of_class("RecordedInput"))),
        agent=nodes.get(f"{run}:agent", "name"),
        task=nodes.get(run, "task"),
        diagnostics=tuple(_diagnostic(nodes, node) for node in nodes.ordered(nodes.of_class("Diagnostic"))),
    )


def _source(nodes: _Nodes) -> Source:
    sources, sidecars = nodes.of_class("SourceLog"), nodes.of_class("Sidecar")
    if len(sources) != 1 or len(sidecars) > 1:
        raise ValueError(f"{len(sources)} source logs and {len(sidecars)} sidecars")
    node, sidecar = sources[0], (sidecars or [""])[0]
    sidecar_size = nodes.get(sidecar, "size")
    return Source(
        name=nodes.one(node, "name"),
        format=nodes.one(node, "format"),
        sha256=nodes.one(node, "sha256"),
        size=nodes.number(node, "size"),
        member=nodes.number(node, "member"),
        sidecar_name=nodes.get(sidecar, "name"),
        sidecar_sha256=nodes.get(sidecar, "sha256"),
        sidecar_size=None if sidecar_size is None else int(sidecar_size),
    )


def _turn(nodes: _Nodes, node: str) -> Turn:
    return Turn(nodes.number(node, "number"), nodes.content(node), nodes.number(node, "afterStep"))


def _table(nodes: _Nodes, table: str) -> BindingTable:
    rows = nodes.ordered(nodes.all(table, f"{iris.PROV}hadMember"))
    return BindingTable(
        TableState(nodes.state(table, "tableState", "Table")),
        tuple(Binding(nodes.one(row, "localId"), Locator.parse(nodes.one(row, "bindsLocator"))) for row in rows),
    )


def _input(nodes: _Nodes, node: str) -> RecordedInput:
    return RecordedInput(
        local_id=nodes.one(node, "localId"),
        channel=nodes.one(node, "channel"),
        locator=Locator.parse(nodes.one(node, "bindsLocator")),
        text=nodes.get(node, "inputText"),
    )


def _diagnostic(nodes: _Nodes, node: str) -> Diagnostic:
    return Diagnostic(
        code=nodes.one(node, "code"),
        severity=Severity(nodes.state(node, "severity", "Severity")),
        place=nodes.one(node, "place"),
        message=nodes.one(node, "message"),
    )


def _action(nodes: _Nodes, node: str, arguments: set[str], account: str | None) -> Action:
    if account is None:
        raise GraphError(node, expected="an account of the action, be it a withheld one", found="none")
    own = [used for used in nodes.all(node, f"{iris.PROV}used") if used in arguments]
    result = nodes.get(node, "hasResult")
    return Action(
        number=nodes.number(node, "number"),
        step=nodes.number(node, "step"),
        tool=nodes.one(nodes.one(node, "tool"), "name"),
        arguments=tuple(_argument(nodes, argument) for argument in nodes.ordered(own)),
        account=_account(nodes, account),
        result=None if result is None else _result(nodes, result),
        native_id=nodes.get(node, "nativeId"),
        arguments_text=nodes.get(node, "argumentsText"),
    )


def _argument(nodes: _Nodes, node: str) -> Argument:
    content, kind = nodes.content(node), nodes.get(node, "valueType")
    value = content.text if kind in (None, "string") or content.text is None else json.loads(content.text)
    return Argument(nodes.one(node, "argumentName"), value, content.state)


def _account(nodes: _Nodes, node: str) -> Account:
    basis, note = nodes.one(node, "hasBasis"), nodes.get(node, "hasNote")
    citations = nodes.ordered(nodes.all(basis, f"{iris.PROV}qualifiedInfluence"))
    return Account(
        basis=Basis(
            BasisState(nodes.state(basis, "basisState", "Basis")),
            tuple(nodes.one(citation, "localId") for citation in citations),
            nodes.get(basis, "basisText"),
        ),
        text=nodes.get(node, "accountText"),
        action_paragraph=nodes.get(node, "actionParagraph"),
        note=None if note is None else nodes.one(note, "noteText"),
    )


def _result(nodes: _Nodes, node: str) -> Result:
    members = nodes.ordered(nodes.all(node, f"{iris.PROV}hadMember"))
    given = nodes.flag(node, "elementsGiven")
    start, text = nodes.get(node, "listStart"), nodes.get(node, "text")
    elements = tuple(nodes.content(member) for member in members)
    whole: str | None
    if start is not None:
        whole = start + "".join(element.text or "" for element in elements) + nodes.one(node, "listEnd")
        elements = ()
    else:
        whole = text if text is not None else nodes.get(node, "wholeText")
    _check_sha256(nodes, node, whole)
    state = RecordState(nodes.state(node, "state"))
    declarations = nodes.ordered(nodes.all(node, "declares"))
    return Result(
        content=Content(whole, state),
        after_step=nodes.number(node, "afterStep"),
        order=nodes.number(node, "order"),
        is_error=nodes.flag(node, "isError"),
        elements=elements if given or (elements and start is None) else None,
        declared=tuple(Locator.parse(nodes.one(declared, "declaresLocator")) for declared in declarations),
    )


def _check_sha256(nodes: _Nodes, node: str, text: str | None) -> None:
    """The text of a result must be the one that was hashed when the graph was written."""
    stated = nodes.get(node, "sha256")
    if stated is None or text is None:
        return
    found = sha256_of(text)
    if stated != found:
        raise GraphError(node, place="trace:sha256", expected=stated, found=f"a text with SHA-256 {found}")
