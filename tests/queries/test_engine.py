"""The query files and the native path give the same findings, on generated runs and on real logs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trace_prov.derive import Question
from trace_prov.derive import derive as derive_natively
from trace_prov.derive.sparql import derive, derive_run
from trace_prov.finding import Finding, NotApplicable, Status
from trace_prov.graph.store import TraceStore
from trace_prov.load import load_paths
from trace_prov.model import Run

from ..graph.strategies import examples, visible_runs
from ..strategies import LITERALS, runs

DATA = Path(__file__).parent.parent / "data"
LOGS = [DATA / "agentdojo", DATA / "agentdojo_public"]


def questions(literals: st.SearchStrategy[str]) -> st.SearchStrategy[Question]:
    """Every way to ask: the case's target, all actions, an action with or without an argument, a literal."""
    actions = st.sampled_from(["act-01", "act-02", "act-05", "act-40"])
    names = st.sampled_from(["recipient", "IBAN", "date", "nobody"])
    return st.one_of(
        st.just(Question()),
        st.just(Question(all_actions=True)),
        st.builds(Question, argument=names),
        st.builds(Question, action=actions),
        st.builds(Question, action=actions, argument=names),
        st.builds(Question, literal=literals),
        st.builds(Question, literal=literals, all_actions=st.just(True)),
        st.builds(Question, literal=literals, action=actions),
    )


@examples(40)
@given(runs(hidden=True), questions(st.sampled_from(LITERALS)))
def test_both_engines_agree_on_what_logs_and_packages_show(run: Run, question: Question) -> None:
    assert list(derive_run(run, question)) == list(derive_natively(run, question))


@examples(25)
@given(visible_runs(), questions(st.sampled_from(["a", " ", "\ud800", "\U0010f000", "\x00", "é"])))
def test_both_engines_agree_on_odd_texts(run: Run, question: Question) -> None:
    assert list(derive_run(run, question)) == list(derive_natively(run, question))


@pytest.fixture(scope="module")
def real_runs() -> list[Run]:
    if not all(folder.is_dir() for folder in LOGS):
        pytest.skip("the shared logs are not in tests/data")
    return [run for run in load_paths(LOGS) if isinstance(run, Run)]


def test_both_engines_agree_on_real_logs(real_runs: list[Run]) -> None:
    store = TraceStore.in_memory(real_runs)
    for question in (Question(), Question(all_actions=True), Question(literal="UK12345678901234567890")):
        found = list(derive(store, [run.id for run in real_runs], question))
        assert found == [finding for run in real_runs for finding in derive_natively(run, question)]
    statuses = Counter(finding.q3.status for finding in found if isinstance(finding, Finding))
    assert statuses[Status.ABSTAIN] > 3


def test_all_runs_of_a_store_are_asked_in_the_order_of_their_iris(real_runs: list[Run]) -> None:
    store = TraceStore.in_memory(real_runs)
    found = list(derive(store))
    assert [finding.run for finding in found] == sorted(run.id for run in real_runs)
    assert any(isinstance(finding, NotApplicable) for finding in found) or len(found) == len(real_runs)
