"""Files of others: counted in against out, refused by name, mapped to runs that answer the same questions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyoxigraph
import pytest
import rdflib
from click.testing import CliRunner

from trace_prov.cli import main
from trace_prov.derive import Question, derive
from trace_prov.errors import FormatError
from trace_prov.exchange.custody import custody
from trace_prov.exchange.reading import read_document
from trace_prov.exchange.storing import store_document
from trace_prov.finding import Finding, Status
from trace_prov.graph.store import TraceStore
from trace_prov.model import BasisState, TableState

from ..conftest import DATA
from ..export.material import EXAMPLES, material_of, runs_of, written

OTHERS = DATA / "exchange"
CASE_EXAMPLES = DATA / "case_examples"
PROV = "http://www.w3.org/ns/prov#"
#: Files of the community in which JSON-LD readers lose something; a word of the reason.
LOSSY = {
    "action_result_PASS.json": "rdfs:comment",
    "configuration_setting_PASS.json": "rdfs:comment",
    "dictionary_PASS.json": "repeatsKey",
    "event.json": "name",
    "file.json": "location",
    "hash_XFAIL.json": "rdfs:comment",
    "message.json": "identifier",
    "message_thread_PASS.json": "core:hasFacet",
    "relationship_XFAIL.json": "rdfs:comment",
}
VERDICTS = [line.split("\t") for line in (CASE_EXAMPLES / "verdicts.tsv").read_text().splitlines()[1:]]


def _finding(path: Path, question: Question | None = None) -> Finding:
    (run,) = read_document(path).runs
    (finding,) = derive(run, question)
    assert isinstance(finding, Finding)
    return finding


@pytest.mark.parametrize("row", VERDICTS, ids=[row[0] for row in VERDICTS])
def test_case_example_loads_whole_or_is_refused_by_name(row: list[str]) -> None:
    name, triples = row[0], int(row[2])
    path = CASE_EXAMPLES / name
    if name in LOSSY:
        with pytest.raises(FormatError, match="read whole") as caught:
            read_document(path)
        assert LOSSY[name] in str(caught.value)
    imported = read_document(path, accept_losses=True)
    assert imported.read == imported.kept == triples
    assert bool(imported.notes) == (not imported.runs)
    assert any("lost in reading" in note for note in imported.notes) == (name in LOSSY)


def test_agent_run_in_case_by_another_hand_answers_the_questions() -> None:
    """What the file says: the bill is act-01's result, the account cites it as in-1 (docs: agent_run.jsonld)."""
    (run,) = read_document(OTHERS / "agent_run.jsonld").runs
    assert [(action.tool, action.native_id) for action in run.actions] == [
        ("read_file", "call_0001"),
        ("send_money", "call_0002"),
    ]
    assert run.actions[1].argument("amount").value == 100.7  # type: ignore[union-attr]
    assert run.table.state is TableState.PARTIAL
    assert [(row.local_id, str(row.locator)) for row in run.table.rows if row.local_id == "in-1"] == [
        ("in-1", "act-01.result")
    ]
    finding = _finding(OTHERS / "agent_run.jsonld")
    assert finding.target.literal == "UK12345678901234567890"
    assert finding.q1.value is False
    assert [str(locator) for locator in finding.q2.locators or ()] == ["act-01.result[2]"]
    assert finding.basis.ids == ("in-1",)
    assert [str(locator) for locator in finding.q3.locators or ()] == ["act-01.result[2]"]


def test_agent_run_in_prov_by_another_hand_answers_what_it_can() -> None:
    """PROV-N ties the note to no call, so the account is not visible and Q3 abstains."""
    finding = _finding(OTHERS / "agent_run.provn")
    assert finding.q1.value is False
    assert [str(locator) for locator in finding.q2.locators or ()] == ["act-01.result[2]"]
    assert finding.basis.state is BasisState.WITHHELD
    assert finding.q3.status is Status.ABSTAIN


def test_calls_without_an_order_make_no_run(tmp_path: Path) -> None:
    text = (OTHERS / "agent_run.provn").read_text()
    for old in ("trace:seq=1", "trace:seq=2"):
        text = text.replace(f", {old}", "")
    for time in (
        "2026-03-02T09:00:10+00:00, 2026-03-02T09:00:12+00:00",
        "2026-03-02T09:00:20+00:00, 2026-03-02T09:00:22+00:00",
    ):
        text = text.replace(f"act-01, {time}", "act-01, -, -").replace(f"act-02, {time}", "act-02, -, -")
    text = text.replace("    wasInformedBy(run:act-02, run:act-01)\n", "")
    path = tmp_path / "unordered.provn"
    path.write_text(text)
    imported = read_document(path)
    assert imported.runs == ()
    assert any("order of the calls" in note for note in imported.notes)


