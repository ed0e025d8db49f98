"""A study's report: all tables in four forms, the plots, in one folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from trace_prov.study.beside import beside_table, reference_table
from trace_prov.study.comparisons import agreement_table, renaming_table, token_table
from trace_prov.study.folder import StudyFolder
from trace_prov.study.lines import read_lines
from trace_prov.study.page import to_html
from trace_prov.study.paper import Published, published
from trace_prov.study.plots import plots_of
from trace_prov.study.render import to_csv, to_latex, to_markdown
from trace_prov.study.results import Result
from trace_prov.study.tables import (
    Results,
    Table,
    change_table,
    comparator_table,
    error_table,
    exact_table,
    inventory_table,
    outcome_table,
    score_table,
    strata_table,
)
from trace_prov.writing import write_whole

TITLE = "Audit study: what readers answer and what their evidence supports"


def all_tables(
    results: Results, inventory: Iterable[Mapping[str, object]], figures: Sequence[Published] | None
) -> list[Table]:
    """Every table of a report, in order; those without a row are left out."""
    logs = list(inventory)
    tables = [
        inventory_table(logs),
        outcome_table(results),
        score_table(results, "q3"),
        exact_table(results, "q2"),
        strata_table(results),
        comparator_table(results),
        change_table(results),
        error_table(results),
        score_table(results, "q2"),
        score_table(results, "q1"),
        renaming_table(results),
        agreement_table(results),
        token_table(results),
    ]
    if figures is not None:
        tables += [beside_table(results, figures), reference_table(results, logs, figures)]
    return [table for table in tables if table.rows]


def write_report(folder: StudyFolder, results: Iterable[Result], *, beside_paper: bool = True) -> Path:
    """Write Markdown, LaTeX, a CSV file a table, and the HTML page; returns the page's path."""
    manifest = folder.require()
    shown = Results(results, manifest["conditions"])
    inventory = list(read_lines(folder.path / "inventory.jsonl"))
    tables = all_tables(shown, inventory, published() if beside_paper else None)
    (folder.report / "tables").mkdir(parents=True, exist_ok=True)
    for stale in (folder.report / "tables").glob("*.csv"):
        stale.unlink()
    for table in tables:
        write_whole(folder.report / "tables" / f"{table.id}.csv", to_csv(table))
    write_whole(folder.report / "report.md", to_markdown(tables, TITLE))
    write_whole(folder.report / "tables.tex", to_latex(tables))
    page = folder.report / "index.html"
    write_whole(page, to_html(tables, plots_of(shown), manifest, TITLE))
    return page
