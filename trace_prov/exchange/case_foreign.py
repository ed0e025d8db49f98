"""Runs in a CASE graph that somebody else wrote (docs/case.md, "Reading the bundles of others").

A tool call is a plain uco-action:Action that a tool performed and that has an instrument, an argument or a result.
InvestigativeActions are the examiner's and never calls. What is mapped is what the graph says; the graph itself is
stored beside the runs, so nothing is lost.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from trace_prov.account import read_account
from trace_prov.exchange.foreign import ForeignCall, ForeignResult, ForeignRun, json_object
from trace_prov.exchange.index import Index
from trace_prov.model import Account, Argument, Basis, BasisState, Content, Locator, RecordState

LOCATOR, LOCAL_ID, NATIVE_ID = "evidence locator", "agent-local input id", "native tool call id"
_ERRORS = frozenset({"Error", "Fail"})
_TOOLS = ("tool:Tool", "tool:ConfiguredTool", "tool:AnalyticTool", "tool:BuildUtility", "tool:CompiledTool")


def foreign_runs(case: Index) -> tuple[list[ForeignRun], list[str]]:
    """The runs, and in words why other actions are none."""
    reader = _Reader(case)
    notes: list[str] = []
    plain = [node for node in case.of_class("action:Action") if not reader.is_investigative(node)]
    calls = [node for node in plain if reader.is_call(node)]
    others = [node for node in plain if node not in set(calls) and not case.all(node, "action:subaction")]
    if others:
        notes.append(f"{len(others)} actions are no tool calls: no tool performed them, or they name no function")
    owners: dict[str, list[str]] = defaultdict(list)
    runs = {sub: node for node in plain for sub in case.all(node, "action:subaction")}
    for call in calls:
        owners[runs.get(call) or (case.link(call, "action:performer") or "")].append(call)
    return [reader.run(owner, members) for owner, members in owners.items()], notes


@dataclass
class _Reader:
    case: Index

    def __post_init__(self) -> None:
        case = self.case
        self._investigative = case.members("investigation:InvestigativeAction")
        self._tools = frozenset().union(*(case.members(name) for name in _TOOLS))
        self._wholes: dict[str, str] = {}
        self._before: dict[str, str] = {}
        self._claims: dict[str, list[str]] = defaultdict(list)
        relationships = [*case.of_class("observable:ObservableRelationship"), *case.of_class("core:Relationship")]
        for node in relationships:
            kind = case.text(node, "core:kindOfRelationship")
            for source in case.all(node, "core:source"):
                for target in case.all(node, "core:target"):
                    if kind == "Contained_Within":
                        self._wholes[source] = target
                    elif kind == "Followed_By":
                        self._before[target] = source
                    elif kind == "Has_Basis":
                        self._claims[source].append(target)
        self._parts: dict[str, list[str]] = defaultdict(list)
        for part, whole in self._wholes.items():
            self._parts[whole].append(part)
        self._annotations: dict[str, list[str]] = defaultdict(list)
        for node in case.of_class("core:Annotation"):
            for about in case.all(node, "core:object"):
                self._annotations[about].append(node)

    def is_investigative(self, node: str) -> bool:
        return node in self._investigative

    def is_call(self, node: str) -> bool:
        case = self.case
        performed = any(agent in self._tools for agent in case.all(node, "action:performer"))
        return performed and bool(
            case.all(node, "action:instrument") or case.all(node, "action:result") or self._facets(node)
        ) and not case.all(node, "action:subaction")  # fmt: skip

    def run(self, owner: str, members: list[str]) -> ForeignRun:
        case = self.case
        calls = [self._call(node) for node in members]
        agents = [agent for node in members for agent in case.all(node, "action:performer")]
        found = ForeignRun(owner or members[0], calls, agent=case.text(agents[0], "core:name") if agents else None)
        results = {call.result.node for call in calls if call.result is not None}
        inputs = dict.fromkeys(
            [*case.all(owner, "action:object"), *(o for m in members for o in case.all(m, "action:object"))]
        )
        requests = [node for node in inputs if node not in results and self._is_request(node, owner)]
        found.requests = [(node, self._content(node)) for node in sorted(requests, key=self._turn_order)]
        nodes = {*results, *requests}
        nodes |= {node for call in calls if call.result is not None for node, _ in call.result.elements}
        found.local_ids = [(name, node) for node in sorted(nodes) for name in self._references(node, LOCAL_ID)]
        return found

    def _is_request(self, node: str, owner: str) -> bool:
        """The run's own object, or content that calls itself the request."""
        locators = self._references(node, LOCATOR)
        stated = any(locator.startswith("request.user") for locator in locators)
        of_run = node in self.case.all(owner, "action:object") and not locators
        return stated or (of_run and self._content(node).text is not None)

    def _turn_order(self, node: str) -> tuple[int, str]:
        for locator in self._references(node, LOCATOR):
            try:
                return Locator.parse(locator).element, node
            except ValueError:
                continue
        return 0, node

    def _call(self, node: str) -> ForeignCall:
        case = self.case
        instruments = case.all(node, "action:instrument")
        tool = case.text(instruments[0], "core:name") if instruments else None
        natives = self._references(node, NATIVE_ID)
        return ForeignCall(
            node=node,
            tool=tool or case.text(node, "core:name") or node.rpartition("/")[2],
            arguments=self._arguments(node),
            result=self._result(node),
            native_id=natives[0] if natives else None,
            after=self._before.get(node),
            start=_time(case.text(node, "action:startTime")),
            end=_time(case.text(node, "action:endTime")),
            account=self._account(node),
        )

    def _facets(self, node: str) -> list[str]:
        facets = self.case.members("action:ActionArgumentFacet")
        return [facet for facet in self.case.all(node, "core:hasFacet") if facet in facets]

    def _arguments(self, node: str) -> tuple[Argument, ...]:
        """The argument facets, typed and ordered by a content that holds them as one JSON object where there is one."""
        case = self.case
        stated = {
            case.text(facet, "action:argumentName") or "": case.text(facet, "action:value")
            for facet in self._facets(node)
        }
        for used in case.all(node, "action:object"):
            typed = json_object(self._content(used).text)
            if typed is not None and stated and set(typed) == set(stated):
                return tuple(Argument(name, value) for name, value in typed.items())
            if typed is not None and any(locator.endswith(".args") for locator in self._references(used, LOCATOR)):
                return tuple(Argument(name, value) for name, value in typed.items())
        return tuple(Argument(name, value) for name, value in sorted(stated.items()) if value is not None)

    def _result(self, node: str) -> ForeignResult | None:
        case = self.case
        results = case.all(node, "action:result")
        is_error = bool(_ERRORS & set(case.texts(node, "action:actionStatus")))
        if not results:
            return None
        if len(results) > 1:
            ordered = self._in_order(results)
            if ordered is None:
                return ForeignResult(Content(None, RecordState.UNREADABLE), results[0], is_error=is_error)
            elements = [(part, self._content(part)) for part in ordered]
            return ForeignResult(Content(None, RecordState.WITHHELD), node, elements, is_error)
        (result,) = results
        ordered = self._in_order(self._parts.get(result, []))
        elements = [(part, self._content(part)) for part in ordered or ()]
        return ForeignResult(self._content(result), result, elements, is_error)

    def _in_order(self, parts: list[str]) -> list[str] | None:
        """The parts by the element numbers of their locators, when these are 1 to n."""
        numbered: dict[int, str] = {}
        for part in parts:
            for locator in self._references(part, LOCATOR):
                try:
                    numbered[Locator.parse(locator).element] = part
                except ValueError:
                    continue
        if not parts or sorted(numbered) != list(range(1, len(parts) + 1)):
            return None
        return [numbered[number] for number in sorted(numbered)]

    def _content(self, node: str) -> Content:
        """The payload; content that is described without one existed and is not shown."""
        case = self.case
        for facet in case.all(node, "core:hasFacet"):
            payload = case.text(facet, "observable:dataPayload")
            if payload is not None:
                return Content(self._decoded(facet, payload))
            message = case.text(facet, "observable:messageText")
            if message is not None:
                return Content(message)
        return Content(None, RecordState.WITHHELD)

    def _decoded(self, facet: str, payload: str) -> str:
        """The text of a payload; base64 only where the stated SHA-256 is that of what it decodes to."""
        for hash_ in self.case.all(facet, "observable:hash"):
            if self.case.texts(hash_, "types:hashMethod") != ["SHA256"]:
                continue
            stated = (self.case.text(hash_, "types:hashValue") or "").lower()
            try:
                data = base64.b64decode(payload, validate=True)
                if hashlib.sha256(data).hexdigest() == stated:
                    return data.decode()
            except (binascii.Error, ValueError):
                return payload
        return payload

    def _account(self, node: str) -> Account:
        annotations = self._annotations.get(node, [])
        texts = [text for item in annotations for text in self.case.texts(item, "core:statement")]
        if not annotations:
            return Account(Basis(BasisState.WITHHELD))
        account = read_account("\n".join(texts))
        claimed = [target for item in annotations for target in self._claims.get(item, [])]
        ids = tuple(dict.fromkeys(name for target in claimed for name in self._references(target, LOCAL_ID)[:1]))
        if ids and account.basis.state is BasisState.MISSING:
            return Account(
                Basis(BasisState.IDS, ids, ", ".join(ids)), account.text, account.action_paragraph, account.note
            )
        return account

    def _references(self, node: str, context: str) -> list[str]:
        case = self.case
        return [
            identifier
            for reference in case.all(node, "core:externalReference")
            if context in case.texts(reference, "core:definingContext")
            for identifier in case.texts(reference, "core:externalIdentifier")
        ]


def _time(text: str | None) -> datetime | None:
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        return None
