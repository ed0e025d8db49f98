"""Time the PROV-CONSTRAINTS checker on agent runs of growing size.

python benchmarks/prov_constraints.py [--calls 100 1000 5000]

A call gives 12 records: activity, start, association, two entities, two usages, generation, communication, a
list of two members with their entities. Reading is `prov`'s share, the rest is ours.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Iterator

from trace_prov.prov_constraints import Instance, Name, Statement, check_instance
from trace_prov.prov_constraints.statements import stated

EX = "http://example.org/"


def name(text: str) -> Name:
    return Name(EX + text, f"ex:{text}")


def run(calls: int) -> Iterator[Statement]:
    """Yield the statements of a run in which each call uses the result of the one before."""
    none: frozenset[str] = frozenset()
    yield stated("agent", name("agent"), (), none)
    yield stated("entity", name("request"), (), none)
    yield stated("activity", name("run"), (), none)
    for number in range(1, calls + 1):
        call, args, result = name(f"act-{number}"), name(f"act-{number}.args"), name(f"act-{number}.result")
        before = name(f"act-{number - 1}.result" if number > 1 else "request")
        yield stated("activity", call, (), none)
        yield stated("wasStartedBy", None, (call, before, name("run")), none)
        yield stated("wasAssociatedWith", None, (call, name("agent")), none)
        yield stated("entity", args, (), none)
        yield stated("entity", result, (), none)
        yield stated("used", None, (call, args), none)
        yield stated("used", None, (call, before), none)
        yield stated("wasGeneratedBy", None, (result, call), none)
        yield stated("wasDerivedFrom", None, (result, before, call), none)
        if number > 1:
            yield stated("wasInformedBy", None, (call, name(f"act-{number - 1}")), none)
        for element in (1, 2):
            yield stated("hadMember", None, (result, name(f"act-{number}.result[{element}]")), none)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, nargs="+", default=[100, 1000, 5000])
    print(f"{'calls':>7} {'statements':>10} {'CPU s':>7} {'peak MB':>8}  valid")
    for calls in parser.parse_args().calls:
        instance = Instance(None, tuple(run(calls)))
        cpu = time.process_time()
        report = check_instance(instance)
        cpu = time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{calls:7} {report.statements:10} {cpu:7.2f} {peak:8.0f}  {report.valid}")


if __name__ == "__main__":
    main()
