"""Which runs an inventory holds: every A0 run and, for each that was completed, the A1 pairs that a hash chooses.

The paper chose as many attacked runs as there were completed clean ones by a hash of the pair id. Here the pair id is
`pipeline|user task|injection task` and the pairs of a task are taken in the order of their SHA-256, so that a larger
inventory contains every smaller one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def pair_id(pipeline: str, user_task: str, injection_task: str) -> str:
    return f"{pipeline}|{user_task}|{injection_task}"


def pair_hash(pipeline: str, user_task: str, injection_task: str) -> str:
    """SHA-256 of the pair id, in lower-case hex."""
    return hashlib.sha256(pair_id(pipeline, user_task, injection_task).encode()).hexdigest()


def chosen_injections(pipeline: str, user_task: str, injection_tasks: Iterable[str], count: int) -> list[str]:
    """The `count` injection tasks whose pairs with the user task have the smallest hashes."""
    ordered = sorted(injection_tasks, key=lambda injection_task: pair_hash(pipeline, user_task, injection_task))
    return ordered[:count]
