"""`trace-prov load` and `trace-prov query`: run graphs in a store, and questions to it in SPARQL."""

from __future__ import annotations

import csv
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click
import pyoxigraph

from trace_prov.cli.options import GivenPath, log_options
from trace_prov.cli.output import PIPE_WIDTH, DataOut, Reporter, console, csv_cell, printable, say, shown_table, to_line
from trace_prov.errors import FormatError, SourceError, UsageError
from trace_prov.graph import iris
from trace_prov.graph.check import damaged
from trace_prov.graph.literals import from_rdf, to_rdf
from trace_prov.graph.queryfiles import QueryFile, parse_query, queries
from trace_prov.graph.queryfiles import query as query_named
from trace_prov.graph.store import Term, TraceStore
from trace_prov.load import load_paths

TABLE_ROWS = 500
MAX_QUERY_BYTES = 2**20
FORMATS = ("table", "json", "csv", "ttl")

_VARIABLE = re.compile(r"[?$](\w+)")
_CITED = re.compile(r"CONTRACT (§)")
_POSITION = re.compile(r"error at (\d+):(\d+): (.*)", re.DOTALL)
_NUMBERS = {f"{iris.XSD}{name}" for name in ("integer", "long", "int")}
# Datatypes do not bind what a query makes up; and longer numbers are not what a reader of JSON takes.
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,300}")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}

Row = list[Any]


@click.command()
@log_options()
@click.option("--store", "folder", type=GivenPath(), required=True, help="The store; made if it is not there.")
def load(logs: tuple[Path, ...], from_format: str | None, max_bytes: int, folder: Path) -> None:
    """Load logs into a store of run graphs, checking that each graph is well formed.

    LOGS are files or folders. A run that the store already holds is left as it is. Ends with exit code 2 when some
    log was damaged or refused; the others are stored all the same.
    """
    reporter = Reporter()
    stored = known = 0
    with TraceStore.create(folder) as store:
        runs = reporter.runs_of(load_paths(logs, format_name=from_format, max_bytes=max_bytes))
        for outcome in store.add(runs, damaged):
            if outcome.error is not None:
                reporter.damaged = True
                say("error", f"{outcome.log}: not stored: {outcome.error}")
            elif outcome.new:
                stored += 1
            else:
                known += 1
                say("note", f"{outcome.log}: the store already holds this log's run {outcome.run}")
        total = len(store.runs())
    click.echo(f"{_runs(stored)} stored, {known} already there; {printable(str(folder))} holds {_runs(total)}")
    reporter.close()


def _runs(count: int) -> str:
    return f"{count} run" if count == 1 else f"{count} runs"


@click.command()
@click.argument("name", required=False, metavar="NAME|FILE")
@click.option("--store", "folder", type=GivenPath(), help="The store to ask.")
@click.option(
    "-p",
    "--parameter",
    "values",
    multiple=True,
    metavar="NAME=VALUE",
    help="Bind a variable of the query: a text as it is, an IRI as <…>; run=urn:… needs no brackets.",
)
@click.option("--format", "form", type=click.Choice(FORMATS), help="Default: a table; ttl for CONSTRUCT.")
@click.option("--list", "listed", is_flag=True, help="List the queries that come with the product.")
def query(name: str | None, folder: Path | None, values: tuple[str, ...], form: str | None, listed: bool) -> None:
    """Ask a store a question in SPARQL: one of the product's own by NAME, or a FILE.

    Such as: trace-prov query h --store DIR -p run=urn:trace-prov:run:… -p action=act-02 -p literal=TEXT. Parameters
    are bound by the engine, never written into the query; one that is left out asks for all.
    """
    if listed:
        _list()
        return
    if name is None or folder is None:
        raise UsageError("query needs a NAME or FILE and --store DIR; --list shows the names")
    file = _query_file(name)
    parameters = _parameters(file, values)
    with TraceStore.open(folder) as store:
        try:
            answer = store.query(file.text, parameters)
        except SyntaxError as error:
            raise _syntax_error(name, error) from None
        try:
            _print(answer, form)
        except RuntimeError as error:  # the engine works out the rows as they are asked for
            raise UsageError(f"the query cannot be answered: {error}") from None


def _list() -> None:
    """Each query with its parameters; on a terminal folded to its width."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPE_WIDTH
    for file in queries():
        out = click.HelpFormatter(width=width)
        with out.section(file.name):
            out.write_text(_CITED.sub(r"docs/contract.md \1", file.title))
            rows = [(f"-p {item.name}={item.kind.upper()}", item.meaning) for item in file.parameters]
            out.write_dl(rows)
        click.echo(out.getvalue())


def _query_file(name: str) -> QueryFile:
    """A file that is there, or whose name says that it is meant as one; else one of the product's queries."""
    path = Path(name)
    is_file = os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises where it may not look
    if not is_file and not name.endswith(".rq") and path.name == name:
        try:
            return query_named(name)
        except UsageError as error:
            raise UsageError(f"{error}; a file of your own is named by its path") from None
    try:
        with path.open("rb") as file:  # perhaps a pipe, or a device that never ends
            data = file.read(MAX_QUERY_BYTES + 1)
        if len(data) > MAX_QUERY_BYTES:
            raise SourceError(name, expected=f"a query of at most {MAX_QUERY_BYTES:,} bytes", found="a longer one")
        return parse_query(name, data.decode("utf-8-sig"))
    except OSError as error:
        raise SourceError(name, expected="a query file", found=error.strerror or str(error)) from None
    except UnicodeDecodeError as error:
        raise FormatError(name, place=f"byte {error.start}", expected="UTF-8 text", found="other bytes") from None


