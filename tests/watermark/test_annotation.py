"""Verdicts on the graph: beside the evidence, which stays what it was; placed only where the actions agree."""

from __future__ import annotations

import base64
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyoxigraph
import pyshacl
import pytest
import rdflib
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from tests.graph.mutations import mutations
from tests.graph.samples import full_run
from tests.graph.strategies import examples
from tests.watermark.helpers import KEYS, OTHER, SCHEME
from tests.watermark.marked_graph import annotated, calling_run, loaded, verdict_over
from trace_prov import model
from trace_prov.cli import main
from trace_prov.graph import iris
from trace_prov.graph.store import TraceStore
from trace_prov.prov_constraints import check_document
from trace_prov.prov_constraints.reading import read_prov
from trace_prov.watermark import annotating, attacks
from trace_prov.watermark.annotating import canonical_hash, evidence_hash, shapes, violations
from trace_prov.watermark.annotation import MARK, annotation, to_nquads
from trace_prov.watermark.convert import trajectory_of
from trace_prov.watermark.keys import Epoch, KeyRing, reveal, write_ring
from trace_prov.watermark.places import AMBIGUOUS, DIFFERENT, INSERTED, SEVERAL, UNKNOWN, Spot, places
from trace_prov.watermark.trajectory import Run, dump_runs
from trace_prov.watermark.truth import Truth, dump_truth, read_truth, truth_of
from trace_prov.watermark.verdict import Finding, Ledger

ATTACKS = (
    "delete-groups:0.3",
    "insert-groups:0.3",
    "replace-action:0.4",
    "paraphrase:0.5",
    "reorder:0.3",
    "merge-runs",
)


def everything(store: TraceStore) -> tuple[set[str], set[str], bytes]:
    """All that can be found in a store: quads, names of graphs, and a dump."""
    data = store.database.dump(format=pyoxigraph.RdfFormat.N_QUADS)
    assert data is not None
    graphs = {str(graph) for graph in store.database.named_graphs()}
    return {str(quad) for quad in store.database}, graphs, b"".join(sorted(data.splitlines(keepends=True)))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Run], list[model.Run]]:
    """Two marked runs as trajectories and as the product reads their chat logs."""
    (one, first), (two, second) = calling_run("r-1"), calling_run("r-2", 11)
    return [one, two], loaded(tmp_path_factory.mktemp("chats"), first, second)


def attacked(runs: list[Run], names: list[str], seed: int = 1) -> tuple[list[Run], Truth]:
    done = attacks.apply(runs, [attacks.parse(name) for name in names], seed)
    return done.runs, truth_of(done, [("marked.json", "b" * 64)], dump_runs(done.runs))


# --- the evidence stays what it was -----------------------------------------------------------------------------


def test_writing_twice_and_removing_leave_the_evidence_and_the_store_as_they_were(pair: Any) -> None:
    logs, runs = pair
    store = TraceStore.in_memory([*runs, full_run()])
    before = everything(store)
    hashes = {run: evidence_hash(store, run) for run in store.runs()}
    attacked_logs, truth = attacked(logs, ["delete-groups:0.3", "insert-groups:0.2"])
    verdicts = [verdict_over(logs), verdict_over(attacked_logs), verdict_over(logs, OTHER)]
    first = [annotating.annotate(store, [verdict], logs) for verdict in verdicts[::2]]
    first.append(annotating.annotate(store, [verdicts[1]], attacked_logs, truth))
    assert [item.state for (item,) in first] == ["new", "new", "new"]
    assert {run: evidence_hash(store, run) for run in store.runs()} == hashes
    after = everything(store)
    assert before[0] < after[0]
    assert {quad for quad in after[0] - before[0] if f"<{iris.PROV}wasDerivedFrom>" in quad} == set()
    again = [annotating.annotate(store, [verdict], logs) for verdict in verdicts[::2]]
    again.append(annotating.annotate(store, [verdicts[1]], attacked_logs, truth))
    assert {item.state for (item,) in again} == {"already there"}
    assert everything(store) == after
    assert [store.run(run.id) for run in runs] == runs
    assert annotating.remove(store, annotating.annotation_graphs(store)) == 3
    assert everything(store) == before


