"""`trace-prov neo4j`: run graphs and evidence packages in Neo4j, and annotations beside them."""

from __future__ import annotations

import csv
import functools
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from trace_prov.cli.listing import ListingGroup
from trace_prov.cli.output import Reporter, console, printable, say, shown_table, to_line
from trace_prov.derive.engines import ENGINES, Derive, engine_named
from trace_prov.errors import FormatError, SourceError, UsageError
from trace_prov.load import load_paths
from trace_prov.source import DEFAULT_MAX_BYTES

if TYPE_CHECKING:
    from trace_prov.neo4j.connection import Target
    from trace_prov.neo4j.load import Graph, Loaded

Command = Callable[..., Any]
PATHS = click.Path(path_type=Path)


def require_driver() -> None:
    """Raise UsageError when the optional package is not installed."""
    try:
        import neo4j as _driver  # noqa: F401
    except ImportError:
        raise UsageError("this needs the Neo4j driver: pip install 'trace-prov[neo4j]'") from None


def server_options(command: Command) -> Command:
    """--uri, --user, --password-file and --database, handed on as `target`, a function that tells the server."""

    @click.option("--uri", envvar="NEO4J_URI", show_envvar=True, help="Address, such as bolt://localhost:7687.")
    @click.option("--user", envvar="NEO4J_USERNAME", show_envvar=True, default="neo4j", show_default=True)
    @click.option(
        "--password-file", type=PATHS, help="File with the password; else NEO4J_PASSWORD, else it is asked for."
    )
    @click.option("--database", envvar="NEO4J_DATABASE", show_envvar=True, default="neo4j", show_default=True)
    @functools.wraps(command)
    def with_target(
        *args: Any, uri: str | None, user: str, password_file: Path | None, database: str, **kwargs: Any
    ) -> Any:
        return command(*args, target=functools.partial(server, uri, user, password_file, database), **kwargs)

    return with_target


def engine_options(command: Command) -> Command:
    """--engine, and which server for `cypher`; handed on as `engine`, a context that gives the deriving function."""

    @click.option("--engine", type=click.Choice(ENGINES), default="native", show_default=True, help="Who derives.")
    @click.option("--uri", envvar="NEO4J_URI", show_envvar=True, help="For cypher: a server; else it is embedded.")
    @click.option("--user", envvar="NEO4J_USERNAME", default="neo4j", show_default=True, show_envvar=True)
    @click.option("--password-file", type=PATHS, help="File with the password; else NEO4J_PASSWORD, else asked for.")
    @click.option("--database", envvar="NEO4J_DATABASE", default="neo4j", show_default=True, show_envvar=True)
    @click.pass_context
    @functools.wraps(command)
    def with_engine(
        context: click.Context,
        /,
        *args: Any,
        engine: str,
        uri: str | None,
        user: str,
        password_file: Path | None,
        database: str,
        **kwargs: Any,
    ) -> Any:
        if engine == "cypher":
            target = None if uri is None else server(uri, user, password_file, database)
            return command(*args, engine=_cypher_engine(target), **kwargs)
        if context.get_parameter_source("uri") is ParameterSource.COMMANDLINE:
            raise UsageError("--uri goes with --engine cypher")
        return command(*args, engine=nullcontext(engine_named(engine)), **kwargs)

    return with_engine


def _cypher_engine(target: Target | None) -> AbstractContextManager[Derive]:
    require_driver()
    from trace_prov.neo4j.derive import cypher_engine

    return cypher_engine(target)


def server(uri: str | None, user: str, password_file: Path | None, database: str) -> Target:
    """The server to connect to; raises UsageError when no address was given, or no password can be had."""
    require_driver()
    from trace_prov.neo4j.connection import Target

    if uri is None:
        raise UsageError("which server? give --uri or set NEO4J_URI, such as bolt://localhost:7687")
    return Target(uri, user, _password(user, password_file), database)


def _password(user: str, file: Path | None) -> str:
    if file is not None:
        try:
            return file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SourceError(str(file), expected="a file with the password", found=str(error)) from None
    given = os.environ.get("NEO4J_PASSWORD")
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise UsageError("no password: set NEO4J_PASSWORD, or give --password-file")
    answer = click.prompt(f"Password of {user}", hide_input=True, err=True)
    assert isinstance(answer, str)
    return answer


@click.group(cls=ListingGroup)
def neo4j() -> None:
    """Run graphs in Neo4j: load, export as CSV, query, annotate, remove.

    A server without containers: make neo4j. With them: docker/compose.yaml. See docs/neo4j.md.
    """


