"""The rules of CASE and UCO, run directly: the SHACL shapes of the ontology compiled to checks over indexes.

Covers the part of SHACL that the shapes of CASE 1.5.0 and UCO 1.5.0 use, with the reading of pySHACL, which
case_validate runs: the same number of results of each severity. A shape with any other part is refused, never
skipped. case_validate spends 4.5 ms a triple; this is some hundred times faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from urllib.parse import quote

import pyoxigraph
from rdflib import OWL, RDF, RDFS, SH, XSD, BNode, Literal, URIRef
from rdflib.term import Node

from trace_prov.case.triples import Triples
from trace_prov.errors import UsageError

PathWalk = Callable[[Triples, Node], Iterable[Node]]
Check = Callable[["Engine", "Shape", Node, list[Node]], Iterator["Result"]]

#: Parameters of a shape that are no constraints.
_ABOUT = {
    SH.path, SH.targetClass, SH.targetNode, SH.targetSubjectsOf, SH.targetObjectsOf, SH.severity, SH.message,
    SH.deactivated, SH.description, SH.name, SH.order, SH.group, SH.defaultValue,
}  # fmt: skip
_LITERAL_KINDS = {SH.Literal, SH.BlankNodeOrLiteral, SH.IRIOrLiteral}
_BLANK_KINDS = {SH.BlankNode, SH.BlankNodeOrIRI, SH.BlankNodeOrLiteral}
_IRI_KINDS = {SH.IRI, SH.BlankNodeOrIRI, SH.IRIOrLiteral}
_VALUE_TYPES: dict[Node, type | tuple[type, ...]] = {
    XSD.string: (str, bytes),
    XSD.integer: int,
    XSD.float: float,
    XSD.decimal: Decimal,
    XSD.boolean: bool,
    XSD.date: date,
    XSD.time: time,
    XSD.dateTime: datetime,
}


@dataclass(frozen=True, slots=True)
class Result:
    """One SHACL result: which node, on which path, which value, and in words what is wrong."""

    severity: str
    focus: Node
    path: Node | None
    value: Node | None
    message: str
    component: str
    shape: Node


@dataclass(slots=True)
class Shape:
    """A compiled shape."""

    node: Node
    path: Node | None
    walk: PathWalk | None
    severity: str
    message: str | None
    active: bool
    checks: list[Check] = field(default_factory=list)


class Shapes:
    """The compiled shapes of a set of rules; compiled on first use and used for any data."""

    def __init__(self, rules: Triples) -> None:
        self.rules = rules
        self.quads = list(_quads(rules, {}))
        self._shapes: dict[Node, Shape] = {}
        #: Types that make a shape the shape of itself as a class; pySHACL counts owl:Class as one.
        self._class_types = {RDFS.Class, OWL.Class, *rules.subjects(RDFS.subClassOf, RDFS.Class)}
        self.targeted = self._targeted()

    def shape(self, node: Node) -> Shape:
        """Return the compiled shape; raises UsageError where it has a part that is not covered here."""
        known = self._shapes.get(node)
        if known is None:
            known = self._shapes[node] = _head(self.rules, node)
            known.checks.extend(_checks(self, known))
        return known

    def _targeted(self) -> list[Node]:
        rules = self.rules
        found: dict[Node, None] = {}
        for predicate in (SH.targetClass, SH.targetNode, SH.targetSubjectsOf, SH.targetObjectsOf):
            for subjects in rules.by_predicate.get(predicate, {}).values():
                found.update(dict.fromkeys(subjects))
        for class_ in self._class_types:
            for node in rules.subjects(RDF.type, class_):
                types = rules.objects(node, RDF.type)
                if SH.NodeShape in types or SH.PropertyShape in types:
                    found[node] = None
        return list(found)

    def focus_nodes(self, node: Node, data: Triples) -> set[Node]:
        """Return the nodes that a shape's targets select."""
        rules = self.rules
        found: set[Node] = set(rules.objects(node, SH.targetNode))
        classes = set(rules.objects(node, SH.targetClass))
        if self._class_types & set(rules.objects(node, RDF.type)):
            classes.add(node)
        for class_ in classes:
            found |= data.instances(class_)
        for predicate in rules.objects(node, SH.targetSubjectsOf):
            found.update(s for group in data.by_predicate.get(predicate, {}).values() for s in group)
        for predicate in rules.objects(node, SH.targetObjectsOf):
            found.update(data.by_predicate.get(predicate, {}))
        return found