def test_on_disk_too(pair: Any, tmp_path: Path) -> None:
    logs, runs = pair
    with TraceStore.create(tmp_path / "s") as store:
        list(store.add(runs))
        before = everything(store)
    with annotating.open_existing(tmp_path / "s") as store:
        annotating.annotate(store, [verdict_over(logs)], logs)
    with TraceStore.open(tmp_path / "s") as store:
        assert everything(store)[0] > before[0]
        assert [row.evidence for row in annotating.listed(store)] == ["unchanged"]
    with annotating.open_existing(tmp_path / "s") as store:
        annotating.remove(store, annotating.annotation_graphs(store))
    with TraceStore.open(tmp_path / "s") as store:
        assert everything(store) == before


def test_the_hash_is_that_of_the_canonical_dataset() -> None:
    """RDFC-1.0: neither the labels of blank nodes nor the order of quads count; any statement does."""
    lines = ["_:a <urn:p> _:b <urn:g> .", "_:b <urn:p> _:a <urn:g> .", '_:a <urn:q> "x" <urn:g> .']
    renamed = [line.replace("_:a", "_:z").replace("_:b", "_:a") for line in reversed(lines)]

    def hashed(rows: list[str]) -> str:
        return canonical_hash(pyoxigraph.parse("\n".join(rows), format=pyoxigraph.RdfFormat.N_QUADS))

    assert hashed(lines) == hashed(renamed)
    assert hashed(lines) != hashed([*lines[:2], '_:a <urn:q> "y" <urn:g> .'])
    assert hashed(lines) != hashed([line.replace("urn:g", "urn:h") for line in lines])
    store = TraceStore.in_memory([full_run()])
    quads = store.nquads(full_run().id)
    assert evidence_hash(store, full_run().id) == canonical_hash(
        pyoxigraph.parse(quads, format=pyoxigraph.RdfFormat.N_QUADS)
    )


def test_evidence_that_changed_or_is_gone_is_seen(pair: Any) -> None:
    logs, runs = pair
    store = TraceStore.in_memory(runs)
    annotating.annotate(store, [verdict_over(logs)], logs)
    graph = pyoxigraph.NamedNode(runs[0].id)
    extra = pyoxigraph.Quad(graph, pyoxigraph.NamedNode("urn:p"), pyoxigraph.Literal("x"), graph)
    store.database.add(extra)
    assert annotating.listed(store)[0].evidence == "changed"
    store.database.remove_graph(graph)
    assert annotating.listed(store)[0].evidence == "gone"


# --- where a decision stands ------------------------------------------------------------------------------------


def test_decisions_are_placed_by_their_actions_or_not_at_all(pair: Any) -> None:
    logs, runs = pair
    store = TraceStore.in_memory(runs)
    found = places(logs, store)
    assert found.at == {
        (log.id, n): Spot(run.id, n) for log, run in zip(logs, runs, strict=True) for n in range(1, len(log.groups) + 1)
    }
    assert found.unplaced == Counter()
    assert places([trajectory_of(runs[0])], store).at.keys() == {(runs[0].id, n) for n in range(1, 25)}
    # A log that lost its end, or an action of which is another one, is no longer that run.
    short = replace(logs[0], groups=logs[0].groups[:-1])
    assert places([short], store).unplaced == {UNKNOWN: 23}
    assert places([replace(short, id=runs[0].id)], store).unplaced == {DIFFERENT: 23}
    swapped = replace(logs[0], groups=(logs[0].groups[1], logs[0].groups[0], *logs[0].groups[2:]))
    assert places([swapped], store).unplaced == {UNKNOWN: 24}
    twin = replace(runs[0], id=f"urn:trace-prov:run:{'f' * 32}")
    assert places([logs[0]], TraceStore.in_memory([*runs, twin])).unplaced == {SEVERAL: 24}
    assert places([logs[1], logs[1]], store).unplaced == {AMBIGUOUS: 11}
    assert places([replace(logs[0], groups=())], store).at == {}