def test_results_of_parallel_calls_count_from_their_end(tmp_path: Path) -> None:
    """The second call started before the first had ended, so the first result was not in its context (CONTRACT 1)."""
    text = (OTHERS / "agent_run.jsonld").read_text().replace("2026-03-02T09:00:12Z", "2026-03-02T09:00:21Z")
    body = json.loads(text)
    body["@graph"] = [node for node in body["@graph"] if node.get("uco-core:kindOfRelationship") != "Followed_By"]
    path = tmp_path / "parallel.jsonld"
    path.write_text(json.dumps(body))
    assert _finding(path, Question(action="act-02", argument="recipient")).q2.locators == ()


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("prefixless.jsonld", '"uco-core:name": "Examiner"', '"name": "Examiner"', "no prefix"),
        ("null.jsonld", '"uco-core:name": "Examiner"', '"uco-core:name": null', "null"),
        ("named.jsonld", '"@graph": [', '"@id": "http://example.org/g", "@graph": [', "named graph"),
    ],
)
def test_what_json_ld_readers_drop_is_refused(tmp_path: Path, name: str, old: str, new: str, words: str) -> None:
    path = tmp_path / name
    path.write_text((OTHERS / "agent_run.jsonld").read_text().replace(old, new))
    with pytest.raises(FormatError, match=words):
        read_document(path)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (
            "empty.jsonld",
            '{"@context": {"a": "https://ontology.unifiedcyberontology.org/"}, "@graph": []}',
            "one statement",
        ),
        ("empty.ttl", "@prefix prov: <http://www.w3.org/ns/prov#> .", "one statement"),
        ("empty.provn", "document\nendDocument\n", "one statement"),
        ("null.json", '{"prefix": {"a": "http://a/"}, "entity": {"a:e": {"a:x": null}}}', "null"),
        ("key.json", '{"prefix": {"a": "http://a/"}, "entity": {"a:e": {"x": "1"}}}', "without one|one without"),
        ("twice.json", '{"prefix": {"a": "http://a/"}, "entity": {"a:e": {}, "a:e": {}}}', "the same key twice"),
        ("blank.json", '{"prefix": {"a": "http://a/"}, "entity": {"a:e f": {}}}', "IRI"),
        ("text.txt", "nothing", "text that starts with"),
        (
            "times.provn",
            "document\nprefix a <http://a/>\nactivity(a:x, 2026-01-01T00:00:00, -)\n"
            "activity(a:x, 2026-01-02T00:00:00, -)\nendDocument\n",
            "two statements",
        ),
    ],
)
def test_refused_with_a_reason(tmp_path: Path, name: str, text: str, words: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FormatError, match=words):
        read_document(path)


def test_import_command_stores_runs_documents_and_custody(tmp_path: Path) -> None:
    store = tmp_path / "store"
    ours = written(material_of(*runs_of(EXAMPLES)), "case", tmp_path)
    files = [
        str(OTHERS / "agent_run.jsonld"),
        str(OTHERS / "agent_run.provn"),
        str(ours),
        str(CASE_EXAMPLES / "event.json"),
    ]
    done = CliRunner().invoke(main, ["import", "--store", str(store), *files])
    assert done.exit_code == 2, done.output
    assert "event.json" in done.output
    with TraceStore.open(store) as opened:
        assert len(opened.runs()) == 5
        assert {run.id for run in runs_of(EXAMPLES)} <= set(opened.runs())
        for run in runs_of(EXAMPLES):
            assert opened.run(run.id) == run
        rows = opened.query(f"SELECT ?a ?b WHERE {{ GRAPH ?g {{ ?a <{PROV}wasInformedBy> ?b . ?a a <{PROV}Activity> }} "
                            "FILTER(STRENDS(STR(?g), ':custody')) }")  # fmt: skip
        assert len(list(rows)) >= 6  # type: ignore[arg-type]
        lineage = opened.ask("lineage", literal=pyoxigraph.Literal("UK12345678901234567890"))
        assert len(list(lineage)) >= 3
    again = CliRunner().invoke(main, ["import", "--store", str(store), *files[:3], "--format", "jsonl"])
    assert again.exit_code == 0, again.output
    assert not any(run["new"] for line in again.output.splitlines() for run in json.loads(line)["runs"])


def test_stored_document_is_kept_triple_by_triple() -> None:
    imported = read_document(CASE_EXAMPLES / "forensic_lifecycle.json")
    store = TraceStore.in_memory()
    assert store_document(store, imported).new
    assert not store_document(store, imported).new
    graph = pyoxigraph.NamedNode(imported.document)
    assert len(list(store.database.quads_for_pattern(None, None, None, graph))) == imported.read


def _case_prov(path: Path, folder: Path) -> set[tuple[str, str, str]]:
    """What case_prov_rdf derives, as (subject, relation, object); named things only."""
    out = folder / f"{path.stem}.ttl"
    tool = Path(sys.executable).parent / "case_prov_rdf"
    command = [tool, "--use-deterministic-uuids", "--allow-empty-results", out, path]
    subprocess.run(list(map(str, command)), check=True, capture_output=True)
    graph = rdflib.Graph().parse(out)
    return {
        (str(s), str(p).removeprefix(PROV), str(o))
        for s, p, o in graph
        if str(p).removeprefix(PROV) in RELATIONS and isinstance(s, rdflib.URIRef) and isinstance(o, rdflib.URIRef)
    }


RELATIONS = (
    *("used", "wasGeneratedBy", "hadMember", "wasInformedBy"),
    *("wasDerivedFrom", "wasAttributedTo", "wasAssociatedWith", "actedOnBehalfOf"),
)
CUSTODY_FILES = ("analysis", "configured_tool", "forensic_lifecycle", "investigative_action_PASS", "reconstructed_file")


@pytest.mark.parametrize("name", ["ours", "agent_run", *CUSTODY_FILES])
def test_custody_equals_what_case_prov_derives(name: str, tmp_path: Path) -> None:
    """The real tool, on our bundle, on another's agent run, and on the community's examples."""
    path = CASE_EXAMPLES / f"{name}.json"
    if name == "ours":
        path = written(material_of(*runs_of(EXAMPLES)), "case", tmp_path)
    elif name == "agent_run":
        path = OTHERS / "agent_run.jsonld"
    data = rdflib.Graph().parse(path, format="json-ld").serialize(format="nt", encoding="utf-8")
    found = {
        (subject, predicate.removeprefix(PROV), value)
        for subject, predicate, value in custody(pyoxigraph.parse(data, format=pyoxigraph.RdfFormat.N_TRIPLES))
        if isinstance(value, str) and predicate.removeprefix(PROV) in RELATIONS
    }
    expected = _case_prov(path, tmp_path)
    assert expected
    assert found == expected
