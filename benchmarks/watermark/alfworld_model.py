"""The same question as alfworld.py with many more plays, in a model of the domain that is checked step by step.

The model has the rules of ALFWorld's PDDL domain that the generated problems can reach, and plays hundreds of times
faster. First every real play of alfworld.py is replayed in it: candidates and their order, the planned step and the end
must be the same at every decision, or nothing is reported.

Protocol, written down before any of its plays, after those of alfworld.py had left the question open: problems 1001 to
1040, keys 0 to 499, seed 20261202, 30 steps, each problem once under each key by `base`, `standard` and `unmasked`:
20,000 plays a method, all played before any is looked at. Mean change of success to base with its standard error (each
problem and key is one pair). If the change of `standard` is within three standard errors of 0, and they are below
.006, then the watermark does not change success in this loop by more than .018, and what alfworld.py found was chance;
otherwise there is a loss or a gain and it is reported. `unmasked` must lose.

python benchmarks/watermark/alfworld_model.py --real build/watermark-alfworld/results.jsonl; about ten minutes.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import time
from pathlib import Path

import numpy as np

from trace_prov.watermark.experiment.games import State, play
from trace_prov.watermark.experiment.grids import method_named
from trace_prov.watermark.experiment.household import FURNITURE, Facts, next_command, problem
from trace_prov.watermark.experiment.store import Store
from trace_prov.watermark.trajectory import canonical_json, parse_runs

SEED = 20261202
GAMES = range(1001, 1041)
KEYS = 500
STEPS = 30
BONUS_ABOVE = 2.0
RECEPTACLES = [f"{kind} {n}" for kind, (count, _, _) in FURNITURE.items() for n in range(1, count + 1)]
OPENABLE = {f"{kind} {n}" for kind, (count, openable, _) in FURNITURE.items() for n in range(1, count + 1) if openable}
APPLIANCES = {"heat": "microwave 1", "cool": "fridge 1", "clean": "sinkbasin 1"}
STATES = {"heat": "hot", "cool": "cool", "clean": "clean"}
WORDS = {"heat": "ishot", "cool": "iscool", "clean": "isclean"}


class ModelGame:
    """A generated problem, by rules instead of a planner's engine."""

    def __init__(self, number: int) -> None:
        self._problem = made = problem(number)
        self.name, self.task = f"alfworld-{number:03}", made.task
        placed = re.findall(r"\(inReceptacle (\S+) (\S+)\)", made.pddl.split("(:goal")[0])
        self._start = {thing.replace("_", " "): place.replace("_", " ") for thing, place in placed}
        self._wanted, self._target = made.wanted.replace("_", " "), made.target.replace("_", " ")

    def reset(self) -> State:
        self._at: dict[str, str] = dict(self._start)
        self._here: str | None = None
        self._held: str | None = None
        self._open: set[str] = set()
        self._treated: dict[str, set[str]] = {}
        return self._state()

    def step(self, command: str) -> State:
        verb, _, rest = command.partition(" ")
        if verb == "go":
            self._here = rest.removeprefix("to ")
        elif verb == "open":
            self._open.add(rest)
        elif verb == "close":
            self._open.discard(rest)
        elif verb == "take":
            self._held = rest.partition(" from ")[0]
            del self._at[self._held]
        elif verb == "move":
            assert self._held is not None
            assert self._here is not None
            self._at[self._held], self._held = self._here, None
        elif verb in STATES:
            done = self._treated.setdefault(rest.partition(" with ")[0], set())
            done.add(verb)
            done -= {"heat": {"cool"}, "cool": {"heat"}}.get(verb, set())
        return self._state()

    def _state(self) -> State:
        treated = self._problem.treatment in self._treated.get(self._wanted, set())
        won = treated and self._at.get(self._wanted) == self._target
        planned = None if won else next_command(self._problem, self._facts())
        return State("", tuple(sorted(self._commands())), planned, won, won)

    def _commands(self) -> list[str]:
        here, held = self._here, self._held
        found = ["inventory", "look", *(f"go to {place}" for place in RECEPTACLES if place != here)]
        if held is not None:
            found.append(f"examine {held}")
        if here is None:
            return found
        found.append(f"examine {here}")
        if here in OPENABLE:
            found.append(f"close {here}" if here in self._open else f"open {here}")
        if here not in OPENABLE or here in self._open:
            if held is None:
                found += [f"take {thing} from {here}" for thing, place in self._at.items() if place == here]
            else:
                found.append(f"move {held} to {here}")
        if held is not None:
            found += [f"{verb} {held} with {here}" for verb, place in APPLIANCES.items() if place == here]
        return found

    def _facts(self) -> Facts:
        def spelt(name: str) -> str:
            return name.replace(" ", "_")

        facts: Facts = {("atlocation", "agent_1", f"loc_{spelt(self._here or 'start')}")}
        facts |= {("inreceptacle", spelt(thing), spelt(place)) for thing, place in self._at.items()}
        facts |= {("openable", spelt(place)) for place in OPENABLE} | {("opened", spelt(place)) for place in self._open}
        facts |= {(WORDS[verb], spelt(thing)) for thing, verbs in self._treated.items() for verb in verbs}
        return facts | ({("holds", "agent_1", spelt(self._held))} if self._held is not None else set())