@examples(60)
@given(st.lists(st.sampled_from(ATTACKS), min_size=1, max_size=3), st.integers(0, 2**32))
def test_the_truth_of_an_attack_places_what_is_left(pair: Any, names: list[str], seed: int) -> None:
    logs, runs = pair
    graph_of = {log.id: run.id for log, run in zip(logs, runs, strict=True)}
    action_at = {(log.id, n): group.decision.action for log in logs for n, group in enumerate(log.groups, 1)}
    after, truth = attacked(logs, names, seed)
    found = places(after, TraceStore.in_memory(runs), truth)
    origin = {fate.new[:2]: fate for fate in truth.fates if fate.new is not None and fate.new[2] == 0}
    kept = {fate.old[0] for fate in origin.values() if fate.old is not None and not fate.changed}
    for run in after:
        for number, group in enumerate(run.groups, 1):
            fate = origin[run.id, number]
            spot = found.at.get((run.id, number))
            if fate.old is None:
                assert found.reasons[run.id, number] == INSERTED
            elif fate.old[0] in kept:
                assert spot == Spot(graph_of[fate.old[0]], fate.old[1])
                assert fate.changed or group.decision.action == action_at[fate.old[:2]]
    for fate in truth.fates:
        if fate.old is not None and fate.old[0] in kept:
            assert found.old[fate.old[:2]] == Spot(graph_of[fate.old[0]], fate.old[1])


def test_a_truth_that_the_graph_contradicts_places_nothing(pair: Any) -> None:
    logs, runs = pair
    after, truth = attacked(logs[:1], ["delete-groups:0.3"])
    other = replace(runs[0], actions=(replace(runs[0].actions[0], tool="x"), *runs[0].actions[1:]))
    kept = {fate.old[1] for fate in truth.fates if fate.old and fate.new and fate.old[2] == 0}
    if 1 not in kept:
        pytest.fail("the first decision must survive for this test")
    assert places(after, TraceStore.in_memory([other]), truth).at == {}


# --- what it says -----------------------------------------------------------------------------------------------


def test_the_query_tells_which_decisions_carry_the_verdict(pair: Any) -> None:
    _, runs = pair
    store = TraceStore.in_memory([*runs, full_run()])
    body = annotated(store, [*runs, full_run()])
    wanted = Counter(
        (
            row["about"],
            row["skipped"],
            None if row["match"] is None else row["match"],
            row["tally_skipped"],
        )
        for row in body["evidence"]
    )
    rows = store.ask("watermark_evidence")
    names = [variable.value for variable in rows.variables]
    plain = [{name: getattr(t, "value", None) for name, t in zip(names, row, strict=True)} for row in rows]
    agrees: dict[Any, bool | None] = {"agrees": True, "disagrees": False, "skipped": None}
    assert wanted == Counter(
        (f"{row['run']}:{row['action']}", row["selectionReason"], agrees[row["tally"]], row["tallyReason"])
        for row in plain
    )
    assert {row["standing"] for row in plain} == {"counted", "skipped"}
    assert {row["selectionReason"] for row in plain} == {None, "run salt missing"}
    assert {row["key"] for row in plain} == {KEYS.key_id}
    counted = store.ask("watermark_evidence", standing=pyoxigraph.Literal("counted"))
    assert len(list(counted)) == sum(1 for row in plain if row["standing"] == "counted") == 35


def test_a_verdict_in_a_document_of_others_is_none(pair: Any) -> None:
    logs, runs = pair
    store = TraceStore.in_memory(runs)
    made = annotation(verdict_over(logs), places(logs, store), {})
    graph = pyoxigraph.NamedNode("urn:trace-prov:document:" + "d" * 32)
    store.database.extend(pyoxigraph.Quad(q.subject, q.predicate, q.object, graph) for q in made.quads)
    assert list(store.ask("watermark_evidence")) == []
    assert annotating.listed(store) == []
    annotating.annotate(store, [verdict_over(logs)], logs)
    assert len(list(store.ask("watermark_evidence"))) == 35


def test_scores_are_written_when_disclosed_and_only_then(pair: Any) -> None:
    logs, runs = pair
    store, verdict = TraceStore.in_memory(runs), verdict_over(logs)
    plain = annotation(verdict, places(logs, store), {})
    open_ = annotation(verdict, places(logs, store), {}, disclose=True)
    told = {MARK + name for name in ("u", "score", "logLikelihoodRatio")}
    assert not {quad.predicate.value for quad in plain.quads} & told
    assert {quad.predicate.value for quad in open_.quads} >= told
    scores = [value_of(q) for q in open_.quads if q.predicate.value == f"{MARK}score"]
    assert sum(map(float, scores)) == pytest.approx(verdict.selection.statistic)


