"""The main job's speed as ratios, measured side by side in one run.

    python benchmarks/main_job.py [FOLDER...]

Each FOLDER holds logs; without one, the few of tests/data (`trace-prov corpus --preset benchmark --out DIR` makes some
1,800; DIR/runs). CPU times of one process, the least of a few rounds, so that other work on the machine moves the
ratios little. What is compared:

- load, and load + derive at the target, against merely reading the same files and parsing them with `json`;
- native derivation of all actions, once loaded, against a bare substring scan: for each action's literal an `in` over
  the text of each earlier result, in one loop that keeps nothing but a count;
- the SPARQL engine on Oxigraph against the same query files on rdflib's own engine (a few runs: it is slow);
- peak memory over one folder and over four times the same logs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from trace_prov.conversation import Call, Conversation, Outcome
from trace_prov.derive import Question, derive
from trace_prov.derive.target import text_arguments
from trace_prov.load import load_paths
from trace_prov.model import Run, Source

ALL = Question(all_actions=True)


def least(work: Callable[[], object], rounds: int = 5) -> float:
    """CPU seconds of the fastest round."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def runs_of(folders: list[Path]) -> list[Run]:
    return [item for item in load_paths(folders) if isinstance(item, Run)]


def read_and_parse(folders: list[Path]) -> None:
    for folder in folders:
        for path in folder.rglob("*.json"):
            json.loads(path.read_bytes())


def load(folders: list[Path]) -> None:
    for _ in load_paths(folders):
        pass


def load_and_derive(folders: list[Path]) -> None:
    for item in load_paths(folders):
        if isinstance(item, Run):
            list(derive(item))


def scan_plan(runs: list[Run]) -> list[tuple[str, list[str]]]:
    """(literal, texts of the earlier results) for each action that has a literal."""
    plan = []
    for run in runs:
        for action in run.actions:
            arguments = text_arguments(action)
            if arguments:
                earlier = [
                    other.result.content.text or "" for other in run.actions_delivered_before(action) if other.result
                ]
                plan.append((arguments[0].value, earlier))
    return plan


def scan(plan: list[tuple[str, list[str]]]) -> int:
    hits = 0
    for literal, texts in plan:
        for text in texts:
            if literal in text:
                hits += 1
    return hits


def derive_all(runs: list[Run]) -> None:
    for run in runs:
        for _ in derive(run, ALL):
            pass


def long_runs(runs: int = 10, actions: int = 300) -> list[Run]:
    """Runs like those of coding agents: hundreds of calls, results of some 1.5 kB, each literal in one of them."""
    made = []
    for number in range(runs):
        conversation = Conversation()
        conversation.request("do it")
        for step in range(actions):
            call = Call("read", {"path": f"src/module_{step}/part_{number}.py"}, f"c{step}")
            conversation.assistant("", [call], "made")
            text = "".join(f"line {step} {k} of a file, with see src/module_{step + 1}\n" for k in range(30))
            conversation.result(Outcome(text, f"c{step}"), "made")
        made.append(conversation.finish(Source(f"{number}", "made", f"{number:064x}", 0)))
    return made


def peak_memory(folders: list[Path], times: int) -> float:
    """Peak MB of a process that derives from the folders, given `times` over."""
    code = (
        "import sys, resource\nfrom pathlib import Path\nfrom benchmarks.main_job import load_and_derive\n"
        "load_and_derive([Path(p) for p in sys.argv[1:]])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)\n"
    )
    arguments = [str(folder) for folder in folders] * times
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True, cwd=root
    )
    return float(done.stdout)


def sparql_ratio(runs: list[Run]) -> tuple[float, float]:
    """CPU seconds of h.rq for every action of the runs: on Oxigraph, and on rdflib's own engine."""
    import rdflib

    from trace_prov.graph.queryfiles import query
    from trace_prov.graph.write import run_to_nquads

    data = b"".join(run_to_nquads(run) for run in runs)
    text = query("h").text
    plan = [
        (run.id, action.id, text_arguments(action)[0].value)
        for run in runs
        for action in run.actions
        if text_arguments(action)
    ]
    times = []
    for store in ("Oxigraph", "default"):
        dataset = rdflib.Dataset(store=store)
        dataset.parse(data=data, format="nquads")
        prepared = text if store == "Oxigraph" else rdflib.plugins.sparql.prepareQuery(text)

        def ask(dataset: rdflib.Dataset = dataset, prepared: object = prepared) -> None:
            for run, action, literal in plan:
                bindings = {
                    "run": rdflib.URIRef(run),
                    "action": rdflib.Literal(action),
                    "literal": rdflib.Literal(literal),
                }
                list(dataset.query(prepared, initBindings=bindings))  # type: ignore[arg-type]

        times.append(least(ask, 1))
    return times[0], times[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    own = [Path(__file__).parents[1] / "tests/data" / name / "runs" for name in ("agentdojo", "agentdojo_public")]
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", default=own)
    folders: list[Path] = parser.parse_args().folders

    runs = runs_of(folders)
    plan = scan_plan(runs)
    base = least(lambda: read_and_parse(folders))
    loaded = least(lambda: load(folders))
    whole = least(lambda: load_and_derive(folders))
    bare = least(lambda: scan(plan))
    derive_all(runs)
    native = least(lambda: derive_all(runs))
    long = long_runs()
    long_plan = scan_plan(long)
    long_bare = least(lambda: scan(long_plan))
    derive_all(long)
    long_native = least(lambda: derive_all(long))
    oxigraph, own = sparql_ratio(runs[:: max(1, len(runs) // 20)][:20])
    once, four = peak_memory(folders, 1), peak_memory(folders, 4)

    rows = [
        ("read and parse the same files", base, 1.0),
        ("load", loaded, loaded / base),
        ("load and derive at the target", whole, whole / base),
        ("bare scan, all actions", bare, 1.0),
        ("native derivation, all actions, loaded", native, native / bare),
        ("bare scan, 10 runs of 300 actions", long_bare, 1.0),
        ("native derivation, 10 runs of 300 actions, loaded", long_native, long_native / long_bare),
        ("h.rq on Oxigraph, 20 runs", oxigraph, 1.0),
        ("h.rq on rdflib, 20 runs", own, own / oxigraph),
    ]
    print(f"{len(runs)} runs, {sum(len(run.actions) for run in runs)} actions, {len(plan)} literals")
    print(f"{len(runs) / whole:.0f} logs a second, read, hashed, parsed and derived, one process\n")
    print("| what | CPU s | ratio |\n| --- | --- | --- |")
    for name, seconds, ratio in rows:
        print(f"| {name} | {seconds:.4f} | {ratio:.2f} |")
    print(f"| peak MB, the logs once / four times | {once:.0f} / {four:.0f} | {four / once:.2f} |")
    per_finding = native / max(1, len(plan)) * 1e6
    print(f"\na finding costs {per_finding:.1f} µs, its share of the bare scan {bare / max(1, len(plan)) * 1e6:.2f} µs")


if __name__ == "__main__":
    main()
