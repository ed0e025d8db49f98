"""What the examiner did: the log as received, its mapping, and the derivation of findings, with their records.

Only these are InvestigativeActions. Each gives a ProvenanceRecord that holds its results and never its inputs; each
but the first takes the record before it as an input, which is the chain of custody.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trace_prov import __version__
from trace_prov.export.case.nodes import Node, Nodes, named, one_or_all, sha256, time
from trace_prov.export.case.run_layer import RunNodes
from trace_prov.export.material import Custody
from trace_prov.model import Source


@dataclass
class Received:
    """A file that was received, its record and the action that received it."""

    exhibit: str
    files: list[Node]
    record: Node
    action: Node
    members: int = 0


@dataclass
class Chain:
    """The examiner's part of a bundle."""

    nodes: Nodes
    custody: Custody
    program: Node = field(default_factory=dict)
    examiner: Node | None = None
    investigative: list[Node] = field(default_factory=list)
    _received: dict[tuple[str, str], Received] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.program = self.nodes.add(
            "uco-tool:Tool",
            "program",
            __version__,
            core_name="trace-prov",
            tool_toolType="log mapper",
            tool_version=__version__,
        )
        if self.custody.examiner is not None:
            self.examiner = _person(self.nodes, self.custody.examiner)

    @property
    def key(self) -> tuple[str, str, str]:
        """Who, when and with what: an examination by another person or at another time is another action."""
        return self.custody.examiner or "", self.custody.time or "", __version__

    def receive(self, source: Source) -> Received:
        """The file that a run was read from, once a file."""
        known = self._received.get((source.name, source.sha256))
        if known is None:
            known = self._received[source.name, source.sha256] = self._receive(source)
        return known

    def _receive(self, source: Source) -> Received:
        exhibit = f"EX-{len(self._received) + 1}"
        key = (source.name, source.sha256)
        files = [_file(self.nodes, source.name, source.size, source.sha256, "log", *key)]
        if (source.sidecar_name, source.sidecar_sha256, source.sidecar_size) != (None, None, None):
            files.append(
                _file(self.nodes, source.sidecar_name, source.sidecar_size, source.sidecar_sha256, "sidecar", *key)
            )
        record = self._record(exhibit, None, "Agent log as received", files, *key)
        action = self._action(
            "case-investigation:InvestigativeAction", "receive agent log", [], [*files, record], None, "receive", *key
        )
        return Received(exhibit, files, record, action)

    def map(self, received: Received, run: RunNodes) -> tuple[Node, Node, str]:
        """The mapping of one run: (its action, its record, the record's exhibit number)."""
        received.members += 1
        exhibit = f"{received.exhibit}.{received.members}"
        record = self._record(exhibit, received.exhibit, "Log content mapped to a graph", run.extracted, run.run.id)
        action = self._action(
            "case-investigation:InvestigativeAction",
            "map agent log",
            [*received.files, received.record],
            [*run.extracted, record],
            received.action,
            "map",
            run.run.id,
        )
        return action, record, exhibit

    def analyse(self, exhibit: str, root: str, record: Node, informed_by: Node, results: list[Node], *key: str) -> None:
        """The derivation of findings from what was mapped."""
        made = self._record(exhibit, root, "Findings derived from the mapped log", results, "analysis", *key)
        self._action(
            ["uco-analysis:Analysis", "case-investigation:InvestigativeAction"],
            "derive findings",
            [record],
            [*results, made],
            informed_by,
            "analysis",
            *key,
        )

    def analysis_name(self, *key: str) -> Node:
        """A link to the analysis, which its results name before it is made."""
        return {"@id": named("uco-analysis:Analysis", "analysis", *key, *self.key)["@id"]}

    def _record(self, exhibit: str, root: str | None, description: str, members: list[Node], *key: str) -> Node:
        made = self.nodes.add(
            "case-investigation:ProvenanceRecord",
            exhibit,
            *key,
            *self.key,
            core_description=description,
            core_object=one_or_all(members),
            investigation_exhibitNumber=exhibit,
            investigation_rootExhibitNumber=root,
        )
        self.investigative.append(made)
        return made

    def _action(
        self,
        classes: str | list[str],
        name: str,
        objects: list[Node],
        results: list[Node],
        informed_by: Node | None,
        *key: str,
    ) -> Node:
        made = self.nodes.add(
            classes,
            *key,
            *self.key,
            core_name=name,
            action_performer=self.examiner or self.program,
            action_instrument=self.program if self.examiner is not None else None,
            action_object=one_or_all(objects),
            action_result=one_or_all(results),
            action_startTime=time(self.custody.time),
            action_endTime=time(self.custody.time),
            investigation_wasInformedBy=informed_by,
        )
        self.investigative.append(made)
        return made


def _person(nodes: Nodes, name: str) -> Node:
    given, _, family = name.rpartition(" ")
    facet = named(
        "uco-identity:SimpleNameFacet",
        "examiner",
        name,
        identity_givenName=given or None,
        identity_familyName=family,
    )
    return nodes.add("uco-identity:Person", "examiner", name, core_name=name, core_hasFacet=facet)


def _file(nodes: Nodes, name: str | None, size: int | None, digest: str | None, *key: str) -> Node:
    facets = [
        named(
            "uco-observable:FileFacet",
            *key,
            observable_fileName=name,
            observable_isDirectory=False,
            observable_sizeInBytes=size,
        )
    ]
    hash_ = sha256(digest, *key)
    if hash_ is not None:
        facets.append(named("uco-observable:ContentDataFacet", *key, observable_hash=hash_))
    class_ = "trace:SourceLog" if key[0] == "log" else "trace:Sidecar"
    return nodes.add(
        ["uco-observable:File", class_],
        *key,
        core_name=name,
        core_hasFacet=one_or_all(facets),
        trace_sha256=digest if hash_ is None else None,
    )