class Engine:
    """Compiled shapes over one set of triples: data and ontology together, as case_validate has it."""

    def __init__(self, shapes: Shapes, data: Triples, own: Triples) -> None:
        """`data` holds the triples of the rules as well; `own` only those that are to be judged."""
        self.shapes = shapes
        self.data = data
        self.own = own
        self._rows: dict[Node, dict[Node, list[Node | None]]] = {}
        self._store: pyoxigraph.Store | None = None
        self._odd: dict[str, URIRef] = {}

    def results(self) -> Iterator[Result]:
        """Yield the results of every shape that has targets."""
        for node in self.shapes.targeted:
            shape = self.shapes.shape(node)
            if shape.active:
                for focus in self.shapes.focus_nodes(node, self.data):
                    yield from self.validate(shape, focus)

    def validate(self, shape: Shape, focus: Node) -> Iterator[Result]:
        """Yield the results of one shape on one focus node."""
        if not shape.active:
            return
        values = [focus] if shape.walk is None else list(shape.walk(self.data, focus))
        for check in shape.checks:
            yield from check(self, shape, focus, values)

    def conforms(self, shape: Shape, focus: Node) -> bool:
        return next(self.validate(shape, focus), None) is None

    def rows(self, select: str, key: Node) -> dict[Node, list[Node | None]]:
        """Run a SPARQL constraint once for all nodes: focus -> the ?value of each row, without repetition.

        `$this` is left open and joined with the focus nodes afterwards, which gives the rows of a query with
        `$this` bound, provided that rows are also grouped by it.
        """
        if key not in self._rows:
            if self._store is None:
                self._store = pyoxigraph.Store()
                self._store.bulk_extend(self.shapes.quads)
                self._store.bulk_extend(_quads(self.own, self._odd))
            found: dict[Node, list[Node | None]] = {}
            solutions = self._store.query(select.replace("GROUP BY", "GROUP BY ?this"), prefixes=_PREFIXES)
            assert isinstance(solutions, pyoxigraph.QuerySolutions)
            names = {variable.value for variable in solutions.variables}
            for solution in solutions:
                this = _term(solution["this"], self._odd)
                value = _term(solution["value"], self._odd) if "value" in names else None
                if this is not None and value not in found.setdefault(this, []):
                    found[this].append(value)
            self._rows[key] = found
        return self._rows[key]


_PREFIXES = {"rdf": str(RDF), "rdfs": str(RDFS), "owl": str(OWL), "xsd": str(XSD), "sh": str(SH)}


def _head(rules: Triples, node: Node) -> Shape:
    path = rules.value(node, SH.path)
    severity = rules.value(node, SH.severity) or SH.Violation
    message = rules.value(node, SH.message)
    deactivated = rules.value(node, SH.deactivated)
    return Shape(
        node,
        path,
        None if path is None else _walk(rules, path),
        str(severity).removeprefix(str(SH)),
        None if message is None else str(message),
        not (isinstance(deactivated, Literal) and deactivated.value is True),
    )


