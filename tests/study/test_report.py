"""Reports: the same figures in every form, names that mean harm, the published figures."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.study.conftest import Studied
from trace_prov.cli import main
from trace_prov.errors import UsageError
from trace_prov.package.condition import BUILT_IN
from trace_prov.study.answers import Answer
from trace_prov.study.folder import StudyFolder
from trace_prov.study.lines import read_lines
from trace_prov.study.page import to_html
from trace_prov.study.paper import published
from trace_prov.study.render import to_csv, to_latex, to_markdown
from trace_prov.study.report import all_tables, write_report
from trace_prov.study.results import results_of, write_scores
from trace_prov.study.tables import Results, Table, change_of, signed

HOSTILE = "<script>alert(1)</script> | a\nb `x` $y$ \\input{z} %n & #1 _t_ ~^ {q} \x1b[31m \u202e"


@pytest.fixture
def copied(studied: Studied, tmp_path: Path) -> StudyFolder:
    """The study without its packages, for tests that write into it."""
    shutil.copytree(studied.folder.path, tmp_path / "study", ignore=shutil.ignore_patterns("packages", "report"))
    return StudyFolder(tmp_path / "study")


def test_a_report_has_all_forms_and_is_the_same_when_written_again(studied: Studied, copied: StudyFolder) -> None:
    pytest.importorskip("matplotlib")
    files = []
    for _ in range(2):
        page = write_report(copied, studied.results)
        files.append({path.name: path.read_bytes() for path in page.parent.rglob("*") if path.is_file()})
    assert files[0] == files[1]
    assert {"index.html", "report.md", "tables.tex", "q3-scores.csv", "changes.csv", "beside-the-paper.csv"} <= set(
        files[0]
    )
    html = files[0]["index.html"].decode()
    assert html.count("<svg") == 3
    assert not re.search(r"(?:src|href)=\"(?!#)", re.sub(r"xlink:href=\"#[^\"]*\"", "", html))


def test_the_forms_show_the_same_figures(studied: Studied) -> None:
    inventory = list(read_lines(studied.folder.path / "inventory.jsonl"))
    tables = all_tables(Results(studied.results, tuple(BUILT_IN)), inventory, published())
    markdown, latex = to_markdown(tables, "title"), to_latex(tables)
    html = to_html(tables, [], {}, "title")
    for table in tables:
        rows = list(csv.reader(io.StringIO(to_csv(table))))
        assert tuple(rows[0]) == table.columns
        assert len(rows) == len(table.rows) + 1
        assert f'<h2 id="{table.id}">' in html
        assert f"\\label{{tab:{table.id}}}" in latex
    shown = next(table for table in tables if table.id == "q3-scores")
    for row in shown.rows:
        numbers = " | ".join(str(cell) for cell in row[2:])
        assert f"| {row[1]} | {numbers} |" in markdown
        assert f" & {row[1]} & {' & '.join(str(cell) for cell in row[2:])} \\\\" in latex


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_names_that_mean_harm_stay_text() -> None:
    table = Table("t", HOSTILE, HOSTILE, ("reader", HOSTILE), ((HOSTILE, 1), (None, 2.5)))
    page = _Tags()
    page.feed(to_html([table], [], {"readers": {HOSTILE: 1}}, HOSTILE))
    assert "script" not in page.tags
    assert any("<script>" in text for text in page.text)
    markdown = to_markdown([table], HOSTILE)
    assert "<script" not in markdown
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(rows) == 4
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 3 for row in rows)
    latex = to_latex([table])
    assert "\\input{z}" not in latex
    assert "\x1b" not in latex + markdown
    assert list(csv.reader(io.StringIO(to_csv(table))))[1] == [HOSTILE, "1"]


DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{booktabs,longtable,graphicx}
\begin{document}
\input{tables}
\end{document}
"""


