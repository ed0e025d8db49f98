"""Every shape of the contract is broken by a package made for it, and says so in words; both engines find the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import pytest
from pyoxigraph import Literal as Text
from pyoxigraph import NamedNode as Node
from pyoxigraph import Quad

from tests.package.cases import package_of, small_run
from trace_prov.graph import iris
from trace_prov.model import TableState
from trace_prov.package.condition import BUILT_IN, Condition, Labels
from trace_prov.package.contract import Shapes, shapes_for, shapes_of
from trace_prov.package.graph import PACKAGE, package_to_quads
from trace_prov.package.model import Package
from trace_prov.package.shacl import Grade, Result, engine_named, to_ntriples

PROV, TRACE = iris.PROV, iris.TRACE


@dataclass
class Edit:
    """A package's quads, to be damaged. Nodes are named by what follows the run's IRI."""

    package: Package
    quads: list[Quad] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.quads = package_to_quads(self.package)
        self.run = self.package.run.id

    def node(self, suffix: str) -> Node:
        return Node(self.run + suffix)

    def drop(self, suffix: str, predicate: str | None = None) -> Edit:
        before = len(self.quads)
        self.quads = [
            quad
            for quad in self.quads
            if quad.subject != self.node(suffix) or predicate not in (None, quad.predicate.value)
        ]
        assert len(self.quads) < before, f"nothing to drop at {suffix}"
        return self

    def add(self, suffix: str, predicate: str, value: object) -> Edit:
        term = value if isinstance(value, Node) else Text(value)  # type: ignore[arg-type]
        self.quads.append(Quad(self.node(suffix), Node(predicate), term, self.node("")))
        return self

    def set(self, suffix: str, predicate: str, value: object) -> Edit:
        return self.drop(suffix, predicate).add(suffix, predicate, value)


Damage = Callable[[Edit], Edit]
T, P = TRACE, PACKAGE
PARTIAL = Condition("part", account=True, table=TableState.PARTIAL, rows=("in-2",))


def claim(name: str, value: object) -> Damage:
    return lambda edit: edit.set(":package", f"{P}{name}", value)


def _without(edit: Edit, suffix: str) -> Edit:
    edit.quads = [quad for quad in edit.quads if edit.node(suffix) not in (quad.subject, quad.object)]
    return edit


def declared(edit: Edit, what: str, how: str, why: str) -> Edit:
    """A further line of the declaration."""
    node = f":withheld:{len(edit.package.withheld) + 1}"
    for name, value in (("what", what), ("hiddenAs", how), ("why", why), ("position", 9)):
        edit.add(node, f"{P}{name}", value)
    return edit.add(":package", f"{P}withholds", edit.node(node)).add(node, iris.RDF_TYPE, Node(f"{P}Withheld"))


def _row(edit: Edit) -> str:
    """The second row."""
    return f":in:{edit.package.run.table.rows[1].local_id}"


def _swapped(edit: Edit) -> Edit:
    """Two rows trade their labels, which breaks their order and nothing else that can be seen of them."""
    second, third = (row.local_id for row in edit.package.run.table.rows[1:3])
    return edit.set(f":in:{second}", f"{T}localId", third).set(f":in:{third}", f"{T}localId", second)


#: what -> (condition, damage, the rules that it breaks)
DAMAGES: dict[str, tuple[str | Condition, Damage, set[str]]] = {
    "no run": ("C10", lambda e: e.drop(":package", f"{P}packageOf"), {"package"}),
    "a claim of nothing": ("C10", claim("labels", "nice"), {"package", "C10", "labels-original"}),
    "another run in the graph": (
        "C10",
        lambda e: e.add(":other", iris.RDF_TYPE, Node(f"{T}AgentRun")),
        {"package", "record"},
    ),
    "a dropped action counts less": ("C10", claim("actionsCount", 4), {"counts"}),
    "a dropped result counts less": ("C10", claim("resultsCount", 9), {"counts"}),
    "a dropped row counts less": ("C10", claim("rowsCount", 6), {"counts"}),
    "a dropped account counts less": ("C10", claim("accountsCount", 3), {"counts"}),
    "a count that is no number": ("C10", claim("turnsCount", "one"), {"counts"}),
    "no target": ("C10", lambda e: e.drop(":package", f"{P}hasTarget"), {"target"}),
    "an empty target": ("C10", lambda e: e.set(":target", f"{P}literal", ""), {"target"}),
    "a target action that is not there": ("C10", lambda e: e.set(":target", f"{P}targetAction", "act-07"), {"target"}),
    "a target that is not the argument": ("C10", lambda e: e.set(":target", f"{P}literal", "XX"), {"target"}),
    "an action without id": ("C10", lambda e: e.drop(":act-02", f"{T}actionId"), {"record"}),
    "an action with another number": ("C10", lambda e: e.set(":act-02", f"{T}number", 5), {"record"}),
    "an action without tool": ("C10", lambda e: e.drop(":act-01", f"{T}tool"), {"record"}),
    "an action of no run": ("C10", lambda e: e.drop("", f"{T}hasAction"), {"record"}),
    "an argument without name": ("C10", lambda e: e.drop(":act-01.argument:1", f"{T}argumentName"), {"record"}),
    "a result without order": ("C10", lambda e: e.drop(":act-01.result", f"{T}order"), {"record"}),
    "a result with another locator": (
        "C10", lambda e: e.set(":act-01.result", f"{T}locator", "act-09.result"), {"record", "bindings"},
    ),
    "a result that lost its text": ("C10", lambda e: e.drop(":act-01.result", f"{T}text"), {"record"}),
    "an element that lost its text": ("C10", lambda e: e.drop(":act-02.result:1", f"{T}text"), {"record"}),
    "an element without place": ("C10", lambda e: e.drop(":act-02.result:1", f"{T}position"), {"record"}),
    "a turn without number": ("C10", lambda e: e.drop(":request.user", f"{T}number"), {"record"}),
    "a run without table": ("C10", lambda e: e.drop("", f"{T}hasTable"), {"record"}),
    "text of a redacted result": (
        Condition("X", account=True, redact=()), lambda e: e.set(":act-01.result", f"{T}state", Node(f"{T}Redacted")),
        {"hidden", "declaration"},
    ),
    "a recorded input tells a hidden record": (
        "R11",
        lambda e: e.set(":act-01.result", f"{T}state", Node(f"{T}Redacted")).drop(":act-01.result", f"{T}text")
        .drop(":act-01.result", f"{T}sha256"),
        {"hidden", "declaration"},
    ),
    "a hidden layer that is not declared": ("C00", lambda e: e.drop(":withheld:1", f"{P}what"), {"declaration"}),
    "a layer declared as hidden and shown": (
        "C10", lambda e: e.set(":withheld:1", f"{P}what", "account"), {"declaration"},
    ),
    "declared as hidden and shown": (
        "C10", lambda e: e.set(":withheld:1", f"{P}what", "act-01.result"), {"declaration"},
    ),
    "an account declared as hidden and shown": (
        "C10", lambda e: e.set(":withheld:1", f"{P}what", "act-01.account"), {"declaration"},
    ),
    "an unknown way to hide": ("C10", lambda e: e.set(":withheld:1", f"{P}hiddenAs", "lost"), {"declaration"}),
    "an element that is not declared": (
        "C10",
        lambda e: e.add(":act-01.result.declared:1", iris.RDF_TYPE, Node(f"{T}Declaration"))
        .add(":act-01.result.declared:1", f"{T}declaresLocator", "act-01.result[1]")
        .add(":act-01.result.declared:1", f"{T}position", 1)
        .add(":act-01.result", f"{T}declares", Node(e.run + ":act-01.result.declared:1")),
        {"declaration"},
    ),
    "a Basis that is not known": (
        "C10", lambda e: e.drop(":act-03.basis", f"{T}basisState"), {"account-shown", "counts"},
    ),
    "a citation beside an empty Basis": (
        "C10", lambda e: e.set(":act-03.basis", f"{T}basisState", Node(f"{T}BasisEmpty")), {"account-shown"},
    ),
    "an account that is hidden and not declared": (
        "C10",
        lambda e: e.set(":act-03.basis", f"{T}basisState", Node(f"{T}BasisWithheld"))
        .drop(":act-03.basis", f"{PROV}qualifiedInfluence"),
        {"account-shown", "counts"},
    ),
    "an account where it is withheld": (
        "R01", lambda e: e.add(":act-01.account", f"{T}accountText", "I call it"), {"account-withheld"},
    ),
    "a Basis where the account is withheld": (
        "R00",
        lambda e: e.set(":act-03.basis", f"{T}basisState", Node(f"{T}BasisMissing")),
        {"account-withheld", "counts"},
    ),
    "a citation where the account is withheld": (
        "R01",
        lambda e: e.add(":act-01.citation:1", iris.RDF_TYPE, Node(f"{T}Citation"))
        .add(":act-01.citation:1", f"{T}localId", "in-1"),
        {"account-withheld"},
    ),
    "the request where it is withheld": (
        "C00", lambda e: e.add(":request.user", f"{T}text", "Pay the rent"), {"request-withheld", "hidden"},
    ),
    "a turn that is not marked": (
        "C00", lambda e: e.set(":request.user", f"{T}state", Node(f"{T}Present")), {"request-withheld"},
    ),
    "the request lost where it is shown": (
        "R01", lambda e: e.drop(":request.user", f"{T}text"), {"request-shown"},
    ),
    "the request hidden where it is shown": (
        "R01",
        lambda e: e.drop(":request.user", f"{T}text").set(":request.user", f"{T}state", Node(f"{T}Redacted")),
        {"request-shown", "declaration", "hidden"},
    ),
    "a recorded input where it is withheld": (
        "C10",
        lambda e: e.add(":input:1", iris.RDF_TYPE, Node(f"{T}RecordedInput")).add(":input:1", f"{T}inputText", "x"),
        {"inputs-withheld", "counts"},
    ),
    "a recorded input without row": (
        "R11", lambda e: e.set(":input:2", f"{T}localId", "in-77"), {"inputs-shown"},
    ),
    "a recorded input without channel": ("R11", lambda e: e.drop(":input:2", f"{T}channel"), {"inputs-shown"}),
    "a row with text": (
        "C10", lambda e: e.add(":in:in-2", f"{T}text", "Pay the rent to my landlord"), {"bindings"},
    ),
    "a row without address": ("C10", lambda e: e.drop(":in:in-2", f"{T}bindsLocator"), {"bindings"}),
    "a row for nothing": ("C10", lambda e: e.set(":in:in-2", f"{T}bindsLocator", "act-08.result"), {"bindings"}),
    "two rows for an id": ("C10", lambda e: e.set(":in:in-2", f"{T}localId", "in-3"), {"bindings"}),
    "a row taken out": (
        "C10", lambda e: _without(e, ":in:in-3"), {"bindings", "counts"},
    ),
    "a row of no table": ("C10", lambda e: e.drop(":table", f"{PROV}hadMember"), {"bindings"}),
    "a table that is not known": ("C10", lambda e: e.drop(":table", f"{T}tableState"), {"bindings"}),
    "a table less complete than claimed": (
        "C10", lambda e: e.set(":table", f"{T}tableState", Node(f"{T}TablePartial")), {"table-complete"},
    ),
    "a partial table said to be complete": (
        PARTIAL, lambda e: e.set(":table", f"{T}tableState", Node(f"{T}TableComplete")), {"table-partial"},
    ),
    "a row where the table is withheld": (
        "C00",
        lambda e: e.add(":in:in-2", iris.RDF_TYPE, Node(f"{T}Binding")).add(":in:in-2", f"{T}localId", "in-2")
        .add(":in:in-2", f"{T}bindsLocator", "act-01.result").add(":in:in-2", f"{T}position", 1)
        .add(":in:in-2", f"{T}run", Node(e.run)).add(":table", f"{PROV}hadMember", Node(e.run + ":in:in-2")),
        {"table-withheld", "counts"},
    ),
    "a table where it is withheld": (
        "C00", lambda e: e.set(":table", f"{T}tableState", Node(f"{T}TableComplete")), {"table-withheld"},
    ),
    "a claim of a condition that is a sentence": (
        PARTIAL, claim("condition", "the answer is act-01.result"), {"package"},
    ),
    "a step left out": ("C10", lambda e: e.set(":act-03", f"{T}step", 7), {"record"}),
    "a turn left out": ("C10", lambda e: e.set(":request.user", f"{T}number", 2), {"record"}),
    "a turn after the last step": ("C10", lambda e: e.set(":request.user", f"{T}afterStep", 9), {"record"}),
    "a result before its call": ("C10", lambda e: e.set(":act-03.result", f"{T}afterStep", 1), {"record"}),
    "a result after the last step": ("C10", lambda e: e.set(":act-03.result", f"{T}afterStep", 9), {"record"}),
    "two results at one place": ("C10", lambda e: e.set(":act-03.result", f"{T}order", 1), {"record"}),
    "two arguments of one name": (
        "C10", lambda e: e.set(":act-03.argument:3", f"{T}argumentName", "amount"), {"record"},
    ),
    "a text of arguments beside them": ("C10", lambda e: e.add(":act-01", f"{T}argumentsText", "{}"), {"record"}),
    "two accounts of one message": (
        "C10",
        lambda e: e.set(":act-01.account", f"{T}accountOf", e.node(":act-01"))
        .add(":act-02.account", iris.RDF_TYPE, Node(f"{T}Account"))
        .add(":act-02.account", f"{T}accountOf", e.node(":act-02"))
        .add(":act-02.account", f"{T}hasBasis", e.node(":act-01.basis"))
        .set(":package", f"{P}accountsCount", 3),
        {"account-shown"},
    ),
    "a part of an account without its text": (
        "C10", lambda e: e.drop(":act-03.account", f"{T}accountText"), {"account-shown"},
    ),
    "a text of a Basis that is missing": (
        "C10",
        lambda e: e.set(":act-03.basis", f"{T}basisState", Node(f"{T}BasisMissing"))
        .drop(":act-03.basis", f"{PROV}qualifiedInfluence"),
        {"account-shown"},
    ),
    "a layer declared twice": (
        "C10", lambda e: e.set(":withheld:1", f"{P}what", "recorded inputs"), {"declaration"},
    ),
    "a text in the declaration": (
        "C10", lambda e: declared(e, "Pay the rent.arguments", "redacted", "redaction"), {"declaration"},
    ),
    "arguments declared as hidden and shown": (
        "C10", lambda e: declared(e, "act-03.arguments", "redacted", "redaction"), {"declaration"},
    ),
    "a layer hidden by a redaction": ("C10", lambda e: e.set(":withheld:1", f"{P}why", "redaction"), {"declaration"}),
    "an address hidden by a condition": (
        "C10",
        lambda e: declared(e, "act-01.result", "redacted", "condition").drop(":act-01.result", f"{T}text")
        .drop(":act-01.result", f"{T}sha256").set(":act-01.result", f"{T}state", Node(f"{T}Redacted")),
        {"declaration"},
    ),
    "elements of a layer declared": (
        "C10", lambda e: e.add(":withheld:1", f"{P}declares", "act-01.result[1]"), {"declaration"},
    ),
    "an id that is a text": ("C10", lambda e: e.set(":in:in-5", f"{T}localId", "Pay the rent"), {"bindings"}),
    "an id without digit": ("C10", lambda e: e.set(":in:in-5", f"{T}localId", "request"), {"bindings"}),
    "a row for a turn that is not there": (
        "C10", lambda e: e.set(":in:in-5", f"{T}bindsLocator", "request.user[4]"), {"bindings"},
    ),
    "a row without recorded input": (
        "R11", lambda e: _without(e, ":input:5").set(":package", f"{P}inputsCount", 4), {"inputs-shown"},
    ),
    "two recorded inputs of one id": (
        "R11",
        lambda e: e.set(":input:5", f"{T}localId", "in-4").set(":input:5", f"{T}bindsLocator", "act-02.result[2]"),
        {"inputs-shown"},
    ),
    "recorded inputs without id map": (
        "R11", lambda e: e.set(":table", f"{T}tableState", Node(f"{T}TableNone")), {"inputs-shown"},
    ),
    "a label with one digit more": (
        "C11", lambda e: e.set(":act-03.note", f"{T}noteText", "see ref_0123456789abcdef0"), {"labels-opaque"},
    ),
    "words kept beside original ids": ("C10", lambda e: e.add(":package", f"{P}keptWord", "in-1"), {"labels-original"}),
    "an original id in a row": (
        "C11", lambda e: e.set(_row(e), f"{T}localId", "in-2"), {"labels-opaque"},
    ),
    "an original id in a Note": (
        "C11", lambda e: e.set(":act-03.note", f"{T}noteText", "see in-2"), {"labels-opaque"},
    ),
    "an original id in a malformed Basis": (
        "C01", lambda e: e.set(":act-03.basis", f"{T}basisText", "in-2, none"), {"labels-opaque"},
    ),
    "labels out of order": ("C11", _swapped, {"labels-opaque"}),
    "a kept word that hides everything": ("C11", lambda e: e.add(":package", f"{P}keptWord", ".*"), {"labels-opaque"}),
    "a kept word that stands nowhere": ("C11", lambda e: e.add(":package", f"{P}keptWord", "in-99"), {"labels-opaque"}),
    "an attack label": ("C10", lambda e: e.add("", f"{T}attackType", "ignore_previous"), {"nothing-else"}),
    "a task": ("C10", lambda e: e.add("", f"{T}task", "user_task_1"), {"nothing-else"}),
    "the agent's name": ("C10", lambda e: e.add(":agent", f"{T}name", "local-gullible"), {"nothing-else"}),
    "the log's name": ("C10", lambda e: e.set(":source", f"{T}name", "attack.json"), {"nothing-else"}),
    "a native id": ("C10", lambda e: e.add(":act-01", f"{T}nativeId", "c1"), {"nothing-else"}),
    "an answer": ("C10", lambda e: e.add(":target", f"{P}answer", "act-01.result"), {"nothing-else"}),
    "a diagnostic": ("C10", lambda e: e.add(":diagnostic:1", iris.RDF_TYPE, Node(f"{T}Diagnostic")), {"nothing-else"}),
    "a thing without a kind": ("C10", lambda e: e.add(":injection", f"{T}text", "ignore all"), {"nothing-else"}),
    "another condition claimed": ("C10", claim("account", "withheld"), {"C10", "account-shown", "declaration"}),
}  # fmt: skip


@cache
def damaged(name: str) -> tuple[str, Shapes, set[str]]:
    condition, damage, rules = DAMAGES[name]
    package = package_of(small_run(), condition)
    edit = damage(Edit(package))
    return to_ntriples(edit.quads), shapes_for(package.contract), rules


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_breaks_its_rule_and_no_other(name: str) -> None:
    _, shapes, rules = damaged(name)
    results = results_of(name)
    broken = {shapes.owner[result.shape] for result in results if result.grade is Grade.REQUIRED}
    assert broken == rules
    assert all(result.message for result in results)


@cache
def results_of(name: str) -> tuple[Result, ...]:
    data, shapes, _ = damaged(name)
    return tuple(engine_named("fast")(data, shapes))


ALL_RULES = (*BUILT_IN, "table-partial")
#: Shapes of which real packages break some: they are told, and nothing is wrong.
GRADED_LOWER = {"table-complete-cited", "labels-original-id"} | {
    shape for rule in ALL_RULES for shape in shapes_of((rule,)).shapes if shape.endswith("-recorded")
}
CLOSED = [shape for shape in shapes_of(("R11",)).shapes if shape.startswith("nothing-else-") and "kinds" not in shape]


def with_a_stray_statement(shape: str) -> tuple[str, Shapes]:
    """A package of which one node of the shape's class says something that no package says."""
    condition = Condition("X", account=True, request=True, inputs=True, declare_elements=True)
    rules = ("act-02.result",) if shape == "nothing-else-declaration" else ()
    package = package_of(small_run(), condition, *rules)
    shapes = shapes_for(package.contract)
    quads = package_to_quads(package)
    target = shapes.shapes[shape][2]
    node = next(quad.subject for quad in quads if quad.object == Node(target))
    stray = Quad(node, Node(f"{T}utility"), Text("true"), Node(package.run.id))
    return to_ntriples([*quads, stray]), shapes


