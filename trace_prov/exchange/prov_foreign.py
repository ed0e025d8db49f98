"""Runs in PROV-O quads that somebody else wrote (docs/conformance-exchange.md, "Reading the documents of others").

PROV has no word for a tool call, so its kinds are told by the types and attributes in use: ToolCall and the like,
AgentTool (PROV-AGENT), a `tool` attribute, Flowcept's subtype agent_tool. Each graph is looked at by itself, as each
bundle is a document of its own (PROV-DM 5.4).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

import pyoxigraph

from trace_prov.account import read_account
from trace_prov.exchange.foreign import ForeignCall, ForeignResult, ForeignRun, json_object
from trace_prov.exchange.index import Index
from trace_prov.model import Account, Argument, Basis, BasisState, Content, RecordState

_CALLS = frozenset({"toolcall", "agenttool", "toolinvocation", "toolexecution", "functioncall"})
_REQUESTS = frozenset({"request", "userrequest", "prompt", "userprompt", "requestturn"})
_ACCOUNTS = frozenset({"note", "account", "agentaccount"})
_TOOL_NAMES = ("tool", "toolname", "functionname")
_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_WORD = re.compile(r"[^a-z0-9]")


def _local(iri: str) -> str:
    """The last part of a name without case and punctuation: `ToolCall`, `tool_call` and `tool-call` are one word."""
    return _WORD.sub("", re.split(r"[/#:]", iri)[-1].lower())


def foreign_runs(quads: Iterable[pyoxigraph.Quad]) -> tuple[list[ForeignRun], list[str]]:
    """The runs of all graphs, and in words why other activities are none."""
    graphs: dict[str, list[pyoxigraph.Quad]] = defaultdict(list)
    for quad in quads:
        graphs[getattr(quad.graph_name, "value", "")].append(quad)
    runs: list[ForeignRun] = []
    notes: list[str] = []
    for name, own in graphs.items():
        reader = _Reader(Index.of(own), name)
        found = reader.runs()
        runs.extend(found)
        others = len(reader.activities) - sum(len(run.calls) for run in found)
        if others and not found:
            notes.append(f"{others} activities in {name} are no tool calls: no type or attribute says so")
    return runs, notes


@dataclass
class _Reader:
    prov: Index
    graph: str
    activities: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        prov = self.prov
        self.activities = prov.of_class("prov:Activity")
        self._classes: dict[str, set[str]] = defaultdict(set)
        for name, nodes in prov.classes.items():
            for node in nodes:
                self._classes[node].add(_local(name))
        self._generated: dict[str, list[str]] = defaultdict(list)
        for node, links in prov.links.items():
            for activity in links.get("prov:wasGeneratedBy", []):
                self._generated[activity].append(node)
        self._accounts = self._accounts_of_calls()

    def runs(self) -> list[ForeignRun]:
        calls = [node for node in self.activities if self._is_call(node)]
        groups: dict[str, list[str]] = defaultdict(list)
        for call in calls:
            groups[self._owner(call)].append(call)
        return [self._run(owner, members, known=set(calls)) for owner, members in groups.items()]

    def _is_call(self, node: str) -> bool:
        if self._classes[node] & _CALLS:
            return True
        return self._named(node, "subtype") == "agent_tool" or any(self._named(node, name) for name in _TOOL_NAMES)

    def _named(self, node: str, local: str) -> str | None:
        """The value of the attribute with this local name, whatever its namespace."""
        for name in self.prov.literals.get(node, {}):
            if _local(name) == local:
                return self.prov.texts(node, name)[0]
        return None

    def _owner(self, call: str) -> str:
        """The run that started the call, else the graph."""
        for start in self.prov.all(call, "prov:qualifiedStart"):
            starters = self.prov.all(start, "prov:hadActivity")
            if starters:
                return starters[0]
        return self.graph

    def _run(self, owner: str, members: list[str], known: set[str]) -> ForeignRun:
        prov = self.prov
        found = ForeignRun(owner, [self._call(node, known) for node in members])
        agents = [agent for node in members for agent in prov.all(node, "prov:wasAssociatedWith")]
        if agents:
            found.agent = self._named(agents[0], "label") or self._named(agents[0], "name") or _short_name(agents[0])
        found.requests = [
            (node, self._content(node)) for node in prov.of_class("prov:Entity") if self._classes[node] & _REQUESTS
        ]
        nodes = [node for node, _ in found.requests]
        for call in found.calls:
            if call.result is not None:
                nodes += [call.result.node, *(node for node, _ in call.result.elements)]
        found.local_ids = [(name, node) for node in nodes if (name := self._named(node, "localid")) is not None]
        return found

    def _call(self, node: str, known: set[str]) -> ForeignCall:
        prov = self.prov
        tools = (self._named(node, name) for name in (*_TOOL_NAMES, "activityid", "label", "name"))
        number = self._named(node, "seq") or self._named(node, "number")
        before = [other for other in prov.all(node, "prov:wasInformedBy") if other in known]
        return ForeignCall(
            node=node,
            tool=next((name for name in tools if name), _short_name(node)),
            arguments=self._arguments(node),
            result=self._result(node),
            native_id=self._named(node, "nativeid") or self._named(node, "toolcallid"),
            number=int(number) if number is not None and number.isdecimal() else None,
            after=before[0] if len(before) == 1 else None,
            start=_time(prov.texts(node, "prov:startedAtTime")),
            end=_time(prov.texts(node, "prov:endedAtTime")),
            account=self._accounts.get(node, Account(Basis(BasisState.WITHHELD))),
        )

    def _arguments(self, node: str) -> tuple[Argument, ...]:
        """What the call used in the role of arguments: a JSON object, or one text."""
        prov = self.prov
        used = []
        for usage in prov.all(node, "prov:qualifiedUsage"):
            roles = [
                *prov.texts(usage, "prov:role"),
                *prov.texts(usage, "prov:hadRole"),
                *prov.all(usage, "prov:hadRole"),
            ]
            if any(_local(role) in ("arguments", "argument", "parameters") for role in roles):
                used += prov.all(usage, "prov:entity")
        arguments: list[Argument] = []
        for entity in used:
            content = self._content(entity)
            value = json_object(content.text)
            if value is not None:
                arguments += [Argument(name, item) for name, item in value.items()]
            else:
                name = self._named(entity, "argumentname") or self._named(entity, "label") or _short_name(entity)
                arguments.append(Argument(name, content.text, content.state))
        return tuple(arguments)

    def _result(self, node: str) -> ForeignResult | None:
        generated = self._generated.get(node, [])
        members = {member for entity in generated for member in self.prov.all(entity, "prov:hadMember")}
        wholes = [entity for entity in generated if entity not in members]
        is_error = (self._named(node, "status") or "").lower() in ("error", "failed", "fail")
        if not wholes:
            return None
        if len(wholes) > 1:
            return ForeignResult(Content(None, RecordState.UNREADABLE), wholes[0], is_error=is_error)
        (whole,) = wholes
        return ForeignResult(self._content(whole), whole, self._elements(whole), is_error)

    def _elements(self, whole: str) -> list[tuple[str, Content]]:
        """The members in the order of their index, when these are 1 to n: hadMember itself has no order."""
        numbered = {}
        members = self.prov.all(whole, "prov:hadMember")
        for member in members:
            index = self._named(member, "index") or self._named(member, "position")
            if index is not None and index.isdecimal():
                numbered[int(index)] = member
        if not members or sorted(numbered) != list(range(1, len(members) + 1)):
            return []
        return [(numbered[number], self._content(numbered[number])) for number in sorted(numbered)]

    def _content(self, node: str) -> Content:
        values = self.prov.texts(node, "prov:value")
        if len(values) == 1:
            return Content(values[0])
        return Content(None, RecordState.UNREADABLE if values else RecordState.WITHHELD)

    def _accounts_of_calls(self) -> dict[str, Account]:
        """What an agent wrote before a call: a note that the call used, or that says which call it is about."""
        prov, found = self.prov, {}
        notes = {node for node, classes in self._classes.items() if classes & _ACCOUNTS}
        for activity in self.activities:
            for note in [*prov.all(activity, "prov:used"), *prov.all(activity, "prov:wasInfluencedBy")]:
                if note in notes:
                    found[activity] = self._account(note)
        for note in notes:
            for name, targets in prov.links.get(note, {}).items():
                if _local(name) in ("accountof", "about"):
                    found |= {target: self._account(note) for target in targets}
        return found

    def _account(self, note: str) -> Account:
        """The note with the inputs that it is said to rest on, each under its local id, in no order that PROV has."""
        prov = self.prov
        account = read_account(self._content(note).text or "")
        ids = tuple(
            name
            for influence in prov.all(note, "prov:qualifiedInfluence")
            if (name := self._named(influence, "localid")) is not None
        )
        if account.basis.state is BasisState.MISSING and ids:
            return Account(
                Basis(BasisState.IDS, ids, ", ".join(ids)), account.text, account.action_paragraph, account.note
            )
        return account


def _short_name(iri: str) -> str:
    return re.split(r"[/#:]", iri)[-1] or iri


def _time(texts: list[str]) -> datetime | None:
    try:
        return datetime.fromisoformat(texts[0]) if len(texts) == 1 else None
    except ValueError:
        return None
