"""`trace-prov study`: readers on evidence packages, their scores, and the report."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from trace_prov.cli.corpus import STUDY as STUDY_CORPUS
from trace_prov.cli.listing import ListingGroup
from trace_prov.cli.output import console, printable, shown_table
from trace_prov.language_model import ModelOptions, endpoint
from trace_prov.study.folder import StudyFolder
from trace_prov.study.policies import POLICIES, PREFIX
from trace_prov.study.prepare import StudyPlan, prepare
from trace_prov.study.readers import ask, check_reader, open_questions
from trace_prov.study.render import texts
from trace_prov.study.report import write_report
from trace_prov.study.results import Result, results_of, write_scores
from trace_prov.study.tables import Results, Table, change_summary, exact_table, score_table

#: Readers that need no model, one for each kind of error.
OFFLINE_READERS = (
    "sim/guess-order",
    "sim/copy-h",
    "sim/over-abstain:0.3",
    "sim/extra-locator:0.2",
    "sim/drop-locator:0.2",
    "sim/blind-matcher:0.2",
)

#: What shells give for a process that Ctrl-C ended.
EXIT_INTERRUPTED = 130

_OUT = click.argument("study", type=click.Path(path_type=Path, file_okay=False, exists=True))
_ANSWERS = click.option(
    "--answers",
    "answer_files",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    multiple=True,
    help="Also score this file of answers (JSON lines in the interchange form); its name is the reader's.",
)


@click.group(cls=ListingGroup)
def study() -> None:
    """Ask readers what agent logs support, score their answers, report.

    A study lies in one folder: packages, responses as given, scores, report, and a manifest that pins them.
    """


@study.command()
@click.argument("logs", nargs=-1, type=click.Path(path_type=Path), metavar="[LOGS]...")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder of the study.")
@click.option(
    "--reader",
    "readers",
    multiple=True,
    metavar="NAME",
    help="A model as Inspect names it, such as openai/NAME, or a simulated reader: "
    + ", ".join(PREFIX + name for name in POLICIES)
    + ", each also with a rate of error, such as :0.2. May be given again. Default: six simulated ones.",
)
@click.option("--condition", "conditions", multiple=True, metavar="NAME", help="Default: the eight built-in ones.")
@click.option("--cases", type=click.IntRange(min=1), help="At most so many cases, chosen by a hash of their ids.")
@click.option("--model-base-url", metavar="URL", help="Where the models answer, for a compatible endpoint.")
@click.option("--cache", is_flag=True, help="Take responses from Inspect's cache where another study put them there.")
@click.option("--retry-failed", is_flag=True, help="Ask again what a provider answered with an error.")
def run(
    *,
    logs: tuple[Path, ...],
    out: Path,
    readers: tuple[str, ...],
    conditions: tuple[str, ...],
    cases: int | None,
    model_base_url: str | None,
    cache: bool,
    retry_failed: bool,
) -> None:
    """Run a study: packages from LOGS, questions to the readers, scores, report.

    LOGS are files or folders of agent logs; without any, a corpus of scripted agents is made first, so that the whole
    study runs offline. The same command goes on after an interruption and never asks again what was answered; what
    it leaves out is taken from the study in the folder.
    """
    folder = StudyFolder(out)
    noted = folder.require()["readers"] if folder.manifest.exists() else {}
    readers = tuple(dict.fromkeys(readers)) or tuple(noted) or OFFLINE_READERS
    model_base_url = endpoint(model_base_url)
    options = {reader: _options(noted.get(reader), model_base_url) for reader in readers}
    for reader in readers:
        check_reader(reader, options[reader])
        if model_base_url is None and options[reader].base_url:
            click.echo(printable(f"{reader} is asked at {options[reader].base_url}, as the manifest says"), err=True)
    with _progress() as progress:
        if not logs and not folder.manifest.exists():
            logs = (_made_corpus(out, progress),)
        bar = progress.add_task("packages", total=None)
        plan = StudyPlan(logs, conditions, cases)
        manifest = prepare(plan, folder, on_case=lambda done, total: progress.update(bar, completed=done, total=total))
        progress.update(bar, completed=manifest["cases"], total=manifest["cases"])
        open_before = {reader: len(open_questions(folder, reader, retry_failed=retry_failed)) for reader in readers}
        manifest["readers"] |= {reader: {"base_url": given.base_url} for reader, given in options.items()}
        folder.write_manifest(manifest)
        for reader in readers:
            bar = progress.add_task(printable(reader, 40), total=open_before[reader])
            try:
                ask(
                    folder,
                    reader,
                    options[reader],
                    retry_failed=retry_failed,
                    cache=cache,
                    on_answer=partial(progress.advance, bar),
                )
            except KeyboardInterrupt:
                click.echo(f"interrupted; trace-prov study run --out {out} goes on from here", err=True)
                raise SystemExit(EXIT_INTERRUPTED) from None
    results = _scored(folder, ())
    page = write_report(folder, results)
    _show(folder, results)
    click.echo(f"report: {page}")


def _made_corpus(out: Path, progress: Progress) -> Path:
    from trace_prov.corpus.execute import require_agentdojo
    from trace_prov.corpus.make import RUNS_FOLDER, make_corpus

    require_agentdojo()
    bar = progress.add_task("agent runs", total=sum(1 for _ in STUDY_CORPUS.jobs()))
    make_corpus(STUDY_CORPUS, out / "corpus", on_run=lambda _: progress.advance(bar))
    return out / "corpus" / RUNS_FOLDER


def _options(noted: dict[str, str | None] | None, base_url: str | None) -> ModelOptions:
    """How a reader is reached: as given now, else as noted when the study began."""
    return ModelOptions(base_url or (noted or {}).get("base_url"))


def _progress() -> Progress:
    shown = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=shown, disable=not shown.is_terminal)


@study.command()
@_OUT
@_ANSWERS
def score(study: Path, answer_files: tuple[Path, ...]) -> None:
    """Score all answers of STUDY anew, into scores.jsonl, and show the main figures."""
    folder = StudyFolder(study)
    _show(folder, _scored(folder, answer_files))
    click.echo(f"scores: {folder.scores}")


@study.command()
@_OUT
@_ANSWERS
@click.option("--paper/--no-paper", default=True, show_default=True, help="Set the published figures beside.")
def report(study: Path, answer_files: tuple[Path, ...], paper: bool) -> None:
    """Write the report of STUDY: Markdown, CSV, LaTeX and one HTML page with plots."""
    folder = StudyFolder(study)
    click.echo(f"report: {write_report(folder, _scored(folder, answer_files), beside_paper=paper)}")


def _scored(folder: StudyFolder, answer_files: Sequence[Path]) -> list[Result]:
    results = results_of(folder, answer_files)
    write_scores(folder, results)
    return results


def _show(folder: StudyFolder, results: list[Result]) -> None:
    shown = Results(results, folder.require()["conditions"])
    for table in (score_table(shown, "q3"), exact_table(shown), change_summary(shown)):
        _print(table)


def _print(table: Table) -> None:
    out = console()
    out.print(shown_table(table.columns, texts(table), table.title))
    if table.note:
        out.print(Text(table.note))
    out.print()
