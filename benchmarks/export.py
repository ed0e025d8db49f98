"""How long exports take, and how they grow.

    python benchmarks/export.py [--triples 2500 10000 40000] [--reference] [LOGS]

Takes real runs until their run graphs hold so many triples, and writes them in every format. Reported are seconds of
CPU (the best of three), the ratio to writing the same graphs as plain N-Quads, the common floor, and in brackets the
ratio to the size before, beside that of the triples. `--reference` adds what others take for the same content: rdflib
and the `prov` library for TriG.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from trace_prov.derive import derive
from trace_prov.export import EXPORTERS
from trace_prov.export.material import Custody, Exporter, Material
from trace_prov.export.nquads import lines
from trace_prov.export.prov_document import to_document
from trace_prov.export.prov_quads import prov_quads
from trace_prov.graph.write import run_to_nquads, run_to_quads
from trace_prov.load import load_paths
from trace_prov.model import Run

HERE = Path(__file__).parent.parent
LOGS = HERE / "tests/data"


def best(work: Callable[[], object], rounds: int = 3) -> float:
    """CPU seconds of the fastest round."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def material_of(runs: list[Run], triples: int) -> tuple[Material, int]:
    """Runs with at least so many triples together, again and again under further names where there are too few."""
    chosen: list[Run] = []
    held = 0
    for number in range(10_000):
        run = runs[number % len(runs)]
        if number >= len(runs):
            run = renamed(run, number)
        chosen.append(run)
        held += sum(1 for _ in run_to_quads(run))
        if held >= triples:
            break
    findings = {run.id: tuple(derive(run)) for run in chosen}
    return Material(tuple(chosen), findings, Custody("Eve Examiner", "2026-03-03T08:00:00Z")), held


def renamed(run: Run, number: int) -> Run:
    return replace(run, id=f"{run.id[:-8]}{number:08x}")


def write_plain(material: Material) -> list[bytes]:
    return [run_to_nquads(run) for run in material.runs]


def write(exporter: Exporter, material: Material) -> int:
    return sum(len(file.data) for file in exporter.export(material))


def rdflib_trig(material: Material) -> object:
    import rdflib

    dataset = rdflib.Dataset()
    dataset.parse(data="".join(lines(material)), format="nquads")
    return dataset.serialize(format="trig")


def prov_trig(material: Material) -> object:
    return to_document(prov_quads(material)).serialize(format="rdf", rdf_format="trig")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="?", type=Path, default=LOGS)
    parser.add_argument("--triples", nargs="+", type=int, default=[2_500, 10_000, 40_000])
    parser.add_argument("--reference", action="store_true", help="time rdflib and prov as well (slow)")
    options = parser.parse_args()
    runs = list({item.id: item for item in load_paths([options.logs]) if isinstance(item, Run)}.values())
    before: dict[str, float] = {}
    for wanted in options.triples:
        material, held = material_of(runs, wanted)
        floor = best(partial(write_plain, material))
        print(f"{held:,} triples of {len(material.runs)} runs{_growth(before, 'triples', held)}; floor {floor:.3f} s")
        for name, exporter in EXPORTERS.items():
            size = write(exporter, material)
            seconds = best(partial(write, exporter, material))
            grown = _growth(before, name, seconds)
            print(f"  {name:12} {seconds:7.3f} s {seconds / floor:7.1f} x floor{grown}, {size / 1e6:.1f} MB")
        if options.reference:
            for name, work in {"rdflib": rdflib_trig, "prov": prov_trig}.items():
                seconds = best(partial(work, material), rounds=1)
                print(f"  TriG by {name:6} {seconds:5.1f} s {seconds / floor:7.1f} x floor")


def _growth(before: dict[str, float], name: str, value: float) -> str:
    text = f" (x{value / before[name]:.1f})" if name in before else ""
    before[name] = value
    return text


if __name__ == "__main__":
    main()
