"""`trace-prov diff`: which evidence one package has more than another, and what that changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trace_prov.cli.output import printable, say, to_line
from trace_prov.cli.package_answer import in_words
from trace_prov.package.bag import read_package
from trace_prov.package.diff import Difference, diff
from trace_prov.package.lattice import QUESTIONS, answer_to


@click.command("diff")
@click.argument("first", type=click.Path(path_type=Path), metavar="PACKAGE")
@click.argument("second", type=click.Path(path_type=Path), metavar="PACKAGE")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def diff_packages(*, first: Path, second: Path, form: str) -> None:
    """Compare two packages: the evidence that only one shows, and the answers that this changes.

    Exit codes: 0 the same evidence, 1 they differ, 2 bad input.
    """
    found = diff(read_package(first), read_package(second))
    if form == "json":
        click.echo(to_line(_as_json(found)))
    else:
        _print(found)
    raise SystemExit(1 if found.only_first or found.only_second or found.changed else 0)


def _as_json(found: Difference) -> dict[str, Any]:
    answers = {
        name: {
            "first": in_words(answer_to(found.first, name)),
            "second": in_words(answer_to(found.second, name)),
            "changes": name in found.changes(),
        }
        for name in QUESTIONS
    }
    return {
        "only_first": list(found.only_first),
        "only_second": list(found.only_second),
        "changed": list(found.changed),
        "apart": found.apart,
        "answers": answers,
    }


def _print(found: Difference) -> None:
    if found.apart is not None:
        say("warning", found.apart)
    for name, addresses in (
        ("only in the first", found.only_first),
        ("only in the second", found.only_second),
        ("shown differently", found.changed),
    ):
        if addresses:
            click.echo(printable(f"{name}: {', '.join(addresses)}"))
    if not (found.only_first or found.only_second or found.changed):
        click.echo("the same evidence")
    for name in QUESTIONS:
        first, second = in_words(answer_to(found.first, name)), in_words(answer_to(found.second, name))
        changed = f" -> {second}" if name in found.changes() else " (both)"
        click.echo(printable(f"{name}: {first}{changed}"))
