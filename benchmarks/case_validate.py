"""Time `validate --as case` on packages of growing size, against case_validate where asked.

python benchmarks/case_validate.py [--copies 4 33 324] [--reference]

A package of n copies holds the example run n times under fresh names (309 triples each).
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import tempfile
import time
import uuid
from functools import partial
from pathlib import Path

from trace_prov.case import check_case

EXAMPLE = Path(__file__).parent.parent / "tests" / "data" / "case_examples" / "agent_run.jsonld"
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _renamed(number: int, name: re.Match[str]) -> str:
    return str(uuid.uuid5(uuid.UUID(name[0]), str(number)))


def package(copies: int) -> str:
    """Return a JSON-LD package with that many copies of the example run."""
    document = json.loads(EXAMPLE.read_text())
    text = json.dumps(document["@graph"])
    graph: list[object] = []
    for number in range(copies):
        graph += json.loads(_UUID.sub(partial(_renamed, number), text))
    return json.dumps({"@context": document["@context"], "@graph": graph})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copies", type=int, nargs="+", default=[4, 33, 324])
    parser.add_argument("--reference", action="store_true", help="time case_validate itself as well (slow)")
    options = parser.parse_args()
    engines = ["fast", "case-utils"] if options.reference else ["fast"]
    print(f"{'triples':>8} {'engine':>10} {'wall s':>7} {'CPU s':>7} {'peak MB':>8}  conforms")
    with tempfile.TemporaryDirectory() as folder:
        for copies in options.copies:
            path = Path(folder) / f"{copies}.jsonld"
            path.write_text(package(copies))
            for engine in engines:
                wall, cpu = time.perf_counter(), time.process_time()
                report = check_case(path, engine=engine)
                wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                verdict = report.conforms and report.sound
                print(f"{report.triples:8} {engine:>10} {wall:7.1f} {cpu:7.1f} {peak:8.0f}  {verdict}")


if __name__ == "__main__":
    main()
