"""`trace-prov corpus`: agent logs with accounts, made by running the AgentDojo benchmark."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from trace_prov.cli.output import printable
from trace_prov.corpus.actors import MODIFIERS, SCRIPTS, ScriptedName
from trace_prov.corpus.execute import require_agentdojo
from trace_prov.corpus.existing import take_corpus
from trace_prov.corpus.inventory import Entry
from trace_prov.corpus.make import CorpusPlan, make_corpus
from trace_prov.errors import UsageError
from trace_prov.language_model import ModelOptions, endpoint

#: What benchmarks use: four scripted actors on all suites, four attacked runs a task, some 1,800 runs.
BENCHMARK = CorpusPlan(
    actors=("ground-truth", "gullible+careless", "gullible+parallel+unruly", "ground-truth+parallel+careless"),
    suites=("banking", "slack", "travel", "workspace"),
    attacks=4,
)
#: The paper's form: three actors on banking, one attacked run a task, 96 candidates.
STUDY = CorpusPlan(actors=("ground-truth+careless", "gullible+careless", "gullible+parallel+careless"))
PRESETS = {"benchmark": BENCHMARK, "study": STUDY}


@click.command()
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder of the corpus.")
@click.option(
    "--preset",
    type=click.Choice(sorted(PRESETS)),
    default="study",
    show_default=True,
    help="study: three actors on banking, 96 runs. benchmark: four on all suites, some 1,800 runs.",
)
@click.option(
    "--actor",
    "actors",
    multiple=True,
    metavar="NAME",
    help=f"Who acts: {' or '.join(SCRIPTS)}, each with +{' or +'.join(MODIFIERS)}; or a model as Inspect names it, "
    "such as openai/NAME. May be given again.",
)
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="banking, slack, travel or workspace.")
@click.option("--task", "tasks", multiple=True, metavar="ID", help="Only this user task, such as user_task_3.")
@click.option("--attacks", type=click.IntRange(min=0), help="Attacked runs for each user task.")
@click.option("--processes", type=click.IntRange(min=1), default=1, show_default=True, help="Runs made at once.")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Make none: choose from the AgentDojo runs below this folder of pipelines, by the same rule.",
)
@click.option("--model-base-url", metavar="URL", help="Where the model answers, for a compatible endpoint.")
def corpus(
    *,
    out: Path,
    preset: str,
    actors: tuple[str, ...],
    suites: tuple[str, ...],
    tasks: tuple[str, ...],
    attacks: int | None,
    processes: int,
    source: Path | None,
    model_base_url: str | None,
) -> None:
    """Make agent logs with accounts: run log, native sidecar and inventory.

    Runs the AgentDojo benchmark with an actor that writes an action paragraph, a Note and a Basis before each call
    and whose inputs carry local ids. A0 runs are untouched; in A1 runs a payload is appended to the default text of
    one field. Runs that are there already are kept, so an interrupted corpus is completed by the same command.
    """
    given = PRESETS[preset]
    wanted = given.attacks if attacks is None else attacks
    if source is not None:
        if tasks or model_base_url is not None:
            raise UsageError("--from takes runs as they are; --task and --model-base-url have no place beside it")
        entries = take_corpus(source, out, actors=actors, suites=suites or given.suites, attacks=wanted)
        _summary(entries, out)
        return
    for name in actors:
        if "/" not in name:
            ScriptedName.parse(name)
    plan = CorpusPlan(
        actors=actors or given.actors,
        suites=suites or given.suites,
        attacks=wanted,
        tasks=tasks,
        model=ModelOptions(endpoint(model_base_url)),
    )
    require_agentdojo()
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task("runs", total=sum(1 for _ in plan.jobs()))
        entries = make_corpus(plan, out, processes=processes, on_run=lambda _: progress.advance(bar))
    _summary(entries, out)


def _summary(entries: list[Entry], out: Path) -> None:
    completed = sum(entry.completed for entry in entries)
    applicable = sum(entry.applicable for entry in entries)
    click.echo(f"{len(entries)} runs planned, {completed} completed, {applicable} applicable: {out}")
    reasons = Counter(entry.reason for entry in entries if entry.reason)
    for reason, count in reasons.most_common():
        click.echo(f"{count:6d}  {printable(reason or '', 160)}")
