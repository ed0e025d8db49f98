"""The files for Neo4j Browser are made of the query files and the palette, and every question runs on the server."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from trace_prov.derive import Question
from trace_prov.derive import derive as derive_natively
from trace_prov.finding import Finding, to_json
from trace_prov.model import Locator, Record, Run
from trace_prov.neo4j import browser
from trace_prov.neo4j.annotate import KINDS, annotate
from trace_prov.neo4j.connection import Connection
from trace_prov.neo4j.load import graph_of_package, graphs_of_runs, load
from trace_prov.neo4j.mapping import LABELS
from trace_prov.package.build import Built, build
from trace_prov.package.condition import condition_named

FOLDER = Path(__file__).resolve().parents[2] / "docker" / "browser"
REFRESH = "run: python -m trace_prov.neo4j.browser docker/browser"


def test_the_files_in_docker_are_fresh(tmp_path: Path) -> None:
    written = {path.relative_to(tmp_path): path.read_text(encoding="utf-8") for path in browser.write(tmp_path)}
    found = {p.relative_to(FOLDER): p.read_text(encoding="utf-8") for p in FOLDER.rglob("*") if p.is_file()}
    assert found == written, REFRESH


def test_every_label_has_a_look_and_the_base_label_comes_first() -> None:
    selectors = re.findall(r"^node\.(\w+) \{", browser.style(), re.MULTILINE)
    assert set(selectors) == LABELS | {"Annotation", "Import", *KINDS}
    assert selectors[0] == "Trace"
    assert selectors[-1] == "Hidden"
    assert len(selectors) == len(set(selectors))


def test_captions_are_never_a_long_text() -> None:
    """A record's text belongs in the side panel; its address is the caption."""
    rules = dict(
        re.findall(r"^node\.(\w*Record|\w*ListElement|\w*RequestTurn) \{(.*?)\}\"", browser.style(), re.M | re.S)
    )
    assert rules
    assert all('caption: "{locator' in rule for rule in rules.values())


class _Blocks(HTMLParser):
    """The text of the runnable blocks of the guide."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "pre" and "runnable" in (dict(attrs).get("class") or "")
        if self._inside:
            self.blocks.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre":
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.blocks[-1] += data


def test_the_guide_holds_each_question_as_it_is() -> None:
    parser = _Blocks()
    parser.feed(browser.guide())
    questions = browser.saved_questions()
    assert len(questions) >= 10
    assert parser.blocks == [questions[0].parameter, *(question.query for question in questions)]
    assert questions[0].parameter.startswith(":param literal => '")


def _not_holding(run: Run, literal: str) -> list[Locator]:
    """The records, turns included, that do not hold the literal, be it after unescaping."""
    turns = [Record(locator, turn.content) for locator, turn in zip(run.turn_locators, run.turns, strict=True)]
    records = [*turns, *(record for action in run.actions for record in action.records)]
    return [r.locator for r in records if not any(literal in text for text in (r.text, *r.decoded) if text)]


def _citing_another_record(run: Run, literal: str) -> Run:
    """The run with all rows of its table bound to one record that does not hold the literal."""
    rows = tuple(replace(row, locator=_not_holding(run, literal)[0]) for row in run.table.rows)
    return replace(run, id="urn:trace-prov:run:" + "d" * 32, table=replace(run.table, rows=rows))


def test_every_question_finds_its_answer_on_the_server(database: Connection, real_runs: list[Run]) -> None:
    """From a text to a finding: each question, asked of a case where its answer is known not to be empty."""
    cases = [
        (run, found)
        for run in real_runs
        for found in derive_natively(run, Question())
        if isinstance(found, Finding) and found.target.argument is not None
    ]
    run, finding = next(case for case in cases if case[1].q3.locators and _not_holding(case[0], case[1].target.literal))
    literals = {question.name: finding.target.literal for question in browser.saved_questions()}
    literals["03_request"] = next(f.target.literal for _, f in cases if f.q1.value)
    literals["08_held_but_not_cited"] = next(
        f.target.literal for _, f in cases if set(f.q2.locators or ()) - set(f.q3.locators or ())
    )
    package = build(run, condition_named("R10"))
    assert isinstance(package, Built)
    load(database, graphs_of_runs([*(r for r, _ in cases), _citing_another_record(run, finding.target.literal)]))
    load(database, [graph_of_package(package.package)])
    evidence = [{"run": run.id, "group": 1, "action": "A"}]
    verdict = {"decision": "abstain", "reason": "no power", "evidence": evidence}
    annotate(database, [("finding", to_json(finding)), ("verdict", verdict)])
    with database.session(read=True) as session:
        for question in browser.saved_questions():
            rows = session.run(question.query, literal=literals[question.name]).values()
            assert rows, question.name
            assert len(rows) <= 100
