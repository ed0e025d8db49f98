"""What a reseller may do to a log: seeded, composable, each with a map of what became of every record (WATERMARK §2.5).

An attack is a function from traced runs to traced runs. `apply` runs a list of them and returns the new log with its
truth: for each old record its new place, or None when it is lost, and whether its content was changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trace_prov.errors import UsageError
from trace_prov.watermark.rewriters import Rewriter, RuleRewriter
from trace_prov.watermark.trajectory import OBSERVATION, Group, Record, Run

Place = tuple[str, int, int]
Rng = np.random.Generator


@dataclass(frozen=True, slots=True)
class Traced:
    """A record with where it came from: (run, group from 1, record in the group from 0), or None when inserted."""

    record: Record
    origin: Place | None
    changed: bool = False

    def edited(self, **fields: Any) -> Traced:
        """Return the record with other content, marked as changed when it differs."""
        record = replace(self.record, **fields)
        return Traced(record, self.origin, self.changed or record != self.record)


@dataclass(frozen=True, slots=True)
class TracedGroup:
    """A group of traced records."""

    decision: Traced
    observations: tuple[Traced, ...]
    candidates: tuple[str, ...] | None
    probabilities: tuple[float, ...] | None


@dataclass(frozen=True, slots=True)
class TracedRun:
    """A run of traced groups."""

    id: str
    salt: str | None
    task: str | None
    groups: tuple[TracedGroup, ...]


Attack = Callable[[list[TracedRun], Rng], list[TracedRun]]


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one record. `old` is None for an inserted one, `new` is None for a lost one."""

    old: Place | None
    new: Place | None
    changed: bool


@dataclass(frozen=True, slots=True)
class Attacked:
    """The log after the attacks, the fate of every record, and what was done, in order."""

    runs: list[Run]
    fates: tuple[Fate, ...]
    steps: tuple[str, ...]
    seed: int

    @property
    def lost(self) -> int:
        """Number of records that are gone."""
        return sum(fate.new is None for fate in self.fates)

    @property
    def truth(self) -> dict[Place, Place | None]:
        """Old place -> new place, or None where the record is lost."""
        return {fate.old: fate.new for fate in self.fates if fate.old is not None}


def apply(runs: Sequence[Run], attacks: Sequence[tuple[str, Attack]], seed: int) -> Attacked:
    """Apply named attacks in order. The same log, attacks and seed give the same result."""
    rng = np.random.default_rng(seed)
    traced = [_trace(run) for run in runs]
    before = {
        record.origin: record.record
        for run in traced
        for group in run.groups
        for record in (group.decision, *group.observations)
    }
    for _, attack in attacks:
        traced = attack(traced, rng)
    kept: set[Place] = set()
    fates: list[Fate] = []
    for run in traced:
        for number, group in enumerate(run.groups, 1):
            for index, record in enumerate((group.decision, *group.observations)):
                fates.append(Fate(record.origin, (run.id, number, index), record.changed))
                if record.origin is not None:
                    kept.add(record.origin)
    fates.extend(Fate(place, None, False) for place in before if place is not None and place not in kept)
    return Attacked([_untrace(run) for run in traced], tuple(fates), tuple(name for name, _ in attacks), seed)


def _trace(run: Run) -> TracedRun:
    groups = tuple(
        TracedGroup(
            Traced(group.decision, (run.id, number, 0)),
            tuple(Traced(o, (run.id, number, index)) for index, o in enumerate(group.observations, 1)),
            group.candidates,
            group.probabilities,
        )
        for number, group in enumerate(run.groups, 1)
    )
    return TracedRun(run.id, run.salt, run.task, groups)


def _untrace(run: TracedRun) -> Run:
    groups = tuple(
        Group(g.decision.record, tuple(o.record for o in g.observations), g.candidates, g.probabilities)
        for g in run.groups
    )
    return Run(run.id, run.salt, run.task, groups)


def each_run(change: Callable[[TracedRun, Rng], Sequence[TracedGroup]]) -> Attack:
    """Return the attack that replaces the groups of every run."""
    return lambda runs, rng: [replace(run, groups=tuple(change(run, rng))) for run in runs]


def each_group(change: Callable[[TracedGroup, Rng], TracedGroup]) -> Attack:
    """Return the attack that changes every group by itself."""
    return each_run(lambda run, rng: [change(group, rng) for group in run.groups])