@pytest.mark.parametrize("shape", CLOSED)
def test_nothing_says_more_than_packages_say(shape: str) -> None:
    data, shapes = with_a_stray_statement(shape)
    results = engine_named("fast")(data, shapes)
    assert {(shapes.owner[result.shape], result.value) for result in results} == {("nothing-else", "true")}


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_condition_refuses_the_claims_of_another(name: str) -> None:
    for other in BUILT_IN:
        package = package_of(small_run(), other)
        shapes = shapes_of((name,))
        results = engine_named("fast")(to_ntriples(package_to_quads(package)), shapes)
        claims = [result for result in results if shapes.shape_of[result.shape] == f"{name}-claims"]
        assert bool(claims) is (other != name)


REFERENCE = ("a row with text", "an original id in a Note", "a row taken out")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in REFERENCE[:1] else pytest.mark.slow) for name in DAMAGES]
)
def test_the_reference_engine_finds_the_same(name: str) -> None:
    data, shapes, _ = damaged(name)
    fast, reference = engine_named("fast")(data, shapes), engine_named("pyshacl")(data, shapes)
    # Engines word messages, and name paths of several steps, in their own way; what is broken where is the same,
    # though one of them may say it twice.
    assert {(r.shape, r.focus, r.value, r.grade) for r in fast} == {
        (r.shape, r.focus, r.value, r.grade) for r in reference
    }


