"""The grids: which cells an experiment has and what each computes. Everything is seeded by its own parameters."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from trace_prov.watermark import attacks, baselines
from trace_prov.watermark.attacks import Attack
from trace_prov.watermark.detect import evaluate
from trace_prov.watermark.experiment.games import Game, HouseholdGame, TextWorldGame, play
from trace_prov.watermark.experiment.store import Cell, Result, Store
from trace_prov.watermark.keys import Keys, derive
from trace_prov.watermark.methods import Base, BaselineMethod, Method, Trace
from trace_prov.watermark.prepare import prepare
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.stats import joint_log_p
from trace_prov.watermark.trajectory import Run, canonical_json, parse_runs, run_to_json
from trace_prov.watermark.worlds import TOOLBENCH, World, played

STANDARD = Scheme()
SCHEMES = {
    "standard": STANDARD,
    "observation": Scheme(context_fields=("salt", "task", "actions", "observation")),
    "index": Scheme(tally="index", null_keys=499),
    "unmasked": Scheme(context_fields=("actions",), mask_repeats=False, dedupe="pair"),
    "previous action": Scheme(context_fields=("actions",), dedupe="pair"),
}
DELETIONS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)
REWRITINGS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
KINDS: dict[str, tuple[str, Callable[[float], Attack]]] = {
    "groups": ("standard", attacks.delete_groups),
    "groups, index tally": ("index", attacks.delete_groups),
    "observations": ("observation", attacks.delete_observations),
    "block": ("standard", attacks.cut_block),
    "truncate": ("standard", lambda rate: attacks.truncate(1 - rate)),
}


@dataclass(frozen=True, slots=True)
class Size:
    """How much is run: repeats of a pool, runs in a pool, games, plays of each game under each key, and keys."""

    repeats: int
    pool: int
    games: int
    plays: int
    keys: int


SIZES = {"small": Size(4, 10, 6, 1, 5), "full": Size(20, 10, 24, 2, 5)}


def key_of(seed: int, number: int, scheme: Scheme) -> Keys:
    """Test key `number` of an experiment."""
    return derive(f"experiment {seed} {number}".encode().ljust(32, b"."), "experiment", scheme.version)


class Source(Protocol):
    """Where logs come from: a world that is sampled, or games that were played before."""

    def pool(self, method: str, repeat: int) -> list[Run]:
        """Return the pool of one repeat under a method; repeat r uses key r."""
        ...

    def has(self, method: str) -> bool:
        """Whether there are logs of this method."""
        ...


def method_named(name: str, seed: int, repeat: int) -> Method:
    """Return the method that a cell names."""
    if name == "base":
        return Base()
    if name in SCHEMES:
        return Trace(key_of(seed, repeat, SCHEMES[name]), SCHEMES[name], name)
    return BaselineMethod(_baseline(name, seed, repeat))


def _baseline(name: str, seed: int, repeat: int) -> baselines.Baseline:
    key = key_of(seed, repeat, STANDARD).k1
    known = {b.name: b for b in (*baselines.published(STANDARD, key), *baselines.fair(STANDARD, key))}
    return known[name]


BASELINES = [b.name for b in (*baselines.published(STANDARD, b"-"), *baselines.fair(STANDARD, b"-"))]


@dataclass(frozen=True)
class Sampled:
    """A synthetic world."""

    world: World
    runs: int
    seed: int

    def pool(self, method: str, repeat: int) -> list[Run]:
        rng = np.random.default_rng([self.seed, repeat])
        chosen = method_named(method, self.seed, repeat)
        return [played(self.world, chosen, repeat * 100_000 + number, rng) for number in range(self.runs)]

    def has(self, method: str) -> bool:
        return bool(method)


@dataclass(frozen=True)
class PlayedGames:
    """Games played earlier, read back from the store."""

    store: Store
    read: dict[tuple[str, int], list[Run]] = field(default_factory=dict)

    def pool(self, method: str, repeat: int) -> list[Run]:
        self._load()
        return self.read[method, repeat]

    def has(self, method: str) -> bool:
        self._load()
        return (method, 0) in self.read

    def _load(self) -> None:
        if self.read:
            return
        for row in self.store.rows("episodes"):
            runs = parse_runs(canonical_json(row["run"]).encode(), "results")
            self.read.setdefault((row["method"], row["key"]), []).extend(runs)


def score(runs: Sequence[Run], seed: int, repeat: int, scheme: Scheme) -> Result:
    """Test a pool with the key of its repeat."""
    outcome = evaluate(prepare(runs, scheme), key_of(seed, repeat, scheme))
    return {
        "n": outcome.selection.scored,
        "z_selection": outcome.selection.z,
        "z_tally": outcome.tally.z,
        "log_p_selection": outcome.selection.log_p,
        "log_p_tally": outcome.tally.log_p,
        "log_p_joint": joint_log_p(scheme.joint_rule, outcome.selection.log_p, outcome.tally.log_p),
    }


def _attacked(source: Source, method: str, repeat: int, attack: Attack) -> list[Run]:
    return attacks.apply(source.pool(method, repeat), [("attack", attack)], repeat).runs


def deletion_cells(source: Source, size: Size, seed: int) -> Iterator[Cell]:
    """z against deletion, by kind of deletion."""
    for kind, (scheme, make) in KINDS.items():
        for rate in DELETIONS if source.has(scheme) else ():
            for repeat in range(size.repeats):

                def compute(scheme: str = scheme, rate: float = rate, repeat: int = repeat, make: Any = make) -> Result:
                    return score(_attacked(source, scheme, repeat, make(rate)), seed, repeat, SCHEMES[scheme])

                yield Cell("deletion", {"kind": kind, "deletion": rate, "repeat": repeat}, compute)


def rewriting_cells(source: Source, size: Size, seed: int) -> Iterator[Cell]:
    """z against rewriting of actions and texts."""
    for rate in REWRITINGS:
        for repeat in range(size.repeats):

            def compute(rate: float = rate, repeat: int = repeat) -> Result:
                runs = _attacked(source, "standard", repeat, attacks.joint(0.0, rate))
                return score(runs, seed, repeat, STANDARD)

            yield Cell("rewriting", {"rewriting": rate, "repeat": repeat}, compute)


def joint_cells(source: Source, size: Size, seed: int) -> Iterator[Cell]:
    """The grid of deletion and rewriting, for both tallies."""
    for scheme in ("standard", "index"):
        for deletion in DELETIONS if source.has(scheme) else ():
            for rewriting in REWRITINGS:
                for repeat in range(size.repeats):

                    def compute(
                        scheme: str = scheme,
                        deletion: float = deletion,
                        rewriting: float = rewriting,
                        repeat: int = repeat,
                    ) -> Result:
                        attack = attacks.joint(deletion, rewriting)
                        return score(_attacked(source, scheme, repeat, attack), seed, repeat, SCHEMES[scheme])

                    place = {"scheme": scheme, "deletion": deletion, "rewriting": rewriting, "repeat": repeat}
                    yield Cell("joint", place, compute)


def rename_actions(runs: list[attacks.TracedRun], _: np.random.Generator) -> list[attacks.TracedRun]:
    """Give every action another name, in decisions and candidates."""

    def renamed(group: attacks.TracedGroup) -> attacks.TracedGroup:
        candidates = None if group.candidates is None else tuple(f"svc {c}" for c in group.candidates)
        decision = group.decision.edited(content=f"svc {group.decision.record.content}")
        return dataclasses.replace(group, decision=decision, candidates=candidates)

    return [dataclasses.replace(run, groups=tuple(renamed(group) for group in run.groups)) for run in runs]


COMPARED: dict[str, Attack | None] = {
    "clean": None,
    "deletion 30 %": attacks.delete_groups(0.3),
    "deletion 70 %": attacks.delete_groups(0.7),
    "truncated to 30 %": attacks.truncate(0.3),
    "renamed": rename_actions,
}


def baseline_cells(source: Source, size: Size, seed: int) -> Iterator[Cell]:
    """Every scheme under the same attacks; z of its own exact test."""
    for method in ("standard", *BASELINES):
        for name, attack in COMPARED.items():
            for repeat in range(size.repeats):

                def compute(method: str = method, attack: Attack | None = attack, repeat: int = repeat) -> Result:
                    runs = source.pool(method, repeat)
                    if attack is not None:
                        runs = attacks.apply(runs, [("attack", attack)], repeat).runs
                    if method in SCHEMES:
                        outcome = evaluate(prepare(runs, STANDARD), key_of(seed, repeat, STANDARD)).selection
                        return {"z": outcome.z, "log_p": outcome.log_p, "n": outcome.scored}
                    result = baselines.binomial_test(_baseline(method, seed, repeat), runs)
                    return {"z": result.z, "log_p": result.log_p, "n": result.trials}

                yield Cell("baselines", {"method": method, "attack": name, "repeat": repeat}, compute)


def pooling_cells(source: Source, size: Size, seed: int) -> Iterator[Cell]:
    """Runs to detection: z and joint p of pools of 1, 2, 5, … runs."""
    for count in (1, 2, 5, 10, 20, 50, 100):
        for repeat in range(size.repeats * 2):

            def compute(count: int = count, repeat: int = repeat) -> Result:
                runs = source.pool("standard", repeat)[:count]
                return {"runs": len(runs), **score(runs, seed, repeat, STANDARD)}

            yield Cell("pooling", {"pooled": count, "repeat": repeat}, compute)


def single_cells(source: Source, size: Size, seed: int) -> Iterator[Cell]:
    """p-values of single runs, marked and not: for AUROC and TPR at fixed FPR."""
    for method in ("standard", "base"):
        for repeat in range(size.repeats):

            def compute(method: str = method, repeat: int = repeat) -> Result:
                scored = [score([run], seed, repeat, STANDARD) for run in source.pool(method, repeat)]
                return {name: [s[name] for s in scored] for name in ("log_p_selection", "log_p_tally", "log_p_joint")}

            yield Cell("single", {"method": method, "repeat": repeat}, compute)


def overhead_cells(source: Source, size: Size, seed: int) -> Iterator[Cell]:
    """Records and characters added, and the time of detection."""
    for repeat in range(size.repeats):

        def compute(repeat: int = repeat) -> Result:
            runs = source.pool("standard", repeat)
            groups = sum(len(run.groups) for run in runs)
            added = sum(max(0, len(group.observations) - 1) for run in runs for group in run.groups)
            texts = [(o.content, k) for run in runs for g in run.groups for k, o in enumerate(g.observations)]
            begin = time.perf_counter()
            evaluate(prepare(runs, STANDARD), key_of(seed, repeat, STANDARD))
            seconds = time.perf_counter() - begin
            return {
                "groups": groups,
                "added": added,
                "share_of_records": added / (2 * groups),
                "share_of_characters": sum(len(t) for t, k in texts if k)
                / max(1, sum(len(t) for t, k in texts if not k)),
                "detect_ms_per_decision": 1000 * seconds / groups,
            }

        yield Cell("overhead", {"repeat": repeat}, compute)


#: ALFWorld's domain takes seconds an episode, so only what the published comparison and the grids need is played
GAME_METHODS: dict[str, tuple[str, ...]] = {
    "textworld": (
        "base",
        "standard",
        "observation",
        "index",
        "previous action",
        "unmasked",
        "red-green (fair)",
        "agent-guide (fair)",
        "am-f (fair)",
    ),
    "alfworld": ("base", "standard", "observation", "unmasked", "red-green (fair)"),
}
LIMITS = {"textworld": (16, 30), "alfworld": (30,)}


def episode_cells(world: str, folder: Path, size: Size, seed: int) -> Iterator[Cell]:
    """Play every game under every method and key; seeds are paired over methods. The log is kept for other grids."""
    made: dict[int, Game] = {}

    def game(number: int) -> Game:
        if number not in made:
            made[number] = TextWorldGame(folder / "games", number) if world == "textworld" else HouseholdGame(number)
        return made[number]

    for number in range(1, size.games + 1):
        for key in range(size.keys):
            for method in GAME_METHODS[world]:
                for repeat in range(size.plays):

                    def compute(
                        number: int = number, method: str = method, key: int = key, repeat: int = repeat
                    ) -> Result:
                        limit = max(LIMITS[world])
                        played_ = play(
                            game(number), method_named(method, seed, key), key * 1000 + repeat, limit, seed=seed
                        )
                        return {
                            "won": played_.won,
                            "steps": played_.steps,
                            "ms_per_decision": 1000 * played_.seconds / max(1, played_.steps),
                            "run": run_to_json(played_.run),
                        }

                    place = {"game": number, "method": method, "key": key, "repeat": repeat}
                    yield Cell("episodes", place, compute)


SYNTHETIC_PARTS: dict[str, Callable[[Source, Size, int], Iterator[Cell]]] = {
    "deletion": deletion_cells,
    "rewriting": rewriting_cells,
    "joint": joint_cells,
    "baselines": baseline_cells,
    "pooling": pooling_cells,
    "single": single_cells,
    "overhead": overhead_cells,
}


def source_of(world: str, size: Size, seed: int, store: Store) -> Source:
    """Return where a world's logs come from."""
    if world == "synthetic":
        return Sampled(World(), size.pool, seed)
    if world == "toolbench":
        return Sampled(TOOLBENCH, 147, seed)
    return PlayedGames(store)


def auroc(marked: Sequence[float], unmarked: Sequence[float]) -> float:
    """Return the share of (marked, unmarked) pairs in which the marked run has the smaller p; ties count half."""
    low, high = np.asarray(marked)[:, None], np.asarray(unmarked)[None, :]
    return float((np.count_nonzero(low < high) + np.count_nonzero(low == high) / 2) / (low.size * high.size))


def rate_at(log_p: Sequence[float], level: float) -> float:
    """Return how many log p-values are at most ln `level`."""
    return float(np.mean(np.asarray(log_p) <= math.log(level)))
