"""RDF run graph <-> property graph: the tables, and the rows made by them (docs/neo4j.md, ontology/mapping.tsv).

- A subject is a node: `uri` is its IRI, `run` the run it belongs to, `graph` "observed", "account" or "package" for
  the named graph that states it. Its labels are `Trace`, which every node has and which carries the unique key, and
  its classes of the trace vocabulary. Classes of PROV are implied by these and not repeated.
- A literal is a property, with its datatype; `decoded` is the only one with several values, a list.
- An individual (trace:Present, trace:BasisMissing) is a word in a property ("present", "missing").
- Any other object is a relationship, with `graph` as its distinguishing key.
- Added for people and left out when the graph is read back: the labels `Hidden` and `Searchable`, and the
  relationship NAMES (`DERIVED`).

An IRI that is too long for a key, such as that of a tool with an endless name, is kept in `iri`, and `uri` is a hash.

An evidence package gets labels of its own (`Package…`) and, since all packages of a case share its IRI, a view in
its IRIs: `urn:trace-prov:run:…:view:R11-0a1b2c3d:act-01`.

Labels, relationship types and property names come from these tables only; whatever a log holds is a value.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyoxigraph

from trace_prov.errors import GraphError
from trace_prov.graph import iris
from trace_prov.package.graph import PACKAGE, package_graph

BASE = "Trace"
#: on what is withheld, redacted, cut or unreadable
HIDDEN = "Hidden"
#: on records and arguments whose text fits in Neo4j's TEXT index; a longer text would make the load fail
SEARCHABLE = "Searchable"
#: measured on 5.26: one byte more and the server refuses the transaction
SEARCHABLE_BYTES = 32_766
#: prefix of the labels of a run in an evidence package, so that what it shows never mixes with the record
PACKAGE_PREFIX = "Package"
VIEW = ":view:"
LONG = ":long:"
#: Neo4j's key takes some 8,000 bytes; an IRI is ASCII
LONGEST_KEY = 4_000

#: class -> (label, the PROV classes that come with it); terms without a prefix are of the trace vocabulary
CLASSES: dict[str, tuple[str, tuple[str, ...]]] = {
    "AgentRun": ("Run", ("Activity",)),
    "Step": ("Step", ("Activity",)),
    "Action": ("Action", ("Activity",)),
    "Tool": ("Tool", ("Entity",)),
    "Agent": ("Agent", ("Agent", "SoftwareAgent")),
    "User": ("User", ("Agent",)),
    "Argument": ("Argument", ("Entity",)),
    "Record": ("Record", ("Entity",)),
    "RequestTurn": ("RequestTurn", ("Entity",)),
    "ExternalRecord": ("ExternalRecord", ("Entity",)),
    "Result": ("Result", ("Entity",)),
    "ListResult": ("ListResult", ("Collection", "Entity")),
    "ListElement": ("ListElement", ("Entity",)),
    "Declaration": ("Declaration", ("Entity",)),
    "AccountBundle": ("AccountBundle", ("Bundle", "Entity")),
    "Account": ("Account", ("Entity",)),
    "Note": ("Note", ("Entity",)),
    "Basis": ("Basis", ("Entity",)),
    "Citation": ("Citation", ("Influence",)),
    "BindingTable": ("BindingTable", ("Collection", "Entity")),
    "Binding": ("Binding", ("Entity",)),
    "RecordedInput": ("RecordedInput", ("Entity",)),
    "SourceLog": ("SourceLog", ("Entity",)),
    "Sidecar": ("Sidecar", ("Entity",)),
    "Diagnostic": ("Diagnostic", ("Entity",)),
    "package:EvidencePackage": ("EvidencePackage", ()),
    "package:Target": ("PackageTarget", ()),
    "package:Withheld": ("PackageWithheld", ()),
}

#: literal term -> (property, datatype); a name used twice stands on nodes of different labels (see OWNERS)
LITERALS: dict[str, tuple[str, str]] = {
    "accountText": ("text", "string"),
    "actionId": ("id", "string"),
    "actionParagraph": ("actionParagraph", "string"),
    "afterStep": ("afterStep", "integer"),
    "argumentName": ("name", "string"),
    "argumentsText": ("argumentsText", "string"),
    "basisText": ("text", "string"),
    "bindsLocator": ("locator", "string"),
    "channel": ("channel", "string"),
    "code": ("code", "string"),
    "declaresLocator": ("locator", "string"),
    "decoded": ("decoded", "string"),
    "elementsGiven": ("elementsGiven", "boolean"),
    "format": ("format", "string"),
    "inputText": ("text", "string"),
    "isError": ("isError", "boolean"),
    "listEnd": ("listEnd", "string"),
    "listStart": ("listStart", "string"),
    "localId": ("localId", "string"),
    "locator": ("locator", "string"),
    "member": ("member", "integer"),
    "message": ("message", "string"),
    "name": ("name", "string"),
    "nativeId": ("nativeId", "string"),
    "noteText": ("text", "string"),
    "number": ("number", "integer"),
    "order": ("order", "integer"),
    "place": ("place", "string"),
    "position": ("position", "integer"),
    "sha256": ("sha256", "string"),
    "size": ("size", "integer"),
    "step": ("step", "integer"),
    "surrogates": ("surrogates", "boolean"),
    "task": ("task", "string"),
    "text": ("text", "string"),
    "unknownShape": ("unknownShape", "boolean"),
    "valueType": ("valueType", "string"),
    "wholeText": ("wholeText", "string"),
    "package:account": ("account", "string"),
    "package:accountsCount": ("accountsCount", "integer"),
    "package:actionsCount": ("actionsCount", "integer"),
    "package:condition": ("condition", "string"),
    "package:declares": ("declares", "string"),
    "package:hiddenAs": ("hiddenAs", "string"),
    "package:inputs": ("inputs", "string"),
    "package:inputsCount": ("inputsCount", "integer"),
    "package:keptPattern": ("keptPattern", "string"),
    "package:keptWord": ("keptWords", "string"),
    "package:labels": ("localIdLabels", "string"),
    "package:literal": ("literal", "string"),
    "package:position": ("position", "integer"),
    "package:recordsCount": ("recordsCount", "integer"),
    "package:request": ("request", "string"),
    "package:resultsCount": ("resultsCount", "integer"),
    "package:rowsCount": ("rowsCount", "integer"),
    "package:table": ("table", "string"),
    "package:targetAction": ("action", "string"),
    "package:targetArgument": ("argument", "string"),
    "package:turnsCount": ("turnsCount", "integer"),
    "package:what": ("what", "string"),
    "package:why": ("why", "string"),
}

#: individual term -> (property, prefix of its individuals)
INDIVIDUALS: dict[str, tuple[str, str]] = {
    "state": ("state", ""),
    "basisState": ("state", "Basis"),
    "tableState": ("state", "Table"),
    "severity": ("severity", "Severity"),
}

#: where one property name stands for several terms: label -> {property: term}; all others use the term below
OWNERS: dict[str, dict[str, str]] = {
    "Account": {"text": "accountText"},
    "Argument": {"name": "argumentName"},
    "Basis": {"text": "basisText", "state": "basisState"},
    "Binding": {"locator": "bindsLocator"},
    "BindingTable": {"state": "tableState"},
    "Declaration": {"locator": "declaresLocator"},
    "Note": {"text": "noteText"},
    "PackageWithheld": {"position": "package:position"},
    "RecordedInput": {"text": "inputText", "locator": "bindsLocator"},
}
_TERM_OF = {property_: term for term, (property_, _) in (LITERALS | INDIVIDUALS).items()} | {
    "locator": "locator",
    "name": "name",
    "position": "position",
    "state": "state",
    "text": "text",
}
MANY_VALUED = frozenset({"decoded", "package:declares", "package:keptWord"})


@dataclass(frozen=True, slots=True)
class EdgeRule:
    """A predicate between nodes of two labels (None: any) is a relationship of `type`, against it if `reversed`."""

    predicate: str
    type: str
    start: str | None = None
    end: str | None = None
    reversed: bool = False


def _prov(name: str) -> str:
    return iris.PROV + name


def _trace(name: str) -> str:
    """The IRI of a term of the trace vocabulary, or of the package vocabulary with its prefix."""
    own = name.removeprefix("package:")
    return iris.TRACE + name if own == name else PACKAGE + own


EDGES: tuple[EdgeRule, ...] = (
    EdgeRule(_trace("accountBundle"), "HAS_ACCOUNTS", "Run", "AccountBundle"),
    EdgeRule(_trace("accountOf"), "ACCOUNT_OF", "Account", "Action"),
    EdgeRule(_trace("bindsRecord"), "BINDS", "Binding"),
    EdgeRule(_trace("declares"), "DECLARES", "Result", "Declaration"),
    EdgeRule(_trace("hasAction"), "HAS_ACTION", "Run", "Action"),
    EdgeRule(_trace("hasBasis"), "HAS_BASIS", "Account", "Basis"),
    EdgeRule(_trace("hasDiagnostic"), "HAS_DIAGNOSTIC", "Run", "Diagnostic"),
    EdgeRule(_trace("hasInput"), "HAS_INPUT", "Run", "RecordedInput"),
    EdgeRule(_trace("hasNote"), "HAS_NOTE", "Account", "Note"),
    EdgeRule(_trace("hasResult"), "GAVE", "Action", "Result"),
    EdgeRule(_trace("hasTable"), "HAS_TABLE", "Run", "BindingTable"),
    EdgeRule(_trace("hasTurn"), "HAS_TURN", "Run", "RequestTurn"),
    EdgeRule(_trace("recordedIn"), "RECORDED_IN", "Run"),
    EdgeRule(_trace("run"), "HOLDS_IN", "Binding", "Run"),
    EdgeRule(_trace("tool"), "CALLS", "Action", "Tool"),
    EdgeRule(_trace("package:hasTarget"), "HAS_TARGET", "EvidencePackage", "PackageTarget"),
    EdgeRule(_trace("package:packageOf"), "PACKAGE_OF", "EvidencePackage", "Run"),
    EdgeRule(_trace("package:withholds"), "WITHHOLDS", "EvidencePackage", "PackageWithheld"),
    EdgeRule(_prov("actedOnBehalfOf"), "ACTED_FOR", "Agent", "User"),
    EdgeRule(_prov("hadMember"), "HAS_ELEMENT", "ListResult", "ListElement"),
    EdgeRule(_prov("hadMember"), "HAS_ROW", "BindingTable", "Binding"),
    EdgeRule(_prov("qualifiedInfluence"), "CITES", "Basis", "Citation"),
    EdgeRule(_prov("used"), "HAS_ARGUMENT", "Action", "Argument"),
    EdgeRule(_prov("used"), "USED", "Step"),
    EdgeRule(_prov("wasAssociatedWith"), "BY", None, "Agent"),
    EdgeRule(_prov("wasAttributedTo"), "ATTRIBUTED_TO"),
    EdgeRule(_prov("wasGeneratedBy"), "GENERATED_BY"),
    EdgeRule(_prov("wasInformedBy"), "ISSUED_IN", "Action", "Step"),
    EdgeRule(_prov("wasInformedBy"), "NEXT", "Step", "Step", reversed=True),
)
#: relationships added for people: type -> what they join
DERIVED = {
    "NAMES": "a citation and the visible table row of its local id",
}
TYPES = (*dict.fromkeys(rule.type for rule in EDGES), *DERIVED)
CLASS_LABELS = tuple(label for label, _ in CLASSES.values())
#: labels that exist only in packages, and so need no prefix
_PACKAGE_ONLY = frozenset(label for name, (label, _) in CLASSES.items() if name.startswith("package:"))
#: every label that a node may have
LABELS = frozenset(
    {BASE, HIDDEN, SEARCHABLE, PACKAGE_PREFIX + SEARCHABLE, *CLASS_LABELS}
    | {PACKAGE_PREFIX + label for label in CLASS_LABELS if label not in _PACKAGE_ONLY}
)

OBSERVED, ACCOUNT, CLAIMS = "observed", "account", "package"
_HIDDEN_WORDS = frozenset({"cut", "redacted", "withheld", "unreadable"})
_SEARCHED = frozenset({"Record", "Argument"})
_LABEL_OF = {_trace(name): label for name, (label, _) in CLASSES.items()}
_CLASS_OF = {label: name for name, (label, _) in CLASSES.items()}
_PLAIN_LABEL = {PACKAGE_PREFIX + label: label for label in CLASS_LABELS if label not in _PACKAGE_ONLY}
_IMPLIED = {label: frozenset(map(_prov, implied)) for label, implied in CLASSES.values()}
_LITERAL_OF = {_trace(term): (property_, kind, term) for term, (property_, kind) in LITERALS.items()}
_DATATYPE_OF = {kind: iris.XSD + kind for kind in ("string", "integer", "boolean")}
_INDIVIDUAL_OF = {_trace(term): (property_, _trace(prefix), term) for term, (property_, prefix) in INDIVIDUALS.items()}
_RULES: dict[str, list[EdgeRule]] = defaultdict(list)
for _rule in EDGES:
    _RULES[_rule.predicate].append(_rule)
_RULE_OF_TYPE = {rule.type: rule for rule in EDGES}

Properties = dict[str, Any]


@dataclass
class Rows:
    """A run as rows: nodes grouped by their labels, relationships by type, each a map of parameters.

    A node's row is its properties; a relationship's is `start` and `end` (the nodes' uri) and `graph`.
    """

    run: str
    nodes: dict[tuple[str, ...], list[Properties]] = field(default_factory=lambda: defaultdict(list))
    edges: dict[str, list[Properties]] = field(default_factory=lambda: defaultdict(list))

    @property
    def node_count(self) -> int:
        return sum(map(len, self.nodes.values()))

    @property
    def edge_count(self) -> int:
        return sum(map(len, self.edges.values()))


@dataclass
class _Subject:
    """What the quads say of one subject; `terms` are those that its properties come from."""

    graph: str
    role: str = ""
    labels: list[str] = field(default_factory=list)
    prov: set[str] = field(default_factory=set)
    properties: Properties = field(default_factory=dict)
    links: list[tuple[str, str]] = field(default_factory=list)
    terms: dict[str, str] = field(default_factory=dict)


def rows_of(quads: Iterable[pyoxigraph.Quad], *, view: str | None = None) -> Rows:
    """Return the rows of one run's quads, in any order; `view` names what of it an evidence package shows.

    Raises GraphError for what the tables have no place for.
    """
    return _rows(_subjects(_of_quads(quads)), view)


def rows_of_nquads(nquads: bytes, *, view: str | None = None) -> Rows:
    """The same from N-Quads; what `run_to_nquads` and the store write is read fastest."""
    return _rows(_subjects(_of_nquads(nquads)), view)


def _rows(subjects: dict[str, _Subject], view: str | None) -> Rows:
    runs = [iri for iri, subject in subjects.items() if "Run" in subject.labels]
    if len(runs) != 1:
        raise GraphError("graph", expected="the graph of one run", found=f"{len(runs)} runs")
    run = runs[0]
    if not iris.is_run(run):
        raise GraphError(run, expected="urn:trace-prov:run: and 32 hexadecimal digits", found="another name for a run")
    for iri in subjects:
        if iri != run and (not iri.startswith(f"{run}:") or iri.startswith((run + VIEW, run + LONG))):
            raise GraphError(iri, expected=f"a node of the run {run}", found="a name that another node may have")
    if view is not None:
        subjects = {viewed(iri, run, view): subject for iri, subject in subjects.items()}
        for subject in subjects.values():
            subject.links = [(predicate, viewed(end, run, view)) for predicate, end in subject.links]
    roles = roles_of(run)
    rows = Rows(run if view is None else viewed(run, run, view))
    for iri, subject in subjects.items():
        _check(iri, subject, roles)
        subject.role = roles[subject.graph]
        subject.properties |= {"uri": key_of(iri, rows.run), "run": rows.run, "graph": subject.role}
        if subject.properties["uri"] != iri:
            subject.properties["iri"] = iri
        rows.nodes[_labels(subject, view is not None)].append(subject.properties)
    for iri, subject in subjects.items():
        for predicate, end in subject.links:
            _add_edge(rows, subjects, iri, predicate, end)
    _add_derived(rows, subjects)
    return rows


def key_of(iri: str, run: str) -> str:
    """The value of the unique key: the IRI, or a hash of one that is too long for a key."""
    return iri if len(iri) <= LONGEST_KEY else f"{run}{LONG}{hashlib.sha256(iri.encode()).hexdigest()}"


def viewed(iri: str, run: str, view: str) -> str:
    """The IRI under which a package's node is stored: the run's IRI, the view, and what follows the run's IRI."""
    return run + VIEW + view + iri.removeprefix(run)


def unviewed(iri: str) -> str:
    """The IRI that `viewed` was given; an IRI without a view as it is."""
    run, found, rest = iri.partition(VIEW)
    return iri if not found else run + "".join(rest.partition(":")[1:])


def roles_of(run: str) -> dict[str, str]:
    """What the named graphs of a run are for."""
    return {run: OBSERVED, iris.account_bundle(run): ACCOUNT, package_graph(run): CLAIMS}


#: subject, predicate, value, datatype (None for an IRI), graph; all without brackets and quotes
_Statement = tuple[str, str, str, str | None, str]


def _of_quads(quads: Iterable[pyoxigraph.Quad]) -> Iterator[_Statement]:
    for quad in quads:
        subject, term, graph = quad.subject, quad.object, quad.graph_name
        if not isinstance(subject, pyoxigraph.NamedNode):
            raise GraphError("graph", expected="nodes with an IRI", found=str(subject))
        if isinstance(term, pyoxigraph.Literal):
            value, datatype = term.value, term.datatype.value
        elif isinstance(term, pyoxigraph.NamedNode):
            value, datatype = term.value, None
        else:
            raise GraphError(subject.value, place=quad.predicate.value, expected="an IRI or a literal", found=str(term))
        name = graph.value if isinstance(graph, pyoxigraph.NamedNode) else ""
        yield subject.value, quad.predicate.value, value, datatype, name


def _of_nquads(nquads: bytes) -> Iterator[_Statement]:
    """The statements of N-Quads: as this product writes them by one pattern a line, any other line by the parser.

    Twice as fast as the parser alone, and a load waits for it.
    """
    for line in nquads.decode().split("\n"):
        match = _LINE.fullmatch(line)
        if match is not None:
            subject, predicate, target, text, datatype, graph = match.groups()
            if target is not None:
                yield subject, predicate, target, None, graph
                continue
            if "\\" in text:
                text = _ESCAPE.sub(_unescaped, text)
            yield subject, predicate, text, datatype or _XSD_STRING, graph
        elif line:
            yield from _of_quads(_parsed(line))


def _parsed(line: str) -> list[pyoxigraph.Quad]:
    try:
        return list(pyoxigraph.parse(line, format=pyoxigraph.RdfFormat.N_QUADS))
    except SyntaxError as error:
        raise GraphError("graph", expected="N-Quads", found=f"{line[:80]!r}: {error.msg}") from None


_XSD_STRING = f"{iris.XSD}string"
_IRI = r"<([^\x00-\x20<>\"{}|^`\\]*)>"
#: an IRI or a literal without a language, in a named graph, with the escapes that canonical N-Quads has
_LINE = re.compile(
    rf'{_IRI} {_IRI} (?:{_IRI}|"([^"\\\r]*(?:\\(?:[tbnrf"\\]|u00[01][0-9A-F]|u007F|uFFF[EF])[^"\\\r]*)*)"'
    rf"(?:\^\^{_IRI})?) {_IRI} \."
)
_ESCAPE = re.compile(r"\\(?:u(....)|(.))")
_PLAIN_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "\\": "\\"}


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _PLAIN_ESCAPES[match[2]]


