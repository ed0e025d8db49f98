"""Watermark verdicts in a store: written (`detect --annotate`), listed (`annotations`), removed (`unannotate`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import click

from trace_prov.cli.output import DataOut, console, say, shown_table, to_line
from trace_prov.errors import UsageError
from trace_prov.graph.store import TraceStore
from trace_prov.watermark import annotating
from trace_prov.watermark.annotating import Written
from trace_prov.watermark.errors import TrajectoryError
from trace_prov.watermark.trajectory import Run
from trace_prov.watermark.truth import Truth, read_truth
from trace_prov.watermark.verdict import Verdict

EXISTING = click.Path(path_type=Path)


def truth_for(path: Path | None, inputs: Sequence[tuple[str, str]], folder: Path | None) -> Truth | None:
    """Read a truth file and check that it is of the one log that is tested."""
    if path is None:
        return None
    if folder is None or len(inputs) != 1:
        raise UsageError("--truth goes with --annotate and exactly one LOG, the one that the attack wrote")
    truth = read_truth(path)
    name, digest = inputs[0]
    if truth.output != digest:
        raise TrajectoryError(
            str(path),
            place="output",
            expected=f"the truth of {name} (SHA-256 {digest[:16]}…)",
            found=f"that of another log ({truth.output[:16]}…)",
        )
    return truth


def annotate(
    folder: Path, verdicts: Sequence[Verdict], runs: Sequence[Run], truth: Truth | None, *, disclose: bool
) -> list[Written]:
    """Write verdicts into the store in `folder` and say on standard error what became of them."""
    with annotating.open_existing(folder) as store:
        written = annotating.annotate(store, verdicts, runs, truth, disclose=disclose)
    for item in written:
        decisions = len(item.about) + item.unplaced.total()
        click.echo(f"{item.annotation}: {item.state}; {len(item.about)} of {decisions} decisions placed", err=True)
    for reason, count in sorted(written[0].unplaced.items()) if written else ():
        say("warning", f"{count} decisions are about no action of the store: {reason}")
    return written


@click.command(name="annotations")
@click.option("--store", "folder", type=EXISTING, required=True, help="The store.")
@click.option("--format", "form", type=click.Choice(["table", "jsonl", "trig"]), default="table", show_default=True)
def list_annotations(*, folder: Path, form: str) -> None:
    """List the watermark verdicts in a store, and whether the evidence is still what it was; trig prints all of them.

    Which decisions carry a verdict: trace-prov query watermark_evidence --store DIR.
    """
    with TraceStore.open(folder) as store:
        if form == "trig":
            DataOut().write(annotating.to_trig(store, annotating.annotation_graphs(store)))
            return
        rows = annotating.listed(store)
    if form == "jsonl":
        for row in rows:
            click.echo(to_line(dataclasses.asdict(row)))
        return
    headings = ("annotation", "outcome", "key", "scheme", "runs", "decisions placed", "attacks", "evidence")
    cells = (
        (
            row.annotation,
            row.outcome,
            row.key_id,
            row.scheme_digest[:16],
            str(len(row.runs)),
            f"{row.placed} of {row.decisions}",
            ", ".join(row.attacks),
            row.evidence,
        )
        for row in rows
    )
    console().print(shown_table(headings, cells))


@click.command()
@click.argument("names", nargs=-1, metavar="[ANNOTATION]...")
@click.option("--store", "folder", type=EXISTING, required=True, help="The store.")
@click.option("--all", "every", is_flag=True, help="Every watermark annotation in the store.")
def unannotate(*, names: tuple[str, ...], folder: Path, every: bool) -> None:
    """Take watermark verdicts out of a store, by their IRIs or all of them; the runs stay as they were."""
    if bool(names) == every:
        raise UsageError("give the IRIs of annotations, or --all")
    with annotating.open_existing(folder) as store:
        count = annotating.remove(store, annotating.annotation_graphs(store) if every else names)
    click.echo(f"removed {count} annotation{'s' * (count != 1)}")