def delete_groups(p: float) -> Attack:
    """Delete each group independently with probability p."""
    return each_run(lambda run, rng: [group for group in run.groups if rng.random() >= p])


def delete_observations(p: float) -> Attack:
    """Delete each observation record independently with probability p; decisions stay."""
    return each_group(lambda g, rng: replace(g, observations=tuple(o for o in g.observations if rng.random() >= p)))


def truncate(keep: float) -> Attack:
    """Keep the first share `keep` of each run's groups."""
    return each_run(lambda run, _: run.groups[: round(len(run.groups) * keep)])


def cut_block(p: float) -> Attack:
    """Remove one contiguous block of a share p of each run's groups, at a random place."""

    def cut(run: TracedRun, rng: Rng) -> Sequence[TracedGroup]:
        size = round(len(run.groups) * p)
        start = int(rng.integers(0, len(run.groups) - size + 1))
        return run.groups[:start] + run.groups[start + size :]

    return each_run(cut)


def strip_ghosts() -> Attack:
    """Keep the first observation of each group only: the attack that the tally cannot see by itself (trap 4)."""
    return each_group(lambda g, _: replace(g, observations=g.observations[:1]))


def insert_records(p: float) -> Attack:
    """After each group, with probability p, insert one copied observation record."""

    def insert(group: TracedGroup, rng: Rng) -> TracedGroup:
        if rng.random() >= p:
            return group
        source = group.observations[-1].record if group.observations else Record(OBSERVATION, "")
        return replace(group, observations=(*group.observations, Traced(replace(source, id=None), None)))

    return each_group(insert)


def insert_groups(p: float) -> Attack:
    """After each group, with probability p, insert an invented one: a candidate not chosen, and a copied answer."""

    def insert(run: TracedRun, rng: Rng) -> Sequence[TracedGroup]:
        out: list[TracedGroup] = []
        for group in run.groups:
            out.append(group)
            if rng.random() < p:
                decision = Traced(_with_action(group.decision.record, _other(group, rng)), None)
                observations = tuple(Traced(replace(o.record, id=None), None) for o in group.observations[:1])
                out.append(TracedGroup(decision, observations, group.candidates, group.probabilities))
        return out

    return each_run(insert)


def merge_runs() -> Attack:
    """Join all runs to one, under the first run's id and salt."""

    def merge(runs: list[TracedRun], _: Rng) -> list[TracedRun]:
        return [replace(runs[0], groups=tuple(group for run in runs for group in run.groups))] if runs else []

    return merge


def reorder(p: float) -> Attack:
    """Swap each group with its successor with probability p."""

    def swap(run: TracedRun, rng: Rng) -> Sequence[TracedGroup]:
        groups = list(run.groups)
        for index in range(len(groups) - 1):
            if rng.random() < p:
                groups[index], groups[index + 1] = groups[index + 1], groups[index]
        return groups

    return each_run(swap)


def paraphrase(p: float, rewriter: Rewriter | None = None) -> Attack:
    """Rewrite each observation's text with probability p, by rules or by a language model."""
    writer = rewriter or RuleRewriter()

    def rewrite(group: TracedGroup, rng: Rng) -> TracedGroup:
        observations = tuple(
            o.edited(content=writer.rewrite(o.record.content, int(rng.integers(2**32)))) if rng.random() < p else o
            for o in group.observations
        )
        return replace(group, observations=observations)

    return each_group(rewrite)


def rename_tools(mapping: Mapping[str, str] | None = None) -> Attack:
    """Rename tools in decisions, observations and candidates; without a mapping every name gets a prefix."""

    def named(tool: str | None) -> str | None:
        if tool is None:
            return None
        return f"svc_{tool}" if mapping is None else mapping.get(tool, tool)

    def candidate(text: str) -> str:
        found = re.match(r'(\{"args":.*,"tool":")([^"]*)("\})$', text, re.DOTALL)
        return text if found is None else f"{found[1]}{named(found[2])}{found[3]}"

    def rename(group: TracedGroup, _: Rng) -> TracedGroup:
        return TracedGroup(
            group.decision.edited(tool=named(group.decision.record.tool)),
            tuple(o.edited(tool=named(o.record.tool)) for o in group.observations),
            None if group.candidates is None else tuple(candidate(c) for c in group.candidates),
            group.probabilities,
        )

    return each_group(rename)


