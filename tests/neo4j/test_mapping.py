"""The mapping: every term of the ontology has a place, and nothing is lost or invented on the way there and back."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph.strategies import examples, visible_runs
from trace_prov.errors import GraphError
from trace_prov.graph import iris
from trace_prov.graph.literals import from_rdf, quoted, to_rdf
from trace_prov.graph.store import TraceStore
from trace_prov.graph.write import run_to_nquads, run_to_quads
from trace_prov.model import Run
from trace_prov.neo4j import annotate, mapping
from trace_prov.neo4j.statements import edges_statement, nodes_statement

ONTOLOGY = Path(__file__).resolve().parents[2] / "ontology"
#: classes of individuals, which are words in a property
STATE_CLASSES = {"RecordState", "BasisState", "TableState", "Severity"}


def _terms(kind: str) -> set[str]:
    text = (ONTOLOGY / "trace.ttl").read_text(encoding="utf-8")
    return set(re.findall(rf"^trace:(\w+) a {kind} ", text, re.MULTILINE))


def test_every_class_of_the_ontology_is_a_label() -> None:
    own = {name for name in mapping.CLASSES if not name.startswith("package:")}
    assert own == _terms("owl:Class") - STATE_CLASSES


def test_every_datatype_property_is_a_node_property() -> None:
    own = {name for name in mapping.LITERALS if not name.startswith("package:")}
    assert own == _terms("owl:DatatypeProperty")


def test_every_object_property_is_a_relationship_or_a_word() -> None:
    edges = {rule.predicate.rpartition("#")[2] for rule in mapping.EDGES if "/ontology#" in rule.predicate}
    assert edges | set(mapping.INDIVIDUALS) == _terms("owl:ObjectProperty")


def test_labels_types_and_properties_of_the_mapping_table_are_those_used() -> None:
    """ontology/mapping.tsv says in its last column what the property graph looks like."""
    with (ONTOLOGY / "mapping.tsv").open(encoding="utf-8", newline="") as file:
        cells = [row["property graph"] for row in csv.DictReader(file, delimiter="\t")]
    types = {name for cell in cells for name in re.findall(r"\[:(\w+)", cell)}
    labels = {name for cell in cells for name in re.findall(r"[(:](?<=:)(\w+)(?=[:)\s])", cell)}
    labels = {name for name in labels if name[0].isupper() and not name.isupper()}
    assert types - {"CONTAINS_LITERAL"} <= set(mapping.TYPES) | set(annotate.LINKS)
    assert labels <= set(mapping.CLASS_LABELS) | set(annotate.KINDS)


@examples(60)
@given(visible_runs())
def test_generated_runs_come_back_as_the_same_quads(run: Run) -> None:
    quads = set(run_to_quads(run))
    assert _there_and_back(quads, None) == quads


@examples(60)
@given(visible_runs())
def test_the_fast_reading_of_nquads_gives_the_same_rows(run: Run) -> None:
    assert mapping.rows_of_nquads(run_to_nquads(run)) == _parsed_rows(run_to_nquads(run))
    stored = TraceStore.in_memory([run]).nquads(run.id)
    assert mapping.rows_of_nquads(stored) == _parsed_rows(stored)


def _parsed_rows(nquads: bytes) -> mapping.Rows:
    return mapping.rows_of(pyoxigraph.parse(nquads, format=pyoxigraph.RdfFormat.N_QUADS))


_SUBJECT = "urn:trace-prov:run:" + "0" * 32
#: any text of Python, and much of what N-Quads escapes
_TEXTS = st.one_of(
    st.text(), st.text(st.characters(categories=("Cs", "Cc", "Co", "Zl", "Zp"))), st.text("\\\"\n\r\t'u0041<>@^. ")
)


@settings(max_examples=400)
@given(_TEXTS, st.booleans())
def test_every_text_that_is_written_is_read_as_the_parser_reads_it(text: str, by_pyoxigraph: bool) -> None:
    line = f"<{_SUBJECT}> <{iris.TRACE}text> {quoted(to_rdf(text))} <{_SUBJECT}> .\n".encode()
    quads = list(pyoxigraph.parse(line, format=pyoxigraph.RdfFormat.N_QUADS))
    if by_pyoxigraph:
        line = pyoxigraph.serialize(quads, format=pyoxigraph.RdfFormat.N_QUADS) or b""
    (statement,) = mapping._of_nquads(line)
    assert [statement] == list(mapping._of_quads(quads))
    assert from_rdf(statement[2]) == text
    # none of ours is left to the slower parser
    assert mapping._LINE.fullmatch(line.decode().removesuffix("\n"))


@pytest.mark.parametrize(
    ("term", "value"),
    [
        (r'"caf\u00E9 \U0001F600 \'"', "café 😀 '"),
        (r'"a\u000ab"', "a\nb"),
        (r'"a\u0022 <x> .\u0020"', 'a" <x> . '),
        (f'"x"^^<{iris.XSD}string>', "x"),
        ("<urn:caf\\u00E9>", "urn:café"),
        ('"x"   ', "x"),
    ],
)
def test_other_spellings_are_read_right_too(term: str, value: str) -> None:
    (statement,) = mapping._of_nquads(f"<{_SUBJECT}> <{iris.TRACE}text> {term} <{_SUBJECT}> .\n".encode())
    assert statement[2] == value


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('<S> <T#name> "x"@en <S> .', "expected xsd:string"),
        ('<S> <T#name> "x"@en-GB <S> .', "expected xsd:string"),
        ('<S> <T#name> "x"@en--ltr <S> .', "expected xsd:string"),
        ('<S> <T#name> "1"^^<urn:own> <S> .', "expected xsd:string"),
        ('_:b <T#name> "x" <S> .', "nodes with an IRI"),
        ("<S> <T#hasAction> _:b <S> .", "an IRI or a literal"),
        ("<S> <T#hasAction> <<( <S> <S> <S> )>> <S> .", "an IRI or a literal"),
        ('<S> <T#task> "x" .', "the default graph|a node stated in one graph"),
        ('<S> <T#task> "x" <urn:other> .', "a node stated in one graph"),
        ('<S:x> <T#task> "x" <S> .', "a class of the trace vocabulary"),
        ('<S> <T#number> "01"^^<http://www.w3.org/2001/XMLSchema#integer> <S> .', "a whole number of 64 bits"),
        ('<S> <T#number> "1_0"^^<http://www.w3.org/2001/XMLSchema#integer> <S> .', "a whole number of 64 bits"),
        ('<S> <T#number> "١"^^<http://www.w3.org/2001/XMLSchema#integer> <S> .', "a whole number of 64 bits"),
        (
            '<S> <T#number> "9223372036854775808"^^<http://www.w3.org/2001/XMLSchema#integer> <S> .',
            "a whole number of 64 bits",
        ),
        ('<S> <T#isError> "1"^^<http://www.w3.org/2001/XMLSchema#boolean> <S> .', "true or false"),
        ("<S> <T#state> <urn:Present> <S> .", "an individual such as"),
        ("<S> <T#state> <T#PRESENT> <S> .", "an individual such as"),
        ("<S:table> <T#tableState> <T#TableComplete> <S> .", "one value"),
        ('<S> <T#accountText> "x" <S> .', "expected trace:text"),
        ('<S> <T#argumentName> "x" <S> .', "expected trace:name"),
        ('<S> <T#number> "1" <S> garbage', "expected N-Quads"),
        ("<urn:else> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <T#Note> <S> .", "a node of the run"),
        ("<S:view:R11-0> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <T#Note> <S> .", "a node of the run"),
        ("<S0:x> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <T#Note> <S> .", "a node of the run"),
    ],
)
def test_what_our_writer_never_writes_is_refused_in_words(line: str, words: str, real_runs: list[Run]) -> None:
    """A store that others filled may hold anything; it is refused and not misread."""
    run = real_runs[0]
    added = line.replace("<S", f"<{run.id}").replace("<T", f"<{iris.TRACE.rstrip('#')}") + "\n"
    table = "" if "tableState" not in line else added.replace("TableComplete", "TablePartial")
    with pytest.raises(GraphError, match=words):
        mapping.rows_of_nquads(run_to_nquads(run) + (added + table).encode())


@examples(20)
@given(visible_runs())
def test_a_view_comes_back_under_the_runs_own_iris(run: Run) -> None:
    quads = set(run_to_quads(run))
    assert _there_and_back(quads, "R11-01234567") == quads


def _there_and_back(quads: set[pyoxigraph.Quad], view: str | None) -> set[pyoxigraph.Quad]:
    rows = mapping.rows_of(quads, view=view)
    nodes = [(labels, node) for labels, some in rows.nodes.items() for node in some]
    edges = [(type_, e["start"], e["end"], e["graph"]) for type_, some in rows.edges.items() for e in some]
    return mapping.quads_of(nodes, edges, rows.run)


def test_counts_follow_from_the_rdf(real_runs: list[Run]) -> None:
    """A node a subject; a relationship an object that is a node, and one more a citation with a row (NAMES)."""
    for run in real_runs:
        quads = list(run_to_quads(run))
        subjects = {quad.subject for quad in quads}
        links = sum(quad.object in subjects for quad in quads)
        rows = mapping.rows_of(quads)
        assert rows.node_count == len(subjects)
        assert rows.edge_count - len(rows.edges.get("NAMES", [])) == links
        bound = {binding.local_id for binding in run.table.rows}
        accounts = {(action.step, action.account) for action in run.actions}
        cited = sum(local_id in bound for _, account in accounts for local_id in account.basis.ids)
        assert len(rows.edges.get("NAMES", [])) == cited


@pytest.mark.parametrize(
    ("subject", "predicate", "term", "found"),
    [
        ("urn:x", "https://w3id.org/trace-prov/ontology#unheard", pyoxigraph.Literal("x"), "another"),
        ("urn:x", "https://w3id.org/trace-prov/ontology#number", pyoxigraph.Literal("x"), "XMLSchema#string"),
    ],
)
def test_what_has_no_place_is_refused(
    subject: str, predicate: str, term: pyoxigraph.Literal, found: str, real_runs: list[Run]
) -> None:
    run = real_runs[0]
    odd = pyoxigraph.Quad(
        pyoxigraph.NamedNode(subject), pyoxigraph.NamedNode(predicate), term, pyoxigraph.NamedNode(run.id)
    )
    with pytest.raises(GraphError, match=found):
        mapping.rows_of([*run_to_quads(run), odd])


def test_a_relationship_to_nowhere_is_refused(real_runs: list[Run]) -> None:
    run = real_runs[0]
    node = pyoxigraph.NamedNode(run.id)
    used = pyoxigraph.NamedNode("http://www.w3.org/ns/prov#used")
    with pytest.raises(GraphError, match="a node of the same run"):
        mapping.rows_of([*run_to_quads(run), pyoxigraph.Quad(node, used, pyoxigraph.NamedNode("urn:elsewhere"), node)])


def test_statements_name_only_labels_and_types_of_the_tables() -> None:
    with pytest.raises(ValueError, match="not labels of the mapping"):
        nodes_statement(("Trace", "X`) DETACH DELETE n //"))
    with pytest.raises(ValueError, match="not a relationship type"):
        edges_statement("USED]->(b) DETACH DELETE b //")


def test_the_text_index_gets_only_what_it_takes() -> None:
    assert mapping.fits_text_index("x" * 32_766)
    assert not mapping.fits_text_index("x" * 32_767)
    assert mapping.fits_text_index("é" * 16_383)
    assert not mapping.fits_text_index("é" * 16_384)
    assert not mapping.fits_text_index(None)
