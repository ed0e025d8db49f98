"""The other formats: read back by the libraries that others read them with; the command line; speed."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path

import networkx
import pytest
from click.testing import CliRunner
from rocrate.rocrate import ROCrate

from trace_prov.cli import main
from trace_prov.export import EXPORTERS
from trace_prov.export.material import ExportedFile
from trace_prov.export.property_graph import CONTAINS, property_graph
from trace_prov.finding import Finding
from trace_prov.graph.write import run_to_quads
from trace_prov.model import Run

from ..conftest import DATA
from .material import EXAMPLES, WHOLE, exported, material_of, runs_of, sample_runs, written

BIN = Path(sys.executable).parent


@pytest.mark.parametrize("name", ["prov-n", "prov-json", "prov-xml", "prov-jsonld"])
def test_prov_convert_accepts_what_we_write(name: str, tmp_path: Path) -> None:
    source = written(material_of(*runs_of(EXAMPLES / "bill-payment.json")), name, tmp_path)
    form = {"prov-n": "provn", "prov-json": "json", "prov-xml": "xml", "prov-jsonld": "jsonld"}[name]
    target = tmp_path / "converted.json"
    command = [BIN / "prov-convert", "-i", form, "-f", "json", source, target]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(target.read_text())["bundle"]


@pytest.mark.parametrize(("name", "read"), [("graphml", networkx.read_graphml), ("gexf", networkx.read_gexf)])
def test_property_graph_reads_back(name: str, read: object) -> None:
    material = material_of(*runs_of(EXAMPLES))
    graph = property_graph(material, name)
    options = {"force_multigraph": True} if name == "graphml" else {}
    back = read(BytesIO(exported(material, name)), **options)  # type: ignore[operator]
    assert set(back) == set(graph)
    assert back.number_of_edges() == graph.number_of_edges()
    for node, values in graph.nodes(data=True):
        for key, value in values.items():
            if key != "label":
                assert str(back.nodes[node][key]).lower() == str(value).lower(), (node, key)


def test_property_graph_has_the_findings_as_edges() -> None:
    material = material_of(*runs_of(EXAMPLES / "injected-transfer.json"))
    (finding,) = next(iter(material.findings.values()))
    assert isinstance(finding, Finding)
    edges = [data for _, _, data in property_graph(material, "gexf").edges(data=True) if data["kind"] == CONTAINS]
    assert len(edges) == len({*finding.q1.matches, *finding.q2.matches})
    assert {edge["literal"] for edge in edges} == {finding.target.literal}


def test_ro_crate_is_read_by_the_library_and_describes_every_file(tmp_path: Path) -> None:
    out = tmp_path / "crate"
    arguments = ["export", str(EXAMPLES / "bill-payment.json"), "--to", "ro-crate", "--out", str(out)]
    done = CliRunner().invoke(main, [*arguments, "--time", "2026-03-03T08:00:00Z", "--examiner", "Eve Examiner"])
    assert done.exit_code == 0, done.output
    crate = ROCrate(out)
    assert crate.root_dataset["datePublished"] == "2026-03-03T08:00:00Z"
    described = {entity.id: entity for entity in crate.get_entities() if entity.type == "File"}
    found = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert set(described) == found - {"ro-crate-metadata.json"}
    for name, entity in described.items():
        assert entity["sha256"] == hashlib.sha256((out / name).read_bytes()).hexdigest()
    log = (out / "logs" / "bill-payment.json").read_bytes()
    assert log == (EXAMPLES / "bill-payment.json").read_bytes()


def test_ro_crate_needs_a_time_and_says_so(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["export", str(EXAMPLES), "--to", "ro-crate", "--out", str(tmp_path / "crate")])
    assert done.exit_code == 2
    assert "--time" in done.output
    assert not (tmp_path / "crate").exists()


@pytest.mark.parametrize("name", WHOLE)
def test_command_writes_what_the_function_gives(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    log = str(EXAMPLES / "bill-payment.json")
    options = ["--examiner", "Eve Examiner", "--time", "2026-03-03T08:00:00Z"]
    done = CliRunner().invoke(main, ["export", log, "--to", name, "--out", str(out), *options])
    assert done.exit_code == 0, done.output
    assert out.read_bytes() == exported(material_of(*runs_of(EXAMPLES / "bill-payment.json")), name)


def test_package_is_exported_with_its_own_target_and_nothing_hidden(tmp_path: Path) -> None:
    log = EXAMPLES / "bill-payment.json"
    runner = CliRunner()
    assert runner.invoke(main, ["package", str(log), "--condition", "C00", "--out", str(tmp_path / "p")]).exit_code == 0
    package = tmp_path / "p" / "bill-payment"
    for name in (*WHOLE, "graphml", "gexf"):
        done = runner.invoke(main, ["export", str(package), "--to", name, "--out", str(tmp_path / "out")])
        assert done.exit_code == 0, done.output
        request = runs_of(log)[0].turns[0].content.text
        assert request is not None
        assert request.encode() not in (tmp_path / "out").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name the logs"),
        (["x.json", "--store", "y"], "--store excludes"),
        (["examples", "--time", "yesterday"], "expected a date"),
    ],
)
def test_wrong_calls_are_told(arguments: list[str], words: str) -> None:
    done = CliRunner().invoke(main, ["export", *arguments, "--to", "case"])
    assert done.exit_code == 2
    assert words in done.output


def test_ten_thousand_triples_in_every_format_within_two_seconds_each() -> None:
    """CPU time, as others use the machine too."""
    runs: list[Run] = []
    quads = 0
    for run in sample_runs():
        runs.append(run)
        quads += len(list(run_to_quads(run)))
        if quads >= 10_000:
            break
    assert quads >= 10_000
    material = material_of(*runs)
    for name, exporter in EXPORTERS.items():
        start = time.process_time()
        files: list[ExportedFile] = list(exporter.export(material))
        assert sum(len(file.data) for file in files) > 0
        assert time.process_time() - start < 2.0, name


def test_data_of_tests_is_there() -> None:
    assert (DATA / "exchange" / "NOTICE").is_file()
