"""Runs into Neo4j: idempotent, in batches, with flat memory, and to be gone on with after any interruption.

A node `(:Import {run, sha256, complete})` for each run says from which quads it was loaded and whether all of it is
there. A run that is complete and unchanged is skipped; one that changed is taken out first; one that is incomplete is
merged again. A batch holds whole runs as long as they are small, and is one transaction then.
"""

from __future__ import annotations

import hashlib
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from queue import Full, Queue
from typing import Any, LiteralString

import neo4j
import pyoxigraph

from trace_prov.graph import iris
from trace_prov.graph.write import run_to_nquads
from trace_prov.model import Run
from trace_prov.neo4j import statements
from trace_prov.neo4j.connection import Connection, in_words, resumable
from trace_prov.neo4j.errors import ContentError
from trace_prov.neo4j.mapping import Properties, Rows, rows_of_nquads, viewed
from trace_prov.package.graph import package_to_quads
from trace_prov.package.model import Package

#: rows of one statement, and of one transaction: small enough for a server with 512 MB of heap
STATEMENT_ROWS = 5_000
TRANSACTION_ROWS = 20_000
TRANSACTION_CHARACTERS = 4_000_000
INDEX_SECONDS = 300
DELETED_AT_ONCE = 10_000
RUNS_ASKED_AT_ONCE = 200
#: batches that wait for the server while the next is being made
WAITING = 2


@dataclass(frozen=True, slots=True)
class Graph:
    """The quads of one run as canonical N-Quads; `view` tells the packages of a case apart, None for the record.

    `run` is the IRI under which the run is stored.
    """

    run: str
    nquads: bytes
    view: str | None = None

    @property
    def sha256(self) -> str:
        """The hash of the quads but for the names of log and sidecar: a copy of a log is the same evidence."""
        digest = hashlib.sha256()
        done = 0
        for node in (f"{self.run}:sidecar", f"{self.run}:source"):  # in the order of the lines
            start = self.nquads.find(f"\n<{node}> <{iris.TRACE}name> ".encode())
            if start >= 0:
                digest.update(self.nquads[done : start + 1])
                done = self.nquads.index(b"\n", start + 1) + 1
        digest.update(self.nquads[done:])
        return digest.hexdigest()

    def rows(self) -> Rows:
        return rows_of_nquads(self.nquads, view=self.view)


@dataclass(slots=True)
class Loaded:
    """What a load has done so far: runs written, of these replaced, runs that were there already; rows written."""

    runs: int = 0
    replaced: int = 0
    unchanged: int = 0
    nodes: int = 0
    relationships: int = 0


Progress = Callable[[Loaded], None]


@dataclass(slots=True)
class _Batch:
    """Whole runs, or one big run, on the way to the server."""

    rows: list[Rows] = field(default_factory=list)
    markers: list[Properties] = field(default_factory=list)
    outdated: list[str] = field(default_factory=list)
    unchanged: int = 0
    size: int = 0
    characters: int = 0

    def has_room_for(self, rows: Rows, characters: int) -> bool:
        size = self.size + rows.node_count + rows.edge_count
        return size <= TRANSACTION_ROWS and self.characters + characters <= TRANSACTION_CHARACTERS


def graphs_of_runs(runs: Iterable[Run]) -> Iterator[Graph]:
    """Return the graphs of runs as they are written to RDF."""
    return (Graph(run.id, run_to_nquads(run)) for run in runs)


def graph_of_package(package: Package) -> Graph:
    """Return the graph of an evidence package: what it shows and what it claims, and nothing else."""
    data = pyoxigraph.serialize(package_to_quads(package), format=pyoxigraph.RdfFormat.N_QUADS)
    assert data is not None
    nquads = b"".join(sorted(data.splitlines(keepends=True)))  # bytes: only line feeds end a line, not U+2028
    view = f"{package.contract.condition}-{hashlib.sha256(nquads).hexdigest()[:8]}"
    return Graph(viewed(package.run.id, package.run.id, view), nquads, view)