def replace_action(p: float) -> Attack:
    """Replace each action with probability p by another plausible candidate (drawn by its probability)."""

    def swap(group: TracedGroup, rng: Rng) -> TracedGroup:
        if rng.random() >= p:
            return group
        record = _with_action(group.decision.record, _other(group, rng))
        return replace(group, decision=Traced(record, group.decision.origin, True))

    return each_group(swap)


def _other(group: TracedGroup, rng: Rng) -> str:
    own = group.decision.record.action
    others = [c for c in group.candidates or () if c != own]
    if not others:
        return f"{own} again"
    if group.probabilities is None:
        return others[int(rng.integers(len(others)))]
    weights = np.array([p for c, p in zip(group.candidates or (), group.probabilities, strict=True) if c != own])
    if weights.sum() <= 0:
        return others[int(rng.integers(len(others)))]
    return others[int(rng.choice(len(others), p=weights / weights.sum()))]


def _with_action(record: Record, action: str) -> Record:
    found = re.match(r'\{"args":(.*),"tool":"([^"]*)"\}$', action, re.DOTALL)
    if found is not None:
        return replace(record, tool=found[2], args=found[1])
    return replace(record, tool=None, args=None, content=action)


def strip_times() -> Attack:
    """Remove every time."""
    return _each_record(lambda record: record.edited(time=None))


def strip_ids() -> Attack:
    """Remove record ids, call ids and the run's salt."""
    records = _each_record(lambda record: record.edited(id=None, call=None))
    return lambda runs, rng: [replace(run, salt=None) for run in records(runs, rng)]


def strip_probabilities() -> Attack:
    """Remove logged candidates and probabilities."""
    return each_group(lambda g, _: replace(g, candidates=None, probabilities=None))


def _each_record(change: Callable[[Traced], Traced]) -> Attack:
    return each_group(
        lambda g, _: replace(g, decision=change(g.decision), observations=tuple(change(o) for o in g.observations))
    )


def joint(p_del: float, p_rw: float) -> Attack:
    """Delete groups with p_del, then replace actions with p_rw and paraphrase every observation left with p_rw."""

    def both(runs: list[TracedRun], rng: Rng) -> list[TracedRun]:
        runs = delete_groups(p_del)(runs, rng)
        return paraphrase(p_rw)(replace_action(p_rw)(runs, rng), rng)

    return both


#: name -> (maker, number of parameters) for the command line
ATTACKS: dict[str, tuple[Callable[..., Attack], int]] = {
    "delete-groups": (delete_groups, 1),
    "delete-observations": (delete_observations, 1),
    "truncate": (truncate, 1),
    "cut-block": (cut_block, 1),
    "strip-ghosts": (strip_ghosts, 0),
    "insert-records": (insert_records, 1),
    "insert-groups": (insert_groups, 1),
    "merge-runs": (merge_runs, 0),
    "reorder": (reorder, 1),
    "paraphrase": (paraphrase, 1),
    "rename-tools": (rename_tools, 0),
    "replace-action": (replace_action, 1),
    "strip-times": (strip_times, 0),
    "strip-ids": (strip_ids, 0),
    "strip-probabilities": (strip_probabilities, 0),
    "joint": (joint, 2),
}


def parse(text: str, rewriter: Rewriter | None = None) -> tuple[str, Attack]:
    """Return the attack that `text` names, such as "delete-groups:0.3" or "joint:0.3,0.6". Raises `UsageError`."""
    name, _, rest = text.partition(":")
    if name not in ATTACKS:
        raise UsageError(f"no attack {name!r}; there are {', '.join(sorted(ATTACKS))}")
    maker, wanted = ATTACKS[name]
    try:
        numbers = [float(part) for part in rest.split(",")] if rest else []
    except ValueError as error:
        raise UsageError(f"{text}: the parameters of {name} are numbers between 0 and 1") from error
    if len(numbers) != wanted or any(not 0 <= number <= 1 for number in numbers):
        raise UsageError(f"{text}: {name} takes {wanted} number(s) between 0 and 1")
    if name == "paraphrase" and rewriter is not None:
        return text, paraphrase(numbers[0], rewriter)
    return text, maker(*numbers)
