"""`trace-prov answerability`: which layers support which question, for one case or counted over many."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from trace_prov.cli.options import log_options, question_options
from trace_prov.cli.output import Reporter, console, printable, shown_table, to_line
from trace_prov.cli.package import refuse_all_actions
from trace_prov.derive import Question
from trace_prov.finding import NotApplicable
from trace_prov.load import load_paths
from trace_prov.model import Run
from trace_prov.package.build import case_id
from trace_prov.package.lattice import QUESTIONS, Counts, Lattice, answer_to, count_all, lattice, outcome


@click.command()
@log_options()
@question_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "jsonl"]),
    default="table",
    show_default=True,
    help="jsonl: one case a line, also for many logs.",
)
def answerability(
    *, logs: tuple[Path, ...], from_format: str | None, max_bytes: int, question: Question, form: str
) -> None:
    """Show which combinations of layers support which question.

    The layers are the user's request, the results of tools, the account (what the agent wrote before a call) and the
    table (which record each cited id names). For one log: every combination of them, and the smallest ones that are
    enough. For several: how the supported answers are spread under each of the eight conditions.
    """
    reporter = Reporter()
    refuse_all_actions(question)
    runs = reporter.runs_of(load_paths(logs, format_name=from_format, max_bytes=max_bytes))
    if form == "jsonl":
        for run in runs:
            click.echo(to_line(_as_json(run, lattice(run, case_id(run.source), question))))
    else:
        first = list(islice(runs, 2))
        if len(first) == 1:
            _print_lattice(first[0], question)
        else:
            _print_counts(count_all(_chained(first, runs), question))
    reporter.close()


def _chained(first: list[Run], rest: Iterator[Run]) -> Iterator[Run]:
    yield from first
    yield from rest


def _as_json(run: Run, found: Lattice | NotApplicable) -> dict[str, Any]:
    case = case_id(run.source)
    if isinstance(found, NotApplicable):
        return {"case": case, "applicable": False, "reason": found.reason}
    return {
        "case": case,
        "applicable": True,
        "action": found.target.action,
        "argument": found.target.argument,
        "target": found.target.literal,
        "recorded": list(found.recorded),
        "combinations": [
            {
                "layers": list(cell.layers),
                **{name.lower(): outcome(answer_to(cell.finding, name)) for name in QUESTIONS},
            }
            for cell in found.cells
        ],
        "minimal": {name.lower(): [list(layers) for layers in found.minimal(name)] for name in QUESTIONS},
    }


def _print_lattice(run: Run, question: Question) -> None:
    found = lattice(run, case_id(run.source), question)
    out = console()
    if isinstance(found, NotApplicable):
        out.print(Text(printable(f"{found.log}: not applicable: {found.reason}")))
        return
    target = found.target
    named = f"{target.argument} = " if target.argument else ""
    out.print(Text(printable(f"{found.case}: {target.action}, {named}{target.literal!r}")))
    minimal = {name: found.minimal(name) for name in QUESTIONS}
    rows = []
    for cell in found.cells:
        marks = [
            f"{outcome(answer_to(cell.finding, name))}{' *' if cell.layers in minimal[name] else ''}"
            for name in QUESTIONS
        ]
        rows.append((" + ".join(cell.layers) or "none", *marks))
    out.print(shown_table(("layers shown", *QUESTIONS), rows))
    out.print("* the least that answers: without one of these layers the question is open", highlight=False)


COLUMNS = {
    "Q1": ("yes", "no", "abstain"),
    "Q2": ("non-empty", "empty", "abstain"),
    "Q3": ("non-empty", "empty", "basis_missing", "abstain"),
}


def _print_counts(counts: Counts) -> None:
    out = console()
    heads = [f"{name} {kind}" for name, kinds in COLUMNS.items() for kind in kinds]
    rows = (
        (condition, *(str(answers[name][kind]) for name, kinds in COLUMNS.items() for kind in kinds))
        for condition, answers in counts.answers.items()
    )
    out.print(shown_table(("condition", *heads), rows))
    out.print(f"{counts.cases} cases", highlight=False)
    for reason, number in counts.not_applicable.most_common():
        out.print(Text(printable(f"{number} not applicable: {reason}")))
