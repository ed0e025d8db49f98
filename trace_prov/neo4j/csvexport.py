"""CSV files for `neo4j-admin database import full`, the fast way to fill a new database with a large archive.

The importer has traps: it trims blanks that are not quoted, takes an empty cell for no value but a quoted empty cell
for an empty text, knows no escape but the doubled quote, and splits lists at a character that the values must not
hold. So every value is quoted, and the list delimiter is one that occurs in no value.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import IO, Any

from trace_prov.errors import GraphError, SourceError, UsageError
from trace_prov.neo4j.load import Graph, Loaded, Progress
from trace_prov.neo4j.mapping import BASE, INDIVIDUALS, LITERALS, MANY_VALUED, TYPES

IMPORT_SCRIPT = "import.sh"
SCHEMA = "schema.cypher"
_KINDS = {"string": "", "integer": ":long", "boolean": ":boolean"}
#: characters that may part the values of a list, in the order in which they are tried
_DELIMITERS = ("\x1f", "\x1e", "\x1d", "\x1c", "\x02", "\ue000", "\ue001", "\ue002")
#: the importer's own default; a longer value needs a larger buffer
_BUFFER_BYTES = 4 * 2**20


class _DelimiterTaken(Exception):  # noqa: N818 - a signal inside this module
    """A value holds the list delimiter."""


@dataclass(frozen=True)
class Exported:
    """What was written: the counts, and the command that imports it."""

    counts: Loaded
    command: str


def export(
    graphs: Callable[[], Iterable[Graph]], folder: Path, database: str, progress: Progress | None = None
) -> Exported:
    """Write the graphs as CSV with a script that imports them; `folder` must be new or empty.

    `graphs` is called again for each list delimiter that turns out to be taken, which hardly ever happens.
    """
    made = _make(folder)
    try:
        for delimiter in _DELIMITERS:
            writer = _Writer(folder, delimiter)
            try:
                with writer.files:
                    counts = writer.write(graphs(), progress)
            except _DelimiterTaken:
                _clear(folder)
                continue
            command = writer.command(database)
            _write_script(folder, command)
            return Exported(counts, command)
        raise UsageError("every character that could part the values of a list occurs in one of them; use `neo4j load`")
    except BaseException as error:
        _clear(folder)
        if made:
            folder.rmdir()
        if isinstance(error, OSError):
            raise _unwritable(folder, error) from None
        raise


def _clear(folder: Path) -> None:
    """Take out what was written, into a folder that was empty before."""
    for written in folder.iterdir():
        written.unlink()


def _make(folder: Path) -> bool:
    """Make the folder unless it is there and empty; return whether it is new."""
    new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise SourceError(str(folder), expected="a new or empty folder", found="other files")
    except OSError as error:
        raise _unwritable(folder, error) from None
    return new


def _unwritable(folder: Path, error: OSError) -> SourceError:
    return SourceError(str(folder), expected="a folder that can be written", found=error.strerror or str(error))


@dataclass
class _Writer:
    """The open files of an export; memory is that of one run."""

    folder: Path
    delimiter: str
    files: ExitStack = field(default_factory=ExitStack)
    longest: int = 0
    _open: dict[str, IO[str]] = field(default_factory=dict)
    _columns: tuple[tuple[str, str], ...] = field(default_factory=lambda: tuple(_columns()))

    def write(self, graphs: Iterable[Graph], progress: Progress | None) -> Loaded:
        done = Loaded()
        seen: dict[str, str] = {}
        self._header("nodes_header", [f"uri:ID({BASE})", *(name + kind for name, kind in self._columns)])
        self._header("relationships_header", [f":START_ID({BASE})", f":END_ID({BASE})", "graph"])
        self._header("imports_header", _IMPORT_HEADER)
        for graph in graphs:
            sha256 = graph.sha256
            if graph.run in seen:
                if seen[graph.run] != sha256:
                    raise GraphError(graph.run, expected="one graph of this name", found="two different ones")
                done.unchanged += 1
                continue
            seen[graph.run] = sha256
            self._write_graph(graph, sha256, done)
            if progress is not None:
                progress(done)
        return done

    def _write_graph(self, graph: Graph, sha256: str, done: Loaded) -> None:
        rows = graph.rows()
        for labels, nodes in rows.nodes.items():
            file = self._file(f"nodes.{'.'.join(labels)}")
            for node in nodes:
                self._line(file, [node["uri"], *(node.get(name) for name, _ in self._columns)])
        for type_, edges in rows.edges.items():
            file = self._file(f"relationships.{type_}")
            for edge in edges:
                self._line(file, [edge["start"], edge["end"], edge["graph"]])
        marker = [graph.run, sha256, graph.view, rows.node_count, rows.edge_count, True]
        self._line(self._file("imports"), marker)
        done.runs += 1
        done.nodes += rows.node_count
        done.relationships += rows.edge_count

    def _file(self, name: str) -> IO[str]:
        if name not in self._open:
            path = self.folder / f"{name}.csv"
            self._open[name] = self.files.enter_context(path.open("w", encoding="utf-8", newline=""))
        return self._open[name]

    def _header(self, name: str, columns: list[str]) -> None:
        (self.folder / f"{name}.csv").write_text(",".join(columns) + "\n", encoding="utf-8")

    def _line(self, file: IO[str], values: list[Any]) -> None:
        line = ",".join(self._cell(value) for value in values) + "\n"
        if len(line) > self.longest // 4:
            self.longest = max(self.longest, len(line.encode()))
        file.write(line)

    def _cell(self, value: Any) -> str:
        """A cell: nothing for no value, else quoted; a quote inside is doubled."""
        if value is None:
            return ""
        if isinstance(value, list):
            if any(self.delimiter in text for text in value):
                raise _DelimiterTaken
            value = self.delimiter.join(value)
        elif isinstance(value, bool):
            value = "true" if value else "false"
        return '"' + str(value).replace('"', '""') + '"'

    def command(self, database: str) -> str:
        """The command that imports the files, to be run beside them."""
        parts = ["neo4j-admin database import full", shlex.quote(database)]
        for name in sorted(self._open):
            kind, _, rest = name.partition(".")
            if kind == "nodes":
                parts.append(f"--nodes={':'.join(rest.split('.'))}=nodes_header.csv,{name}.csv")
            elif kind == "imports":
                parts.append("--nodes=Import=imports_header.csv,imports.csv")
        for type_ in TYPES:
            if f"relationships.{type_}" in self._open:
                parts.append(f"--relationships={type_}=relationships_header.csv,relationships.{type_}.csv")
        parts += [
            "--id-type=string",
            "--multiline-fields=true",
            "--trim-strings=false",
            "--ignore-empty-strings=false",
            f"--array-delimiter=U+{ord(self.delimiter):04X}",
            f"--read-buffer-size={max(_BUFFER_BYTES, 2 * self.longest)}",
            "--bad-tolerance=0",
            "--overwrite-destination",
        ]
        return " \\\n  ".join(parts)


_IMPORT_HEADER = ["run:ID(Import)", "sha256", "view", "nodes:long", "relationships:long", "complete:boolean"]


def _columns() -> Iterator[tuple[str, str]]:
    """Every property of the mapping with its type, once."""
    found: dict[str, str] = {"run": "", "graph": "", "iri": ""}
    for term, (property_, kind) in LITERALS.items():
        found.setdefault(property_, ":string[]" if term in MANY_VALUED else _KINDS[kind])
    for property_, _ in INDIVIDUALS.values():
        found.setdefault(property_, "")
    yield from found.items()


def _write_script(folder: Path, command: str) -> None:
    schema = resources.files("trace_prov.queries").joinpath("cypher", "setup", SCHEMA).read_text("utf-8")
    (folder / SCHEMA).write_text(schema, encoding="utf-8")
    (folder / IMPORT_SCRIPT).write_text(
        "#!/bin/sh\n"
        "# Fill a new Neo4j database with the CSV files beside this script. The server must be stopped; what the\n"
        "# database held is replaced. Afterwards start it and run schema.cypher, for keys and indexes.\n"
        "set -eu\n"
        'cd "$(dirname "$0")"\n'
        f"{command}\n"
        'echo "next: start the server, then: cypher-shell --file schema.cypher"\n',
        encoding="utf-8",
    )
    (folder / IMPORT_SCRIPT).chmod(0o755)
