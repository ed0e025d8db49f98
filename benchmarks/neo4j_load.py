"""How fast run graphs go into Neo4j: our loader, plain UNWIND of the same rows, and neo4j-admin's CSV import.

    python benchmarks/neo4j_load.py [--records 100000] [--home DIR]

Starts a real server for it. The plain load has its rows ready in memory and writes them in one order with the same
MERGE statements and nothing else: no reading, no mapping, no marks for going on, no counting of relationships.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.servers.neo4j import Neo4jServer, neo4j_community
from trace_prov.model import (
    Account,
    Action,
    Argument,
    Basis,
    BasisState,
    Binding,
    BindingTable,
    Content,
    Locator,
    Result,
    Run,
    Source,
    TableState,
    Turn,
)
from trace_prov.neo4j import statements
from trace_prov.neo4j.connection import Target, connected
from trace_prov.neo4j.csvexport import export
from trace_prov.neo4j.load import STATEMENT_ROWS, TRANSACTION_ROWS, graphs_of_runs, load, prepare, remove
from trace_prov.neo4j.mapping import Rows

ACTIONS, ELEMENTS = 50, 20


def runs(records: int) -> Iterator[Run]:
    """Runs with lists as tools give them: 50 calls of 20 elements, each with an account that cites two of them."""
    for number in range(records // (ACTIONS * ELEMENTS)):
        yield _run(number)


def _run(number: int) -> Run:
    actions = tuple(_action(number, index) for index in range(1, ACTIONS + 1))
    rows = tuple(
        Binding(f"in-{(a - 1) * ELEMENTS + k}", Locator(a, k))
        for a in range(1, ACTIONS + 1)
        for k in range(1, ELEMENTS + 1)
        if k <= 2
    )
    source = Source(f"run-{number}.json", "benchmark", f"{number:064x}", 1)
    request = Turn(1, Content(f"Pay the bills of month {number} and tell me what is left."))
    return Run(
        f"urn:trace-prov:run:{number:032x}", source, (request,), actions, BindingTable(TableState.COMPLETE, rows)
    )


def _action(run: int, index: int) -> Action:
    rows = [
        {"id": run * 10_000 + index * 100 + k, "recipient": f"GB29NWBK6016133192{run:04d}{k:02d}", "text": "rent " * 8}
        for k in range(1, ELEMENTS + 1)
    ]
    first = (index - 2) * ELEMENTS + 1
    basis = Basis(BasisState.IDS, (f"in-{first}", f"in-{first + 1}")) if index > 1 else Basis(BasisState.EMPTY)
    account = Account(basis, text=f"Action: read list {index}\nBasis: in-{first}, in-{first + 1}")
    arguments = (Argument("recipient", f"GB29NWBK6016133192{run:04d}01"), Argument("page", index))
    return Action(index, index, "get_transactions", arguments, account, Result(Content(json.dumps(rows)), index, index))


def plain_load(server: Neo4jServer, rows: list[Rows]) -> None:
    """The same rows by UNWIND and nothing else."""
    nodes: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    edges: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for some in rows:
        for labels, listed in some.nodes.items():
            nodes[labels].extend(listed)
        for type_, listed in some.edges.items():
            edges[type_].extend(listed)
    work = [(statements.nodes_statement(labels), listed) for labels, listed in nodes.items()]
    work += [(statements.edges_statement(type_), listed) for type_, listed in edges.items()]
    with neo4j.GraphDatabase.driver(server.uri, auth=server.auth) as driver, driver.session() as session:
        for statement, listed in work:
            for first in range(0, len(listed), TRANSACTION_ROWS):
                session.execute_write(_write_plainly, statement, listed[first : first + TRANSACTION_ROWS])


def _write_plainly(transaction: neo4j.ManagedTransaction, statement: Any, rows: list[dict[str, Any]]) -> None:
    for first in range(0, len(rows), STATEMENT_ROWS):
        transaction.run(statement, rows=rows[first : first + STATEMENT_ROWS]).consume()


def admin_import(server: Neo4jServer, folder: Path, command: str) -> float:
    """Import the CSV files with the server's admin tool (the server must be down); return the seconds."""
    arguments = shlex.split(command.replace("\\\n", " "))[1:]
    java = [str(server.java), "-Xmx1g", "-cp", f"{server.jars}/*", "org.neo4j.cli.AdminTool", *arguments]
    environment = {**os.environ, "NEO4J_HOME": str(server.home), "NEO4J_CONF": str(server.home / "conf")}
    started = time.perf_counter()
    subprocess.run(java, cwd=folder, env=environment, check=True, capture_output=True)
    return time.perf_counter() - started


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=2, help="rounds of ours and plain, in turn; the best counts")
    options = parser.parse_args()
    seconds: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="trace-prov-bench-") as folder:
        home, files = Path(folder, "home"), Path(folder, "csv")
        with neo4j_community(home) as server:
            target = Target(server.uri, server.user, server.password)
            names = [run.id for run in runs(options.records)]
            with connected(target) as connection:
                prepare(connection)
                load(connection, graphs_of_runs([_run(0)]))  # the first statements compile
                remove(connection, names[:1])
                for _ in range(options.repeat):
                    started = time.perf_counter()
                    done = load(connection, graphs_of_runs(runs(options.records)))
                    seconds["load"].append(time.perf_counter() - started)
                    remove(connection, names)
                    rows = [graph.rows() for graph in graphs_of_runs(runs(options.records))]
                    started = time.perf_counter()
                    plain_load(server, rows)
                    seconds["plain"].append(time.perf_counter() - started)
                    del rows
                    remove(connection, names)
        started = time.perf_counter()
        written = export(lambda: graphs_of_runs(runs(options.records)), files, "neo4j")
        seconds["csv written"].append(time.perf_counter() - started)
        seconds["csv imported"].append(admin_import(server, files, written.command))
    count = done.nodes + done.relationships
    best = {name: min(times) for name, times in seconds.items()}
    report = {
        "records": options.records,
        "nodes": done.nodes,
        "relationships": done.relationships,
        "seconds": {name: [round(t, 1) for t in times] for name, times in seconds.items()},
        "rows a second": {name: round(count / time_) for name, time_ in best.items()},
        "load against plain": round(best["plain"] / best["load"], 2),
        "peak memory of the loader in MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "machine": f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}",
        "server": f"Neo4j {server.version}, heap 512 MB",
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
