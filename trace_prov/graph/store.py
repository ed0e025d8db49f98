"""A store of run graphs: Oxigraph in memory for one-off jobs, on disk for an archive.

A folder is a store when it holds our marker file; the database lies beside it, so that a folder of logs is never
mistaken for one. Writers have the store alone, readers share it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import pyoxigraph

from trace_prov.errors import GraphError, SourceError, UsageError
from trace_prov.graph import iris
from trace_prov.graph.queryfiles import query as query_named
from trace_prov.graph.read import run_from_quads
from trace_prov.graph.service import calls_a_service
from trace_prov.graph.write import run_to_nquads
from trace_prov.model import Run

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: the database's own lock has to do
    fcntl = None  # type: ignore[assignment]

#: How the database says that another program has it open ("lock" alone also stands in "block" and in paths).
_LOCKED = re.compile(r"^IO error: (While lock file|lock hold by)")

MARKER = "trace-prov-store.json"
LAYOUT = 1
_N_QUADS = pyoxigraph.RdfFormat.N_QUADS
_RUN_CLASS = pyoxigraph.NamedNode(f"{iris.TRACE}AgentRun")
_TYPE = pyoxigraph.NamedNode(iris.RDF_TYPE)

#: Run graphs are checked and stored in batches: of so many runs, or earlier at so many bytes of N-Quads.
BATCH_RUNS = 400
BATCH_BYTES = 32 * 2**20

Term = pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal
Answer = pyoxigraph.QuerySolutions | pyoxigraph.QueryBoolean | pyoxigraph.QueryTriples
#: Looks at the graphs of a batch before they are stored; tells which are not well formed, and why.
Check = Callable[[Sequence[bytes]], Mapping[int, GraphError]]


@dataclass(frozen=True, slots=True)
class Added:
    """A run that was handed to the store.

    `new` is False when the store held it already, and nothing changed. With an `error` the run is not stored.
    """

    run: str
    log: str
    new: bool
    error: GraphError | None = None


class TraceStore:
    """Run graphs in Oxigraph. Use `in_memory`, `create` or `open`; close it, or use it in a `with` block."""

    def __init__(self, database: pyoxigraph.Store, lock: IO[str] | None = None) -> None:
        self.database = database
        self._lock = lock

    @classmethod
    def in_memory(cls, runs: Iterable[Run] = ()) -> TraceStore:
        """A store that lives as long as this object; the runs given are not checked."""
        store = cls(pyoxigraph.Store())
        for _ in store.add(runs):
            pass
        return store

    @classmethod
    def create(cls, folder: Path) -> TraceStore:
        """The store in this folder, for writing; made if the folder is new or empty.

        Raises SourceError when the folder holds other files, or when the store is in use.
        """
        if not os.path.exists(folder / MARKER):  # noqa: PTH110 - Path.exists raises where it may not look
            _start(folder)
        return cls._opened(folder, write=True)

    @classmethod
    def open(cls, folder: Path) -> TraceStore:
        """The store in this folder, for reading; raises SourceError when it is none, or is being written."""
        if not os.path.isfile(folder / MARKER):  # noqa: PTH113 - Path.is_file raises where it may not look
            found = f"no {MARKER} in it" if os.path.exists(folder) else "no such folder"  # noqa: PTH110
            raise SourceError(
                str(folder),
                expected="a store",
                found=found,
                hint=f"trace-prov load LOGS --store {folder} makes one",
            )
        return cls._opened(folder, write=False)

    @classmethod
    def _opened(cls, folder: Path, *, write: bool) -> TraceStore:
        _check_layout(folder)
        lock = _locked(folder, write=write)
        path = folder / "oxigraph"
        try:
            if write or fcntl is None:
                return cls(pyoxigraph.Store(path), lock)
            return cls(pyoxigraph.Store.read_only(str(path)), lock)
        except (OSError, RuntimeError, ValueError) as error:
            if lock is not None:
                lock.close()
            if _LOCKED.search(str(error)) is not None:
                raise _in_use(folder) from None
            raise SourceError(str(folder), expected="a store that can be opened", found=str(error)) from None

    def close(self) -> None:
        """Let go of the store; nothing can be asked of it afterwards."""
        del self.database
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> TraceStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(self, runs: Iterable[Run], check: Check | None = None) -> Iterator[Added]:
        """Store runs, checked first if a check is given; a run that is already there is left as it is.

        Yields what became of each run once its batch is stored, in their order.
        """
        batch: list[tuple[Run, bytes | None]] = []
        names: set[str] = set()
        size = 0
        for run in runs:
            new = run.id not in names and run.id not in self
            data = run_to_nquads(run) if new else None
            names.add(run.id)
            batch.append((run, data))
            size += len(data or b"")
            if len(batch) >= BATCH_RUNS or size >= BATCH_BYTES:
                yield from self._store(batch, check)
                batch, names, size = [], set(), 0
        yield from self._store(batch, check)

    def _store(self, batch: list[tuple[Run, bytes | None]], check: Check | None) -> list[Added]:
        graphs = [data for _, data in batch if data is not None]
        errors = {} if check is None else check(graphs)
        sound = b"".join(data for index, data in enumerate(graphs) if index not in errors)
        if sound:
            self.database.bulk_load(sound, format=_N_QUADS)
        outcomes = iter(errors.get(index) for index in range(len(graphs)))
        return [
            Added(run.id, run.source.name, data is not None, None if data is None else next(outcomes))
            for run, data in batch
        ]

    def __contains__(self, run: str) -> bool:
        return self.database.contains_named_graph(pyoxigraph.NamedNode(run))

    def runs(self) -> list[str]:
        """The IRIs of all runs, sorted. What an imported document calls a run in a graph of its own is none of them."""
        quads = self.database.quads_for_pattern(None, _TYPE, _RUN_CLASS, None)
        return sorted(quad.subject.value for quad in quads if quad.subject == quad.graph_name)  # type: ignore[union-attr]

    def run(self, run: str) -> Run:
        """The run read back from its graph; raises UsageError when it is not in the store."""
        return run_from_quads(self.quads(run))

    def quads(self, run: str) -> Iterator[pyoxigraph.Quad]:
        """The quads of a run's two graphs."""
        if run not in self:
            raise UsageError(f"no run {run} in the store")
        for name in (run, iris.account_bundle(run)):
            yield from self.database.quads_for_pattern(None, None, None, pyoxigraph.NamedNode(name))

    def nquads(self, run: str) -> bytes:
        """A run's graphs as canonical N-Quads, byte for byte as they were written."""
        data = pyoxigraph.serialize(self.quads(run), format=_N_QUADS)
        assert data is not None
        return b"".join(sorted(data.splitlines(keepends=True)))  # bytes: only line feeds end a line, not U+2028

    def dump(self, output: IO[bytes], *, trig: bool = False) -> None:
        """Write all runs in the order of their IRIs as N-Quads or TriG; memory is that of one run."""
        for run in self.runs():
            data = self.nquads(run)
            if trig:
                quads = pyoxigraph.parse(data, format=_N_QUADS)
                turtle = pyoxigraph.serialize(quads, format=pyoxigraph.RdfFormat.TRIG, prefixes=iris.PREFIXES)
                assert turtle is not None
                data = turtle
            output.write(data)

    def query(self, text: str, parameters: Mapping[str, Term] | None = None) -> Answer:
        """The answer to a SPARQL query. Parameters are bound by the engine, never written into the text.

        Raises SyntaxError, with line and column, for a query that is no SPARQL, and UsageError for a parameter that
        the query does not select and for a query that would be sent elsewhere (SERVICE).
        """
        if calls_a_service(text):
            raise UsageError(
                "the query calls a SERVICE; a store is asked on this machine only, nothing is sent or fetched"
            )
        variables: dict[pyoxigraph.Variable, Any] = {
            pyoxigraph.Variable(name): term for name, term in (parameters or {}).items()
        }
        try:
            return self.database.query(text, substitutions=variables)
        except RuntimeError as error:
            raise UsageError(f"the query cannot be answered: {error}") from None

    def ask(self, name: str, **parameters: Term) -> pyoxigraph.QuerySolutions:
        """The rows of one of the product's own queries (`queries/sparql/NAME.rq`)."""
        rows = self.query(query_named(name).text, parameters)
        assert isinstance(rows, pyoxigraph.QuerySolutions)
        return rows

    def dataset(self) -> Any:
        """The same store as an rdflib Dataset."""
        import rdflib
        from oxrdflib import OxigraphStore

        dataset = rdflib.Dataset(store=OxigraphStore(store=self.database))
        for prefix, namespace in iris.PREFIXES.items():
            dataset.bind(prefix, namespace)
        return dataset