def replay(path: Path) -> tuple[int, int]:
    """Replay every real play in the model; return how many plays and decisions, or fail at the first difference."""
    decisions, rows = 0, Store(path).rows("episodes")
    for row in rows:
        run = parse_runs(canonical_json(row["run"]).encode(), "results")[0]
        game = ModelGame(row["game"])
        state = game.reset()
        for number, group in enumerate(run.groups, 1):
            assert group.candidates is not None
            assert group.probabilities is not None
            first = max(range(len(group.candidates)), key=group.probabilities.__getitem__)
            planned = (
                group.candidates[first] if group.probabilities[first] > BONUS_ABOVE / len(group.candidates) else None
            )
            if (group.candidates, planned) != (state.commands, state.planned) or state.over:
                sys.exit(f"problem {row['game']}, {row['method']}, decision {number}: {state} and not {group}")
            state = game.step(group.decision.action)
            decisions += 1
        if state.won is not row["won"]:
            sys.exit(f"problem {row['game']}, {row['method']}: the end is another")
    return len(rows), decisions


def main() -> None:
    """Check the model, play, report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--real", type=Path, required=True, help="results.jsonl of alfworld.py, to check the model")
    parser.add_argument("--out", type=Path, default=Path("build/watermark-alfworld-model"))
    options = parser.parse_args()
    plays, decisions = replay(options.real)
    lines = [f"The model gives all {decisions} decisions of {plays} real plays.", ""]
    begin = time.perf_counter()
    won: dict[str, np.ndarray] = {}
    for method in ("base", "standard", "unmasked"):
        won[method] = np.zeros((len(GAMES), KEYS))
        for i, number in enumerate(GAMES):
            game = ModelGame(number)
            for key in range(KEYS):
                played = play(game, method_named(method, SEED, key), key * 1000, STEPS, seed=SEED)
                won[method][i, key] = played.won
    lines += ["| method | plays | success | change to base | SE | in SE |", "| --- | --- | --- | --- | --- | --- |"]
    for method, results in won.items():
        change = results - won["base"]
        error = change.std(ddof=1) / math.sqrt(change.size)
        told = " | | " if method == "base" else f"{change.mean():+.4f} | {error:.4f} | {change.mean() / error:+.1f}"
        lines.append(f"| {method} | {change.size} | {results.mean():.4f} | {told} |")
    lines += ["", f"Seed {SEED}, {time.perf_counter() - begin:.0f} s."]
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "REPORT.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    sys.exit(main())
