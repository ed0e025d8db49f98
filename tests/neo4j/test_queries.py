"""The Cypher files are the twins of the SPARQL files: same names, parameters, columns and rows on the same runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pyoxigraph
import pytest

from tests.watermark.marked_graph import annotated
from trace_prov.derive import Question
from trace_prov.derive import derive as derive_natively
from trace_prov.errors import UsageError
from trace_prov.finding import Finding
from trace_prov.graph import iris, queryfiles
from trace_prov.graph.literals import to_rdf
from trace_prov.graph.store import TraceStore
from trace_prov.model import BindingTable, Run, TableState
from trace_prov.neo4j.annotate import annotate
from trace_prov.neo4j.connection import Connection
from trace_prov.neo4j.derive import derive_loaded, embedded_engine
from trace_prov.neo4j.load import graphs_of_runs, load
from trace_prov.neo4j.queryfiles import CypherFile, cypher_file, cypher_files

NAMES = [file.name for file in cypher_files()]
_STATE = re.compile(f"{re.escape(iris.TRACE)}(?:Basis|Table|Severity)?(\\w+)")
#: columns that hold sets of locators: a list here, a text there
_SETS = {"certain", "possible"}


def test_there_is_a_cypher_file_for_each_sparql_file() -> None:
    assert NAMES == [query.name for query in queryfiles.queries()]


@pytest.mark.parametrize("name", NAMES)
def test_a_twin_asks_the_same_with_the_same_parameters(name: str) -> None:
    ours, theirs = cypher_file(name), queryfiles.query(name)
    assert ours.title == theirs.title
    assert [(p.name, p.needed) for p in ours.parameters] == [(p.name, p.needed) for p in theirs.parameters]
    used = set(re.findall(r"\$(\w+)", ours.text))
    assert used == {parameter.name for parameter in ours.parameters}


def test_an_unknown_name_is_told_what_exists() -> None:
    with pytest.raises(UsageError, match="known: actions_by_tool, answerability"):
        cypher_file("nobody")


def _cells(file: CypherFile, runs: list[Run]) -> Iterator[dict[str, str | None]]:
    """What to ask: everything at once, and each run's own target."""
    names = [parameter.name for parameter in file.parameters]
    if not any(parameter.needed for parameter in file.parameters):
        yield dict.fromkeys(names)
    for run in runs:
        for finding in derive_natively(run, Question()):
            if isinstance(finding, Finding):
                literals = [to_rdf(finding.target.literal), "e"] if "literal" in names else [None]
                for literal in literals:
                    values = {"run": run.id, "action": finding.target.action, "literal": literal}
                    yield {name: values.get(name) for name in names}
    if "standing" in names:
        for standing in ("counted", "skipped"):
            yield dict.fromkeys(names) | {"standing": standing}


def _sparql(store: TraceStore, name: str, values: dict[str, str | None]) -> tuple[list[str], list[tuple[Any, ...]]]:
    bound: dict[str, Any] = {
        key: pyoxigraph.NamedNode(value) if key in ("run", "other") else pyoxigraph.Literal(value)
        for key, value in values.items()
        if value is not None
    }
    rows = store.ask(name, **bound)
    columns = [variable.value for variable in rows.variables]
    return columns, [tuple(_plain(c, term) for c, term in zip(columns, row, strict=True)) for row in rows]


def _plain(column: str, term: Any) -> Any:
    if isinstance(term, pyoxigraph.NamedNode):
        state = _STATE.fullmatch(term.value)
        return term.value if state is None else state[1].lower()
    if not isinstance(term, pyoxigraph.Literal):
        return None
    if column in _SETS:
        return frozenset(term.value.split())
    kind = term.datatype.value.removeprefix(iris.XSD)
    if kind == "boolean":
        return term.value == "true"
    return int(term.value) if kind == "integer" else term.value


def _cypher(
    connection: Connection, file: CypherFile, values: dict[str, str | None]
) -> tuple[list[str], list[tuple[Any, ...]]]:
    with connection.session(read=True) as session:
        result = session.run(file.text, values)
        columns = list(result.keys())
        rows = [tuple(frozenset(v) if isinstance(v, list) else v for v in record.values()) for record in result]
    return columns, rows


def _with_half_a_table(run: Run) -> Run:
    """The run as a package may show it: some cited ids without a row."""
    table = BindingTable(TableState.PARTIAL, run.table.rows[::2])
    return replace(run, id="urn:trace-prov:run:" + "e" * 32, table=table)


def test_twins_give_the_same_rows(database: Connection, real_runs: list[Run]) -> None:
    citing = [
        run for run in real_runs for found in derive_natively(run) if isinstance(found, Finding) and found.q3.locators
    ]
    some = [*real_runs[::3], *citing[:6], _with_half_a_table(citing[0])]
    load(database, graphs_of_runs(some))
    store = TraceStore.in_memory(some)
    done = annotate(database, [("verdict", annotated(store, some))])
    assert done.elsewhere == 0
    rows_seen: Counter[str] = Counter()
    for file in cypher_files():
        for values in _cells(file, some[-10:]):
            columns, wanted = _sparql(store, file.name, values)
            names, found = _cypher(database, file, values)
            assert names == columns
            assert Counter(found) == Counter(wanted), (file.name, values)
            rows_seen[file.name] += len(found)
    assert {name for name in NAMES if not rows_seen[name]} == set()


def test_the_server_derives_what_the_native_path_derives(database: Connection, real_runs: list[Run]) -> None:
    some = real_runs[::2]
    load(database, graphs_of_runs(some))
    questions = (Question(), Question(all_actions=True), Question(literal="UK12345678901234567890"))
    for run, question in product(some, questions):
        assert derive_loaded(database, run.id, question) == list(derive_natively(run, question)), run.source.name


def test_the_embedded_engine_derives_the_same(real_runs: list[Run]) -> None:
    questions = (Question(), Question(all_actions=True))
    with embedded_engine() as derive:
        for run, question in product(real_runs[::9], questions):
            assert list(derive(run, question)) == list(derive_natively(run, question)), run.source.name