def test_attacks_are_activities_between_two_logs(pair: Any) -> None:
    logs, runs = pair
    after, truth = attacked(logs, ["delete-groups:0.3", "paraphrase:0.5", "insert-groups:0.2"])
    store = TraceStore.in_memory(runs)
    (written,) = annotating.annotate(store, [verdict_over(after)], after, truth)
    (row,) = annotating.listed(store)
    assert row.attacks == truth.steps
    graph = pyoxigraph.NamedNode(written.annotation)
    quads = list(store.database.quads_for_pattern(None, None, None, graph))
    fates = Counter(value_of(q) for q in quads if q.predicate.value == f"{MARK}fate")
    assert fates == {
        "lost": sum(fate.new is None for fate in truth.fates),
        "inserted": sum(fate.old is None for fate in truth.fates),
        "changed": sum(fate.changed and fate.old is not None and fate.new is not None for fate in truth.fates),
    }
    lost = {q.subject for q in quads if q.predicate.value == f"{MARK}fate" and value_of(q) == "lost"}
    about = {value_of(q) for q in quads if q.subject in lost and q.predicate.value == f"{MARK}about"}
    gone = {fate.old for fate in truth.fates if fate.new is None and fate.old is not None and fate.old[2] == 0}
    ids = {log.id: run.id for log, run in zip(logs, runs, strict=True)}
    assert {node for node in about if not node.endswith(".result")} == {
        iris.action(ids[place[0]], place[1]) for place in gone
    }
    chain = {value_of(q) for q in quads if q.predicate.value == f"{iris.PROV}wasInformedBy"}
    assert {f"{written.annotation}:attack:{n}" for n in (1, 2)} < chain


def test_a_verdict_that_abstains_is_an_annotation_as_well() -> None:
    run = full_run()
    store = TraceStore.in_memory([run])
    log = trajectory_of(run)
    verdict = verdict_over([log])
    (written,) = annotating.annotate(store, [verdict], [log])
    assert written.about[run.id, 6] == iris.action(run.id, 6)
    (row,) = annotating.listed(store)
    assert (row.outcome, row.decisions, row.placed) == ("abstain", 6, 6)


def test_names_of_a_log_cannot_leave_their_literals(pair: Any) -> None:
    logs, runs = pair
    odd = 'r"> <urn:x> . \ud800 \x00 \U0010f000'
    log = replace(logs[0], id=odd, salt="s")
    store = TraceStore.in_memory(runs)
    (written,) = annotating.annotate(store, [verdict_over([log])], [log])
    assert len(written.about) == 24
    assert odd not in annotating.to_trig(store, [written.annotation])
    annotating.remove(store, [written.annotation])


# --- never a key ------------------------------------------------------------------------------------------------


def spellings(secret: bytes) -> Iterator[bytes]:
    yield secret
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    yield base64.b64encode(secret).rstrip(b"=")
    yield base64.urlsafe_b64encode(secret).rstrip(b"=")