def _subjects(quads: Iterable[_Statement]) -> dict[str, _Subject]:
    subjects: dict[str, _Subject] = {}
    for iri, predicate, value, datatype, graph in quads:
        subject = subjects.get(iri)
        if subject is None:
            subject = subjects[iri] = _Subject(graph)
        elif subject.graph != graph:
            raise GraphError(iri, expected="a node stated in one graph", found=f"{subject.graph} and {graph}")
        if datatype is not None:
            _add_literal(iri, subject, predicate, value, datatype)
        elif predicate == iris.RDF_TYPE:
            if value in _LABEL_OF:
                subject.labels.append(_LABEL_OF[value])
            else:
                subject.prov.add(value)
        elif predicate in _INDIVIDUAL_OF:
            _add_word(iri, subject, predicate, value)
        else:
            subject.links.append((predicate, value))
    return subjects


def _add_word(iri: str, subject: _Subject, predicate: str, individual: str) -> None:
    property_, prefix, name = _INDIVIDUAL_OF[predicate]
    word = individual.removeprefix(prefix).lower()
    if individual != prefix + word.capitalize():
        raise GraphError(iri, place=f"trace:{name}", expected=f"an individual such as {prefix}…", found=individual)
    _set(iri, subject, property_, name, word)


def _add_literal(iri: str, subject: _Subject, predicate: str, text: str, datatype: str) -> None:
    if predicate not in _LITERAL_OF:
        raise GraphError(iri, place=predicate, expected="a property of the trace vocabulary", found="another")
    property_, kind, name = _LITERAL_OF[predicate]
    if datatype != _DATATYPE_OF[kind]:
        raise GraphError(iri, place=f"trace:{name}", expected=f"xsd:{kind}", found=datatype)
    value: Any = text
    if kind == "integer":
        value = _integer(iri, name, text)
    elif kind == "boolean":
        if text not in ("true", "false"):
            raise GraphError(iri, place=f"trace:{name}", expected="true or false", found=text)
        value = text == "true"
    if name not in MANY_VALUED:
        _set(iri, subject, property_, name, value)
    else:
        subject.terms[property_] = name
        subject.properties.setdefault(property_, []).append(value)


