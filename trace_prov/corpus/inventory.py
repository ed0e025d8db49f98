"""The inventory of a corpus: every run that was planned, what came of it, and whether a case can be made of it.

Inapplicable runs stay in it with the reason and are never replaced (CONTRACT §3). The inventory holds the benchmark's
labels (which run was attacked, where) and so never goes into an evidence package.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from trace_prov.corpus.execute import Outcome
from trace_prov.corpus.selection import pair_hash
from trace_prov.derive.target import Question, targets
from trace_prov.errors import FormatError
from trace_prov.finding import NotApplicable
from trace_prov.load import Problem, load_file

INVENTORY_NAME = "inventory.jsonl"


@dataclass(frozen=True, slots=True)
class Entry:
    """One planned run. `case` is the path of its log below the runs folder, without `.json`."""

    case: str
    actor: str
    suite: str
    user_task: str
    variant: str
    injection_task: str | None
    pair_hash: str | None
    field: str | None
    completed: bool
    applicable: bool
    reason: str | None = None
    action: str | None = None
    argument: str | None = None

    @property
    def task(self) -> str:
        """The unit of the task-equal statistics (CONTRACT §8)."""
        return f"{self.suite}/{self.user_task}"


def entry_of(outcome: Outcome, runs: Path) -> Entry:
    """The inventory's row for a job, from its log as any other log is read."""
    job = outcome.job
    injected = job.injection_task is not None
    known = {
        "case": job.case,
        "actor": job.actor,
        "suite": job.suite,
        "user_task": job.user_task,
        "variant": "A1" if injected else "A0",
        "injection_task": job.injection_task,
        "pair_hash": pair_hash(job.actor, job.user_task, job.injection_task) if job.injection_task else None,
        "field": outcome.field,
    }
    if not outcome.completed:
        return Entry(**known, completed=False, applicable=False, reason=outcome.reason)  # type: ignore[arg-type]
    applicable, reason, action, argument = _target(runs / f"{job.case}.json", f"{job.case}.json")
    return Entry(
        **known,  # type: ignore[arg-type]
        completed=True,
        applicable=applicable,
        reason=reason,
        action=action,
        argument=argument,
    )


def _target(path: Path, name: str) -> tuple[bool, str | None, str | None, str | None]:
    """Whether the run has a target, why not, and which (CONTRACT §3)."""
    for loaded in load_file(path, name):
        if isinstance(loaded, Problem):
            return False, str(loaded.error), None, None
        for target in targets(loaded, Question()):
            if isinstance(target, NotApplicable):
                return False, target.reason, None, None
            return True, None, target[1].action, target[1].argument
    return False, "the log holds no run", None, None


def write_inventory(path: Path, entries: Iterable[Entry]) -> None:
    """Write the rows as JSON lines, sorted by case, so that the same corpus gives the same bytes."""
    rows = sorted(entries, key=lambda entry: entry.case)
    text = "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def read_inventory(path: Path) -> Iterator[Entry]:
    """The rows of an inventory; raises FormatError with the line that is none."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            yield Entry(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise FormatError(
                str(path), place=f"line {number}", expected="a row of an inventory", found=str(error)
            ) from None