def _parameters(file: QueryFile, values: Iterable[str]) -> dict[str, Term]:
    """The values given as terms: of the kind that the query declares, else of the kind they are written as."""
    declared = {parameter.name: parameter for parameter in file.parameters}
    known = list(declared) or sorted(set(_VARIABLE.findall(file.text)))
    given: dict[str, Term] = {}
    for item in values:
        name, equals, value = item.partition("=")
        if not equals:
            raise UsageError(f"-p {item}: expected NAME=VALUE")
        if name not in known:
            raise UsageError(f"{file.name} has no parameter {name!r}; it has: {', '.join(known) or 'none'}")
        if name in given:
            raise UsageError(f"-p {name}: expected once, found twice")
        given[name] = _term(name, value, declared[name].kind if name in declared else None)
    missing = [parameter.name for parameter in file.parameters if parameter.needed and parameter.name not in given]
    if missing:
        raise UsageError(f"{file.name} needs -p {missing[0]}=VALUE")
    return given


def _term(name: str, value: str, kind: str | None) -> Term:
    is_iri = value.startswith("<") and value.endswith(">")
    try:
        if kind == "IRI" or (kind is None and (is_iri or iris.is_run(value))):
            return pyoxigraph.NamedNode(value[1:-1] if is_iri else value)
        if kind == "integer":
            return pyoxigraph.Literal(int(value))
    except ValueError:
        raise UsageError(f"-p {name}={value}: expected an {kind or 'IRI'}") from None
    # Shells hand over bytes that are no UTF-8 as lone surrogates, which RDF holds in a spelling of its own.
    return pyoxigraph.Literal(to_rdf(value))


def _syntax_error(name: str, error: SyntaxError) -> FormatError:
    match = _POSITION.match(error.msg)
    if match is None:
        return FormatError(name, expected="a SPARQL query", found=error.msg)
    # The engine lists every token it could have taken; the first tell where it stands.
    detail = " ".join(match[3].split())
    return FormatError(
        name,
        place=f"line {match[1]}, column {match[2]}",
        expected="a SPARQL query",
        found=f"a syntax error: {detail if len(detail) <= 100 else detail[:100] + ' …'}",
    )


def _print(answer: object, form: str | None) -> None:
    if isinstance(answer, pyoxigraph.QueryTriples):
        _print_triples(answer, form)
    elif form == "ttl":
        raise UsageError("--format ttl is for CONSTRUCT and DESCRIBE; this query gives rows")
    elif isinstance(answer, pyoxigraph.QueryBoolean):
        click.echo("true" if answer else "false")
    else:
        assert isinstance(answer, pyoxigraph.QuerySolutions)
        names = [variable.value for variable in answer.variables]
        WRITERS[form or "table"](names, ([*row] for row in answer))


def _print_triples(answer: pyoxigraph.QueryTriples, form: str | None) -> None:
    if form not in (None, "ttl"):
        raise UsageError("this query gives a graph: --format ttl")
    turtle = pyoxigraph.serialize(sorted(answer, key=str), format=pyoxigraph.RdfFormat.TURTLE, prefixes=iris.PREFIXES)
    DataOut().write((turtle or b"").decode())


def _value(term: Any) -> str | int | bool | None:
    """A term as JSON has it: numbers and truth values as such, texts as recorded, IRIs in full."""
    if isinstance(term, pyoxigraph.Literal):
        if term.datatype.value in _NUMBERS and _WHOLE_NUMBER.fullmatch(term.value):
            return int(term.value)
        if term.datatype.value == f"{iris.XSD}boolean" and term.value in _TRUTH:
            return _TRUTH[term.value]
        return from_rdf(term.value)
    return None if term is None else str(getattr(term, "value", term))


def _shown(term: Any) -> str:
    """A term for people: IRIs of known vocabularies with their prefix."""
    if term is None:
        return ""
    value = _value(term)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(term, pyoxigraph.NamedNode):
        for prefix, namespace in iris.PREFIXES.items():
            if term.value.startswith(namespace):
                return f"{prefix}:{term.value.removeprefix(namespace)}"
    return str(value)


def _write_table(names: list[str], rows: Iterator[Row]) -> None:
    """Tables of some hundred rows each, so that the first appear at once and memory stays flat."""
    out = console()
    first = True
    while (chunk := list(islice(rows, TABLE_ROWS))) or first:
        out.print(shown_table(names, ((printable(_shown(term), 120) for term in row) for row in chunk)))
        first = False


def _write_json(names: list[str], rows: Iterator[Row]) -> None:
    out = DataOut()
    out.write("[")
    for number, row in enumerate(rows):
        body = {name: _value(term) for name, term in zip(names, row, strict=True)}
        out.write(("," if number else "") + "\n " + to_line(body))
    out.write("\n]\n")


def _write_csv(names: list[str], rows: Iterator[Row]) -> None:
    writer = csv.writer(DataOut(), lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([csv_cell(_value(term)) for term in row])


WRITERS: dict[str, Callable[[list[str], Iterator[Row]], None]] = {
    "table": _write_table,
    "json": _write_json,
    "csv": _write_csv,
}