def source_options(command: Command) -> Command:
    """Where runs come from: LOGS, or --store, or LOGS that are --packages; handed on as `source` and `reporter`."""

    @click.argument("logs", nargs=-1, type=PATHS, metavar="[LOGS...]")
    @click.option("--store", type=PATHS, help="Take the runs of this store instead of LOGS.")
    @click.option("--packages", is_flag=True, help="LOGS are evidence packages, or folders of them.")
    @click.option("--from-format", metavar="NAME", help="Read every log as this format; default: by content.")
    @click.option("--max-bytes", type=click.IntRange(min=1), default=DEFAULT_MAX_BYTES, show_default=True)
    @functools.wraps(command)
    def with_source(
        *args: Any,
        logs: tuple[Path, ...],
        store: Path | None,
        packages: bool,
        from_format: str | None,
        max_bytes: int,
        **kwargs: Any,
    ) -> Any:
        require_driver()
        if (store is None) == (not logs):
            raise UsageError("give LOGS or --store, one of them")
        if packages and store is not None:
            raise UsageError("--packages goes with LOGS, a store holds complete records")
        if store is not None:
            return command(*args, graphs=functools.partial(_graphs_of_store, store), **kwargs)
        if packages:
            return command(*args, graphs=functools.partial(_graphs_of_packages, logs), **kwargs)
        reporter = Reporter()
        graphs = functools.partial(_graphs_of_logs, reporter, logs, from_format, max_bytes)
        answer = command(*args, graphs=graphs, **kwargs)
        reporter.close()
        return answer

    return with_source


def _graphs_of_store(folder: Path) -> Iterator[Graph]:
    from trace_prov.graph.store import TraceStore
    from trace_prov.neo4j.load import Graph

    with TraceStore.open(folder) as store:
        for run in store.runs():
            yield Graph(run, store.nquads(run))


def _graphs_of_packages(folders: tuple[Path, ...]) -> Iterator[Graph]:
    from trace_prov.neo4j.load import graph_of_package
    from trace_prov.package.bag import read_package
    from trace_prov.package.folders import find_packages

    return (graph_of_package(read_package(found.path)) for found in find_packages(folders))


def _graphs_of_logs(
    reporter: Reporter, logs: tuple[Path, ...], from_format: str | None, max_bytes: int
) -> Iterator[Graph]:
    from trace_prov.neo4j.load import graphs_of_runs

    return graphs_of_runs(reporter.runs_of(load_paths(logs, format_name=from_format, max_bytes=max_bytes)))


@contextmanager
def _progress(what: str) -> Iterator[Callable[[Loaded], None]]:
    """Show what is done on standard error, on a terminal only."""
    screen = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task(what)

        def show(done: Loaded) -> None:
            rows = f"{done.nodes:,} nodes, {done.relationships:,} relationships"
            bar.update(task, description=f"{what}: {done.runs + done.unchanged:,} runs, {rows}")

        yield show


@neo4j.command()
@source_options
@server_options
def load(*, graphs: Callable[[], Iterable[Graph]], target: Callable[[], Target]) -> None:
    """Load runs, with keys and indexes first. Loading again changes nothing; after an interruption it goes on."""
    from trace_prov.neo4j.connection import connected
    from trace_prov.neo4j.load import load as load_graphs
    from trace_prov.neo4j.load import prepare

    with connected(target()) as connection, _progress("loading") as show:
        prepare(connection)
        done = load_graphs(connection, graphs(), show)
    replaced = f" ({done.replaced} replaced)" if done.replaced else ""
    click.echo(
        f"loaded {done.runs} runs{replaced}, {done.nodes} nodes, {done.relationships} relationships; "
        f"{done.unchanged} runs were there already"
    )


@neo4j.command()
@source_options
@click.option("--out", type=PATHS, required=True, help="A new or empty folder for the files.")
@click.option("--database", default="neo4j", show_default=True, help="The database that the import fills.")
def export(*, graphs: Callable[[], Iterable[Graph]], out: Path, database: str) -> None:
    """Write CSV for `neo4j-admin database import full`, the fast way to fill a new database; prints the command."""
    from trace_prov.neo4j.csvexport import IMPORT_SCRIPT
    from trace_prov.neo4j.csvexport import export as export_graphs

    with _progress("writing") as show:
        written = export_graphs(graphs, out, database, show)
    counts = written.counts
    click.echo(
        f"wrote {counts.runs} runs, {counts.nodes} nodes, {counts.relationships} relationships to {out}", err=True
    )
    click.echo(f"with the server stopped, run {out / IMPORT_SCRIPT}, or in that folder:", err=True)
    click.echo(written.command)