@pytest.mark.parametrize("disclose", [False, True])
def test_no_key_stands_in_the_store_or_in_what_is_printed(pair: Any, tmp_path: Path, disclose: bool) -> None:
    ring = KeyRing(
        "lab", (Epoch(1, "2026-01-01T00:00:00Z"), Epoch(2, "2026-02-01T00:00:00Z")), random.Random(5).randbytes(32)
    )
    write_ring(ring, tmp_path / "keys.json")
    log, chat = calling_run("k-1", keys=ring.keys(SCHEME))
    (tmp_path / "marked.json").write_bytes(dump_runs([log]))
    loaded(tmp_path, chat)
    assert run("load", tmp_path / "chat-0.json", "--store", tmp_path / "s").exit_code == 0
    more = ["--disclose"] if disclose else []
    printed = [
        run("watermark", "detect", tmp_path / "marked.json", "--keys", tmp_path / "keys.json", "--evidence",
            "--annotate", tmp_path / "s", "--format", form, *more).output
        for form in ("text", "json", "jsonl")
    ]  # fmt: skip
    printed.append(run("watermark", "annotations", "--store", tmp_path / "s", "--format", "trig").output)
    printed.append(run("query", "watermark_evidence", "--store", tmp_path / "s", "--format", "json").output)
    files = [path.read_bytes() for path in sorted((tmp_path / "s").rglob("*")) if path.is_file()]
    with TraceStore.open(tmp_path / "s") as store:
        files.append(everything(store)[2])
    where = b"\0".join([*files, *(text.encode() for text in printed)])
    assert ring.keys(SCHEME).key_id.encode() in where
    secrets = [ring.master]
    for epoch in (1, 2):
        opened = reveal(ring, SCHEME, epoch)
        secrets += [bytes.fromhex(opened[name]) for name in ("k1", "k2", "nonce")]
    for secret in secrets:
        assert [spelling for spelling in spellings(secret) if spelling in where] == []


# --- well formed ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rich(pair: Any) -> bytes:
    """An annotation that has every kind of node and property."""
    logs, runs = pair
    after, truth = attacked(logs, ["delete-groups:0.4", "paraphrase:0.5", "insert-groups:0.2", "replace-action:0.2"])
    bare = replace(after[1], salt=None)
    found = verdict_over([after[0], bare])
    finding = Finding("cut", after[0].id, "group 3", "the tally turns to chance", "p 0.01")
    verdict = replace(found, committed="2026-01-01T00:00:00Z", findings=(finding,), ledger=Ledger(3, 1, 1.0, {}))
    store = TraceStore.in_memory(runs)
    spots = places([after[0], bare], store, truth)
    hashes = {name: evidence_hash(store, name) for name in spots.runs}
    return to_nquads(annotation(verdict, spots, hashes, truth, disclose=True).quads)


def value_of(quad: pyoxigraph.Quad) -> str:
    """The IRI or the text that a quad states."""
    return str(getattr(quad.object, "value", ""))


def parsed(data: bytes) -> tuple[pyoxigraph.Quad, ...]:
    return tuple(pyoxigraph.parse(data, format=pyoxigraph.RdfFormat.N_QUADS))


@cache
def shapes_graph() -> rdflib.Graph:
    return rdflib.Graph().parse(data=shapes(), format="turtle")


def conforms_by_pyshacl(quads: tuple[pyoxigraph.Quad, ...]) -> bool:
    triples = "\n".join(f"{q.subject} {q.predicate} {q.object} ." for q in quads)
    graph = rdflib.Graph().parse(data=triples, format="nt")
    return bool(pyshacl.validate(graph, shacl_graph=shapes_graph())[0])


def test_an_annotation_keeps_its_shapes(rich: bytes) -> None:
    assert violations(parsed(rich)) == []
    assert conforms_by_pyshacl(parsed(rich))


def test_both_engines_see_the_same_damage(rich: bytes) -> None:
    """Every statement left out, said twice, or said of another kind of value: 40 of these; at least half are seen."""
    chosen = random.Random(42).sample(list(mutations(rich)), 40)
    seen = 0
    for mutation in chosen:
        ours = violations(mutation.quads)
        assert (not ours) == conforms_by_pyshacl(mutation.quads), mutation.name
        seen += bool(ours)
    assert seen > 20


def test_a_statement_about_a_run_or_a_key_is_refused(rich: bytes) -> None:
    quads = parsed(rich)
    graph = quads[0].graph_name
    run = pyoxigraph.NamedNode(f"urn:trace-prov:run:{'a' * 32}:act-01")
    kind = pyoxigraph.NamedNode(iris.RDF_TYPE)
    about = pyoxigraph.Quad(run, kind, pyoxigraph.NamedNode(f"{iris.TRACE}Action"), graph)
    assert violations((*quads, about))
    tool = next(q.subject for q in quads if q.object == pyoxigraph.NamedNode(f"{MARK}Tool"))
    key = pyoxigraph.Quad(tool, pyoxigraph.NamedNode(f"{MARK}key"), pyoxigraph.Literal("00"), graph)
    assert violations((*quads, key))


