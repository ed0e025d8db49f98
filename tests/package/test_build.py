"""Packages: what they show and hide, that nothing else is in them, and that labels change labels only."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pyoxigraph
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from tests.package.cases import IBAN, SOURCE, package_of, small_run
from tests.strategies import runs
from trace_prov.account import is_local_id
from trace_prov.derive import Question, derive
from trace_prov.derive.sparql import derive_run
from trace_prov.errors import PackageError
from trace_prov.finding import Finding, NotApplicable, Status
from trace_prov.graph.read import run_from_quads
from trace_prov.model import Content, Locator, RecordState, Result, Run, TableState
from trace_prov.package.build import build, case_id
from trace_prov.package.comparator import finding_of
from trace_prov.package.condition import BUILT_IN, Condition, Labels
from trace_prov.package.contract import shapes_for
from trace_prov.package.evidence import package_from_bytes, package_to_bytes, package_to_json
from trace_prov.package.graph import package_to_quads, quads_of, to_jsonld, to_trig
from trace_prov.package.labels import OPAQUE, id_order, ids_of, opaque_labels, relabelled
from trace_prov.package.redact import RuleError, parse_rule, redact
from trace_prov.package.shacl import Grade, engine_named, to_ntriples

CALM = settings(
    deadline=None, max_examples=40, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate]
)


def evidence(condition: str, *rules: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(package_to_bytes(package_of(small_run(), condition, *rules)))
    return body


@pytest.mark.parametrize("name", BUILT_IN)
def test_conditions_show_the_layers_of_the_contract(name: str) -> None:
    body = evidence(name)
    native = name in ("R01", "R11")
    assert ("accounts" in body) is (name not in ("R00", "R01"))
    assert ("native" in body) is native
    assert ("bindings" in body) is (name in ("C10", "C11"))
    if native:
        assert body["native"]["request"][0]["text"].startswith("Pay the rent")
        assert [row["id"] for row in body["native"]["id_map"]] == [f"in-{n}" for n in range(1, 6)]
        assert set(body["native"]["inputs"][1]) == {"id", "channel", "locator", "after_step", "text"}
    else:
        assert "Pay the rent" not in json.dumps(body)


def test_the_record_is_the_same_bytes_in_every_condition() -> None:
    packages = [package_of(small_run(), name) for name in BUILT_IN]
    assert len({json.dumps(package_to_json(package)["record"]) for package in packages}) == 1
    assert len({package.run.id for package in packages}) == 1
    assert len({package.target for package in packages}) == 1


@pytest.mark.parametrize("name", BUILT_IN)
def test_nothing_that_betrays_the_log_is_in_a_package(name: str) -> None:
    package = package_of(small_run(), name)
    everything = package_to_bytes(package) + to_trig(package_to_quads(package)) + to_jsonld(package_to_quads(package))
    run = small_run()
    for secret in ("attack_x", "task_1", "an agent", "case.native", SOURCE.sha256, '"c3"', run.id, "agentdojo"):
        assert secret.encode() not in everything


def test_a_hidden_text_leaves_no_trace_not_even_in_the_identifier() -> None:
    """Two records that differ in the hidden text only give the same package: no hash of it can be tried."""
    run = small_run()
    first = run.actions[0]
    assert first.result is not None
    secret = replace(first, result=replace(first.result, content=Content("PIN 1234")))
    other = replace(run, actions=(secret, *run.actions[1:]))
    question = Question(action="act-03")
    for name in ("R00", "C10"):
        one = package_of(run, name, "act-01.result", question=question)
        two = package_of(other, name, "act-01.result", question=question)
        assert package_to_bytes(one) == package_to_bytes(two)
    # The request and the account are withheld as a whole.
    asked = replace(run, turns=tuple(replace(turn, content=Content("something else")) for turn in run.turns))
    assert package_to_bytes(package_of(run, "C00")) == package_to_bytes(package_of(asked, "C00"))
    silent = replace(run, actions=tuple(replace(a, account=replace(a.account, note="x")) for a in run.actions))
    assert package_to_bytes(package_of(run, "R00")) == package_to_bytes(package_of(silent, "R00"))


@pytest.mark.parametrize(("plain", "opaque"), [("C00", "C01"), ("C10", "C11")])
def test_opaque_labels_change_labels_and_nothing_else(plain: str, opaque: str) -> None:
    run = small_run()
    labels = opaque_labels(ids_of(run), case_id(run.source))
    body = package_to_json(package_of(run, opaque))
    assert body.pop("kept_words") == [IBAN, "covid-19", "in-10"]
    assert body["contract"].pop("condition") == opaque
    assert body["contract"].pop("labels") == "opaque"
    expected = package_to_json(package_of(run, plain))
    del expected["contract"]["condition"], expected["contract"]["labels"]
    text = json.dumps(body)
    for local_id, label in labels.items():
        text = text.replace(label, local_id)
    assert text == json.dumps(expected)
    answers = [finding_of(package_of(run, name)) for name in (plain, opaque)]
    assert answers[0].q2 == answers[1].q2
    assert (answers[0].q3.status, answers[0].q3.locators, answers[0].q3.bounds) == (
        answers[1].q3.status, answers[1].q3.locators, answers[1].q3.bounds,
    )  # fmt: skip


def test_labels_are_a_bijection_in_order_shared_by_the_conditions_of_a_case() -> None:
    ids = [f"in-{n}" for n in (10, 2, 1, 30)] + ["a1", "in-x9", "in-02"]
    labels = opaque_labels(ids, "suite/case")
    ordered = sorted(ids, key=id_order)
    assert ordered == ["a1", "in-1", "in-02", "in-2", "in-10", "in-30", "in-x9"]
    assert [labels[one] for one in ordered] == sorted(labels.values())
    assert len(set(labels.values())) == len(ids)
    assert all(OPAQUE.fullmatch(label) and is_local_id(label) for label in labels.values())
    assert labels == opaque_labels(reversed(ids), "suite/case")
    assert labels != opaque_labels(ids, "suite/other")
    accounts = [package_to_json(package_of(small_run(), name))["accounts"] for name in ("C01", "C11")]
    assert accounts[0] == accounts[1]


def test_labels_of_many_ids_are_all_local_ids() -> None:
    labels = opaque_labels((f"in-{n}" for n in range(3000)), "case")
    assert all(is_local_id(label) for label in labels.values())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in-1", "X"),
        ("(in-1,in-2)", "(X,Y)"),
        ("in-1.", "X."),
        ("in-10 in-11", "in-10 in-11"),
        ("xin-1 in-1x in-1_ in-1-b pre-in-1", "xin-1 in-1x in-1_ in-1-b pre-in-1"),
        ("in-1-", "X-"),
        ("-in-1: yes", "-X: yes"),
        ("in-1.5", "in-1.5"),
        ("éin-1 in-1é", "éin-1 in-1é"),
        ("IN-1", "IN-1"),
        ("in-1\nin-1", "X\nX"),
        ("in-1--in-2", "X--Y"),
    ],
)
def test_ids_are_replaced_as_whole_tokens(text: str, expected: str) -> None:
    assert relabelled(text, {"in-1": "X", "in-2": "Y"}) == expected


def test_a_log_without_a_layer_says_so_and_is_packaged_all_the_same() -> None:
    run = replace(small_run(), inputs=(), table=replace(small_run().table, state=TableState.NONE, rows=()))
    package = package_of(run, "C10")
    assert str(package.contract.table) == "not recorded"
    assert [line.what for line in package.withheld if line.why == "log"] == ["binding table"]
    assert package_of(run, "R11").contract.inputs == "not recorded"


def test_redactions_hide_results_elements_arguments_accounts_and_what_quotes_them() -> None:
    body = evidence("R11", "act-01.result", "act-02.result[1]", "act-03.argument.body", "act-01.account")
    actions = body["record"]["actions"]
    assert actions[0]["result"]["state"] == "redacted"
    assert "text" not in actions[0]["result"]
    assert [element.get("state") for element in actions[1]["result"]["elements"]] == ["redacted", None]
    assert actions[2]["arguments"][2] == {"name": "body", "state": "redacted"}
    # Calls of one message share their account.
    assert [account["actions"] for account in body["accounts"]] == [["act-03"]]
    texts = {row["locator"]: "text" in row for row in body["native"]["inputs"]}
    assert texts == {
        "request.user": True, "act-01.result": False, "act-02.result[1]": False, "act-02.result[2]": True,
        "act-03.result": True,
    }  # fmt: skip
    assert {line["what"] for line in body["withheld"]} >= {
        "act-01.result", "act-02.result[1]", "act-03.argument.body", "act-01.account", "act-02.account",
    }  # fmt: skip
    assert f"Rent goes to {IBAN}." not in json.dumps(body)


def test_a_hidden_list_declares_its_elements_only_when_asked_to() -> None:
    run = small_run()
    silent = package_of(run, Condition("X"), "act-02.result")
    declaring = package_of(run, Condition("X", declare_elements=True), "act-02.result")
    assert finding_of(silent).q2.bounds is not None
    assert finding_of(silent).q2.bounds.possible == (Locator(1), Locator(2))  # type: ignore[union-attr]
    assert finding_of(declaring).q2.bounds.possible == (Locator(1), Locator(2, 1), Locator(2, 2))  # type: ignore[union-attr]


def test_an_element_that_cannot_be_read_alone_is_hidden_with_its_sibling() -> None:
    """In an indented list a slice is no YAML of its own, so its unescaped values would be lost."""
    run = small_run()
    text = "  - a: 'it''s'\n    b: 1\n  - a: x\n    b: 2\n"
    action = replace(run.actions[1], result=Result(Content(text), 1, 2))
    shown = redact(replace(run, actions=(run.actions[0], action, run.actions[2])), [parse_rule("act-02.result[2]")])
    result = shown.run.actions[1].result
    assert result is not None
    assert result.elements is not None
    assert shown.widened == (Locator(2, 1),)
    assert [element.state for element in result.elements] == [RecordState.WITHHELD, RecordState.REDACTED]


@pytest.mark.parametrize("text", ["act-3", "act-00.result", "result", "act-03.result[0]", "act-03.account[1]", "", "x"])
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(RuleError):
        parse_rule(text)


def test_the_targets_own_argument_cannot_be_redacted_but_a_named_literal_can_be_asked() -> None:
    refused = build(small_run(), BUILT_IN["C10"], None, [parse_rule("*.argument.recipient")])
    assert isinstance(refused, NotApplicable)
    assert "act-03.argument.recipient" in refused.reason
    package = package_of(
        small_run(), "C10", "*.argument.recipient", question=Question(action="act-03", literal="CH9300")
    )
    assert package.target.argument is None
    assert finding_of(package).q2.locators == (Locator(2, 2),)
    named = package_of(small_run(), "C10", question=Question(action="act-03", argument="body"))
    assert (named.target.argument, named.target.literal) == ("body", "rent")


rules = st.lists(
    st.sampled_from(
        ["act-01.result", "act-02.result[1]", "*.result", "act-02.argument.body", "tool:read_file.result",
         "act-01.account", "request.user[1]", "act-03.arguments"]
    ),
    max_size=3,
)  # fmt: skip
conditions = st.one_of(
    st.sampled_from(list(BUILT_IN.values())),
    st.builds(
        Condition,
        name=st.just("X"),
        account=st.booleans(),
        request=st.booleans(),
        table=st.sampled_from([TableState.NONE, TableState.COMPLETE]),
        labels=st.sampled_from(list(Labels)),
        declare_elements=st.booleans(),
    ),
    st.just(Condition("part", account=True, table=TableState.PARTIAL, rows=("in-1", "in-3"))),
)


def _contradicts(run: Run, locator: Locator) -> bool:
    """Whether a row names an element that the hidden result, by what it declares, does not have: no log gives that."""
    results = [action.result for action in run.actions if action.number == locator.action and action.result is not None]
    return locator.element > 0 and any(result.declared and locator not in result.declared for result in results)


@CALM
@given(runs(hidden=True), conditions, rules)
def test_any_package_reads_back_conforms_and_says_the_same_in_its_graph(
    run: Run, condition: Condition, hidden: list[str]
) -> None:
    assume(not any(_contradicts(run, row.locator) for row in run.table.rows))
    built = build(run, condition, None, [parse_rule(rule) for rule in hidden])
    if isinstance(built, NotApplicable):
        return
    package = built.package
    data = package_to_bytes(package)
    assert package_from_bytes(data) == package
    quads = package_to_quads(package)
    assert set(quads_of(to_trig(quads), pyoxigraph.RdfFormat.TRIG)) == set(quads)
    assert set(quads_of(to_jsonld(quads), pyoxigraph.RdfFormat.JSON_LD)) == set(quads)
    assert run_from_quads(quads) == package.run
    results = engine_named("fast")(to_ntriples(quads), shapes_for(package.contract))
    assert [result for result in results if result.grade is Grade.REQUIRED] == []


@CALM
@given(runs(), conditions, rules)
def test_what_a_package_answers_is_true_of_the_record(run: Run, condition: Condition, hidden: list[str]) -> None:
    """A supported answer is the same in every completion, and the full record is one of them."""
    built = build(run, condition, None, [parse_rule(rule) for rule in hidden])
    if isinstance(built, NotApplicable):
        return
    given = finding_of(built.package)
    target = built.package.target
    (full,) = derive(run, Question(action=target.action, literal=target.literal))
    assert isinstance(full, Finding)
    for name in ("q1", "q2", "q3"):
        one, other = getattr(given, name), getattr(full, name)
        if one.status is not Status.ABSTAIN:
            assert one.status is other.status
            assert getattr(one, "value", None) == getattr(other, "value", None)
            assert getattr(one, "locators", None) == getattr(other, "locators", None)


@settings(CALM, max_examples=10)
@given(runs(hidden=True), conditions)
def test_the_query_files_answer_packages_as_the_comparator_does(run: Run, condition: Condition) -> None:
    built = build(run, condition)
    if isinstance(built, NotApplicable):
        return
    shown, target = built.package.run, built.package.target
    question = Question(action=target.action, literal=target.literal)
    assert list(derive_run(shown, question)) == [finding_of(built.package)]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda body: body.update(attack="x"), "top"),
        (lambda body: body.pop("target"), "top"),
        (lambda body: body["target"].update(utility=True), "target"),
        (lambda body: body["record"]["actions"].pop(0), "record.actions[0].action"),
        (lambda body: body["record"]["actions"][0].update(result="x"), "record.actions[0].result"),
        (lambda body: body["record"]["actions"][1]["result"]["elements"].pop(0),
         "record.actions[1].result.elements[0].locator"),
        (lambda body: body["record"]["actions"][1]["result"]["elements"][0].update(text="- y"),
         "record.actions[1].result.elements"),
        (lambda body: body["accounts"][0]["basis"].update(state="lost"), "accounts[0].basis.state"),
        (lambda body: body["bindings"][0].update(text="Pay the rent"), "bindings[0]"),
        (lambda body: body["bindings"][0].update(locator="act-1"), "bindings[0].locator"),
        (lambda body: body.pop("bindings"), "top"),
        (lambda body: body.update(native={"request": []}), "top"),
        (lambda body: body["contract"].update(table="whole"), "contract.table"),
        (lambda body: body["counts"].update(rows=-1), "counts.rows"),
        (lambda body: body.update(format="evidence 9"), "format"),
    ],
)  # fmt: skip
def test_evidence_is_read_strictly(change: Any, place: str) -> None:
    body = evidence("C10")
    change(body)
    with pytest.raises(PackageError) as error:
        package_from_bytes(json.dumps(body).encode())
    assert error.value.place == place


def test_the_identifier_is_the_hash_of_the_record_as_written() -> None:
    data = package_to_bytes(package_of(small_run(), "C10")).decode()
    record = re.search(r'"record":(\{.*\}),"accounts"', data)
    assert record is not None
    import hashlib

    digest = hashlib.sha256(record[1].encode()).hexdigest()
    assert package_from_bytes(data.encode()).run.id == f"urn:trace-prov:run:{digest[:32]}"
