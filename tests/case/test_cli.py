"""`trace-prov validate`: exit codes, words and JSON for both kinds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trace_prov.cli import main

DATA = Path(__file__).parent.parent / "data"
CASE, PROV = DATA / "case_examples", DATA / "prov_constraints"


def run(*args: object) -> Result:
    return CliRunner().invoke(main, ["validate", *map(str, args)])


def test_case_kept() -> None:
    result = run("--as", "case", CASE / "agent_run.jsonld")
    assert result.exit_code == 0, result.output
    assert "309 triples; the rules of CASE: kept; additional checks: 0 errors, 0 warnings" in result.output


def test_case_verdict_and_additional_checks_stand_apart() -> None:
    result = run("--as", "case", CASE / "event.json")
    assert result.exit_code == 1
    assert "the rules of CASE: kept; additional checks: 3 errors" in result.output
    assert "additional check, error (key-dropped)" in result.output
    assert run("--as", "case", "--rules-only", CASE / "event.json").exit_code == 0


def test_case_broken_in_words_and_in_json() -> None:
    result = run("--as", "case", "--rules-only", CASE / "hash_XFAIL.json")
    assert result.exit_code == 1
    assert "broken (1 Violation, 0 Warnings, 0 Infos, 0 undefined terms)" in result.output
    assert "Value is not Literal with datatype" in result.output
    body = json.loads(run("--as", "case", "--format", "json", CASE / "hash_XFAIL.json").stdout)
    assert [(one["ok"], one["conforms"], len(one["results"])) for one in body] == [(False, False, 1)]


def test_prov_kept_and_broken() -> None:
    result = run("--as", "prov", PROV / "type-success2.provn", PROV / "type-fail1.provn")
    assert result.exit_code == 1
    assert "type-success2.provn: valid PROV" in result.output
    assert "Constraint 55 (entity-activity-disjoint): ex:e1 is an entity and an activity" in result.output
    assert "      activity(ex:e1, -, -)" in result.output


def test_prov_as_json_lines() -> None:
    result = run("--as", "prov", "--format", "jsonl", PROV / "type-fail4.provn", PROV / "type-success2.xml")
    first, second = map(json.loads, result.stdout.splitlines())
    assert first["instances"][0]["violations"][0]["constraint"] == 53
    assert (first["format"], second["format"]) == ("PROV-N", "PROV-XML")
    assert (first["ok"], second["ok"]) == (False, True)


def test_prov_by_the_shapes() -> None:
    result = run("--as", "prov", "--engine", "shapes", PROV / "type-fail4.provn")
    assert result.exit_code == 1
    assert "Constraint 53" in result.output


def test_a_file_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    broken = tmp_path / "broken.provn"
    broken.write_text("document\nentity(")
    result = run("--as", "prov", broken, PROV / "type-success2.provn")
    assert result.exit_code == 2
    assert "broken.provn, line 2" in result.stderr
    assert "type-success2.provn: valid PROV" in result.stdout


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["x.provn"], "say what it claims to be with --as"),
        (["--as", "prov", "--engine", "case-utils", "x.provn"], "does not belong to --as prov"),
        (["--as", "case", "--engine", "shapes", "x.json"], "does not belong to --as case"),
        (["--as", "prov", "--rules-only", "x.provn"], "belong to --as case"),
        (["--as", "case", "nothing.json"], "no such file"),
    ],
)
def test_bad_calls(args: list[str], told: str, tmp_path: Path) -> None:
    for name in ("x.provn", "x.json"):
        (tmp_path / name).touch()
    result = run(*args[:-1], str(tmp_path / args[-1]))
    assert result.exit_code == 2
    assert told in result.stderr


def test_untrusted_names_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonld"
    path.write_text('{"@context": {"a": "http://example.org/"}, "@id": "a:x", "colour\\u001b[31m": 1, "a:b": 2}')
    result = run("--as", "case", path)
    assert result.exit_code == 1
    assert "\x1b" not in result.output
