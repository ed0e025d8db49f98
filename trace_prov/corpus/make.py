"""A corpus: planning the runs, making them (also in several processes), and the inventory that says what came of it."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from trace_prov import __version__
from trace_prov.corpus.actors import Actor, ScriptedActor, ScriptedName
from trace_prov.corpus.execute import BENCHMARK_VERSION, SUITES, Job, Outcome, execute, require_agentdojo, suite_named
from trace_prov.corpus.inventory import INVENTORY_NAME, Entry, entry_of, write_inventory
from trace_prov.corpus.selection import chosen_injections
from trace_prov.errors import UsageError
from trace_prov.language_model import AS_SET_UP, ModelOptions

RUNS_FOLDER = "runs"
CORPUS_NAME = "corpus.json"


@dataclass(frozen=True, slots=True)
class CorpusPlan:
    """What to make. `attacks` is the number of A1 runs for each user task, as the hash orders them."""

    actors: tuple[str, ...]
    suites: tuple[str, ...] = ("banking",)
    attacks: int = 1
    tasks: tuple[str, ...] = ()
    model: ModelOptions = AS_SET_UP

    def jobs(self) -> Iterator[Job]:
        """Every run, A0 first; raises UsageError for a suite or task that does not exist."""
        for actor in self.actors:
            for name in self.suites:
                if name not in SUITES:
                    raise UsageError(f"no suite {name!r}; known: {', '.join(SUITES)}")
                suite = suite_named(name)
                for task in self._tasks_of(suite):
                    yield Job(actor, name, task)
                    for injection in chosen_injections(actor, task, suite.injection_tasks, self.attacks):
                        yield Job(actor, name, task, injection)

    def _tasks_of(self, suite: Any) -> list[str]:
        unknown = [task for task in self.tasks if task not in suite.user_tasks]
        if unknown:
            raise UsageError(f"suite {suite.name} has no task {unknown[0]!r}")
        return list(self.tasks or suite.user_tasks)


def make_corpus(
    plan: CorpusPlan, out: Path, *, processes: int = 1, on_run: Callable[[Entry], None] = lambda entry: None
) -> list[Entry]:
    """Make what of the plan is not there yet and write inventory and settings; returns the inventory's rows."""
    require_agentdojo()
    jobs = list(plan.jobs())
    runs = out / RUNS_FOLDER
    runs.mkdir(parents=True, exist_ok=True)
    entries: list[Entry] = []
    clean = [job for job in jobs if job.injection_task is None]
    for entry in _entries(clean, plan, runs, processes):
        on_run(entry)
        entries.append(entry)
    # As many attacked runs as clean ones that were completed: a task that the actor cannot do has none.
    done = {(entry.actor, entry.task) for entry in entries if entry.completed}
    attacked = [job for job in jobs if job.injection_task is not None and (job.actor, job.task) in done]
    for entry in _entries(attacked, plan, runs, processes):
        on_run(entry)
        entries.append(entry)
    write_inventory(out / INVENTORY_NAME, entries)
    (out / CORPUS_NAME).write_text(json.dumps(_settings(plan), indent=1) + "\n", encoding="utf-8")
    return entries


def _entries(jobs: Sequence[Job], plan: CorpusPlan, runs: Path, processes: int) -> Iterator[Entry]:
    work = partial(_make, model=plan.model, runs=runs)
    if processes == 1:
        yield from map(work, jobs)
        return
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(work, jobs, chunksize=8)


def _make(job: Job, model: ModelOptions, runs: Path) -> Entry:
    outcome: Outcome = execute(job, partial(actor_named, model=model), runs)
    return entry_of(outcome, runs)


def actor_named(name: str, model: ModelOptions = AS_SET_UP) -> Actor:
    """A scripted actor, or a model when the name has a provider, as in `openai/NAME`."""
    if "/" in name:
        from trace_prov.corpus.model_actor import ModelActor

        return ModelActor.named(name, model)
    return ScriptedActor(ScriptedName.parse(name))


def _settings(plan: CorpusPlan) -> dict[str, Any]:
    """What the corpus was made with; a key never is among it."""
    return {
        "tool": f"trace-prov {__version__}",
        "agentdojo": version("agentdojo"),
        "benchmark": BENCHMARK_VERSION,
        "actors": list(plan.actors),
        "suites": list(plan.suites),
        "tasks": list(plan.tasks),
        "attacks_per_task": plan.attacks,
        "pairs": "smallest SHA-256 of actor|user task|injection task",
        "model_base_url": plan.model.base_url,
    }
