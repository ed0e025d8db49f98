"""Every run comes back equal through every format that holds runs whole, or is refused by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from trace_prov.exchange.reading import read_document
from trace_prov.export.errors import ExportError
from trace_prov.export.prov_document import to_document
from trace_prov.export.prov_quads import prov_quads
from trace_prov.graph.write import run_to_nquads
from trace_prov.model import Content, Run
from trace_prov.prov_constraints import check_document
from trace_prov.prov_constraints.reading import instances_of_document

from ..graph.strategies import visible_runs
from .material import EXAMPLES, WHOLE, all_shared_runs, exported, material_of, runs_of, sample_runs, written

#: Whole runs through whole formats are slow to shrink; a failure is told by its first example.
FEW = settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)


def _cannot_be_xml(quad: pyoxigraph.Quad) -> bool:
    text = quad.object.value if isinstance(quad.object, pyoxigraph.Literal) else ""
    return any((ord(char) < 32 and char not in "\t\n\r") or char in "\ufffe\uffff" for char in text)


def _back(runs: list[Run], name: str, folder: Path) -> list[Run]:
    imported = read_document(written(material_of(*runs), name, folder))
    assert imported.read == imported.kept
    return sorted(imported.runs, key=lambda run: run.id)


@pytest.mark.parametrize("name", WHOLE)
def test_sample_comes_back_equal(name: str, tmp_path: Path) -> None:
    runs = sample_runs()
    assert len(runs) == 40
    back = _back(runs, name, tmp_path)
    for run, again in zip(sorted(runs, key=lambda run: run.id), back, strict=True):
        assert again == run
        assert again.diagnostics == run.diagnostics


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
def test_all_shared_runs_come_back_equal(name: str, tmp_path: Path, shared_data: Path) -> None:
    runs = all_shared_runs()
    assert len(runs) == 401
    for start in range(0, len(runs), 50):
        some = runs[start : start + 50]
        assert _back(some, name, tmp_path) == sorted(some, key=lambda run: run.id)


@pytest.mark.parametrize("name", WHOLE)
@FEW
@given(run=visible_runs())
def test_any_visible_run_comes_back(name: str, tmp_path: Path, run: Run) -> None:
    """Withheld, cut and redacted parts among them, and texts with every character that a format could lose."""
    if name == "prov-xml" and any(_cannot_be_xml(quad) for quad in prov_quads(material_of(run))):
        with pytest.raises(ExportError, match=r"U\+[0-9A-F]{4}"):
            exported(material_of(run), name)
        return
    (back,) = _back([run], name, tmp_path)
    assert run_to_nquads(back) == run_to_nquads(run)


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\ufffe"])
def test_xml_formats_refuse_what_xml_cannot_hold(character: str) -> None:
    run = runs_of(EXAMPLES / "bill-payment.json")[0]
    turn = replace(run.turns[0], content=Content(f"pay{character}"))
    material = material_of(replace(run, turns=(turn, *run.turns[1:])))
    for name in ("prov-xml", "graphml", "gexf"):
        with pytest.raises(ExportError, match=f"U\\+{ord(character):04X}") as caught:
            exported(material, name)
        assert caught.value.source == name
        assert "request.user" in str(caught.value.place)
    for name in ("prov-n", "prov-json", "prov-jsonld", "trig", "nquads", "case"):
        assert exported(material, name)


@FEW
@given(run=visible_runs())
def test_view_of_any_run_keeps_prov_constraints(run: Run) -> None:
    document = to_document(prov_quads(material_of(run)))
    assert [report.violations for report in check_document(instances_of_document(document)) if not report.valid] == []


def test_view_of_sample_keeps_prov_constraints() -> None:
    for run in sample_runs():
        reports = check_document(instances_of_document(to_document(prov_quads(material_of(run)))))
        assert all(report.valid for report in reports), run.source.name


def test_no_claim_and_no_match_is_a_derivation() -> None:
    """Only the examiner's custody states derivations (CASE-to-PROV); nothing that the agent cites does."""
    for run in runs_of(EXAMPLES):
        for quad in prov_quads(material_of(run)):
            if quad.predicate.value.endswith("wasDerivedFrom"):
                assert quad.graph_name.value == "urn:trace-prov:custody"  # type: ignore[union-attr]