def _integer(iri: str, name: str, text: str) -> int:
    """The number, if the database gives it back as it is written here."""
    if _WRITTEN_INTEGER.fullmatch(text) is None or not -(2**63) <= int(text) < 2**63:
        raise GraphError(iri, place=f"trace:{name}", expected="a whole number of 64 bits", found=text)
    return int(text)


_WRITTEN_INTEGER = re.compile("0|-?[1-9][0-9]{0,18}")


def _set(iri: str, subject: _Subject, property_: str, name: str, value: Any) -> None:
    if property_ in subject.properties:
        raise GraphError(iri, place=f"trace:{name}", expected="one value", found="several")
    subject.terms[property_] = name
    subject.properties[property_] = value


def _check(iri: str, subject: _Subject, roles: dict[str, str]) -> None:
    """Refuse what would not come back: a node without a class, other PROV classes than those implied."""
    if not subject.labels:
        raise GraphError(iri, expected="a class of the trace vocabulary", found="none")
    implied = frozenset().union(*(_IMPLIED[label] for label in subject.labels))
    if subject.prov != implied:
        found = " ".join(sorted(subject.prov)) or "none"
        raise GraphError(iri, expected=f"the classes {' '.join(sorted(implied))}", found=found)
    if subject.graph not in roles:
        raise GraphError(iri, expected=f"a graph of {min(roles)}", found=subject.graph or "the default graph")
    owned = _owned(subject.labels)
    for property_, term in subject.terms.items():
        expected = owned.get(property_) or _TERM_OF[property_]
        if term != expected:
            raise GraphError(iri, place=f"trace:{term}", expected=f"trace:{expected}", found="another for such a node")