def test_run_and_annotation_together_keep_prov_constraints(pair: Any, rich: bytes, tmp_path: Path) -> None:
    logs, runs = pair
    store = TraceStore.in_memory(runs)
    annotating.annotate(store, [verdict_over(logs)], logs)
    for name, quads in (("one", tuple(store.database)), ("attacked", parsed(rich))):
        path = tmp_path / f"{name}.nt"
        path.write_text("".join(f"{q.subject} {q.predicate} {q.object} .\n" for q in quads), "utf-8")
        reports = check_document(read_prov(path).instances)
        assert reports
        assert all(report.valid for report in reports)


# --- the vocabulary ---------------------------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]
ONTOLOGY = rdflib.Graph().parse(ROOT / "ontology" / "watermark.ttl", format="turtle")


def test_every_term_is_used_and_every_used_term_is_defined(rich: bytes) -> None:
    defined = {
        str(term).removeprefix(MARK)
        for term in ONTOLOGY.subjects(rdflib.RDFS.isDefinedBy, rdflib.URIRef(MARK.rstrip("#")))
    }
    used = {
        str(getattr(term, "value", "")).removeprefix(MARK)
        for quad in parsed(rich)
        for term in (quad.predicate, quad.object)
        if str(getattr(term, "value", "")).startswith(MARK)
    }
    assert used | {"notPlaced"} == defined
    text = (ROOT / "shapes" / "watermark.ttl").read_text("utf-8")
    assert {name for name in defined if f"mark:{name} " not in text and f"mark:{name} )" not in text} == set()


def test_every_term_has_a_label_and_a_definition_and_every_class_stands_below_prov() -> None:
    for term in set(ONTOLOGY.subjects(rdflib.RDFS.isDefinedBy)):
        assert len(list(ONTOLOGY.objects(term, rdflib.RDFS.label))) == 1, term
        (definition,) = ONTOLOGY.objects(term, rdflib.SKOS.definition)
        assert str(definition).endswith("."), term
    for term in ONTOLOGY.subjects(rdflib.RDF.type, rdflib.OWL.Class):
        assert str(ONTOLOGY.value(term, rdflib.RDFS.subClassOf)).startswith(iris.PROV), term


def test_the_mapping_table_names_every_class() -> None:
    table = (ROOT / "ontology" / "mapping.tsv").read_text("utf-8")
    classes = {str(t).removeprefix(MARK) for t in ONTOLOGY.subjects(rdflib.RDF.type, rdflib.OWL.Class)}
    named = set(re.findall(r"mark:(\w+)", table))
    properties = {str(t).removeprefix(MARK) for t in ONTOLOGY.subjects(rdflib.RDFS.isDefinedBy)}
    assert classes <= named <= properties


# --- truth files ------------------------------------------------------------------------------------------------


def test_a_truth_file_comes_back(pair: Any, tmp_path: Path) -> None:
    _, truth = attacked(pair[0], ["joint:0.3,0.4", "strip-ids"])
    (tmp_path / "truth.jsonl").write_bytes(dump_truth(truth))
    assert read_truth(tmp_path / "truth.jsonl") == truth


# --- the command line -------------------------------------------------------------------------------------------