def _walk(rules: Triples, path: Node) -> PathWalk:
    """Compile a property path."""
    if isinstance(path, URIRef):
        predicate = path
        return lambda data, node: dict.fromkeys(data.objects(node, predicate))
    if rules.objects(path, RDF.first):
        steps = [_walk(rules, step) for step in rules.items(path)]
        return partial(_walk_sequence, steps)
    inverse = rules.value(path, SH.inversePath)
    if isinstance(inverse, URIRef):
        return lambda data, node: dict.fromkeys(data.subjects(inverse, node))
    for kind, at_least in ((SH.oneOrMorePath, 1), (SH.zeroOrMorePath, 0)):
        inner = rules.value(path, kind)
        if inner is not None:
            return partial(_walk_repeatedly, _walk(rules, inner), at_least)
    parts = ", ".join(str(predicate) for predicate in rules.by_subject.get(path, {}))
    raise UsageError(f"the fast CASE engine does not cover the SHACL path {parts}; use --engine case-utils")


def _walk_sequence(steps: list[PathWalk], data: Triples, node: Node) -> Iterable[Node]:
    reached: dict[Node, None] = {node: None}
    for step in steps:
        reached = dict.fromkeys(after for before in reached for after in step(data, before))
    return reached


def _walk_repeatedly(step: PathWalk, at_least: int, data: Triples, node: Node) -> Iterable[Node]:
    waiting = [node]
    found: dict[Node, None] = {} if at_least else {node: None}
    while waiting:
        for after in step(data, waiting.pop()):
            if after not in found:
                found[after] = None
                waiting.append(after)
    return found


def _checks(shapes: Shapes, shape: Shape) -> Iterator[Check]:
    """Yield a check for each constraint of the shape."""
    for predicate, parameters in shapes.rules.by_subject.get(shape.node, {}).items():
        if predicate in _ABOUT or not str(predicate).startswith(str(SH)):
            continue
        make = _MAKERS.get(predicate)
        if make is None:
            raise UsageError(
                f"the fast CASE engine does not cover {predicate} (shape {shape.node}); use --engine case-utils"
            )
        for parameter in parameters:
            yield make(shapes, parameter)


def _fail(shape: Shape, focus: Node, value: Node | None, component: str, words: str) -> Result:
    message = shape.message or words
    return Result(shape.severity, focus, shape.path, value, message, component, shape.node)


def _make_property(shapes: Shapes, parameter: Node) -> Check:
    inner = shapes.shape(parameter)

    def check(engine: Engine, shape: Shape, focus: Node, values: list[Node]) -> Iterator[Result]:
        for value in values:
            yield from engine.validate(inner, value)

    return check


def _make_node(shapes: Shapes, parameter: Node) -> Check:
    inner = shapes.shape(parameter)

    def check(engine: Engine, shape: Shape, focus: Node, values: list[Node]) -> Iterator[Result]:
        for value in values:
            if not engine.conforms(inner, value):
                yield _fail(shape, focus, value, "node", f"Value does not conform to the shape {parameter}")

    return check


def _make_class(shapes: Shapes, parameter: Node) -> Check:
    def check(engine: Engine, shape: Shape, focus: Node, values: list[Node]) -> Iterator[Result]:
        for value in values:
            if isinstance(value, Literal) or not engine.data.is_instance(value, parameter):
                yield _fail(shape, focus, value, "class", f"Value does not have class {parameter}")

    return check


def _make_datatype(shapes: Shapes, parameter: Node) -> Check:
    def check(engine: Engine, shape: Shape, focus: Node, values: list[Node]) -> Iterator[Result]:
        for value in values:
            if not _has_datatype(value, parameter):
                yield _fail(shape, focus, value, "datatype", f"Value is not Literal with datatype {parameter}")

    return check


def _has_datatype(value: Node, datatype: Node) -> bool:
    """Follow pySHACL 0.40: a plain literal is a string; ill-typed literals do not match."""
    if not isinstance(value, Literal):
        return False
    if value.datatype == datatype:
        if value.ill_typed is True:
            return False
    elif datatype == RDFS.Literal or (datatype == RDFS.Datatype and value.datatype):
        return True
    elif datatype == XSD.string:
        if value.datatype is not None or value.language is not None:
            return False
    elif not (datatype == RDF.langString and value.language):
        return False
    expected = _VALUE_TYPES.get(XSD.string if datatype == RDF.langString else datatype)
    return expected is None or isinstance(value.value, expected)


