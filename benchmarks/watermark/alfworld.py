"""Does the TRACE watermark change what an agent does in ALFWorld's domain? A fixed protocol and its report.

An earlier run (65 pairs of plays, part of it looked at before it was finished) gave base .415 and TRACE .231. This
protocol was written down before any of its plays. Nothing in it was changed afterwards; a change needs a new SEED.

Plays. Problems 1001 to 1040, keys 0 to 9, seed 20261201, 30 steps: each problem is played once under each key by the
policy alone (`base`) and by the policy with the watermark (`standard`), with paired generators: 400 pairs. As a
control that must fail, 3 keys of them also with repeated contexts not masked (`unmasked`): 120 plays. All are played;
none is looked at before the last one is done; nothing is played afterwards.

1. Success (primary). Mean paired change of success, TRACE less base, with a 95 % interval from 10,000 bootstrap draws
   over problems and keys. If the interval lies below 0, there is a loss and it is reported as one. If it holds 0 and
   excludes -.185, the earlier gap was chance. Otherwise the question stays open.
2. Distribution of the choices in the loop. For each decision with at least two candidates: rank the candidates (the
   planned one first, the others in the order offered) and draw v uniformly between the summed probability before
   the chosen one and with it. When choices follow the policy, v is uniform, whatever the loop. Chi-square over
   20 equal bins, and the z of "planned step taken" against its probabilities, over all decisions of a method; for
   TRACE apart for marked and for masked decisions; and the chi-square of its keys' ten z. A method fails a test at
   p < .001. `base` and `standard` should pass; `unmasked` should fail at least one.
3. One decision, many keys. 100 decisions drawn from the base plays, each decided again under 2,000 fresh keys with its
   own history: chi-square of the ranks against the probabilities; Kolmogorov-Smirnov p of the 100 p-values, to be
   at least .001.

Needs the extra `watermark-alfworld` and `pip install --no-deps alfworld`; about 25 minutes of one core. Resumes.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy import stats

from trace_prov.watermark.embed import History, choose
from trace_prov.watermark.experiment.games import HouseholdGame, play
from trace_prov.watermark.experiment.grids import SCHEMES, STANDARD, method_named
from trace_prov.watermark.experiment.store import Cell, Result, Store, compute
from trace_prov.watermark.keys import derive
from trace_prov.watermark.prepare import Skip, prepare
from trace_prov.watermark.trajectory import Group, Run, canonical_json, parse_runs, run_to_json

SEED = 20261201
GAMES = range(1001, 1041)
KEYS = {"base": 10, "standard": 10, "unmasked": 3}
STEPS = 30
EARLIER = -0.185
DRAWS = 10_000
BINS = 20
REPLAYED, FRESH_KEYS = 100, 2_000


def cells() -> Iterator[Cell]:
    """All plays, problem by problem."""
    for number in GAMES:
        game: list[HouseholdGame] = []
        for method, keys in KEYS.items():
            for key in range(keys):

                def once(
                    number: int = number, method: str = method, key: int = key, game: list[HouseholdGame] = game
                ) -> Result:
                    if not game:
                        game.append(HouseholdGame(number))
                    played = play(game[0], method_named(method, SEED, key), key * 1000, STEPS, seed=SEED)
                    return {"won": played.won, "steps": played.steps, "run": run_to_json(played.run)}

                yield Cell("episodes", {"game": number, "method": method, "key": key}, once)


def success(store: Store) -> Iterator[str]:
    """Part 1."""
    won = {(r["method"], r["game"], r["key"]): float(r["won"]) for r in store.rows("episodes")}
    base, marked = (np.array([[won[m, g, k] for k in range(10)] for g in GAMES]) for m in ("base", "standard"))
    change = marked - base
    rng = np.random.default_rng(SEED)
    draws = np.empty(DRAWS)
    for draw in range(DRAWS):
        rows = rng.integers(len(GAMES), size=len(GAMES))
        draws[draw] = change[np.ix_(rows, rng.integers(10, size=10))].mean()
    low, high = np.percentile(draws, [2.5, 97.5])
    error = change.std(ddof=1) / math.sqrt(change.size)
    yield "| method | plays | success | by key |"
    yield "| --- | --- | --- | --- |"
    for method, keys in KEYS.items():
        by_key = [np.mean([won[method, g, k] for g in GAMES]) for k in range(keys)]
        yield f"| {method} | {len(GAMES) * keys} | {np.mean(by_key):.3f} | {min(by_key):.2f} to {max(by_key):.2f} |"
    yield ""
    yield f"Change, TRACE less base, {change.size} pairs: {change.mean():+.3f}, SE {error:.3f} (pairs), "
    yield f"95 % {low:+.3f} to {high:+.3f} (problems and keys). {_said(low, high)}"
    few = np.array([[won["unmasked", g, k] - won["base", g, k] for k in range(3)] for g in GAMES])
    yield f"Not masked less base, {few.size} pairs: {few.mean():+.3f}, SE {few.std(ddof=1) / math.sqrt(few.size):.3f}."


def _said(low: float, high: float) -> str:
    if high < 0:
        return "A loss."
    if low > 0:
        return "A gain."
    return "The earlier gap was chance." if low > EARLIER else "Open."


def choices(store: Store) -> Iterator[str]:
    """Part 2."""
    yield "| decisions | number | planned step taken / expected | z (p) | chi-square p of v, 20 bins |"
    yield "| --- | --- | --- | --- | --- |"
    rng = np.random.default_rng(SEED)
    rows = store.rows("episodes")
    by_key: dict[int, list[tuple[bool, float, float]]] = {}
    for method in KEYS:
        parts: dict[str, list[tuple[bool, float, float]]] = {"all": [], "marked": [], "masked": []}
        for row in rows:
            if row["method"] != method:
                continue
            for group, part in _decisions(_parsed(row["run"]), method):
                found = _told(group, rng)
                parts["all"].append(found)
                parts[part].append(found)
                if (method, part) == ("standard", "marked"):
                    by_key.setdefault(row["key"], []).append(found)
        for part, values in parts.items() if method == "standard" else [("all", parts["all"])]:
            yield f"| {method}, {part} | {_tested(values)} |"
    each = [_z(values) for values in by_key.values()]
    p = stats.chi2.sf(sum(z * z for z in each), len(each))
    yield ""
    yield f"z of the marked decisions by key: {', '.join(f'{z:+.1f}' for z in each)}; chi-square p {p:.3f}."


def _parsed(value: object) -> Run:
    return parse_runs(canonical_json(value).encode(), "results")[0]


def _decisions(run: Run, method: str) -> Iterator[tuple[Group, str]]:
    """Decisions with a choice, and whether the key made them."""
    skipped = prepare([run], SCHEMES.get(method, STANDARD)).selection.skipped
    for index, group in enumerate(run.groups):
        if len(group.candidates or ()) > 1:
            yield group, "masked" if skipped.get((0, index)) is Skip.REPEAT else "marked"


def _ranked(group: Group) -> tuple[np.ndarray, int]:
    """Probabilities with the planned candidate (the one above the others) first, and the rank of the chosen one."""
    probabilities = np.array(group.probabilities)
    order = np.argsort(-probabilities, kind="stable")
    names = [(group.candidates or ())[index] for index in order]
    return probabilities[order], names.index(group.decision.action)


def _told(group: Group, rng: np.random.Generator) -> tuple[bool, float, float]:
    """(planned step taken, its probability, v). Without a planned candidate all are alike: the probability is nan."""
    probabilities, rank = _ranked(group)
    v = float(probabilities[:rank].sum() + rng.random() * probabilities[rank])
    planned = probabilities[0] > probabilities[1] * 1.01
    return rank == 0, float(probabilities[0]) if planned else math.nan, v


def _z(values: Sequence[tuple[bool, float, float]]) -> float:
    taken, p = (np.array([float(row[i]) for row in values if not math.isnan(row[1])]) for i in (0, 1))
    return float((taken - p).sum() / math.sqrt((p * (1 - p)).sum()))


def _tested(values: Sequence[tuple[bool, float, float]]) -> str:
    told = [(taken, p) for taken, p, _ in values if not math.isnan(p)]
    z = _z(values)
    counts = np.histogram([v for _, _, v in values], BINS, (0, 1))[0]
    expected = sum(p for _, p in told)
    taken = sum(t for t, _ in told)
    z_text = f"{z:+.2f} ({2 * stats.norm.sf(abs(z)):.3g})"
    return f"{len(values)} | {taken} / {expected:.1f} of {len(told)} | {z_text} | {stats.chisquare(counts).pvalue:.3g}"


def replayed(store: Store) -> Iterator[str]:
    """Part 3."""
    rng = np.random.default_rng(SEED)
    runs = [_parsed(row["run"]) for row in store.rows("episodes") if row["method"] == "base"]
    places = [(run, n) for run in runs for n, group in enumerate(run.groups) if len(group.candidates or ()) > 1]
    keys = [
        derive(f"replay {SEED} {n}".encode().ljust(32, b"."), "replay", STANDARD.version) for n in range(FRESH_KEYS)
    ]
    found = []
    for index in rng.choice(len(places), REPLAYED, replace=False):
        run, n = places[index]
        group = run.groups[n]
        history = History(run.salt, run.task, run.groups[:n])
        names = list(group.candidates or ())
        chosen = [choose(key, STANDARD, history, names, group.probabilities or (), rng).action for key in keys]
        counts = np.array([chosen.count(name) for name in names])
        found.append(float(stats.chisquare(counts, np.array(group.probabilities) * FRESH_KEYS).pvalue))
    ks = stats.kstest(found, "uniform").pvalue
    yield f"{REPLAYED} decisions under {FRESH_KEYS} keys each: KS p of the chi-square p-values {ks:.3f}, "
    yield f"smallest {min(found):.4f}."


def main() -> None:
    """Play what is missing, then write the report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("build/watermark-alfworld"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    store = Store(options.out / "results.jsonl")
    begin = time.perf_counter()
    played = compute(cells(), store)
    lines = [f"{played} plays in {time.perf_counter() - begin:.0f} s. Scheme {STANDARD.digest[:16]}, seed {SEED}."]
    for title, part in (("Success", success), ("Choices in the loop", choices), ("One decision, many keys", replayed)):
        lines += ["", f"## {title}", "", *part(store)]
    text = "\n".join(lines) + "\n"
    (options.out / "REPORT.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    sys.exit(main())
