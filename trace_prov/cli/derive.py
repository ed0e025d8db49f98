"""`trace-prov derive` and `trace-prov explain`: findings from logs, and why they are what they are."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any

import click

from trace_prov import __version__
from trace_prov.cli.evidence import Evidence, evidence_options
from trace_prov.cli.neo4j import engine_options
from trace_prov.cli.options import question_options
from trace_prov.cli.output import (
    DataOut,
    HeadedLines,
    Reporter,
    console,
    csv_cell,
    headed_lines,
    printable,
    shown_table,
    to_line,
)
from trace_prov.derive import Question
from trace_prov.derive.engines import Derive, engine_named, on_store
from trace_prov.explain import explain as explain_finding
from trace_prov.finding import Finding, NotApplicable, Status, to_json
from trace_prov.model import Run, Severity

TABLE_ROWS = 500

Row = tuple[Run, Finding | NotApplicable]


@click.command()
@evidence_options
@question_options
@engine_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "jsonl", "csv"]),
    default="table",
    show_default=True,
    help="How the findings are printed.",
)
def derive(
    *,
    evidence: Evidence,
    question: Question,
    engine: AbstractContextManager[Derive],
    form: str,
) -> None:
    """Derive findings: was the value in the request, which earlier records held it, which were cited.

    LOGS are files or folders; --store takes the runs of a store instead. By default each run is asked about its target:
    the first action with a text argument that came after a tool result, and of its arguments the first of recipient,
    iban, account number, password, file path, date, subject, then others by name. Ends with exit code 2 when some log
    was damaged or refused; the others are answered all the same.
    """
    reporter = Reporter()
    with evidence.opened(reporter) as (runs, store), engine as derive_run:
        WRITERS[form](_findings(runs, on_store(derive_run, store), question))
    reporter.close()


def _findings(runs: Iterator[Run], engine: Derive, question: Question) -> Iterator[Row]:
    for run in runs:
        for finding in engine(run, question):
            yield run, finding


def _as_json(row: Row) -> dict[str, Any]:
    """The interchange form, with the evidence and the tool that it comes from."""
    run, finding = row
    body = to_json(finding)
    body["diagnostics"] = [
        {"code": item.code, "severity": item.severity.value, "place": item.place, "message": item.message}
        for item in run.diagnostics
        if item.severity is not Severity.NOTE
    ]
    source = run.source
    body["source"] = {"format": source.format, "sha256": source.sha256, "sidecar_sha256": source.sidecar_sha256}
    body["tool"] = f"trace-prov {__version__}"
    return body


def _write_jsonl(rows: Iterator[Row]) -> None:
    out = DataOut()
    for row in rows:
        out.write(to_line(_as_json(row)) + "\n")


def _write_json(rows: Iterator[Row]) -> None:
    out = DataOut()
    out.write("[")
    for number, row in enumerate(rows):
        out.write(("," if number else "") + "\n " + to_line(_as_json(row)))
    out.write("\n]\n")


CSV_COLUMNS = (
    "log",
    "run",
    "applicable",
    "action",
    "argument",
    "target",
    "q1_status",
    "q1_value",
    "q2_status",
    "q2_locators",
    "basis_state",
    "basis_ids",
    "q3_status",
    "q3_locators",
    "reason",
)


def _write_csv(rows: Iterator[Row]) -> None:
    writer = csv.DictWriter(DataOut(), CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for _, finding in rows:
        writer.writerow({name: csv_cell(value) for name, value in _flat(to_json(finding)).items()})


def _flat(body: dict[str, Any]) -> dict[str, Any]:
    if not body["applicable"]:
        return {name: body[name] for name in ("log", "run", "applicable", "action", "reason") if name in body}
    return {
        **{name: body[name] for name in ("log", "run", "applicable", "action", "argument", "target")},
        "q1_status": body["q1"]["status"],
        "q1_value": body["q1"]["value"],
        "q2_status": body["q2"]["status"],
        "q2_locators": _joined(body["q2"]["locators"]),
        "basis_state": body["basis"]["state"],
        "basis_ids": _joined(body["basis"]["ids"]),
        "q3_status": body["q3"]["status"],
        "q3_locators": _joined(body["q3"]["locators"]),
    }


def _joined(items: Iterable[str] | None) -> str | None:
    return None if items is None else " ".join(items)


TABLE_HEADINGS = ("log", "action", "target", "Q1 request", "Q2 records (H)", "Basis", "Q3 cited (J)")


def _write_table(rows: Iterator[Row]) -> None:
    """Tables of some hundred rows each, so that the first appear at once and memory stays flat."""
    out = console()
    while chunk := list(islice(rows, TABLE_ROWS)):
        out.print(shown_table(TABLE_HEADINGS, (_table_cells(finding) for _, finding in chunk)))


def _table_cells(finding: Finding | NotApplicable) -> tuple[str, ...]:
    if isinstance(finding, NotApplicable):
        return finding.log, finding.action or "", f"not applicable: {finding.reason}"
    body = to_json(finding)
    argument = f"{finding.target.argument} = " if finding.target.argument else ""
    q1 = {True: "yes", False: "no", None: "abstain"}[finding.q1.value]
    basis = " ".join(finding.basis.ids) or f"({finding.basis.state.value})"
    return (
        finding.log,
        finding.target.action,
        printable(f"{argument}{finding.target.literal}", 48),
        q1,
        _set(body["q2"]),
        basis,
        _set(body["q3"]),
    )


def _set(answer: dict[str, Any]) -> str:
    if answer["status"] == Status.ANSWERED.value:
        return " ".join(answer["locators"]) or "none"
    if answer["status"] == Status.BASIS_MISSING.value:
        return "basis missing"
    possible = answer.get("bounds", {}).get("possible", [])
    certain = answer.get("bounds", {}).get("certain", [])
    return f"abstain (certain: {' '.join(certain) or 'none'}; possible: {' '.join(possible) or 'none'})"


WRITERS: dict[str, Callable[[Iterator[Row]], None]] = {
    "table": _write_table,
    "json": _write_json,
    "jsonl": _write_jsonl,
    "csv": _write_csv,
}


@click.command()
@evidence_options
@question_options
def explain(*, evidence: Evidence, question: Question) -> None:
    """Explain each answer: which records matched and how, which citation is bound where, what is missing.

    The target is that of derive: one action of each run, unless --action or --all-actions says otherwise.
    """
    reporter = Reporter()
    out = console()
    with evidence.opened(reporter) as (runs, _):
        for number, (run, finding) in enumerate(_findings(runs, engine_named("native"), question)):
            if number:
                out.print()
            out.print(_explanation(run, finding))
    reporter.close()


def _explanation(run: Run, finding: Finding | NotApplicable) -> HeadedLines:
    if isinstance(finding, NotApplicable):
        return headed_lines((("log", finding.log), ("not applicable", finding.reason)))
    return headed_lines(explain_finding(run, finding))