def _make_node_kind(shapes: Shapes, parameter: Node) -> Check:
    kind = str(parameter).removeprefix(str(SH))

    def check(engine: Engine, shape: Shape, focus: Node, values: list[Node]) -> Iterator[Result]:
        for value in values:
            if isinstance(value, BNode):
                kinds = _BLANK_KINDS
            else:
                kinds = _LITERAL_KINDS if isinstance(value, Literal) else _IRI_KINDS
            if parameter not in kinds:
                yield _fail(shape, focus, value, "nodeKind", f"Value is not of Node Kind sh:{kind}")

    return check


def _number(parameter: Node) -> int:
    assert isinstance(parameter, Literal)
    return int(parameter.value)


def _make_min_count(shapes: Shapes, parameter: Node) -> Check:
    least = _number(parameter)

    def check(engine: Engine, shape: Shape, focus: Node, values: list[Node]) -> Iterator[Result]:
        if len(values) < least:
            yield _fail(shape, focus, None, "minCount", f"Less than {least} values")

    return check


def _make_max_count(shapes: Shapes, parameter: Node) -> Check:
    most = _number(parameter)

    def check(engine: Engine, shape: Shape, focus: Node, values: list[Node]) -> Iterator[Result]:
        if len(values) > most:
            yield _fail(shape, focus, None, "maxCount", f"More than {most} values")

    return check


def _make_in(shapes: Shapes, parameter: Node) -> Check:
    members = set(shapes.rules.items(parameter))

    def check(engine: Engine, shape: Shape, focus: Node, values: list[Node]) -> Iterator[Result]:
        for value in values:
            if value not in members:
                listed = ", ".join(sorted(map(str, members))[:10])
                yield _fail(shape, focus, value, "in", f"Value is not one of {listed}")

    return check


def _make_has_value(shapes: Shapes, parameter: Node) -> Check:
    def check(engine: Engine, shape: Shape, focus: Node, values: list[Node]) -> Iterator[Result]:
        if parameter not in values:
            yield _fail(shape, focus, None, "hasValue", f"The value {parameter} is missing")

    return check


def _make_not(shapes: Shapes, parameter: Node) -> Check:
    inner = shapes.shape(parameter)

    def check(engine: Engine, shape: Shape, focus: Node, values: list[Node]) -> Iterator[Result]:
        for value in values:
            if engine.conforms(inner, value):
                yield _fail(shape, focus, value, "not", "Value conforms to a shape that it must not conform to")

    return check


def _make_logical(name: str, enough: Callable[[int, int], bool], words: str) -> Callable[[Shapes, Node], Check]:
    """Return the maker of sh:or, sh:and or sh:xone: `enough` judges how many of the listed shapes hold."""

    def make(shapes: Shapes, parameter: Node) -> Check:
        inner = [shapes.shape(node) for node in shapes.rules.items(parameter)]

        def check(engine: Engine, shape: Shape, focus: Node, values: list[Node]) -> Iterator[Result]:
            for value in values:
                holding = sum(engine.conforms(one, value) for one in inner)
                if not enough(holding, len(inner)):
                    yield _fail(shape, focus, value, name, words)

        return check

    return make


def _make_disjoint(shapes: Shapes, parameter: Node) -> Check:
    def check(engine: Engine, shape: Shape, focus: Node, values: list[Node]) -> Iterator[Result]:
        others = set(engine.data.objects(focus, parameter))
        for value in values:
            if value in others:
                yield _fail(shape, focus, value, "disjoint", f"Value is also a value of {parameter}")

    return check