def prepare(connection: Connection) -> None:
    """Create keys and indexes where they are missing, and wait until they are ready."""
    with in_words(connection.target), connection.session() as session:
        for statement in statements.schema():
            session.run(statement).consume()
        session.run("CALL db.awaitIndexes($seconds)", seconds=INDEX_SECONDS).consume()


def load(connection: Connection, graphs: Iterable[Graph], progress: Progress | None = None) -> Loaded:
    """Load the graphs; what is there already, complete and unchanged, is left alone.

    Raises InterruptedLoad when the connection breaks and stays away; the same call then goes on where it stopped.
    """
    done = Loaded()
    with resumable(connection.target), in_words(connection.target), connection.session() as session:
        for batch in _ahead(_batches(connection, graphs)):
            for run in batch.outdated:
                _delete(session, run)
            _write(session, connection, batch)
            done.runs += len(batch.markers)
            done.replaced += len(batch.outdated)
            done.unchanged += batch.unchanged
            done.nodes += sum(rows.node_count for rows in batch.rows)
            done.relationships += sum(rows.edge_count for rows in batch.rows)
            if progress is not None:
                progress(done)
    return done


def remove(connection: Connection, runs: Iterable[str]) -> int:
    """Take runs out of the database with everything that was loaded for them; return the nodes deleted."""
    with in_words(connection.target), connection.session() as session:
        return sum(_delete(session, run) for run in runs)


def _batches(connection: Connection, graphs: Iterable[Graph]) -> Iterator[_Batch]:
    """Group the runs that need loading, each read and mapped just before it is needed."""
    batch = _Batch()
    seen: dict[str, str] = {}
    with connection.session(read=True) as session:
        for chunk in _chunks(graphs):
            known = _known(session, [graph.run for graph in chunk])
            for graph in chunk:
                sha256 = graph.sha256
                if seen.setdefault(graph.run, sha256) != sha256:
                    raise ContentError(connection.target.shown, f"two different graphs are called {graph.run}")
                there = known.get(graph.run)
                if there is not None and there["complete"] and there["sha256"] == sha256:
                    batch.unchanged += 1
                    continue
                rows = graph.rows()
                if batch.rows and not batch.has_room_for(rows, len(graph.nquads)):
                    yield batch
                    batch = _Batch()
                if there is not None and there["sha256"] != sha256:
                    batch.outdated.append(graph.run)
                batch.rows.append(rows)
                batch.markers.append(_marker(graph, sha256, rows))
                batch.size += rows.node_count + rows.edge_count
                batch.characters += len(graph.nquads)
    yield batch


def _chunks(graphs: Iterable[Graph]) -> Iterator[list[Graph]]:
    """Some runs at a time, so that asking what is known of them costs little and memory stays flat."""
    chunk: list[Graph] = []
    characters = 0
    for graph in graphs:
        chunk.append(graph)
        characters += len(graph.nquads)
        if len(chunk) == RUNS_ASKED_AT_ONCE or characters > TRANSACTION_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def _known(session: neo4j.Session, runs: list[str]) -> dict[str, dict[str, Any]]:
    def read(transaction: neo4j.ManagedTransaction) -> dict[str, dict[str, Any]]:
        return {row["run"]: row.data() for row in transaction.run(statements.IMPORTS, runs=runs)}

    return session.execute_read(read)


def _marker(graph: Graph, sha256: str, rows: Rows) -> Properties:
    return {
        "run": graph.run,
        "sha256": sha256,
        "view": graph.view,
        "nodes": rows.node_count,
        "relationships": rows.edge_count,
        "complete": True,
    }