def run(*parts: object) -> Result:
    return CliRunner().invoke(main, [*map(str, parts)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ring = KeyRing("lab", (Epoch(1, "2026-01-01T00:00:00Z"),), b"m" * 32)
    write_ring(ring, tmp_path / "keys.json")
    log, chat = calling_run("c-1", keys=ring.keys(SCHEME))
    (tmp_path / "marked.json").write_bytes(dump_runs([log]))
    loaded(tmp_path, chat)
    assert run("load", tmp_path / "chat-0.json", "--store", tmp_path / "s").exit_code == 0
    attack = run("watermark", "attack", tmp_path / "marked.json", "--attack", "delete-groups:0.3",
                 "--out", tmp_path / "cut.json", "--truth", tmp_path / "truth.jsonl")  # fmt: skip
    assert attack.exit_code == 0
    return tmp_path


def test_detect_annotates_lists_and_takes_away(folder: Path) -> None:
    detect = ("watermark", "detect", folder / "marked.json", "--keys", folder / "keys.json", "--annotate", folder / "s")
    first, again = run(*detect, "--format", "json"), run(*detect)
    assert ": new; 24 of 24 decisions placed" in first.stderr
    assert ": already there; 24 of 24" in again.stderr
    (value,) = json.loads(first.stdout)["verdicts"]
    assert value["annotation"].startswith("urn:trace-prov:watermark:")
    assert value["evidence"][0]["about"].endswith(":act-01")
    cut = run("watermark", "detect", folder / "cut.json", "--keys", folder / "keys.json", "--annotate", folder / "s")
    assert "decisions are about no action of the store" in cut.stderr
    told = run("watermark", "detect", folder / "cut.json", "--keys", folder / "keys.json", "--annotate", folder / "s",
               "--truth", folder / "truth.jsonl")  # fmt: skip
    assert ": replaced; " in told.stderr
    assert "Attacks on the log, by its truth file: delete-groups:0.3" in told.stdout
    rows = [
        json.loads(line)
        for line in run("watermark", "annotations", "--store", folder / "s", "--format", "jsonl").stdout.splitlines()
    ]
    assert sorted(len(row["attacks"]) for row in rows) == [0, 1]
    assert {row["evidence"] for row in rows} == {"unchanged"}
    assert "delete-groups:0.3" in run("watermark", "annotations", "--store", folder / "s").stdout
    assert (
        run("watermark", "unannotate", "--store", folder / "s", value["annotation"]).stdout == "removed 1 annotation\n"
    )
    assert run("watermark", "unannotate", "--store", folder / "s", "--all").stdout == "removed 1 annotation\n"
    assert run("watermark", "annotations", "--store", folder / "s", "--format", "jsonl").stdout == ""


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (("detect", "marked.json", "--keys", "keys.json", "--annotate", "none"), "expected a store"),
        (("detect", "marked.json", "--keys", "keys.json", "--annotate", "keys.json"), "expected a store"),
        (("detect", "cut.json", "--keys", "keys.json", "--truth", "truth.jsonl"), "--truth goes with --annotate"),
        (("detect", "marked.json", "--keys", "keys.json", "--annotate", "s", "--truth", "truth.jsonl"), "another log"),
        (("detect", "cut.json", "--keys", "keys.json", "--annotate", "s", "--truth", "none"), "readable file"),
        (("detect", "cut.json", "--keys", "keys.json", "--annotate", "s", "--truth", "keys.json"), "line 1"),
        (("detect", "cut.json", "--keys", "keys.json", "--annotate", "s", "--truth", "bad.jsonl"), "line 2"),
        (("detect", "cut.json", "--keys", "keys.json", "--annotate", "s", "--truth", "half.jsonl"), "line 1"),
        (("unannotate", "--store", "s"), "or --all"),
        (("unannotate", "--store", "s", "urn:trace-prov:watermark:x"), "no annotation"),
        (("unannotate", "--store", "none", "--all"), "expected a store"),
        (("annotations", "--store", "none"), "expected a store"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(folder: Path, parts: tuple[str, ...], said: str) -> None:
    head = (folder / "truth.jsonl").read_text().splitlines()[0]
    (folder / "bad.jsonl").write_text(head + '\n{"old": ["c-1", 0, 0], "new": null, "changed": false}\n')
    (folder / "half.jsonl").write_text('{"format": "trace-prov-watermark-truth/1"}\n')
    names = {"marked.json", "cut.json", "keys.json", "truth.jsonl", "bad.jsonl", "half.jsonl", "s", "none"}
    done = run("watermark", *(folder / part if part in names else part for part in parts))
    assert done.exit_code == 2
    assert said in done.output
    assert "Traceback" not in done.output
    assert not (folder / "none").exists()
    with TraceStore.open(folder / "s") as store:
        assert annotating.annotation_graphs(store) == []


def test_the_log_is_named_without_its_folder() -> None:
    run_ = full_run()
    store = TraceStore.in_memory([run_])
    log = trajectory_of(run_)
    verdict = replace(verdict_over([log]), inputs=(("/home/someone/marked.json", "a" * 64),))
    (written,) = annotating.annotate(store, [verdict], [log])
    assert "someone" not in annotating.to_trig(store, [written.annotation])