def _owned(labels: Iterable[str]) -> dict[str, str]:
    """Which term a property with several stands for on a node of these labels."""
    return {name: term for label in labels for name, term in OWNERS.get(label, {}).items()}


def _labels(subject: _Subject, package: bool) -> tuple[str, ...]:
    """The node's labels: BASE first, as the Browser's style wants it, then what is added, then its classes."""
    prefix = PACKAGE_PREFIX if package else ""
    own = sorted(set(subject.labels), key=CLASS_LABELS.index)
    added = []
    if not _SEARCHED.isdisjoint(own) and fits_text_index(subject.properties.get("text")):
        added.append(prefix + SEARCHABLE)
    if subject.properties.get("state") in _HIDDEN_WORDS:
        added.append(HIDDEN)
    return (BASE, *added, *(label if label in _PACKAGE_ONLY else prefix + label for label in own))


def fits_text_index(text: str | None) -> bool:
    """Whether Neo4j's TEXT index takes this value."""
    if text is None or len(text) > SEARCHABLE_BYTES:
        return False
    return len(text) * 4 <= SEARCHABLE_BYTES or len(text.encode()) <= SEARCHABLE_BYTES


def _add_edge(rows: Rows, subjects: dict[str, _Subject], start: str, predicate: str, end: str) -> None:
    target = subjects.get(end)
    if target is None:
        raise GraphError(start, place=predicate, expected="a node of the same run", found=end)
    labels, end_labels = subjects[start].labels, target.labels
    for rule in _RULES.get(predicate, ()):
        if rule.start in (None, *labels) and rule.end in (None, *end_labels):
            first, second = (end, start) if rule.reversed else (start, end)
            ends = {"start": key_of(first, rows.run), "end": key_of(second, rows.run)}
            rows.edges[rule.type].append(ends | {"graph": subjects[start].role})
            return
    found = f"it between {'/'.join(labels)} and {'/'.join(end_labels)}"
    raise GraphError(start, place=predicate, expected="a property of the trace vocabulary", found=found)