@neo4j.command()
@server_options
@click.argument("name", required=False)
@click.option("--set", "values", multiple=True, metavar="NAME=VALUE", help="A parameter of the query; repeat for more.")
@click.option("--packages", is_flag=True, help="Ask the evidence packages instead of the records.")
@click.option("--format", "form", type=click.Choice(["table", "jsonl", "csv"]), default="table", show_default=True)
def query(
    *, target: Callable[[], Target], name: str | None, values: tuple[str, ...], packages: bool, form: str
) -> None:
    """Run a query file by NAME, such as `h --set run=IRI --set action=act-02 --set literal=TEXT`.

    Without a NAME, list the queries. A parameter that is left out asks for all.
    """
    from trace_prov.neo4j.connection import connected
    from trace_prov.neo4j.queryfiles import cypher_file, cypher_files

    if name is None:
        for file in cypher_files():
            takes = " ".join(p.name if p.needed else f"[{p.name}]" for p in file.parameters)
            click.echo(f"{file.name:20} {takes:28} {file.title}")
        return
    file = cypher_file(name)
    parameters = _parameters(file.parameters, values)
    with connected(target()) as connection, connection.session(read=True) as session:
        result = session.run(file.for_packages if packages else file.text, parameters)
        _print_rows(list(result.keys()), (list(record.values()) for record in result), form)


def _parameters(known: Iterable[Any], values: tuple[str, ...]) -> dict[str, str | None]:
    from trace_prov.graph.literals import to_rdf

    given: dict[str, str | None] = {}
    for item in values:
        name, equals, value = item.partition("=")
        if not equals:
            raise UsageError(f"--set wants NAME=VALUE, found {item!r}")
        given[name] = to_rdf(value)
    names = [parameter.name for parameter in known]
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise UsageError(f"the query has no parameter {unknown[0]!r}; it has {', '.join(names)}")
    missing = [parameter.name for parameter in known if parameter.needed and parameter.name not in given]
    if missing:
        raise UsageError(f"the query needs --set {missing[0]}=VALUE")
    return {name: given.get(name) for name in names}


def _print_rows(names: list[str], rows: Iterable[list[Any]], form: str) -> None:
    from trace_prov.graph.literals import from_rdf

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(item) for item in value]
        return from_rdf(value) if isinstance(value, str) else value

    shown = ([plain(value) for value in row] for row in rows)
    if form == "jsonl":
        for row in shown:
            click.echo(to_line(dict(zip(names, row, strict=True))))
    elif form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_cell(value) for value in row] for row in shown)
    else:
        cells = ([printable(_cell(value), 120) for value in row] for row in shown)
        console().print(shown_table(names, cells))


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(value)
    return "" if value is None else str(value).encode("utf-8", "backslashreplace").decode()


@neo4j.command()
@server_options
@click.argument("findings", nargs=-1, type=click.File("rb"), required=True)
def annotate(*, target: Callable[[], Target], findings: tuple[Any, ...]) -> None:
    """Attach FINDINGS: JSON lines of `derive --format jsonl` or `watermark detect --format jsonl`; - reads a pipe."""
    from trace_prov.neo4j.annotate import annotate as annotate_runs
    from trace_prov.neo4j.connection import connected
    from trace_prov.neo4j.load import prepare

    lines = [pair for file in findings for pair in _json_lines(file)]
    with connected(target()) as connection:
        prepare(connection)
        done = annotate_runs(connection, lines)
    click.echo(f"wrote {done.annotations} annotations")
    if done.elsewhere:
        say("warning", f"{done.elsewhere} watermark decisions are of actions that are not in the database")


def _json_lines(file: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(file, start=1):
        place = f"{file.name}, line {number}"
        try:
            body = json.loads(line)
        except ValueError as error:
            raise FormatError(place, expected="one JSON object a line", found=str(error)) from None
        if not isinstance(body, dict):
            raise FormatError(place, expected="one JSON object a line", found=f"a {type(body).__name__}")
        yield place, body


@neo4j.command()
@server_options
@click.option("--kind", metavar="LABEL", help="Only these: Finding, WatermarkVerdict or WatermarkDecision.")
def unannotate(*, target: Callable[[], Target], kind: str | None) -> None:
    """Remove all annotations; the runs stay as they were loaded."""
    from trace_prov.neo4j.annotate import remove_annotations
    from trace_prov.neo4j.connection import connected

    with connected(target()) as connection:
        click.echo(f"removed {remove_annotations(connection, kind)} annotations")


@neo4j.command()
@server_options
@click.argument("runs", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every run and package that is loaded.")
def remove(*, target: Callable[[], Target], runs: tuple[str, ...], every: bool) -> None:
    """Take RUNS, named by their IRIs, out of the database with all that was loaded for them."""
    from trace_prov.neo4j.connection import connected
    from trace_prov.neo4j.load import remove as remove_runs
    from trace_prov.neo4j.readback import runs_known

    if bool(runs) == every:
        raise UsageError("give the IRIs of runs, or --all")
    with connected(target()) as connection:
        known = runs_known(connection)
        unknown = sorted(set(runs) - set(known))
        if unknown:
            raise UsageError(f"no run {unknown[0]} in the database; it holds {len(known)} runs and packages")
        deleted = remove_runs(connection, known if every else runs)
    click.echo(f"removed {len(known) if every else len(runs)} runs, {deleted} nodes")
