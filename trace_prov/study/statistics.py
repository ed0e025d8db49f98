"""Task-equal paired change between two conditions, with the bootstrap over tasks (CONTRACT §8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

DRAWS = 10_000
SEED = 42
LOW, HIGH = 2.5, 97.5


@dataclass(frozen=True, slots=True)
class Change:
    """A change in percentage points with its interval; `cases` and `tasks` are what it rests on."""

    points: float
    low: float
    high: float
    cases: int
    tasks: int


def paired_change(
    before: Mapping[str, int], after: Mapping[str, int], task_of: Mapping[str, str], *, draws: int = DRAWS
) -> Change | None:
    """The mean change within each task, then over tasks; None where no case has both scores.

    `before` and `after` map cases to scores of 0 or 1. The interval is that of the percentiles of the means of
    resampled tasks: `draws` draws with seed 42 from NumPy's default generator.
    """
    means = task_means(before, after, task_of)
    if not means:
        return None
    values = np.array([mean for _, mean in sorted(means.items())])
    chosen = np.random.default_rng(SEED).integers(0, len(values), (draws, len(values)))
    low, high = np.percentile(values[chosen].mean(axis=1), [LOW, HIGH])
    cases = len(before.keys() & after.keys())
    return Change(100 * float(values.mean()), 100 * float(low), 100 * float(high), cases, len(values))


def task_means(before: Mapping[str, int], after: Mapping[str, int], task_of: Mapping[str, str]) -> dict[str, float]:
    """The mean change of the cases of each task, between -1 and 1."""
    changes: dict[str, list[int]] = {}
    for case in before.keys() & after.keys():
        changes.setdefault(task_of[case], []).append(after[case] - before[case])
    return {task: sum(values) / len(values) for task, values in changes.items()}