def _make_sparql(shapes: Shapes, parameter: Node) -> Check:
    rules = shapes.rules
    select = rules.value(parameter, SH.select)
    deactivated = rules.value(parameter, SH.deactivated)
    message = rules.value(parameter, SH.message)
    if select is None:
        raise UsageError(f"the fast CASE engine covers sh:select only (constraint {parameter})")
    text = str(select).replace("$this", "?this")
    # rdflib, under pySHACL, gives STR of a blank node its label; in SPARQL 1.1, and so in Oxigraph, it is an error.
    text = text.replace("STR(?this)", 'IF(isBlank(?this), "", STR(?this))')

    def check(engine: Engine, shape: Shape, focus: Node, values: list[Node]) -> Iterator[Result]:
        if isinstance(deactivated, Literal) and deactivated.value is True:
            return
        for value in engine.rows(text, parameter).get(focus, []):
            shown = focus if value is None and shape.walk is None else value
            yield _fail(shape, focus, shown, "sparql", str(message or "The SPARQL constraint is broken"))

    return check


_MAKERS: dict[Node, Callable[[Shapes, Node], Check]] = {
    SH.property: _make_property,
    SH.node: _make_node,
    SH["class"]: _make_class,
    SH.datatype: _make_datatype,
    SH.nodeKind: _make_node_kind,
    SH.minCount: _make_min_count,
    SH.maxCount: _make_max_count,
    SH["in"]: _make_in,
    SH.hasValue: _make_has_value,
    SH["not"]: _make_not,
    SH["or"]: _make_logical("or", lambda holding, of: holding > 0, "Value conforms to none of the listed shapes"),
    SH["and"]: _make_logical("and", lambda holding, of: holding == of, "Value does not conform to all listed shapes"),
    SH.xone: _make_logical("xone", lambda holding, of: holding == 1, "Value must conform to exactly one of the shapes"),
    SH.disjoint: _make_disjoint,
    SH.sparql: _make_sparql,
}  # fmt: skip


def _quads(triples: Triples, odd: dict[str, URIRef]) -> Iterator[pyoxigraph.Quad]:
    """Yield the triples as Oxigraph's quads, blank nodes by their own labels.

    rdflib keeps addresses that are none (with a blank, say); Oxigraph gets them escaped, and `odd` the way back.
    """
    for subject, properties in triples.by_subject.items():
        if isinstance(subject, Literal):
            continue
        start = _ox(subject, odd)
        assert not isinstance(start, pyoxigraph.Literal)
        for predicate, objects in properties.items():
            property_ = _named(str(predicate), odd)
            for object_ in objects:
                yield pyoxigraph.Quad(start, property_, _ox(object_, odd))


def _named(iri: str, odd: dict[str, URIRef]) -> pyoxigraph.NamedNode:
    try:
        return pyoxigraph.NamedNode(iri)
    except ValueError:
        escaped = "urn:odd:" + quote(iri, safe="")
        odd[escaped] = URIRef(iri)
        return pyoxigraph.NamedNode(escaped)


def _ox(node: Node, odd: dict[str, URIRef]) -> pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal:
    if isinstance(node, BNode):
        return pyoxigraph.BlankNode(str(node))
    if isinstance(node, Literal):
        if node.language:
            return pyoxigraph.Literal(str(node), language=node.language)
        datatype = None if node.datatype is None else _named(str(node.datatype), odd)
        return pyoxigraph.Literal(str(node), datatype=datatype)
    return _named(str(node), odd)


def _term(term: object, odd: dict[str, URIRef]) -> Node | None:
    """Return Oxigraph's answer as one of rdflib's terms."""
    if isinstance(term, pyoxigraph.NamedNode):
        return odd.get(term.value) or URIRef(term.value)
    if isinstance(term, pyoxigraph.BlankNode):
        return BNode(term.value)
    if isinstance(term, pyoxigraph.Literal):
        datatype = None if term.datatype.value == str(XSD.string) else URIRef(term.datatype.value)
        return Literal(term.value, lang=term.language, datatype=None if term.language else datatype)
    return None
