"""An inventory from AgentDojo runs that exist already, chosen as for runs that are made (needs no agentdojo package).

The folder that holds the pipelines' folders is given; the path of a log says what it is, since some pipelines write
another name inside. All clean runs of the actors are taken and, for each task of which that run was completed, the
attacked runs whose pairs have the smallest hashes; of several attacks on a pair the first by name.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from trace_prov.corpus.execute import SIDECAR_ENDING, Job, Outcome
from trace_prov.corpus.inventory import INVENTORY_NAME, Entry, entry_of, write_inventory
from trace_prov.corpus.selection import chosen_injections
from trace_prov.errors import UsageError

RUNS_FOLDER = "runs"


@dataclass(frozen=True, slots=True)
class ExistingRun:
    """A log by its path: pipeline, suite, user task, attack (`none` for A0), injection task."""

    path: Path
    pipeline: str
    suite: str
    user_task: str
    attack: str
    injection_task: str | None

    @property
    def job(self) -> Job:
        return Job(self.pipeline, self.suite, self.user_task, self.injection_task, self.attack)


def existing_runs(folder: Path) -> Iterator[ExistingRun]:
    """The runs of user tasks below a folder of pipelines, sorted by path."""
    for path in sorted(folder.glob("*/*/user_task_*/*/*.json")):
        if path.name.endswith(SIDECAR_ENDING):
            continue
        pipeline, suite, user_task, attack = path.relative_to(folder).parts[:4]
        injected = None if attack == "none" else path.stem
        yield ExistingRun(path, pipeline, suite, user_task, attack, injected)


def chosen_runs(
    runs: Iterable[ExistingRun], actors: tuple[str, ...], suites: tuple[str, ...], attacks: int
) -> list[ExistingRun]:
    """The clean runs of the actors on the suites (none: of all), and `attacks` attacked ones for each task."""
    clean: dict[tuple[str, str, str], ExistingRun] = {}
    attacked: dict[tuple[str, str, str], dict[str, ExistingRun]] = {}
    for run in runs:
        if (actors and run.pipeline not in actors) or (suites and run.suite not in suites):
            continue
        task = run.pipeline, run.suite, run.user_task
        if run.injection_task is None:
            clean[task] = run
        else:
            attacked.setdefault(task, {}).setdefault(run.injection_task, run)
    chosen = []
    for (pipeline, suite, user_task), run in clean.items():
        chosen.append(run)
        if why_incomplete(run.path) is not None:
            continue  # as many attacked runs as clean ones that were completed
        pairs = attacked.get((pipeline, suite, user_task), {})
        chosen += [pairs[name] for name in chosen_injections(pipeline, user_task, pairs, attacks)]
    return chosen


def take_corpus(
    source: Path,
    out: Path,
    *,
    actors: tuple[str, ...] = (),
    suites: tuple[str, ...] = (),
    attacks: int = 1,
    on_run: Callable[[Entry], None] = lambda entry: None,
) -> list[Entry]:
    """Copy the chosen runs, with their sidecars, and write the inventory; returns its rows."""
    if not source.is_dir():
        raise UsageError(f"{source}: no such folder")
    runs = chosen_runs(existing_runs(source), actors, suites, attacks)
    if not runs:
        raise UsageError(f"{source}: no runs such as PIPELINE/banking/user_task_0/none/none.json")
    entries = []
    for run in runs:
        target = out / RUNS_FOLDER / f"{run.job.case}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(run.path, target)
        sidecar = run.path.with_name(run.path.stem + SIDECAR_ENDING)
        if sidecar.exists():
            shutil.copyfile(sidecar, target.with_name(target.stem + SIDECAR_ENDING))
        reason = why_incomplete(run.path)
        entry = entry_of(Outcome(run.job, reason is None, reason), out / RUNS_FOLDER)
        on_run(entry)
        entries.append(entry)
    write_inventory(out / INVENTORY_NAME, entries)
    return entries


def why_incomplete(path: Path) -> str | None:
    """Why a run does not count as completed; None when it does."""
    try:
        document = json.loads(path.read_bytes())
    except ValueError as error:
        return f"the log is no JSON: {error}"
    if not isinstance(document, dict) or not document.get("messages"):
        return "the log holds no message"
    if document.get("error"):
        return f"the run ended with an error: {document['error']}"
    return "the run was stopped" if document.get("utility") is None else None
