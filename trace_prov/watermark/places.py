"""Which action of a run graph a decision of a log is. A decision is placed only where the graph's actions agree.

A log names its runs as it likes, may have been attacked, or may be of another run than its id says. So a run of a log
is placed in the graph when its actions are the graph's, in order and without exception; the truth of an attack says
what became of them in between. What cannot be placed has its reason.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from trace_prov.graph import iris
from trace_prov.graph.store import TraceStore
from trace_prov.watermark.convert import trajectory_of
from trace_prov.watermark.trajectory import Run
from trace_prov.watermark.truth import Truth

UNKNOWN = "no run in the store has these actions"
SEVERAL = "several runs in the store have these actions"
DIFFERENT = "the run in the store has other actions"
INSERTED = "inserted by an attack"
AMBIGUOUS = "several runs of the log have this id"

#: (run of the log, group from 1)
Decision = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a run graph: the run's IRI and the number of its action."""

    run: str
    action: int


@dataclass(frozen=True, slots=True)
class Places:
    """Where decisions of a log stand in a store, or why not; `old` places decisions that an attack removed."""

    at: dict[Decision, Spot] = field(default_factory=dict)
    reasons: dict[Decision, str] = field(default_factory=dict)
    old: dict[Decision, Spot] = field(default_factory=dict)

    @property
    def runs(self) -> list[str]:
        """The runs of the store that hold a placed decision, or one that an attack removed; sorted."""
        return sorted({spot.run for spots in (self.at, self.old) for spot in spots.values()})

    @property
    def unplaced(self) -> Counter[str]:
        """How many decisions could not be placed, by reason."""
        return Counter(self.reasons.values())


def places(runs: Sequence[Run], store: TraceStore, truth: Truth | None = None) -> Places:
    """Place every decision of `runs`; `truth` is of the attack that made them, if there was one."""
    known, found = _Actions(store), Places()
    actions = {(run.id, n): group.decision.action for run in runs for n, group in enumerate(run.groups, 1)}
    origin: dict[Decision, Decision | None] = {place: place for place in actions}
    if truth is not None:
        origin = dict.fromkeys(actions, None) | _origins(truth)
    twice = {name for name, count in Counter(run.id for run in runs).items() if count > 1}
    lengths = {run.id: len(run.groups) for run in runs} if truth is None else {}
    told: dict[str, dict[int, str]] = defaultdict(dict)
    for place, action in actions.items():
        before = origin[place]
        if before is not None and place[0] not in twice:
            told[before[0]][before[1]] = action
    rewritten = _rewritten(truth)
    placed: dict[str, str] = {}
    for name in sorted({before[0] for before in origin.values() if before is not None} | _attacked(truth)):
        kept = {number: action for number, action in told[name].items() if (name, number) not in rewritten}
        placed[name] = known.find(name, told[name], kept, lengths.get(name))
    for place in actions:
        before = origin[place]
        if place[0] in twice:
            found.reasons[place] = AMBIGUOUS
        elif before is None:
            found.reasons[place] = INSERTED
        else:
            _put(found, place, before, placed[before[0]], known)
    _put_lost(found, truth, placed, known)
    return found


def _origins(truth: Truth) -> dict[Decision, Decision | None]:
    """Place of each decision after the attack -> its place before, or None when the attack inserted it."""
    decisions = [fate for fate in truth.fates if fate.new is not None and fate.new[2] == 0]
    return {fate.new[:2]: None if fate.old is None else fate.old[:2] for fate in decisions if fate.new is not None}


def _attacked(truth: Truth | None) -> set[str]:
    """The runs that the attacked log had."""
    return set() if truth is None else {fate.old[0] for fate in truth.fates if fate.old is not None}


def _rewritten(truth: Truth | None) -> set[Decision]:
    """Decisions, by their place before the attack, whose record may have another action since."""
    fates = () if truth is None else truth.fates
    return {fate.old[:2] for fate in fates if fate.old is not None and fate.old[2] == 0 and fate.changed}


def _put(found: Places, decision: Decision, before: Decision, run: str, known: _Actions) -> None:
    """`run` is the IRI of the run in the store, or the reason why there is none."""
    if not iris.is_run(run):
        found.reasons[decision] = run
    elif before[1] > len(known.of(run)):
        found.reasons[decision] = DIFFERENT
    else:
        found.at[decision] = found.old[before] = Spot(run, before[1])


def _put_lost(found: Places, truth: Truth | None, placed: dict[str, str], known: _Actions) -> None:
    for fate in () if truth is None else truth.fates:
        if fate.old is not None and fate.old[:2] not in found.old:
            run = placed[fate.old[0]]
            if iris.is_run(run) and fate.old[1] <= len(known.of(run)):
                found.old[fate.old[:2]] = Spot(run, fate.old[1])


class _Actions:
    """The canonical actions of the store's runs, each read once."""

    def __init__(self, store: TraceStore) -> None:
        self._store = store
        self._read: dict[str, list[str]] = {}
        self._having: dict[tuple[int, str], list[str]] | None = None

    def of(self, run: str) -> list[str]:
        if run not in self._read:
            groups = trajectory_of(self._store.run(run)).groups
            self._read[run] = [group.decision.action for group in groups]
        return self._read[run]

    def find(self, name: str, told: dict[int, str], kept: dict[int, str], length: int | None) -> str:
        """The IRI of the run that is called `name`, or that has its actions at their numbers; else the reason.

        `told` are the log's actions by number, `kept` those of them that no attack rewrote. `length` is how many
        there were, None where an attack may have removed some.
        """
        if iris.is_run(name) and name in self._store:
            return name if self._agrees(name, kept, length) else DIFFERENT
        for wanted in (told, kept):
            fitting = self._fitting(wanted, length) if wanted else iter(())
            first = next(fitting, None)
            if first is not None:
                return first if next(fitting, None) is None else SEVERAL
        return UNKNOWN

    def _fitting(self, wanted: dict[int, str], length: int | None) -> Iterator[str]:
        """The runs of the store with these actions, found by the rarest of them."""
        if self._having is None:
            self._having = defaultdict(list)
            for run in self._store.runs():
                for place in enumerate(self.of(run), 1):
                    self._having[place].append(run)
        having = self._having
        rarest = min((having.get(place, []) for place in wanted.items()), key=len)
        return (run for run in rarest if self._agrees(run, wanted, length))

    def _agrees(self, run: str, wanted: dict[int, str], length: int | None) -> bool:
        actions = self.of(run)
        if length is not None and len(actions) != length:
            return False
        return all(number <= len(actions) and actions[number - 1] == action for number, action in wanted.items())
