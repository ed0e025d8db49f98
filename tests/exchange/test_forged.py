"""Files that claim to be ours and are not, and files that would get in the way of what the store holds."""

from __future__ import annotations

import json
from pathlib import Path

import pyoxigraph
import pytest
from click.testing import CliRunner

from trace_prov.cli import main
from trace_prov.errors import FormatError
from trace_prov.exchange.reading import read_document
from trace_prov.exchange.storing import store_document
from trace_prov.graph.literals import sha256_of
from trace_prov.graph.store import TraceStore

from ..export.material import EXAMPLES, WHOLE, material_of, runs_of, written

LOG = EXAMPLES / "bill-payment.json"
RUN = runs_of(LOG)[0]


def _export(name: str, folder: Path) -> Path:
    return written(material_of(RUN), name, folder)


def _changed(path: Path, old: str, new: str) -> Path:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


@pytest.mark.parametrize("name", WHOLE)
def test_everything_in_a_file_of_ours_is_kept(name: str, tmp_path: Path) -> None:
    """The custody too, which belongs to no run."""
    imported = read_document(_export(name, tmp_path))
    assert imported.read == imported.kept
    graphs = {quad.graph_name.value for quad in imported.quads}  # type: ignore[union-attr]
    assert f"{imported.document}:custody" in graphs


@pytest.mark.parametrize("name", ["prov-json", "nquads", "trig", "prov-n"])
def test_statements_added_to_a_run_are_refused_by_name(name: str, tmp_path: Path) -> None:
    """The run is what is stored, so they would be lost; the message shows them."""
    path = _export(name, tmp_path)
    if name == "prov-json":
        body = json.loads(path.read_text())
        body["bundle"][f"run:{RUN.id.rpartition(':')[2]}"]["entity"]["run:extra"] = {"trace:foo": "bar"}
        path.write_text(json.dumps(body))
    elif name == "prov-n":
        _changed(path, "  endBundle", "    entity(run:extra)\n  endBundle")
    elif name == "nquads":
        path.write_text(path.read_text() + f'<{RUN.id}:extra> <http://example.org/p> "x" <{RUN.id}> .\n')
    else:
        path.write_text(path.read_text() + f'<{RUN.id}> {{ <{RUN.id}:extra> <http://example.org/p> "x" }}\n')
    with pytest.raises(FormatError, match="nothing added or left out") as caught:
        read_document(path)
    assert "extra" in str(caught.value)


def test_statements_left_out_of_a_run_are_refused_by_name(tmp_path: Path) -> None:
    path = _export("nquads", tmp_path)
    lines = path.read_text().splitlines(keepends=True)
    (informed, *_) = (line for line in lines if "prov#wasInformedBy>" in line and f"<{RUN.id}> ." in line)
    path.write_text("".join(line for line in lines if line != informed))
    with pytest.raises(FormatError, match=r"one without .*prov#wasInformedBy"):
        read_document(path)


@pytest.mark.parametrize("name", WHOLE)
def test_changed_text_under_its_old_hash_is_refused(name: str, tmp_path: Path) -> None:
    path = _changed(_export(name, tmp_path), "UK12345678901234567890", "UK99999999999999999999")
    with pytest.raises(FormatError, match=r"(?i)SHA-?256"):
        read_document(path)


def test_another_content_under_a_known_identifier_is_refused_and_nothing_stored(tmp_path: Path) -> None:
    """With all hashes made new only the store can tell; the run's identifier comes from its evidence."""
    path = _export("nquads", tmp_path)
    request = RUN.turns[0].content.text
    assert request is not None
    text = path.read_text()
    forged = request.replace("bill", "bribe")
    path.write_text(text.replace(request, forged).replace(sha256_of(request), sha256_of(forged)))
    imported = read_document(path)
    assert imported.runs[0].id == RUN.id
    store = TraceStore.in_memory([RUN])
    before = len(store.database)
    with pytest.raises(FormatError, match="another content"):
        store_document(store, imported)
    assert len(store.database) == before
    assert store.run(RUN.id) == RUN


def test_graphs_that_two_files_call_the_same_stay_apart(tmp_path: Path) -> None:
    store = TraceStore.in_memory()
    documents = []
    for number in (1, 2):
        path = tmp_path / f"{number}.nq"
        path.write_text(
            f'<http://example.org/e> <http://example.org/p> "{number}" <http://example.org/g> .\n'
            f'_:b <http://example.org/p> "{number}" _:graph .\n'
        )
        imported = read_document(path)
        assert imported.read == imported.kept == 2
        documents.append(imported.document)
        assert store_document(store, imported).new
        size = len(store.database)
        assert not store_document(store, imported).new
        assert not store_document(store, read_document(path)).new
        assert len(store.database) == size
    named = pyoxigraph.NamedNode("http://example.org/g")
    specialization = pyoxigraph.NamedNode("http://www.w3.org/ns/prov#specializationOf")
    graphs = [quad.subject for quad in store.database.quads_for_pattern(None, specialization, named, None)]
    assert sorted(graph.value for graph in graphs) == sorted(  # type: ignore[union-attr]
        f"{document}:bundle:1" for document in documents
    )


def test_a_document_that_calls_something_a_run_does_not_get_in_the_way(tmp_path: Path) -> None:
    path = tmp_path / "claims.ttl"
    path.write_text(
        "@prefix trace: <https://w3id.org/trace-prov/ontology#> .\n"
        f"<urn:trace-prov:run:{'0' * 32}> a trace:AgentRun . <urn:x:y> a trace:AgentRun .\n"
    )
    store = str(tmp_path / "store")
    runner = CliRunner()
    assert runner.invoke(main, ["import", str(path), "--store", store]).exit_code == 0
    assert runner.invoke(main, ["load", str(LOG), "--store", store]).exit_code == 0
    derived = runner.invoke(main, ["derive", "--store", store, "--format", "jsonl"])
    assert derived.exit_code == 0, derived.output
    assert len(derived.output.splitlines()) == 1


def test_contradictions_in_the_file_of_another_are_told(tmp_path: Path) -> None:
    others = Path(__file__).parents[1] / "data" / "exchange" / "agent_run.jsonld"
    path = tmp_path / "other.jsonld"
    path.write_text(others.read_text().replace("to its IBAN.", "to my IBAN!"))
    notes = read_document(path).notes
    assert any("contradiction" in note and "SHA256" in note for note in notes)
    assert not any("contradiction" in note for note in read_document(others).notes)
