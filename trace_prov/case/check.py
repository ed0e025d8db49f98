"""A CASE file -> its verdict under the rules of CASE, and apart from it what our own checks find."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rdflib import RDF, SH, Graph
from rdflib.term import Node

from trace_prov.case.extra import extra_findings
from trace_prov.case.findings import ERROR, Finding
from trace_prov.case.ontology import VERSION, Ontology, load_ontology
from trace_prov.case.reading import CaseFile, read_case
from trace_prov.case.shacl import Engine, Result
from trace_prov.case.triples import Triples

Verdict = tuple[list[Result], list[str]]


@dataclass(frozen=True, slots=True)
class CaseReport:
    """`results` and `undefined` are the verdict that case_validate gives, `findings` are our own checks."""

    triples: int
    engine: str
    results: tuple[Result, ...]
    undefined: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def conforms(self) -> bool:
        """Say whether case_validate would exit with 0: no result of any severity, no undefined term."""
        return not self.results and not self.undefined

    @property
    def sound(self) -> bool:
        """Say whether our own checks found no error."""
        return not any(finding.level == ERROR for finding in self.findings)

    @property
    def severities(self) -> Counter[str]:
        return Counter(result.severity for result in self.results)


def check_case(
    path: Path, *, engine: str = "fast", extensions: tuple[Path, ...] = (), checks: bool = True
) -> CaseReport:
    """Check a CASE file against CASE 1.5.0 and UCO 1.5.0.

    `engine` is one of ENGINES; `extensions` are ontologies of one's own beside CASE; without `checks` only the
    rules of CASE are run. Raises SourceError and FormatError for a file that cannot be read, UsageError when
    case-utils is missing.
    """
    file = read_case(path)
    ontology = load_ontology(extensions)
    own = Triples(file.graph)
    merged = ontology.triples.with_more(file.graph)  # case_validate mixes both before it validates
    results, undefined = ENGINES[engine](file, ontology, own, merged, extensions)
    findings = [*file.losses, *extra_findings(file, ontology, own, merged)] if checks else []
    return CaseReport(len(file.graph), engine, tuple(results), tuple(undefined), tuple(dict.fromkeys(findings)))


def _fast(file: CaseFile, ontology: Ontology, own: Triples, merged: Triples, extensions: tuple[Path, ...]) -> Verdict:
    results = sorted(Engine(ontology.shapes, merged, own).results(), key=_order)
    return results, ontology.undefined(file.graph)


def _reference(
    file: CaseFile, ontology: Ontology, own: Triples, merged: Triples, extensions: tuple[Path, ...]
) -> Verdict:
    """Run case_utils.case_validate itself and turn its report into our results."""
    from case_utils.case_validate import validate

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # undefined terms come as warnings and are returned as well
        verdict = validate(
            [str(file.path)],
            case_version=VERSION,
            supplemental_graphs=[str(extension) for extension in extensions] or None,
            inference="none",
        )
    report = verdict.graph
    assert isinstance(report, Graph)
    results = [
        Result(
            str(report.value(node, SH.resultSeverity)).removeprefix(str(SH)),
            _there(report, node, SH.focusNode),
            report.value(node, SH.resultPath),
            report.value(node, SH.value),
            " ".join(map(str, report.objects(node, SH.resultMessage))),
            str(report.value(node, SH.sourceConstraintComponent)).removeprefix(str(SH)),
            _there(report, node, SH.sourceShape),
        )
        for node in report.subjects(RDF.type, SH.ValidationResult)
    ]
    return sorted(results, key=_order), sorted(map(str, verdict.undefined_concepts))


def _there(report: Graph, subject: Node, predicate: Node) -> Node:
    value = report.value(subject, predicate)
    assert value is not None
    return value


def _order(result: Result) -> tuple[int, str, str, str]:
    rank = {"Violation": 0, "Warning": 1, "Info": 2}.get(result.severity, 3)
    return rank, str(result.focus), str(result.path or ""), result.message


#: How the rules of CASE are run: directly, or by case_validate itself.
ENGINES: dict[str, Callable[[CaseFile, Ontology, Triples, Triples, tuple[Path, ...]], Verdict]] = {
    "fast": _fast,
    "case-utils": _reference,
}
