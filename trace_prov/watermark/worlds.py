"""Synthetic worlds: runs whose entropy, length and shape are known exactly (WATERMARK §3, §4.1).

They are for calibration and for the reference tables; nothing in them imitates a particular benchmark but its sizes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trace_prov.watermark.embed import sample
from trace_prov.watermark.keys import Keys
from trace_prov.watermark.methods import Method, Trace
from trace_prov.watermark.power import softmax, temperature_for
from trace_prov.watermark.prf import digest
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.trajectory import OBSERVATION, Group, Record, Run, command_record


@dataclass(frozen=True, slots=True)
class World:
    """Softmax of N(0,1)/temperature over `candidates` actions drawn from `vocabulary` ones at each decision.

    `length` may be fractional: ToolBench-like runs have 1.4 decisions on average. In a `fixed` world what an agent sees
    and prefers depends on task and previous action alone, as when the same tasks are run again and again.
    """

    candidates: int = 20
    temperature: float = 0.5
    length: float = 24
    vocabulary: int = 400
    tasks: int = 10**9
    fixed: bool = False

    @classmethod
    def with_entropy(cls, nats: float, candidates: int = 20, length: float = 24) -> World:
        """Return a world with a mean entropy of `nats`."""
        return cls(candidates, temperature_for(nats, candidates), length)


TOOLBENCH = World(candidates=5, temperature=1.0, length=1.4)


def steps(world: World, rng: np.random.Generator) -> int:
    """Draw the number of decisions of a run."""
    if world.length == int(world.length):
        return int(world.length)
    longest = int(3 * world.length)
    return int(1 + rng.binomial(longest - 1, (world.length - 1) / (longest - 1)))


def offer(
    world: World, task: str, previous: str | None, rng: np.random.Generator
) -> tuple[list[str], NDArray[np.float64]]:
    """Return candidates and probabilities of the next decision."""
    if world.fixed:
        rng = np.random.default_rng(int.from_bytes(digest("world", world.vocabulary, task, previous), "big"))
    picked = rng.choice(world.vocabulary, world.candidates, replace=False)
    return [f"action {number}" for number in picked], softmax(rng.normal(size=world.candidates) / world.temperature)


def played(world: World, method: Method, number: int, rng: np.random.Generator) -> Run:
    """Return one run of the world, decided by `method`."""
    task = f"task {rng.integers(world.tasks)}"
    session = method.session(f"run-{number:06}", f"salt-{number:06}", task, rng)
    previous = None
    for step in range(steps(world, rng)):
        actions, probabilities = offer(world, task, previous, rng)
        previous = session.decide(actions, probabilities.tolist())
        session.record(command_record(previous), [answer(step)])
    return session.run()


def marked_run(world: World, keys: Keys, scheme: Scheme, number: int, rng: np.random.Generator) -> Run:
    """Return a marked run."""
    return played(world, Trace(keys, scheme), number, rng)


def unmarked_run(world: World, number: int, rng: np.random.Generator, second: float = 0.0) -> Run:
    """Return an unmarked run; a share `second` of its groups holds a second natural record, as a retry would."""
    task = f"task {rng.integers(world.tasks)}"
    groups: list[Group] = []
    previous = None
    for step in range(steps(world, rng)):
        actions, probabilities = offer(world, task, previous, rng)
        observations = (answer(step),) * (2 if second and rng.random() < second else 1)
        previous = sample(actions, probabilities, rng)
        groups.append(Group(command_record(previous), observations, tuple(actions), tuple(probabilities.tolist())))
    return Run(f"run-{number:06}", f"salt-{number:06}", task, tuple(groups))


def answer(step: int) -> Record:
    """One natural observation."""
    return Record(OBSERVATION, f"OK: step {step} done\n(details follow)")