def test_every_shape_is_broken_by_some_damage() -> None:
    broken: set[str] = set()
    for name in DAMAGES:
        broken.update(damaged(name)[1].shape_of[result.shape] for result in results_of(name))
    for name in CLOSED:
        data, shapes = with_a_stray_statement(name)
        broken.update(shapes.shape_of[result.shape] for result in engine_named("fast")(data, shapes))
    shapes_by_name = {shape for rule in ALL_RULES for shape in shapes_of((rule,)).shapes}
    assert shapes_by_name - broken - GRADED_LOWER - {f"{condition}-claims" for condition in BUILT_IN} == set()


@pytest.mark.parametrize("kind", ["original", "opaque"])
def test_a_sound_package_of_any_layers_breaks_nothing(kind: str) -> None:
    run = small_run()
    for account in (False, True):
        for request in (False, True):
            for inputs in (False, True):
                for table in (TableState.NONE, TableState.COMPLETE):
                    condition = Condition(
                        "X", account=account, request=request, inputs=inputs, table=table, labels=Labels(kind)
                    )
                    package = package_of(run, condition, "act-02.result[1]", "act-01.argument.file_path")
                    quads = package_to_quads(package)
                    shapes = shapes_for(package.contract)
                    results = engine_named("fast")(to_ntriples(quads), shapes)
                    assert [result for result in results if result.grade is Grade.REQUIRED] == []
                    counts = shapes.focus_counts(quads)
                    assert counts["package-claims"] == 1
                    assert counts["record-action"] == 3