def _add_derived(rows: Rows, subjects: dict[str, _Subject]) -> None:
    bindings = {subject.properties["localId"]: iri for iri, subject in subjects.items() if "Binding" in subject.labels}
    for iri, subject in subjects.items():
        if "Citation" in subject.labels and subject.properties["localId"] in bindings:
            named = bindings[subject.properties["localId"]]
            ends = {"start": key_of(iri, rows.run), "end": key_of(named, rows.run)}
            rows.edges["NAMES"].append(ends | {"graph": ACCOUNT})


def quads_of(
    nodes: Iterable[tuple[Iterable[str], Properties]], edges: Iterable[tuple[str, str, str, str]], run: str
) -> set[pyoxigraph.Quad]:
    """Return the RDF quads that nodes (labels, properties) and edges (type, start, end, graph role) stand for."""
    graphs = {role: _named(graph) for graph, role in roles_of(unviewed(run)).items()}
    quads: set[pyoxigraph.Quad] = set()
    long: dict[str, str] = {}
    for labels, properties in nodes:
        if "iri" in properties:
            long[properties["uri"]] = properties["iri"]
        graph = graphs[properties["graph"]]
        subject = _named(unviewed(properties["iri"] if "iri" in properties else properties["uri"]))
        own = [label for label in (_PLAIN_LABEL.get(label, label) for label in labels) if label in _CLASS_OF]
        for label in own:
            _type_quads(quads, subject, label, graph)
        owned = _owned(own)
        for name, value in properties.items():
            if name not in ("uri", "iri", "run", "graph"):
                term = owned.get(name, _TERM_OF[name])
                values = value if isinstance(value, list) else [value]
                quads.update(pyoxigraph.Quad(subject, _named(_trace(term)), _term(term, v), graph) for v in values)
    for type_, start, end, role in edges:
        if type_ not in DERIVED:
            rule = _RULE_OF_TYPE[type_]
            first, second = (end, start) if rule.reversed else (start, end)
            ends = [_named(unviewed(long.get(key, key))) for key in (first, second)]
            quads.add(pyoxigraph.Quad(ends[0], _named(rule.predicate), ends[1], graphs[role]))
    return quads


def _type_quads(
    quads: set[pyoxigraph.Quad], subject: pyoxigraph.NamedNode, label: str, graph: pyoxigraph.NamedNode
) -> None:
    for class_ in (_trace(_CLASS_OF[label]), *_IMPLIED[label]):
        quads.add(pyoxigraph.Quad(subject, _named(iris.RDF_TYPE), _named(class_), graph))


def _term(term: str, value: Any) -> pyoxigraph.NamedNode | pyoxigraph.Literal:
    if term in INDIVIDUALS:
        return _named(_trace(INDIVIDUALS[term][1] + value.capitalize()))
    kind = LITERALS[term][1]
    if kind == "string":
        return pyoxigraph.Literal(value)
    lexical = ("true" if value else "false") if kind == "boolean" else str(value)
    return pyoxigraph.Literal(lexical, datatype=_named(iris.XSD + kind))


def _named(iri: str) -> pyoxigraph.NamedNode:
    return pyoxigraph.NamedNode(iri)
