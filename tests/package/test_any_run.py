"""Whatever a log holds, what `package` writes of it keeps its contract: no rule of `validate` is stricter than that."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.strategies import runs
from trace_prov.derive.target import Question
from trace_prov.finding import NotApplicable
from trace_prov.load import load_paths
from trace_prov.model import RecordedInput, Run, TableState
from trace_prov.package.bag import write_package
from trace_prov.package.build import Built, build, case_id
from trace_prov.package.condition import BUILT_IN, Condition, Labels
from trace_prov.package.contract import shapes_for
from trace_prov.package.evidence import package_from_bytes, package_to_bytes
from trace_prov.package.graph import package_to_quads
from trace_prov.package.model import Package
from trace_prov.package.redact import parse_rule
from trace_prov.package.shacl import Grade, engine_named, to_ntriples
from trace_prov.package.soundness import unsound
from trace_prov.package.validate import validate_package


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    built_in = draw(st.sampled_from([None, *BUILT_IN.values()]))
    if built_in is not None:
        return built_in
    table = draw(st.sampled_from(list(TableState)))
    return Condition(
        "own",
        account=draw(st.booleans()),
        request=draw(st.booleans()),
        inputs=table is not TableState.PARTIAL and draw(st.booleans()),
        table=table,
        labels=draw(st.sampled_from(list(Labels))),
        rows=("in-1", "in-3") if table is TableState.PARTIAL else (),
        declare_elements=draw(st.booleans()),
    )


@st.composite
def rules(draw: st.DrawFn, run: Run) -> list[str]:
    names = []
    for action in run.actions:
        names += [f"{action.id}.{part}" for part in ("result", "account", "arguments")]
        names += [f"{action.id}.argument.{argument.name}" for argument in action.arguments]
        names += [str(record.locator) for record in action.records if record.locator.element]
    names += [str(locator) for locator in run.turn_locators]
    return draw(st.lists(st.sampled_from(names), unique=True, max_size=4)) if names else []


def with_inputs(run: Run) -> Run:
    """The run with a recorded input for each row, as a sidecar gives them."""
    texts = {record.locator: record.text for action in run.actions for record in action.records}
    inputs = (RecordedInput(row.local_id, "tool", row.locator, texts.get(row.locator)) for row in run.table.rows)
    return replace(run, inputs=tuple(inputs))


def broken(package: Package, case: str) -> list[object]:
    shapes = shapes_for(package.contract)
    results = engine_named("fast")(to_ntriples(package_to_quads(package)), shapes)
    found: list[object] = [result for result in results if result.grade is Grade.REQUIRED]
    return found + [item for item in unsound(package, case) if item.grade is Grade.REQUIRED]


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_packages_of_any_run_keep_their_contract(data: st.DataObject) -> None:
    run = data.draw(runs(hidden=data.draw(st.booleans())))
    # A log declares no elements, and those that are made up contradict the table.
    assume(not any(action.result is not None and action.result.declared for action in run.actions))
    if data.draw(st.booleans()) and run.table.state is TableState.COMPLETE:
        run = with_inputs(run)
    question = Question(literal="12345", action=data.draw(st.sampled_from([action.id for action in run.actions])))
    redactions = [parse_rule(rule) for rule in data.draw(rules(run))]
    condition = data.draw(conditions())
    built = build(run, condition, question if data.draw(st.booleans()) else None, redactions)
    if isinstance(built, NotApplicable):
        return
    written = package_to_bytes(built.package)
    package = package_from_bytes(written)
    assert package_to_bytes(package) == written
    assert broken(package, case_id(run.source)) == []


ODD_ACCOUNT = "Note: \u00e9in-2, in\u20113, in-2.5, in-1-a, -in-1-, ref_0123456789abcdef, ref_0123456789abcdef0"
ODD_NUMBERS = '{"a": 1.50, "b": 1e999, "c": -0.0, "d": NaN, "e": 123456789012345678901234567890, "f": true}'


@pytest.mark.parametrize("condition", BUILT_IN)
def test_odd_words_and_numbers_of_a_log_keep_the_contract(condition: str, tmp_path: Path) -> None:
    """Words that look like ids or labels and are none, numbers that no float holds, texts that are no UTF-8."""
    call = {"function": 'read "<x>"\n', "args": "ARGUMENTS", "id": "c1"}
    pay = {"function": "pay", "args": {"recipient": "12345", "": "x", "a.result": "\ud800"}, "id": "c2"}
    messages = [
        {"role": "user", "content": "pay \ud83d in-2"},
        {"role": "assistant", "content": f"{ODD_ACCOUNT}\nBasis: [in-1, in-10]\r", "tool_calls": [call]},
        {"role": "tool", "content": "12345\u0000\u2028", "tool_call_id": "c1", "tool_call": call, "error": None},
        {"role": "assistant", "content": "Basis: [in-2, in\u20112", "tool_calls": [pay]},
        {"role": "tool", "content": "", "tool_call_id": "c2", "tool_call": pay, "error": None},
    ]
    inputs = [{"id": "in-2", "channel": "tool", "locator": "act-01.result", "text": "12345\u0000\u2028"}]
    log = {"suite_name": "x", "user_task_id": "y", "pipeline_name": "z", "messages": messages, "error": None}
    (tmp_path / "odd.json").write_text(json.dumps(log).replace('"ARGUMENTS"', ODD_NUMBERS))
    (tmp_path / "odd.native.json").write_text(json.dumps({"request": None, "inputs": inputs}))
    (run,) = load_paths([tmp_path])
    assert isinstance(run, Run)
    built = build(run, BUILT_IN[condition])
    assert isinstance(built, Built)
    write_package(built.package, tmp_path / "p")
    report = validate_package(tmp_path / "p", case=case_id(run.source))
    assert report.conforms, report.violations
