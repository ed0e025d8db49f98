"""Full-size honesty checks and reference tables of the watermark; see README.md beside this file."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import reference
from scipy import stats

from trace_prov.watermark import attacks, baselines
from trace_prov.watermark.calibrate import fixed_key_table, level_rows, null_p_values, raw_keys
from trace_prov.watermark.detect import detect, evaluate
from trace_prov.watermark.embed import race
from trace_prov.watermark.experiment.grids import (
    KINDS,
    SCHEMES,
    STANDARD,
    Sampled,
    Size,
    baseline_cells,
    joint_cells,
    key_of,
    rate_at,
    score,
)
from trace_prov.watermark.experiment.store import Cell
from trace_prov.watermark.methods import Session, Trace
from trace_prov.watermark.power import softmax
from trace_prov.watermark.prepare import prepare
from trace_prov.watermark.prf import digest, units
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.stats import entropy, marked_moments
from trace_prov.watermark.worlds import World, marked_run, played, unmarked_run

Rows = Iterator[Sequence[object]]
SEED = 42


def levels() -> Rows:
    """WATERMARK 2.9.1: 1e5 unmarked runs, each with its own key, through the real PRF."""
    yield "test", "level", "observed", "95 % interval", "reference"
    p = null_p_values(STANDARD, World(), 100_000, seed=1)
    column = {"selection": 0, "tally": 1, "joint": 2}
    for row in level_rows(p, (0.1, 0.05, 0.01, 0.001, 0.0001)):
        known = reference.LEVELS.get(row.level, ())
        shown = known[column[row.test]] if row.test in column and known else ""
        yield row.test, row.level, f"{row.rate:.5f}", "{:.5f} to {:.5f}".format(*row.interval), shown
    for test, known in (("selection", ".15"), ("tally randomised", ".80")):
        yield test, "KS p of uniformity", f"{stats.kstest(p[test], 'uniform').pvalue:.3f}", "", known
    yield "correlation of the channels", "", f"{np.corrcoef(p['selection'], p['tally'])[0, 1]:.4f}", "", "-0.002"


def fixed_key() -> Rows:
    """WATERMARK 2.9.2: unmarked runs of repeated tasks in a small world, one fixed key at a time, level 1 %."""
    yield "pooled", "channel", "rule", "mean FPR", "worst key", "SD of z", "reference FPR (worst)"
    rng = np.random.default_rng(SEED)
    scheme = Scheme(context_fields=("actions",), tally_salted=False)
    runs = [unmarked_run(World(vocabulary=60, tasks=1, fixed=True), n, rng) for n in range(2000)]
    for row in fixed_key_table(runs, scheme, keys=60, pools=200, sizes=(1, 10, 50), seed=SEED):
        known = reference.FIXED_KEY[row.size] if row.channel == "selection" else None
        shown = "" if known is None else f"{known[0]} ({known[1]})" if row.rule == "naive" else str(known[2])
        yield row.size, row.channel, row.rule, f"{row.rate:.4f}", f"{row.worst:.3f}", f"{row.deviation:.2f}", shown


def distortion() -> Rows:
    """WATERMARK 2.9.3: 200 distributions x 2,000 fresh contexts, chi-square each; red-green by the same test."""
    yield "scheme", "KS p of the 200 p-values", "smallest p", "reference"
    rng = np.random.default_rng(SEED)
    distributions = [softmax(rng.normal(size=int(rng.integers(3, 13)))) for _ in range(200)]
    keys = key_of(SEED, 0, STANDARD)
    ours = [_chi_square(_raced(keys.k1, d, n), d) for n, d in enumerate(distributions)]
    yield "TRACE selection", f"{stats.kstest(ours, 'uniform').pvalue:.3f}", f"{min(ours):.4f}", "KS .60, smallest .013"
    tilted = baselines.RedGreen(keys.k1, baselines.Nonce(STANDARD))
    theirs = [_chi_square(_sampled(tilted, d, n, rng), d) for n, d in enumerate(distributions[:20])]
    yield "red-green, 20 distributions", f"{stats.kstest(theirs, 'uniform').pvalue:.1e}", f"{min(theirs):.1e}", "7e-10"


def _raced(key: bytes, d: np.ndarray, number: int) -> np.ndarray:
    actions = [f"a{i}" for i in range(len(d))]
    chosen = [int(race(key, digest("bench", number, n), actions, d)[1:]) for n in range(2000)]
    return np.bincount(chosen, minlength=len(d))


def _sampled(scheme: baselines.RedGreen, d: np.ndarray, number: int, rng: np.random.Generator) -> np.ndarray:
    actions = [f"a{i}" for i in range(len(d))]
    chosen = [int(scheme.choose(digest("bench", number, n % 1), actions, d, rng)[1:]) for n in range(2000)]
    return np.bincount(chosen, minlength=len(d))


def _chi_square(counts: np.ndarray, d: np.ndarray) -> float:
    rare = d * 2000 < 5
    observed = np.append(counts[~rare], counts[rare].sum()) if rare.any() else counts
    expected = np.append(d[~rare], d[rare].sum()) * 2000 if rare.any() else d * 2000
    return float(stats.chisquare(observed, expected).pvalue)


def signal() -> Rows:
    """Table 4.1: entropy, signal and sample size, softmax of N(0,1)/T; ours / reference."""
    yield (
        "candidates, T",
        "H",
        "delta",
        "SD(s)",
        "z at 24",
        "z at 206",
        "n for z = 4",
        "runs of 24 for z = 100",
        "verdict",
    )
    rng = np.random.default_rng(SEED)
    for (count, temperature), known in reference.SIGNAL.items():
        rows = softmax(rng.normal(size=(4000, count)) / temperature)
        h = float(np.mean([entropy(row) for row in rows]))
        moments = np.array([marked_moments(row) for row in rows])
        delta = moments[:, 0].mean() - 1
        spread = math.sqrt(moments[:, 1].mean() + moments[:, 0].var())
        ours = (h, delta, spread, delta * 24**0.5, delta * 206**0.5, (4 / delta) ** 2, (100 / delta) ** 2 / 24)
        worst = max(abs(a / b - 1) for a, b in zip(ours, known, strict=True))
        cells = [f"{a:.3g} / {b:g}" for a, b in zip(ours, known, strict=True)]
        yield f"{count}, {temperature:g}", *cells, _verdict(worst < 0.05)


def seed_figures() -> Rows:
    """Table 4.2: the published settings; ours (± SD over keys) / reference; theory is delta sqrt(n) without repeats."""
    yield "setting", "z selection", "theory", "z after 70 % group deletion", "z tally", "verdict"
    worlds = {
        "9 runs x 23, H 0.93": (World(20, 0.25, 23), 9, 12),
        "147 runs x 1.4, 5 candidates, T 0.7": (World(5, 0.7, 1.4), 147, 12),
        "140 runs x 24, H 1.8": (World(), 140, 3),
        "140 runs x 24, H 2.0": (World.with_entropy(2.0), 140, 3),
        "1 run x 24, H 1.8": (World(), 1, 60),
    }
    for name, (world, runs, repeats) in worlds.items():
        source, known = Sampled(world, runs, SEED), reference.SEED[name]
        clean, cut = [], []
        for repeat in range(repeats):
            pool = source.pool("standard", repeat)
            clean.append(score(pool, SEED, repeat, STANDARD))
            after = attacks.apply(pool, [("d", attacks.delete_groups(0.7))], repeat).runs
            cut.append(score(after, SEED, repeat, STANDARD))
        columns = [[c["z_selection"] for c in clean], [c["z_selection"] for c in cut], [c["z_tally"] for c in clean]]
        errors = [abs(np.mean(c) - k) for c, k in zip(columns, known, strict=True)]
        allowed = [3 * (np.std(c) / math.sqrt(len(c)) + 0.3) for c in columns]
        cells = [f"{np.mean(c):.1f} ± {np.std(c):.1f} / {k:g}" for c, k in zip(columns, known, strict=True)]
        theory = _delta(world) * math.sqrt(runs * world.length)
        verdict = _verdict(all(e < a for e, a in zip(errors, allowed, strict=True)))
        yield name, cells[0], f"{theory:.1f}", *cells[1:], verdict


def _delta(world: World) -> float:
    rows = softmax(np.random.default_rng(SEED).normal(size=(2000, world.candidates)) / world.temperature)
    return float(np.mean([marked_moments(row)[0] for row in rows])) - 1


def deletion_kinds() -> Rows:
    """Table 4.2: 70 % deletion by kind, 10 runs x 24, 12 repeats."""
    yield "deletion of", "z selection", "reference", "verdict"
    source = Sampled(World(), 10, SEED)
    for kind, known in reference.KINDS.items():
        scheme, make = KINDS[kind]
        values = []
        for repeat in range(12):
            runs = attacks.apply(source.pool(scheme, repeat), [(kind, make(0.7))], repeat).runs
            values.append(score(runs, SEED, repeat, SCHEMES[scheme])["z_selection"])
        error = np.std(values) / math.sqrt(12)
        yield (
            kind,
            f"{np.mean(values):.1f} ± {error:.1f}",
            known,
            _verdict(abs(np.mean(values) - known) < 3 * (error + 0.35)),
        )


def joint_grid() -> Rows:
    """Table 4.3: 10 runs x 24, H 1.8, 12 repeats; z selection / z tally / share at joint p < 1e-3, ours | reference."""
    results = _computed(list(joint_cells(Sampled(World(), 10, SEED), Size(12, 10, 0, 0, 0), SEED)), "standard")
    yield "deletion", *(f"rewriting {r:g}" for r in reference.REWRITINGS), "cells that differ"
    for d, known in zip(reference.DELETIONS, reference.JOINT, strict=True):
        cells, wrong = [], 0
        for r, (z_s, z_t, share) in zip(reference.REWRITINGS, known, strict=True):
            found = results[d, r]
            own = (np.mean([c["z_selection"] for c in found]), np.mean([c["z_tally"] for c in found]))
            detected = rate_at([c["log_p_joint"] for c in found], 1e-3)
            spread = [math.hypot(np.std([c[n] for c in found]), 0.5) / math.sqrt(6) for n in ("z_selection", "z_tally")]
            wrong += (
                abs(own[0] - z_s) > 3 * spread[0] or abs(own[1] - z_t) > 3 * spread[1] or abs(detected - share) > 0.45
            )
            cells.append(f"{own[0]:.1f}/{own[1]:.1f}/{detected:.2f} \\| {z_s:g}/{z_t:g}/{share:g}")
        yield f"{d:g}", *cells, wrong


def joint_grid_aligned() -> Rows:
    """The same grid with the index-keyed, aligned tally (no reference: it is ours)."""
    results = _computed(list(joint_cells(Sampled(World(), 10, SEED), Size(6, 10, 0, 0, 0), SEED)), "index")
    yield "deletion", *(f"rewriting {r:g}" for r in reference.REWRITINGS)
    for d in reference.DELETIONS:
        row = []
        for r in reference.REWRITINGS:
            found = results[d, r]
            z = [np.mean([c[n] for c in found]) for n in ("z_selection", "z_tally")]
            row.append(f"{z[0]:.1f}/{z[1]:.1f}/{rate_at([c['log_p_joint'] for c in found], 1e-3):.2f}")
        yield f"{d:g}", *row


def _computed(cells: Sequence[Cell], scheme: str) -> dict[tuple[float, float], list[dict[str, float]]]:
    found: dict[tuple[float, float], list[dict[str, float]]] = {}
    for cell in cells:
        if cell.parameters["scheme"] == scheme:
            place = cell.parameters["deletion"], cell.parameters["rewriting"]
            found.setdefault(place, []).append(cell.compute())
    return found


def schemes() -> Rows:
    """Table 4.4: 10 runs x 24, 20 candidates, H 1.8, 20 repeats; mean z, ours / reference."""
    yield "scheme", "clean", "deletion 30 %", "deletion 70 %", "truncated to 7", "renamed", "verdict"
    table: dict[str, dict[str, list[float]]] = {}
    for cell in baseline_cells(Sampled(World(), 10, SEED), Size(20, 10, 0, 0, 0), SEED):
        row = table.setdefault(cell.parameters["method"], {})
        row.setdefault(cell.parameters["attack"], []).append(cell.compute()["z"])
    for name, row in table.items():
        known = reference.SCHEMES.get(name)
        means = [float(np.mean(v)) for v in row.values()]
        if known is None:
            yield name, *(f"{m:.1f}" for m in means), ""
            continue
        far = [attack for attack, m, k in zip(row, means, known, strict=True) if abs(m - k) > 1.3]
        verdict = _verdict(not far) + (f" ({', '.join(far)})" if far else "")
        yield name, *(f"{m:.1f} / {k:g}" for m, k in zip(means, known, strict=True)), verdict


def variation() -> Rows:
    """Table 4.4, last column: total variation of one step, 20 candidates, H 1.8."""
    yield "scheme", "ours", "reference", "verdict"
    rng, nonce = np.random.default_rng(SEED), baselines.Nonce(STANDARD)
    actions = [f"a{i}" for i in range(20)]
    for scheme in (baselines.RedGreen(b"k", nonce), baselines.AgentGuide(b"k", nonce)):
        p = [softmax(rng.normal(size=20) / 0.5) for _ in range(2000)]
        mean = np.mean([baselines.total_variation(scheme, actions, row, n) for n, row in enumerate(p)])
        known = reference.VARIATION[scheme.name]
        yield scheme.name, f"{mean:.3f}", known, _verdict(abs(mean - known) < 0.03)


def tally_null() -> Rows:
    """Table 4.6: the tally of unmarked runs of 24 groups without a salt, naive and deduplicated, 300 keys."""
    yield "pooled", "marked z, salted", "SD naive", "P(z > 1.645)", "P(z > 4)", "SD deduplicated", "reference"
    rng = np.random.default_rng(SEED)
    unsalted = Scheme(tally_salted=False)
    for size, known in reference.TALLY_NULL.items():
        z: dict[bool, list[float]] = {True: [], False: []}
        for _, k2 in raw_keys(300, size):
            pool = [unmarked_run(World(candidates=2), n, rng) for n in range(size)]
            for rule, values in z.items():
                made = prepare(pool, unsalted, naive=rule)
                matches = np.count_nonzero((units(k2, made.tally.messages) < 0.5) == made.bits)
                values.append((2 * matches - len(made.bits)) / math.sqrt(len(made.bits)))
        keys = key_of(SEED, 0, STANDARD)
        runs = [marked_run(World(candidates=2), keys, STANDARD, n, rng) for n in range(size)]
        salted = evaluate(prepare(runs, STANDARD), keys)
        naive = np.array(z[True])
        shares = [f"{np.mean(naive > bound):.2f}" for bound in (1.645, 4)]
        deduplicated = f"{np.std(z[False]):.2f}"
        yield (
            size,
            f"{salted.tally.z:.2f}",
            f"{naive.std():.2f}",
            *shares,
            deduplicated,
            "SD {}, {}, {}; {}".format(*known),
        )


def aligned() -> Rows:
    """Section 1.5: one run of 24 groups, independent deletion; z of the prefix-keyed and of the aligned tally."""
    yield "deletion", "prefix-keyed z", "aligned z", "aligned: found at p < 0.01", "reference (naive / aligned)"
    known = {0.0: "", 0.05: "2.8 / 4.6", 0.1: "1.9 / 4.0", 0.2: "0.6 / 2.9", 0.3: "0.6 / 1.9", 0.5: "none"}
    for rate, shown in known.items():
        z: dict[str, list[float]] = {"standard": [], "index": []}
        found = []
        for repeat in range(40):
            for name, values in z.items():
                pool = Sampled(World(candidates=2), 1, SEED).pool(name, repeat)
                runs = attacks.apply(pool, [("d", attacks.delete_groups(rate))], repeat).runs
                outcome = score(runs, SEED, repeat, SCHEMES[name])
                values.append(outcome["z_tally"])
                if name == "index":
                    found.append(outcome["log_p_tally"])
        yield (
            f"{rate:g}",
            f"{np.mean(z['standard']):.1f}",
            f"{np.mean(z['index']):.1f}",
            f"{rate_at(found, 0.01):.2f}",
            shown,
        )


def speed() -> Rows:
    """Detection of 10,000 decisions, evidence and power included; embedding of one decision with 20 candidates."""
    yield "what", "seconds"
    rng, keys = np.random.default_rng(SEED), key_of(SEED, 0, STANDARD)
    begin = time.perf_counter()
    runs = [marked_run(World(), keys, STANDARD, n, rng) for n in range(417)]
    yield "embedding, a decision (world included)", f"{(time.perf_counter() - begin) / 10_008:.2e}"
    for name, pool in (("417 runs x 24", runs), ("1 run x 10,008", [played(World(length=10_008), _Quiet(), 0, rng)])):
        begin = time.perf_counter()
        detect(pool, keys, STANDARD)
        yield f"detection, {name}", f"{time.perf_counter() - begin:.3f}"


class _Quiet:
    """The TRACE method under the speed test's key."""

    name = "trace"

    def session(self, *parts: Any) -> Session:
        return Trace(key_of(SEED, 0, STANDARD), STANDARD).session(*parts)


def _verdict(agrees: bool) -> str:
    return "agrees" if agrees else "differs"


BENCHMARKS: dict[str, Callable[[], Rows]] = {
    f.__name__.replace("_", "-"): f
    for f in (
        levels, fixed_key, distortion, signal, seed_figures, deletion_kinds, joint_grid, joint_grid_aligned, schemes,
        variation, tally_null, aligned, speed,
    )
}  # fmt: skip


def main() -> None:
    """Run the named benchmarks (default: all) and write one Markdown file each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--out", type=Path, default=Path("build/watermark-reference"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.names or BENCHMARKS:
        begin = time.perf_counter()
        head, *rows = BENCHMARKS[name]()
        title = (BENCHMARKS[name].__doc__ or "").strip()
        lines = [f"**{title}**", "", f"| {' | '.join(map(str, head))} |", f"|{' --- |' * len(head)}"]
        lines += [f"| {' | '.join(map(str, row))} |" for row in rows]
        text = "\n".join(lines) + f"\n\nScheme {STANDARD.digest[:16]}, {time.perf_counter() - begin:.0f} s.\n"
        (options.out / f"{name}.md").write_text(text, encoding="utf-8")
        print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
