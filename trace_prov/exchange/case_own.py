"""The runs of a CASE bundle that we wrote, exactly as they were: the inverse of export/case/run_layer."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass

from trace_prov.errors import GraphError
from trace_prov.exchange.index import Index
from trace_prov.graph import iris
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


def is_ours(case: Index) -> bool:
    """Whether a run in the graph is as we write it: it leads to its table of local ids."""
    return any("trace:hasTable" in links for links in case.links.values())


def own_runs(case: Index) -> list[Run]:
    """The runs of the bundle in its order; raises GraphError for what a bundle of ours would not hold."""
    actions = [node for node in case.of_class("action:Action") if node in case.links]
    try:
        reader = _Reader(case, _contained(case), _accounts(case), _diagnostics(case))
        return [reader.run(node) for node in actions if "trace:hasTable" in case.links[node]]
    except (ValueError, KeyError) as error:
        raise GraphError("case", expected="a bundle as trace-prov writes it", found=str(error)) from None


@dataclass(frozen=True)
class _Reader:
    """`parts`: what lies in each whole; `accounts` and `diagnostics`: those of each action and run."""

    case: Index
    parts: dict[str, list[str]]
    accounts: dict[str, str]
    diagnostics: dict[str, list[str]]

    def run(self, node: str) -> Run:
        case = self.case
        reference, performer = self._one(node, "core:externalReference"), self._one(node, "action:performer")
        table = self._one(node, "trace:hasTable")
        return Run(
            id=case.text(reference, "core:externalIdentifier") or "",
            source=self._source(node),
            turns=tuple(self._turn(turn) for turn in self._numbered(case.all(node, "action:object"))),
            actions=tuple(self._action(action) for action in self._numbered(case.all(node, "action:subaction"))),
            table=self._table(table),
            inputs=tuple(self._input(item) for item in case.by_position(case.all(node, "trace:hasInput"))),
            agent=case.text(performer, "core:name"),
            task=case.text(node, "trace:task"),
            diagnostics=tuple(self._diagnostic(item) for item in case.by_position(self.diagnostics.get(node, ()))),
        )

    def _numbered(self, nodes: list[str]) -> list[str]:
        return sorted(nodes, key=lambda node: _number(self.case, node, "trace:number"))

    def _source(self, run: str) -> Source:
        case = self.case
        files, sidecars = case.all(run, "trace:recordedIn"), case.members("trace:Sidecar")
        (log,) = (item for item in files if item not in sidecars)
        sidecar = next((item for item in files if item in sidecars), None)
        name, size, digest = self._file(log)
        sidecar_name, sidecar_size, sidecar_digest = (None, None, None) if sidecar is None else self._file(sidecar)
        return Source(
            name=name or "",
            format=case.text(run, "trace:format") or "",
            sha256=digest or "",
            size=size or 0,
            member=_number(case, run, "trace:member"),
            sidecar_name=sidecar_name,
            sidecar_sha256=sidecar_digest,
            sidecar_size=sidecar_size,
        )

    def _file(self, node: str) -> tuple[str | None, int | None, str | None]:
        case = self.case
        facets = case.all(node, "core:hasFacet")
        sizes = [case.number(facet, "observable:sizeInBytes") for facet in facets]
        hashes = [hash_ for facet in facets for hash_ in case.all(facet, "observable:hash")]
        digests = [case.text(hash_, "types:hashValue") for hash_ in hashes]
        digest = digests[0].lower() if digests and digests[0] is not None else case.text(node, "trace:sha256")
        return case.text(node, "core:name"), next((size for size in sizes if size is not None), None), digest

    def _content(self, node: str) -> Content:
        facet = self.case.link(node, "core:hasFacet")
        text = None if facet is None else self.case.text(facet, "observable:dataPayload")
        return Content(text, RecordState(self._word(node, "trace:state")))

    def _word(self, node: str, name: str, kind: str = "") -> str:
        return self._one(node, name).removeprefix(iris.TRACE + kind).lower()

    def _one(self, node: str, name: str) -> str:
        link = self.case.link(node, name)
        if link is None:
            raise GraphError(node, place=name, expected="a value", found="none")
        return link

    def _turn(self, node: str) -> Turn:
        return Turn(
            _number(self.case, node, "trace:number"), self._content(node), _number(self.case, node, "trace:afterStep")
        )

    def _action(self, node: str) -> Action:
        case = self.case
        tool = case.link(node, "action:instrument")
        reference = case.link(node, "core:externalReference")
        result = case.link(node, "trace:hasResult")
        number = _number(case, node, "trace:number")
        return Action(
            number=number,
            step=_number(case, node, "trace:step"),
            tool="" if tool is None else case.text(tool, "core:name") or "",
            arguments=tuple(self._arguments(node)),
            account=self._account(node),
            result=None if result is None else self._result(result),
            native_id=None if reference is None else case.text(reference, "core:externalIdentifier"),
            arguments_text=case.text(node, "trace:argumentsText"),
        )

    def _arguments(self, node: str) -> list[Argument]:
        case = self.case
        hidden = case.members("trace:Argument")
        parts = [*case.all(node, "core:hasFacet"), *(o for o in case.all(node, "action:object") if o in hidden)]
        arguments = []
        for part in case.by_position(parts):
            kind = case.text(part, "trace:valueType")
            if part in hidden:
                name, content = case.text(part, "trace:argumentName"), self._content(part)
                text, state = content.text, content.state
            else:
                name, text = case.text(part, "action:argumentName"), case.text(part, "action:value")
                state = RecordState.PRESENT
            value = text if kind in (None, "string") or text is None else json.loads(text)
            arguments.append(Argument(name or "", value, state))
        return arguments

    def _result(self, node: str) -> Result:
        case = self.case
        declared = case.by_position(
            reference
            for reference in case.all(node, "core:externalReference")
            if case.text(reference, "core:definingContext") == "declared evidence locator"
        )
        elements = None
        if case.text(node, "trace:elementsGiven") == "true":
            # Elements without a state of their own were read from the whole, and are again.
            parts = [part for part in self.parts.get(node, ()) if case.all(part, "trace:state")]
            elements = tuple(self._content(part) for part in case.by_position(parts))
        return Result(
            content=self._content(node),
            after_step=_number(case, node, "trace:afterStep"),
            order=_number(case, node, "trace:order"),
            is_error=case.text(node, "trace:isError") == "true",
            elements=elements,
            declared=tuple(Locator.parse(case.text(item, "core:externalIdentifier") or "") for item in declared),
        )

    def _account(self, action: str) -> Account:
        case = self.case
        node = self.accounts[action]
        basis, note = self._one(node, "trace:hasBasis"), case.link(node, "trace:hasNote")
        citations = case.by_position(case.all(basis, "core:externalReference"))
        return Account(
            basis=Basis(
                BasisState(self._word(basis, "trace:basisState", "Basis")),
                tuple(case.text(item, "core:externalIdentifier") or "" for item in citations),
                case.text(basis, "core:statement"),
            ),
            text=case.text(node, "core:statement"),
            action_paragraph=case.text(node, "trace:actionParagraph"),
            note=None if note is None else case.text(note, "core:statement"),
        )

    def _table(self, node: str) -> BindingTable:
        case = self.case
        rows = case.by_position(case.all(node, "core:externalReference"))
        return BindingTable(
            TableState(self._word(node, "trace:tableState", "Table")),
            tuple(
                Binding(
                    case.text(row, "core:externalIdentifier") or "",
                    Locator.parse(case.text(row, "trace:bindsLocator") or ""),
                )
                for row in rows
            ),
        )

    def _input(self, node: str) -> RecordedInput:
        case = self.case
        facet = case.link(node, "core:hasFacet")
        return RecordedInput(
            local_id=case.text(node, "trace:localId") or "",
            channel=case.text(node, "trace:channel") or "",
            locator=Locator.parse(case.text(node, "trace:bindsLocator") or ""),
            text=None if facet is None else case.text(facet, "observable:dataPayload"),
        )

    def _diagnostic(self, node: str) -> Diagnostic:
        case = self.case
        return Diagnostic(
            code=case.text(node, "trace:code") or "",
            severity=Severity(self._word(node, "trace:severity", "Severity")),
            place=case.text(node, "trace:place") or "",
            message=case.text(node, "core:statement") or "",
        )


def _contained(case: Index) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for node in case.of_class("observable:ObservableRelationship"):
        if case.text(node, "core:kindOfRelationship") == "Contained_Within":
            for whole in case.all(node, "core:target"):
                found[whole].extend(case.all(node, "core:source"))
    return found


def _accounts(case: Index) -> dict[str, str]:
    return {action: node for node in case.of_class("trace:Account") for action in case.all(node, "core:object")}


def _diagnostics(case: Index) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for node in case.of_class("trace:Diagnostic"):
        for run in case.all(node, "core:object"):
            found[run].append(node)
    return found


def _number(case: Index, node: str, name: str) -> int:
    value = case.number(node, name)
    if value is None:
        raise GraphError(node, place=name, expected="a number", found="none")
    return value
