"""A package as quads, TriG and JSON-LD (docs/packages.md).

Three named graphs: the two of the run (`trace_prov.graph.write`) and one that says what the package claims, asks and
hides. TriG and JSON-LD are written in one fixed form, so that a package's bytes can be checked and not only its
meaning: readers of either drop comments and unknown members without a word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import groupby
from typing import Any

import pyoxigraph

from trace_prov.graph import iris
from trace_prov.graph.literals import quoted, to_rdf
from trace_prov.graph.write import run_to_quads
from trace_prov.package.labels import ID_WORD
from trace_prov.package.model import Package

PACKAGE = "https://w3id.org/trace-prov/package#"
PREFIXES = {**iris.PREFIXES, "package": PACKAGE}

_XSD_STRING = f"{iris.XSD}string"
_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_SHORT_NUMBER = re.compile(r"0|[1-9][0-9]*")


def package_graph(run: str) -> str:
    """The name of the graph that says what the package claims, and of the package itself."""
    return f"{run}:package"


def package_to_quads(package: Package) -> list[pyoxigraph.Quad]:
    """All quads of a package: what is visible of the run, what its account says, what the package claims."""
    return [*run_to_quads(package.run), *_claims(package)]


def _claims(package: Package) -> Iterator[pyoxigraph.Quad]:
    run = package.run.id
    node = package_graph(run)
    graph = pyoxigraph.NamedNode(node)

    def quad(subject: str, name: str, value: str | int | pyoxigraph.NamedNode) -> pyoxigraph.Quad:
        predicate = iris.RDF_TYPE if name == "type" else f"{PACKAGE}{name}"
        term = value if isinstance(value, pyoxigraph.NamedNode) else pyoxigraph.Literal(value)
        return pyoxigraph.Quad(pyoxigraph.NamedNode(subject), pyoxigraph.NamedNode(predicate), term, graph)

    def kind(name: str) -> pyoxigraph.NamedNode:
        return pyoxigraph.NamedNode(f"{PACKAGE}{name}")

    yield quad(node, "type", kind("EvidencePackage"))
    yield quad(node, "packageOf", pyoxigraph.NamedNode(run))
    for name, claim in asdict(package.contract).items():
        yield quad(node, name, str(claim))
    for name, number in asdict(package.counts).items():
        yield quad(node, f"{name}Count", number)
    for word in package.kept:
        yield quad(node, "keptWord", word)
    plain = [word for word in package.kept if ID_WORD.fullmatch(word)]
    if plain:
        yield quad(node, "keptPattern", "|".join(plain))
    target = f"{run}:target"
    yield quad(node, "hasTarget", pyoxigraph.NamedNode(target))
    yield quad(target, "type", kind("Target"))
    yield quad(target, "targetAction", package.target.action)
    yield quad(target, "literal", to_rdf(package.target.literal))
    if package.target.argument is not None:
        yield quad(target, "targetArgument", to_rdf(package.target.argument))
    for position, line in enumerate(package.withheld, start=1):
        hidden = f"{run}:withheld:{position}"
        yield quad(node, "withholds", pyoxigraph.NamedNode(hidden))
        yield quad(hidden, "type", kind("Withheld"))
        yield quad(hidden, "position", position)
        yield quad(hidden, "what", to_rdf(line.what))
        yield quad(hidden, "hiddenAs", str(line.state))
        yield quad(hidden, "why", str(line.why))
        for locator in line.declares:
            yield quad(hidden, "declares", str(locator))


def to_trig(quads: Iterable[pyoxigraph.Quad]) -> bytes:
    """Quads of named nodes and literals as TriG in one fixed form: sorted, a block a graph, a paragraph a node."""
    lines = [f"@prefix {prefix}: <{namespace}> .\n" for prefix, namespace in sorted(PREFIXES.items())]
    for graph, nodes in _sorted(quads):
        lines.append(f"\n<{graph}> {{\n")
        for subject, pairs in nodes:
            lines.append(f"  {_iri(subject)}\n")
            written = [f"    {_predicate(predicate)} {_turtle(term)}" for predicate, term in pairs]
            lines.append(" ;\n".join(written) + " .\n")
        lines.append("}\n")
    return "".join(lines).encode()


def to_jsonld(quads: Iterable[pyoxigraph.Quad]) -> bytes:
    """The same as JSON-LD with an inline context, in one fixed form."""
    graphs = [
        {"@id": graph, "@graph": [_json_node(subject, pairs) for subject, pairs in nodes]}
        for graph, nodes in _sorted(quads)
    ]
    body = {"@context": dict(sorted(PREFIXES.items())), "@graph": graphs}
    return json.dumps(body, ensure_ascii=False, indent=1).encode() + b"\n"


Pair = tuple[str, pyoxigraph.NamedNode | pyoxigraph.Literal]


def _sorted(quads: Iterable[pyoxigraph.Quad]) -> Iterator[tuple[str, list[tuple[str, list[Pair]]]]]:
    rows = set()
    for quad in quads:
        assert isinstance(quad.subject, pyoxigraph.NamedNode)
        assert isinstance(quad.graph_name, pyoxigraph.NamedNode)
        assert isinstance(quad.object, (pyoxigraph.NamedNode, pyoxigraph.Literal))
        rows.add((quad.graph_name.value, quad.subject.value, quad.predicate.value, quad.object))
    ordered = sorted(rows, key=lambda row: (*row[:2], row[2] != iris.RDF_TYPE, row[2], str(row[3])))
    for graph, of_graph in groupby(ordered, key=lambda row: row[0]):
        nodes = [
            (subject, [(predicate, term) for _, _, predicate, term in of_node])
            for subject, of_node in groupby(of_graph, key=lambda row: row[1])
        ]
        yield graph, nodes


def _iri(iri: str) -> str:
    for prefix, namespace in PREFIXES.items():
        name = iri.removeprefix(namespace)
        if name is not iri and name != iri and _PLAIN_NAME.fullmatch(name):
            return f"{prefix}:{name}"
    return f"<{iri}>"


def _predicate(iri: str) -> str:
    return "a" if iri == iris.RDF_TYPE else _iri(iri)


def _turtle(term: pyoxigraph.NamedNode | pyoxigraph.Literal) -> str:
    if isinstance(term, pyoxigraph.NamedNode):
        return _iri(term.value)
    if term.datatype.value == f"{iris.XSD}integer" and _SHORT_NUMBER.fullmatch(term.value):
        return term.value
    written = quoted(term.value)
    return written if term.datatype.value == _XSD_STRING else f"{written}^^{_iri(term.datatype.value)}"


def _json_node(subject: str, pairs: list[Pair]) -> dict[str, Any]:
    node: dict[str, Any] = {"@id": subject}
    for predicate, of_predicate in groupby(pairs, key=lambda pair: pair[0]):
        terms = [term for _, term in of_predicate]
        if predicate == iris.RDF_TYPE:
            node["@type"] = [_short(term.value) for term in terms]
        else:
            values = [_json_term(term) for term in terms]
            node[_short(predicate)] = values[0] if len(values) == 1 else values
    return node


def _short(iri: str) -> str:
    return _iri(iri).removeprefix("<").removesuffix(">")


def _json_term(term: pyoxigraph.NamedNode | pyoxigraph.Literal) -> Any:
    if isinstance(term, pyoxigraph.NamedNode):
        return {"@id": term.value if _PLAIN_NAME.fullmatch(term.value) else _short(term.value)}
    if term.datatype.value == _XSD_STRING:
        return term.value
    if term.datatype.value == f"{iris.XSD}integer" and _SHORT_NUMBER.fullmatch(term.value):
        return int(term.value)
    if term.datatype.value == f"{iris.XSD}boolean" and term.value in ("true", "false"):
        return term.value == "true"
    return {"@value": term.value, "@type": _short(term.datatype.value)}


def quads_of(data: bytes, form: pyoxigraph.RdfFormat) -> list[pyoxigraph.Quad]:
    """The quads of TriG or JSON-LD; raises SyntaxError, with a line where there is one, when it is none."""
    return list(pyoxigraph.parse(data, format=form))
