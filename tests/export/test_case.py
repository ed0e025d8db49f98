"""CASE bundles: accepted by the field's validators, repeatable, and saying what they should."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trace_prov.case import check_case
from trace_prov.errors import InputError
from trace_prov.export import EXPORTERS
from trace_prov.export.errors import ExportError
from trace_prov.export.material import Custody, Material
from trace_prov.package.build import Built, build
from trace_prov.package.condition import condition_named

from .material import EXAMPLES, all_shared_runs, exported, material_of, runs_of, sample_runs, written

BIN = Path(sys.executable).parent
ONTOLOGY = Path(__file__).parents[2] / "ontology" / "trace.ttl"


def _nodes(data: bytes) -> list[dict[str, Any]]:
    graph: list[dict[str, Any]] = json.loads(data)["@graph"]
    return graph


def _of(nodes: list[dict[str, Any]], class_: str) -> list[dict[str, Any]]:
    return [node for node in nodes if class_ in (node["@type"] if isinstance(node["@type"], list) else [node["@type"]])]


def _run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(BIN / command[0]), *map(str, command[1:])], capture_output=True, text=True, check=False)


def test_case_validate_accepts_the_sample(tmp_path: Path) -> None:
    """The real tool on 40 runs in one bundle: exit 0 means no result of any severity and no undefined term."""
    path = written(material_of(*sample_runs()), "case", tmp_path)
    done = _run("case_validate", path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Conforms: True" in done.stdout


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("options", [[], ["--ontology-graph", str(ONTOLOGY)]], ids=["alone", "with our terms"])
def test_case_validate_accepts_a_bundle_with_review_tbox(options: list[str], tmp_path: Path) -> None:
    path = written(material_of(*runs_of(EXAMPLES)), "case", tmp_path)
    done = _run("case_validate", "--review-tbox", *options, path)
    assert done.returncode == 0, done.stdout
    assert "Conforms: True" in done.stdout


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("start", range(0, 401, 50))
def test_case_validate_accepts_all_shared_runs(start: int, tmp_path: Path, shared_data: Path) -> None:
    """The real tool on every shared run, 50 in a bundle."""
    runs = all_shared_runs()
    assert len(runs) == 401
    path = written(material_of(*runs[start : start + 50]), "case", tmp_path)
    done = _run("case_validate", path)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "Conforms: True" in done.stdout


def test_our_checks_accept_the_sample(tmp_path: Path) -> None:
    """The engine with the verdict of case_validate, and the checks that case_validate lacks."""
    report = check_case(written(material_of(*sample_runs()), "case", tmp_path))
    assert report.conforms, report.results[:3]
    assert report.sound, [finding for finding in report.findings if finding.level == "error"][:3]


@pytest.mark.slow
def test_our_checks_accept_all_shared_runs(tmp_path: Path, shared_data: Path) -> None:
    runs = all_shared_runs()
    for start in range(0, len(runs), 80):
        report = check_case(written(material_of(*runs[start : start + 80]), "case", tmp_path))
        assert report.conforms
        assert report.sound


def test_case_prov_check_accepts_the_chain_of_custody(tmp_path: Path) -> None:
    path = written(material_of(*runs_of(EXAMPLES)), "case", tmp_path)
    done = _run("case_prov_check", path)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("condition", ["R00", "C00", "C01", "C10", "R11"])
def test_packages_conform_and_say_what_is_withheld(condition: str, tmp_path: Path) -> None:
    """Withheld, cut and redacted parts have a tag, a state and no payload."""
    run = runs_of(EXAMPLES / "injected-transfer.json")[0]
    built = build(run, condition_named(condition))
    assert isinstance(built, Built)
    path = written(material_of(built.package.run), "case", tmp_path)
    report = check_case(path)
    assert report.conforms, report.results[:3]
    assert report.sound
    nodes = _nodes(path.read_bytes())
    hidden = [node for node in nodes if node.get("uco-core:tag") == "withheld"]
    assert bool(hidden) == (condition != "R11")
    for node in hidden:
        assert "uco-core:hasFacet" not in node
        assert node["uco-core:description"]


def test_two_layers_are_kept_apart() -> None:
    nodes = _nodes(exported(material_of(*runs_of(EXAMPLES / "bill-payment.json")), "case"))
    examiner = _of(nodes, "case-investigation:InvestigativeAction")
    agent = [node for node in _of(nodes, "uco-action:Action") if node not in examiner]
    assert [node["uco-core:name"] for node in examiner] == ["receive agent log", "map agent log", "derive findings"]
    assert {node["uco-core:name"] for node in agent} == {"agent run", "act-01 read_file", "act-02 send_money"}
    performers = {node["uco-action:performer"]["@id"] for node in agent}
    (performer,) = performers
    assert next(node for node in nodes if node["@id"] == performer)["@type"] == "uco-tool:ConfiguredTool"


def test_each_investigative_action_gives_one_record_that_holds_its_results_and_no_input() -> None:
    nodes = _nodes(exported(material_of(*runs_of(EXAMPLES)), "case"))
    by_id = {node["@id"]: node for node in nodes}
    for action in _of(nodes, "case-investigation:InvestigativeAction"):
        results = [link["@id"] for link in action["uco-action:result"]]
        (record,) = (name for name in results if by_id[name]["@type"] == "case-investigation:ProvenanceRecord")
        held = by_id[record]["uco-core:object"]
        members = {link["@id"] for link in (held if isinstance(held, list) else [held])}
        assert members == set(results) - {record}


def test_findings_carry_their_support_status() -> None:
    material = material_of(*runs_of(EXAMPLES / "injected-transfer.json"))
    results = _of(_nodes(exported(material, "case")), "uco-analysis:AnalyticResult")
    (finding,) = next(iter(material.findings.values()))
    tags = [node["uco-core:tag"] for node in results]
    assert tags == [finding.q1.status, finding.q2.status, finding.q3.status]  # type: ignore[union-attr]
    assert all("supported by the evidence" in node["uco-core:statement"] for node in results)


def test_call_ids_and_local_ids_are_references_and_never_names() -> None:
    data = exported(material_of(*runs_of(EXAMPLES / "bill-payment.json")), "case")
    run = runs_of(EXAMPLES / "bill-payment.json")[0]
    ids = {row.local_id for row in run.table.rows} | {action.native_id for action in run.actions if action.native_id}
    nodes = _nodes(data)
    assert not any(str(name) in node["@id"] for node in nodes for name in ids)
    assert all(f'"{name}"' in data.decode() for name in ids)


def test_without_an_examiner_nobody_is_made_up() -> None:
    nodes = _nodes(exported(material_of(*runs_of(EXAMPLES / "bill-payment.json"), custody=Custody()), "case"))
    assert _of(nodes, "uco-identity:Person") == []
    for action in _of(nodes, "case-investigation:InvestigativeAction"):
        performer = action["uco-action:performer"]["@id"]
        assert next(node for node in nodes if node["@id"] == performer)["uco-core:name"] == "trace-prov"
        assert "uco-action:startTime" not in action


def test_an_export_of_nothing_is_refused() -> None:
    with pytest.raises(ExportError, match="at least one run"):
        exported(Material(()), "case")


def test_a_run_twice_is_refused() -> None:
    run = runs_of(EXAMPLES / "bill-payment.json")[0]
    with pytest.raises(InputError, match="it twice"):
        exported(material_of(run, run), "case")


@pytest.mark.parametrize("seed", ["0", "4242"])
def test_same_input_same_bytes_in_every_format(seed: str) -> None:
    """In another process with another hash seed."""
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import hashlib\n"
        "from tests.export.material import EXAMPLES, material_of, runs_of\n"
        "from trace_prov.export import EXPORTERS\n"
        "material = material_of(*runs_of(EXAMPLES))\n"
        "for name, exporter in EXPORTERS.items():\n"
        "    for file in exporter.export(material):\n"
        "        print(name, file.name, hashlib.sha256(file.data).hexdigest())\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script, str(root)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    import hashlib

    material = material_of(*runs_of(EXAMPLES))
    expected = [
        f"{name} {file.name} {hashlib.sha256(file.data).hexdigest()}"
        for name, exporter in EXPORTERS.items()
        for file in exporter.export(material)
    ]
    assert done.stdout.splitlines() == expected