def _start(folder: Path) -> None:
    """Make a new store in a folder that is not there yet, or empty."""
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        raise SourceError(str(folder), expected="a path in UTF-8, as the database wants it", found="another") from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise SourceError(
                str(folder), expected="a store, or a new or empty folder", found=f"other files and no {MARKER}"
            )
        (folder / MARKER).write_text(json.dumps({"layout": LAYOUT}) + "\n", "utf-8")
    except OSError as error:
        raise SourceError(
            str(folder), expected="a folder that can be written", found=error.strerror or str(error)
        ) from None


def _check_layout(folder: Path) -> None:
    try:
        layout = json.loads((folder / MARKER).read_text("utf-8"))["layout"]
    except (OSError, ValueError, KeyError, TypeError):
        layout = "something else"
    if layout != LAYOUT:
        raise SourceError(str(folder / MARKER), expected=f"a store of layout {LAYOUT}", found=f"{layout}")


def _locked(folder: Path, *, write: bool) -> IO[str] | None:
    """Hold the store: alone for writing, with others for reading. Oxigraph itself would let a reader in beside a
    writer, with undefined results."""
    if fcntl is None:  # pragma: no cover - Windows
        return None
    marker = (folder / MARKER).open(encoding="utf-8")
    try:
        fcntl.flock(marker, (fcntl.LOCK_EX if write else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError:
        marker.close()
        raise _in_use(folder) from None
    return marker


def _in_use(folder: Path) -> SourceError:
    return SourceError(
        str(folder),
        expected="a store that nobody else has open",
        found="one that is in use",
        hint="wait for the other command to end and try again",
    )
