"""How long packages take to build, validate and answer, and how validation grows with their size.

    python benchmarks/packages.py [--sizes 1 2 4 8] [--reference] [LOG]

Makes packages of one real log whose calls are repeated, so that the graph grows by whole actions, and reports
milliseconds (the best of three, warm) with the ratio to the size before. `--reference` times pySHACL beside.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from trace_prov.load import load_paths
from trace_prov.model import Run
from trace_prov.package.bag import read_package, write_package
from trace_prov.package.build import Built, build
from trace_prov.package.comparator import answer
from trace_prov.package.condition import BUILT_IN
from trace_prov.package.graph import package_to_quads
from trace_prov.package.validate import validate_package

HERE = Path(__file__).parent.parent
LOG = HERE / "tests/data/agentdojo/runs/local-account/workspace/user_task_3/injecagent/injection_task_1.json"


def grown(run: Run, times: int) -> Run:
    """The run with its calls told `times` times, one after the other."""
    actions = []
    steps = max(action.step for action in run.actions)
    for turn in range(times):
        for action in run.actions:
            result = action.result
            moved = None
            if result is not None:
                after, order = result.after_step + turn * steps, result.order + turn * len(run.actions)
                moved = replace(result, after_step=after, order=order)
            number = action.number + turn * len(run.actions)
            actions.append(replace(action, number=number, step=action.step + turn * steps, result=moved))
    return replace(run, actions=tuple(actions))


def best(work: Callable[[], object]) -> float:
    """Milliseconds of the fastest of three."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1000)
    return min(times)


def measure(run: Run, folder: Path, reference: bool) -> dict[str, float]:
    condition = BUILT_IN["C11"]
    built = build(run, condition)
    assert isinstance(built, Built)
    write_package(built.package, folder)
    assert validate_package(folder).conforms
    row = {
        "triples": float(len(package_to_quads(built.package))),
        "build": best(lambda: build(run, condition)),
        "validate": best(lambda: validate_package(folder)),
        "answer": best(lambda: answer(read_package(folder), "case")),
    }
    if reference:
        row["pyshacl"] = best(lambda: validate_package(folder, "pyshacl"))
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", nargs="?", type=Path, default=LOG)
    parser.add_argument("--sizes", nargs="+", type=int, default=[1, 4, 16, 64])
    parser.add_argument("--reference", action="store_true")
    options = parser.parse_args()
    run = next(item for item in load_paths([options.log]) if isinstance(item, Run))
    folder = Path(tempfile.mkdtemp())
    before: dict[str, float] = {}
    for size in options.sizes:
        row = measure(grown(run, size), folder / str(size), options.reference)
        ratios = {name: f" (x{value / before[name]:.1f})" if name in before else "" for name, value in row.items()}
        print(f"{size:>4}: " + ", ".join(f"{name} {value:,.0f}{ratios[name]}" for name, value in row.items()))
        before = row
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
