"""`trace-prov load` and `trace-prov query`, on real logs and a real store."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trace_prov.cli import main
from trace_prov.graph.queryfiles import queries
from trace_prov.graph.store import MARKER, TraceStore

from ..graph.samples import IBAN, RUN_ID, full_run

LOGS = Path(__file__).parent.parent / "data" / "agentdojo" / "runs"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that holds the run with every kind of node."""
    folder = tmp_path / "store"
    with TraceStore.create(folder) as made:
        assert [outcome.new for outcome in made.add([full_run()])] == [True]
    return folder


def test_logs_are_loaded_once(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "store"
    first = run("load", LOGS, "--store", folder)
    assert first.exit_code == 0, first.output
    assert "16 runs stored, 0 already there" in first.stdout
    with TraceStore.open(folder) as opened:
        before = [opened.nquads(name) for name in opened.runs()]
    second = run("load", LOGS, "--store", folder)
    assert "0 runs stored, 16 already there" in second.stdout
    assert "already holds" in second.stderr
    with TraceStore.open(folder) as opened:
        assert [opened.nquads(name) for name in opened.runs()] == before


def test_a_bad_log_is_told_and_the_others_are_stored(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    good = next(LOGS.rglob("none.json"))
    (logs / "good.json").write_bytes(good.read_bytes())
    (logs / "bad.json").write_text('{"messages": [')
    result = run("load", logs, "--store", tmp_path / "store")
    assert result.exit_code == 2
    assert "1 run stored" in result.stdout
    assert "bad.json, line 1" in result.stderr


def test_a_folder_of_other_files_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "report.txt").write_text("mine")
    result = run("load", LOGS, "--store", tmp_path)
    assert result.exit_code == 2
    assert f"other files and no {MARKER}" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["report.txt"]


def test_a_missing_store_is_named_with_what_makes_one(tmp_path: Path) -> None:
    result = run("query", "target", "--store", tmp_path / "none")
    assert result.exit_code == 2
    assert "no such folder (trace-prov load LOGS --store" in result.stderr


def test_a_store_in_use_is_told(store: Path) -> None:
    with TraceStore.create(store):
        result = run("query", "target", "--store", store)
    assert result.exit_code == 2
    assert "in use" in result.stderr


def test_readers_share_a_store(store: Path) -> None:
    with TraceStore.open(store):
        assert run("query", "target", "--store", store).exit_code == 0


def test_rows_as_json_hold_numbers_and_truth_values_as_such(store: Path) -> None:
    result = run("query", "actions_by_tool", "--store", store, "-p", "tool=get_balance", "--format", "json")
    (row,) = json.loads(result.stdout)
    assert row["action"] == "act-02"
    assert row["step"] == 1
    assert row["isError"] is True
    assert row["state"] == "https://w3id.org/trace-prov/ontology#Present"


def test_rows_as_csv(store: Path) -> None:
    asked = ("-p", f"run={RUN_ID}", "-p", "action=act-03", "-p", f"literal={IBAN}")
    result = run("query", "h", "--store", store, *asked, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["locator"], row["how"]) for row in rows] == [("act-01.result[2]", "raw")]


def test_rows_as_a_table_have_prefixed_names(store: Path) -> None:
    result = run("query", "basis", "--store", store, "-p", "action=act-05")
    assert "trace:BasisMalformed" in result.stdout


def test_an_iri_is_taken_with_or_without_brackets(store: Path) -> None:
    results = [run("query", "target", "--store", store, "-p", f"run={iri}") for iri in (RUN_ID, f"<{RUN_ID}>")]
    assert results[0].stdout == results[1].stdout
    assert "a/log.json" in results[0].stdout


def test_a_parameter_is_never_part_of_the_query(store: Path) -> None:
    attack = 'x" } INSERT DATA { <urn:a> <urn:b> <urn:c> } #'
    result = run("query", "h", "--store", store, "-p", f"literal={attack}", "--format", "json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == []


def test_a_query_of_ones_own_may_construct(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "own.rq"
    file.write_text("CONSTRUCT { ?s ?p ?o } WHERE { GRAPH ?run { ?run ?p ?o . BIND(?run AS ?s) } }")
    result = run("query", file, "--store", store, "-p", f"run={RUN_ID}")
    assert result.exit_code == 0, result.stderr
    assert "trace:AgentRun" in result.stdout
    wrong = run("query", file, "--store", store, "--format", "csv")
    assert wrong.exit_code == 2
    assert "--format ttl" in wrong.stderr


def test_a_query_of_ones_own_may_ask(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "own.rq"
    file.write_text("ASK { GRAPH ?g { ?s ?p ?text } }")
    assert run("query", file, "--store", store).stdout == "true\n"
    assert run("query", file, "--store", store, "-p", "text=nowhere").stdout == "false\n"


def test_a_syntax_error_has_its_line_and_column(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "own.rq"
    file.write_text("SELECT ?s WHERE {\n  ?s ?p\n}")
    result = run("query", file, "--store", store)
    assert result.exit_code == 2
    assert "own.rq, line 3, column 2: expected a SPARQL query" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nope",), "known: actions_by_tool, answerability"),
        (("h", "-p", "lit=x"), "h has no parameter 'lit'; it has: run, action, literal"),
        (("h",), "h needs -p literal=VALUE"),
        (("h", "-p", "literal"), "expected NAME=VALUE"),
        (("h", "-p", "literal=x", "-p", "run=a b"), "expected an IRI"),
        (("h", "-p", "literal=x", "--format", "ttl"), "--format ttl is for CONSTRUCT"),
        (("gone.rq",), "gone.rq: expected a query file"),
        ((), "query needs a NAME or FILE"),
    ],
)
def test_wrong_usage_says_what_exists(store: Path, arguments: tuple[str, ...], message: str) -> None:
    result = run("query", "--store", store, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_the_list_names_every_query_with_its_parameters() -> None:
    result = run("query", "--list")
    for file in queries():
        title = file.title.replace("CONTRACT", "docs/contract.md")
        assert f"{file.name}:\n  {title}\n" in result.stdout
    assert "-p literal=STRING" in result.stdout


def test_odd_text_is_found_and_shown_as_recorded(store: Path) -> None:
    result = run("query", "actions_by_tool", "--store", store, "-p", "tool=odd\ud800", "--format", "json")
    assert [row["tool"] for row in json.loads(result.stdout)] == ["odd\ud800"]