def test_latex_tables_compile_whatever_the_names_are(studied: Studied, tmp_path: Path) -> None:
    """A whole report's tables, long ones among them, and names of every kind of character."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    results = Results(studied.results, tuple(BUILT_IN))
    inventory = list(read_lines(studied.folder.path / "inventory.jsonl"))
    letters = "".join(map(chr, range(0x20, 0x250)))
    names = [
        HOSTILE,
        "[1] begins with a bracket",
        "中文 é — ’ 😀 \ud800",
        *(letters[k : k + 16] for k in range(0, len(letters), 16)),
    ]
    rows = tuple((name, k, None if k % 2 else k / 7) for k, name in enumerate(names))
    hostile = [Table(f"t{count}", HOSTILE, HOSTILE, ("reader", HOSTILE, "change"), rows * count) for count in (1, 3)]
    (tmp_path / "tables.tex").write_text(to_latex([*all_tables(results, inventory, published()), *hostile]))
    (tmp_path / "document.tex").write_text(DOCUMENT)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "document"]
    for _ in range(2):  # references settle in the second run
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
        assert done.returncode == 0, done.stdout[-2000:]
    assert "multiply defined" not in done.stdout
    assert (tmp_path / "document.pdf").stat().st_size > 50_000


def test_changes_have_their_sign() -> None:
    assert [signed(number) for number in (14.356, -4.62, 0.0, -0.0, -0.001)] == [
        "+14.36",
        "−4.62",
        "+0.00",
        "+0.00",
        "−0.00",
    ]


def test_the_published_figures() -> None:
    figures = published()
    assert all(figure.source for figure in figures)
    by_key = {(f.study, f.reader, f.condition, f.question, f.measure): f for f in figures}
    assert len(by_key) == len(figures)
    scores = {
        (reader, condition): tuple(int(by_key["II", reader, condition, "q3", measure].value) for measure in "GDUW")
        for reader in ("Luna", "Sonnet")
        for condition in ("C00", "C10", "C01", "C11")
    }
    assert scores["Luna", "C00"] == (38, 31, 21, 43)
    assert scores["Sonnet", "C11"] == (52, 52, 7, 52)
    for grounded, definite, unsupported, _ in scores.values():
        assert definite <= grounded
        assert grounded + unsupported <= 64
    change = by_key["II", "Luna", "C11-C01", "q3", "change of G"]
    assert (change.value, change.low, change.high) == (13.08, -4.62, 32.56)
    assert [by_key["I", "Luna", name, "q2", "G"].value for name in ("R00", "R10", "R01", "R11")] == [60, 55, 64, 63]
    for condition in ("C00", "C10"):
        kinds = [
            f.value for f in figures if (f.reader, f.condition) == ("comparator", condition) and f.measure not in "GU"
        ]
        assert sum(kinds) == 64


def test_the_published_figures_stand_beside_ones_own(studied: Studied) -> None:
    results = Results(studied.results, tuple(BUILT_IN))
    (table,) = (table for table in all_tables(results, [], published()) if table.id == "beside-the-paper")
    assert table.columns[4:6] == ("Luna (published)", "Sonnet (published)")
    rows = {row[:4]: dict(zip(table.columns[4:], row[4:], strict=True)) for row in table.rows}
    row = rows["Study II", "C00", "Q3", "G"]
    assert (row["Luna (published)"], row["Sonnet (published)"], row["sim/perfect"]) == (
        "38 of 64",
        "26 of 64",
        "64 of 64",
    )
    change = change_of(results, "sim/copy-h", "q3", "C10", "C00")
    assert change is not None
    shown = rows["Study II", "C10−C00", "Q3", "change of G"]
    assert shown["Luna (published)"] == "+14.36 (+0.26 to +30.00)"
    assert str(shown["sim/copy-h"]).startswith(signed(change.points))
    assert all(table.id != "beside-the-paper" for table in all_tables(results, [], None))


def test_scores_are_written_a_line_an_answer(studied: Studied, copied: StudyFolder) -> None:
    write_scores(copied, studied.results)
    rows = list(read_lines(copied.scores))
    assert len(rows) == len(studied.results)
    row, result = rows[0], studied.results[0]
    assert isinstance(result.given, Answer)
    assert row["answer"] == result.given.to_json(result.question)
    assert {name: row[name] for name in "wgdau"} == {name: getattr(result.score, name) for name in "wgdau"}


def test_the_published_figures_can_be_left_out(studied: Studied, copied: StudyFolder) -> None:
    pytest.importorskip("matplotlib")
    page = write_report(copied, studied.results, beside_paper=False)
    assert "Beside the published figures" not in page.read_text(encoding="utf-8")


def test_answers_of_another_tool_are_scored_beside(studied: Studied, tmp_path: Path) -> None:
    lines = (studied.folder.path / "comparator.jsonl").read_text().splitlines()
    other = tmp_path / "other-tool.jsonl"
    other.write_text("\n".join([*lines[:-1], json.dumps(json.loads(lines[-1]) | {"q2": {"status": "answered"}})]))
    results = [result for result in results_of(studied.folder, [other]) if result.reader == "other-tool"]
    assert sum(not result.score.valid for result in results) == 1
    assert all(result.score.g for result in results if result.score.valid)
    other.write_text(json.dumps(json.loads(lines[0]) | {"case": "nowhere"}))
    with pytest.raises(UsageError, match="line 1"):
        results_of(studied.folder, [other])


def test_score_and_report_on_the_command_line(studied: Studied, copied: StudyFolder) -> None:
    runner = CliRunner()
    scored = runner.invoke(main, ["study", "score", str(copied.path)])
    assert scored.exit_code == 0, scored.output
    assert "sim/guess-order" in scored.output
    assert "Task-equal paired change" in scored.output
    reported = runner.invoke(main, ["study", "report", str(copied.path), "--no-paper"])
    assert reported.exit_code == 0, reported.output
    nothing = runner.invoke(main, ["study", "report", str(studied.logs)])
    assert nothing.exit_code == 2
    assert "no study here" in nothing.output
