"""A query that would be sent elsewhere is refused, however it is written; nothing is fetched."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pyoxigraph
import pytest

from trace_prov.errors import UsageError
from trace_prov.graph.queryfiles import queries
from trace_prov.graph.service import calls_a_service
from trace_prov.graph.store import TraceStore

CALLS = [
    "SELECT * { SERVICE <@> { ?s ?p ?o } }",
    "SELECT * { service silent <@> { ?s ?p ?o } }",
    "SELECT * { SeRvIcE#c\n x:y #d\n{ ?s ?p ?o } }",
    "SELECT * { SERVICE:x{ ?s ?p ?o } }",
    "SELECT * { BIND(<@> AS ?x) SERVICE ?x { ?s ?p ?o } }",
    "SELECT * { BIND(<@> AS ?x) SERVICE$x{ ?s ?p ?o } }",
    "SELECT * { ?s ?p trueSERVICE<@>{ ?s ?p ?o } }",
    "SELECT * { ?s ?p 1SERVICE<@>{ ?s ?p ?o } }",
    "SELECT * { ?s ?p ?o.SERVICE<@>{ ?s ?p ?o } }",
    "SELECT * { ?s ?p x:a\\#b . SERVICE <@> { ?s ?p ?o } }",
    "SELECT * { ?s ?p 'it\\'s' SERVICE <@> { ?s ?p ?o } }",
    "SELECT * { ?s ?p '''it's ''' SERVICE <@> { ?s ?p ?o } }",
    # What one reading takes for an IRI, a string or a comment is code in another.
    "SELECT * { ?s ?p ?a FILTER(?a<'>') SERVICE <@> { ?s ?p 'x' } }",
    "SELECT * { ?s ?p ?a FILTER(?a<x:b#>'''\n || true) SERVICE <@> { ?s ?p ?o } #'''\n }",
    'SELECT * { ?s ?p ?a FILTER(?a<x:b#>"\n || true) SERVICE <@> { ?s ?p ?o } #"\n }',
    "SELECT * { ?s ?p <urn:x#'> . SERVICE <@> { ?s ?p <urn:y#'> } }",
    "ASK { OPTIONAL { SERVICE <@> { ?s ?p ?o } } }",
    "CONSTRUCT { ?s ?p ?o } WHERE { LATERAL { SERVICE <@> { ?s ?p ?o } } }",
    "SELECT * { FILTER EXISTS { SERVICE <@> { ?s ?p ?o } } }",
]
OTHERS = [
    "SELECT ?service ?x { ?service ?p ?x }",
    "SELECT * { ?s ?p ?o FILTER(CONTAINS(?o, 'SERVICE <http://a> {')) }",
    'SELECT * { ?s ?p """SERVICE\n<http://a> {""" }',
    "# SERVICE <http://a> { }\nSELECT * { ?s ?p <http://a/service> }",
    "SELECT * { GRAPH <http://a/service?x> { ?s x:service ?service } }",
    "SELECT * { GRAPH x:service { ?s <urn:service:x> ?o } }",
    "SELECT * { ?s x:service ?o } # SERVICE ?x {",
]


class _Fetched(BaseHTTPRequestHandler):
    paths: list[str]

    def do_POST(self) -> None:
        self.paths.append(self.path)
        self.send_response(404)
        self.end_headers()

    do_GET = do_POST  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    paths: list[str] = []
    with HTTPServer(("127.0.0.1", 0), type("Handler", (_Fetched,), {"paths": paths})) as made:
        threading.Thread(target=made.serve_forever, args=[0.01], daemon=True).start()
        yield f"http://127.0.0.1:{made.server_port}/sparql", paths
        made.shutdown()


def store() -> TraceStore:
    made = TraceStore.in_memory()
    subject, predicate = pyoxigraph.NamedNode("urn:s"), pyoxigraph.NamedNode("urn:p")
    for value in (True, 1, "it's", "it's "):
        made.database.add(pyoxigraph.Quad(subject, predicate, pyoxigraph.Literal(value)))
    made.database.add(pyoxigraph.Quad(subject, predicate, pyoxigraph.NamedNode("urn:x#'")))
    return made


def written(query: str, address: str) -> str:
    return f"PREFIX : <{address}> PREFIX x: <{address}> " + query.replace("@", address)


@pytest.mark.parametrize("query", CALLS)
def test_a_call_is_refused_and_nothing_is_fetched(query: str, server: tuple[str, list[str]]) -> None:
    address, paths = server
    with pytest.raises(UsageError, match="calls a SERVICE"):
        store().query(written(query, address))
    assert paths == []


@pytest.mark.parametrize("query", [query for query in CALLS if "a\\#b" not in query and "AS ?x" not in query])
def test_the_engine_by_itself_would_fetch(query: str, server: tuple[str, list[str]]) -> None:
    """Shows that what is refused is a call; should this fail one day, the engine needs no guard."""
    address, paths = server
    with contextlib.suppress(OSError):
        answer = store().database.query(written(query, address))
        list(answer if isinstance(answer, pyoxigraph.QuerySolutions | pyoxigraph.QueryTriples) else [])
    assert [path.split("#")[0] for path in paths][:1] in (["/sparql"], ["/sparqlx"], ["/sparqly"])


@pytest.mark.parametrize("query", OTHERS)
def test_other_queries_are_answered(query: str) -> None:
    TraceStore.in_memory().query("PREFIX x: <urn:x> " + query)


def test_none_of_the_products_own_queries_is_taken_for_a_call() -> None:
    assert not [file.name for file in queries() if calls_a_service(file.text)]
