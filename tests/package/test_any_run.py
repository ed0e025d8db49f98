"""Whatever a log holds, what `package` writes of it keeps its contract: no rule of `validate` is stricter than that."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.strategies import runs
from trace_prov.derive.target import Question
from trace_prov.finding import NotApplicable
from trace_prov.model import RecordedInput, Run, TableState
from trace_prov.package.build import build, case_id
from trace_prov.package.condition import BUILT_IN, Condition, Labels
from trace_prov.package.contract import shapes_for
from trace_prov.package.evidence import package_from_bytes, package_to_bytes
from trace_prov.package.graph import package_to_quads
from trace_prov.package.model import Package
from trace_prov.package.redact import parse_rule
from trace_prov.package.shacl import Grade, engine_named, to_ntriples
from trace_prov.package.soundness import unsound


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
