"""JSON-LD nodes with repeatable names: `kb:Class-UUID`, version 5, from the class and what the node stands for.

Agent call ids and local ids never become a name: they stand in external references, as CASE has it.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from typing import Any

from trace_prov.export.errors import ExportError
from trace_prov.graph import iris
from trace_prov.graph.literals import to_rdf

KB = "https://w3id.org/trace-prov/kb/"
UCO = "https://ontology.unifiedcyberontology.org/uco/"
CASE = "https://ontology.caseontology.org/case/"

#: The prefixes as the community writes them; the context stands inside the file, so that nothing is fetched.
CONTEXT = {
    "case-investigation": f"{CASE}investigation/",
    "kb": KB,
    "trace": iris.TRACE,
    "uco-action": f"{UCO}action/",
    "uco-analysis": f"{UCO}analysis/",
    "uco-core": f"{UCO}core/",
    "uco-identity": f"{UCO}identity/",
    "uco-observable": f"{UCO}observable/",
    "uco-tool": f"{UCO}tool/",
    "uco-types": f"{UCO}types/",
    "xsd": iris.XSD,
}

#: What an external reference's identifier is an identifier of (its definingContext).
LOCATOR = "evidence locator"
LOCAL_ID = "agent-local input id"
NATIVE_ID = "native tool call id"
DECLARED = "declared evidence locator"
RUN_ID = "trace-prov run"

_SPACE = uuid.uuid5(uuid.NAMESPACE_URL, KB)
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")

Node = dict[str, Any]


class Nodes:
    """The nodes of a bundle in the order in which they are made; a name is made once."""

    def __init__(self) -> None:
        self.graph: list[Node] = []
        self._known: set[str] = set()

    def add(self, classes: str | list[str], *key: str, **properties: Any) -> Node:
        """A node of the class (the first one names it); `key` is what it stands for. Returns a link to it.

        Properties are given as `prefix_name` for `prefix:name`, with `core_`, `action_`, …; None leaves one out.
        """
        node = named(classes, *key)
        if node["@id"] in self._known:
            raise ExportError("case", place=" ".join(key), expected="each thing once", found="it twice")
        self._known.add(node["@id"])
        node.update(_properties(properties))
        self.graph.append(node)
        return link(node)


def named(classes: str | list[str], *key: str, **properties: Any) -> Node:
    """A node to stand inside another one: a facet, a hash, an external reference."""
    first = classes if isinstance(classes, str) else classes[0]
    return {"@id": name(first, *key), "@type": classes} | _properties(properties)


def name(class_: str, *key: str) -> str:
    local = class_.partition(":")[2]
    text = "\x1f".join([local, *key])
    return f"kb:{local}-{uuid.uuid5(_SPACE, text.encode('utf-8', 'backslashreplace').decode())}"


def link(node: Node) -> Node:
    return {"@id": node["@id"]}


def one_or_all(links: list[Node]) -> Any:
    """The value of a property that may have several: none, one, or a list."""
    return (links[0] if len(links) == 1 else links) or None


_PREFIX = {
    "core": "uco-core",
    "action": "uco-action",
    "analysis": "uco-analysis",
    "identity": "uco-identity",
    "observable": "uco-observable",
    "tool": "uco-tool",
    "types": "uco-types",
    "investigation": "case-investigation",
    "trace": "trace",
}


def _properties(properties: dict[str, Any]) -> Node:
    node: Node = {}
    for key, value in properties.items():
        if value is None:
            continue
        prefix, _, local = key.partition("_")
        written = to_rdf(value) if isinstance(value, str) else value
        if written != value:
            node["trace:surrogates"] = True
        node[f"{_PREFIX[prefix]}:{local}"] = written
    return node


def reference(context: str, identifier: str, *key: str, **properties: Any) -> Node:
    """An identifier by which somebody else knows the thing."""
    return named(
        "uco-core:ExternalReference",
        *key,
        context,
        identifier,
        core_definingContext=context,
        core_externalIdentifier=identifier,
        **properties,
    )


def sha256(digest: str | None, *key: str) -> Node | None:
    """A hash node; None where there is no SHA-256 to state."""
    if digest is None or _SHA256.fullmatch(digest) is None:
        return None
    value = {"@type": "xsd:hexBinary", "@value": digest.upper()}
    return named("uco-types:Hash", *key, types_hashMethod="SHA256", types_hashValue=value)


def payload_facet(text: str | None, *key: str, whole: bool = True, mime_type: str | None = None) -> Node | None:
    """The facet of a visible text. Size and hash are stated of whole texts only, and of what stands in the payload:
    a text that RDF cannot hold as it is (docs/case.md, lone surrogates) has neither."""
    if text is None:
        return None
    facet = named("uco-observable:ContentDataFacet", *key, observable_dataPayload=text)
    facet |= _properties({"observable_mimeType": mime_type})
    if whole and "trace:surrogates" not in facet:
        data = text.encode()
        facet["uco-observable:sizeInBytes"] = len(data)
        facet["uco-observable:hash"] = sha256(hashlib.sha256(data).hexdigest(), *key)
    return facet


def time(value: str | None) -> Node | None:
    return None if value is None else {"@type": "xsd:dateTime", "@value": value}
