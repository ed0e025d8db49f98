"""`trace-prov answer`: the comparator, which sees packages and nothing else."""

from __future__ import annotations

from pathlib import Path

import click

from trace_prov.cli.output import ShownTable, console, say, shown_table, to_line
from trace_prov.errors import PackageError
from trace_prov.finding import RecordsAnswer, RequestAnswer, Status, locators_to_json
from trace_prov.package.bag import read_package
from trace_prov.package.comparator import Answer, answer, to_json
from trace_prov.package.folders import find_packages

EXIT_BAD_INPUT = 2


@click.command("answer")
@click.argument("packages", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PACKAGES...")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "jsonl"]),
    default="table",
    show_default=True,
    help="How the answers are printed.",
)
def answer_packages(*, packages: tuple[Path, ...], form: str) -> None:
    """Answer the questions from evidence packages alone: what each supports, and where it must abstain.

    PACKAGES are folders of packages, or packages. No log is read. Where an answer is open, its bounds are given and
    the smallest evidence that would close it.

    Exit codes: 0 fine, 2 some package cannot be used.
    """
    code = 0
    answers = []
    for found in find_packages(packages):
        try:
            given = answer(read_package(found.path), found.case)
        except PackageError as error:
            say("error", str(error))
            code = EXIT_BAD_INPUT
            continue
        if form == "jsonl":
            click.echo(to_line(to_json(given)))
        else:
            answers.append(given)
    if form == "table" and answers:
        console().print(_table(answers))
    raise SystemExit(code)


def _table(answers: list[Answer]) -> ShownTable:
    headings = ("case", "condition", "Q1 request", "Q2 records (H)", "Q3 cited (J)", "needed")
    rows = (
        (given.case, given.condition, in_words(given.q1), in_words(given.q2), in_words(given.q3), _needed(given))
        for given in answers
    )
    return shown_table(headings, rows)


def in_words(given: RequestAnswer | RecordsAnswer) -> str:
    """An answer in a few words, with its bounds where it is open."""
    if given.status is Status.BASIS_MISSING:
        return "basis missing"
    if isinstance(given, RequestAnswer):
        return {True: "yes", False: "no", None: "abstain"}[given.value]
    if given.status is Status.ANSWERED:
        return " ".join(locators_to_json(given.locators or ())) or "none"
    if given.bounds is None:
        return "abstain"
    certain = " ".join(locators_to_json(given.bounds.certain)) or "none"
    possible = " ".join(locators_to_json(given.bounds.possible)) or "none"
    return f"abstain (certain: {certain}; possible: {possible})"


def _needed(given: Answer) -> str:
    parts = [
        f"{name}: {', '.join(one.needed)}"
        for name, one in (("Q1", given.q1), ("Q2", given.q2), ("Q3", given.q3))
        if one.needed
    ]
    return "; ".join(parts)
