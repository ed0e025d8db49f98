"""Random changes to the examples' triples: the fast engine and the real case_validate count the same results."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from rdflib import RDF, XSD, BNode, Graph, Literal, URIRef
from rdflib.term import Node

from tests.case.record_verdicts import COLUMNS, real_verdict
from trace_prov.case import check_case

DATA = Path(__file__).parent.parent / "data" / "case_examples"
EXAMPLES = sorted(path.name for path in DATA.iterdir() if path.suffix in (".json", ".jsonld"))
DATATYPES = (XSD.string, XSD.integer, XSD.dateTime, XSD.boolean, XSD.hexBinary, XSD.decimal, XSD.anyURI, None)


def changed(graph: Graph, rng: random.Random) -> Graph:
    """Return the graph with one to four triples dropped, bent or added."""
    triples = sorted(graph, key=str)
    result = Graph()
    for triple in triples:
        result.add(triple)
    types = sorted(set(graph.objects(None, RDF.type)), key=str)
    for _ in range(rng.randint(1, 4)):
        subject, predicate, object_ = rng.choice(triples)
        result.remove((subject, predicate, object_))
        value = _other(object_, triples, rng)
        change = rng.randrange(5)
        if change == 0:
            result.add((subject, predicate, value))
        elif change == 1:
            result.add((subject, predicate, object_))
            result.add((subject, predicate, value))
        elif change == 2:
            result.add((subject, rng.choice(triples)[1], object_))
        elif change == 3:
            result.add((subject, RDF.type, rng.choice(types)))
    return result


def _other(value: Node, triples: list[tuple[Node, Node, Node]], rng: random.Random) -> Node:
    if isinstance(value, Literal) and rng.random() < 0.7:
        return Literal(str(value), datatype=rng.choice(DATATYPES))
    return rng.choice([rng.choice(triples)[2], rng.choice(triples)[0], BNode("other"), URIRef("urn:x:other")])


def compare(name: str, seed: int, folder: Path) -> None:
    source = Graph()
    source.parse(DATA / name, format="json-ld")
    path = folder / "changed.ttl"
    changed(source, random.Random(f"{name} {seed}")).serialize(path, format="turtle")
    report = check_case(path)
    counts = report.severities
    ours = [counts["Violation"], counts["Warning"], counts["Info"], len(report.undefined)]
    expected = real_verdict(path)
    assert dict(zip(COLUMNS, [*map(str, ours), str(report.conforms).lower()], strict=True)) == expected, (
        path.read_text()
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", [name for name in EXAMPLES if (DATA / name).stat().st_size < 16_000])
def test_random_changes(name: str, tmp_path: Path) -> None:
    compare(name, 1, tmp_path)
