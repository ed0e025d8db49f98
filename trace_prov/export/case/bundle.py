"""The whole bundle: agent's layer, examiner's layer, and what encloses them."""

from __future__ import annotations

from typing import Any

import orjson

from trace_prov.export.case.custody import Chain
from trace_prov.export.case.findings import add_finding
from trace_prov.export.case.nodes import CONTEXT, Node, Nodes, link
from trace_prov.export.case.run_layer import add_run
from trace_prov.export.errors import ExportError
from trace_prov.export.material import Material

SPEC_VERSION = "CASE 1.5.0"


def case_bundle(material: Material) -> bytes:
    """The bundle as JSON-LD; equal material gives equal bytes."""
    document = {"@context": CONTEXT, "@graph": case_graph(material)}
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def case_graph(material: Material) -> list[dict[str, Any]]:
    """The nodes of the bundle. Raises ExportError when there is no run, as a bundle encloses something."""
    if not material.runs:
        raise ExportError("case", expected="at least one run", found="none")
    nodes = Nodes()
    chain = Chain(nodes, material.custody)
    roots: list[Node] = []
    for run in material.runs:
        received = chain.receive(run.source)
        made = add_run(nodes, run, received.files)
        roots.append(made.action)
        action, record, exhibit = chain.map(received, made)
        findings = material.findings.get(run.id, ())
        if findings:
            key = (run.id, *(str(hash_of(finding)) for finding in findings))
            analysis = chain.analysis_name(*key)
            results = [
                result
                for position, finding in enumerate(findings, start=1)
                for result in add_finding(made, finding, analysis, position)
            ]
            chain.analyse(f"{exhibit}.1", received.exhibit, record, action, results, *key)
    investigation = _investigation(nodes, chain, material)
    key = tuple(run.id for run in material.runs)
    bundle = nodes.add(
        "uco-core:Bundle",
        "bundle",
        *key,
        *chain.key,
        core_name="agent logs and their examination",
        core_object=[investigation, *roots],
        core_specVersion=SPEC_VERSION,
    )
    nodes.graph.insert(0, nodes.graph.pop())
    assert link(nodes.graph[0]) == bundle
    return nodes.graph


def _investigation(nodes: Nodes, chain: Chain, material: Material) -> Node:
    count = len(material.runs)
    return nodes.add(
        "case-investigation:Investigation",
        "investigation",
        *(run.id for run in material.runs),
        *chain.key,
        core_name=f"Examination of {count} agent run{'s' * (count != 1)}",
        core_object=chain.investigative,
    )


def hash_of(finding: Any) -> str:
    """What tells analyses of one run apart: the questions asked, as far as the findings show them."""
    target = getattr(finding, "target", None)
    if target is None:
        return f"{finding.action}"
    return f"{target.action}\x1e{target.argument}\x1e{target.literal}"