def _write(session: neo4j.Session, connection: Connection, batch: _Batch) -> None:
    """Write a batch; the marks that it is complete come in its last transaction, which is mostly the only one."""
    if not batch.markers:
        return
    work = [*_pieces(batch)]
    marks = _Piece(statements.SET_IMPORTS, batch.markers)
    if batch.size > TRANSACTION_ROWS:
        started = [marker | {"complete": False} for marker in batch.markers]
        transactions = [[_Piece(statements.SET_IMPORTS, started)], *_packed(work), [marks]]
    else:
        transactions = [[*work, marks]]
    for pieces in transactions:
        session.execute_write(_run_pieces, pieces, connection.target.shown)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A statement with its rows; `counted` when the statement tells how many relationships it found ends for."""

    statement: LiteralString
    rows: list[Properties]
    counted: bool = False


def _pieces(batch: _Batch) -> Iterator[_Piece]:
    """All nodes, then all relationships, grouped by statement over the runs of the batch."""
    nodes: dict[tuple[str, ...], list[Properties]] = defaultdict(list)
    edges: dict[str, list[Properties]] = defaultdict(list)
    for rows in batch.rows:
        for labels, some in rows.nodes.items():
            nodes[labels].extend(some)
        for type_, some in rows.edges.items():
            edges[type_].extend(some)
    for labels, some in nodes.items():
        for part in _parts(some):
            yield _Piece(statements.nodes_statement(labels), part)
    for type_, some in edges.items():
        for part in _parts(some):
            yield _Piece(statements.edges_statement(type_), part, counted=True)


def _parts(rows: list[Properties]) -> Iterator[list[Properties]]:
    """Parts of at most STATEMENT_ROWS rows and, but for a single long text, TRANSACTION_CHARACTERS characters."""
    part: list[Properties] = []
    characters = 0
    for row in rows:
        length = sum(len(value) for value in row.values() if isinstance(value, str))
        if part and (len(part) == STATEMENT_ROWS or characters + length > TRANSACTION_CHARACTERS):
            yield part
            part, characters = [], 0
        part.append(row)
        characters += length
    if part:
        yield part


def _packed(pieces: list[_Piece]) -> Iterator[list[_Piece]]:
    """The pieces of a big run in transactions of at most TRANSACTION_ROWS rows."""
    packed: list[_Piece] = []
    for piece in pieces:
        if packed and sum(len(other.rows) for other in packed) + len(piece.rows) > TRANSACTION_ROWS:
            yield packed
            packed = []
        packed.append(piece)
    if packed:
        yield packed


def _run_pieces(transaction: neo4j.ManagedTransaction, pieces: list[_Piece], server: str) -> None:
    """Run one transaction's statements; it may run again after a broken connection, so all of them are MERGE."""
    for piece in pieces:
        result = transaction.run(piece.statement, rows=piece.rows)
        if piece.counted:
            written = result.single(strict=True)["written"]
            if written != len(piece.rows):
                missing = len(piece.rows) - written
                raise ContentError(server, f"{missing} relationships found no node to join: {piece.statement}")
        else:
            result.consume()


def _delete(session: neo4j.Session, run: str) -> int:
    """Take a run out; it is marked as incomplete before its first node goes, and forgotten after its last."""
    deleted = 0
    session.execute_write(lambda transaction: transaction.run(statements.MARK_INCOMPLETE, run=run).consume())
    while some := session.execute_write(_delete_some, run):
        deleted += some
    session.execute_write(lambda transaction: transaction.run(statements.DELETE_IMPORT, run=run).consume())
    return deleted


def _delete_some(transaction: neo4j.ManagedTransaction, run: str) -> int:
    found = transaction.run(statements.DELETE_SOME, run=run, limit=DELETED_AT_ONCE).single(strict=True)
    return int(found["deleted"])


def _ahead(batches: Iterator[_Batch]) -> Iterator[_Batch]:
    """Make the next batches in a thread while the server works on this one."""
    queue: Queue[_Batch | BaseException | None] = Queue(WAITING)
    stopped = threading.Event()

    def put(item: _Batch | BaseException | None) -> None:
        while not stopped.is_set():
            try:
                queue.put(item, timeout=0.1)
                return
            except Full:
                continue

    def make() -> None:
        try:
            for batch in batches:
                put(batch)
                if stopped.is_set():
                    return
            put(None)
        except BaseException as error:
            put(error)

    maker = threading.Thread(target=make, name="neo4j-batches", daemon=True)
    maker.start()
    try:
        while (item := queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped.set()
        maker.join()
