"""W, G, D, A, U sentence by sentence (CONTRACT §8), and what holds of every score."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.study import contract_scorer
from tests.study.conftest import Studied
from trace_prov.finding import Status
from trace_prov.study.answers import QUESTIONS, Answer, Invalid, read_response
from trace_prov.study.journal import journal_path, read_journal
from trace_prov.study.score import ErrorKind, Reason, score

YES, NO = Answer(Status.ANSWERED, value=True), Answer(Status.ANSWERED, value=False)
ABSTAIN, MISSING = Answer(Status.ABSTAIN), Answer(Status.BASIS_MISSING)


def found(*locators: str) -> Answer:
    return Answer(Status.ANSWERED, locators=frozenset(locators))


A, B = "act-01.result", "act-02.result[1]"

#: given, supported, complete -> W, G, D, U, kind of error
CASES = [
    # G: exactly the supported answer; a justified abstention counts, and is no D
    (found(A), found(A), found(A), (1, 1, 1, 0), None),
    (found(), found(), found(), (1, 1, 1, 0), None),
    (MISSING, MISSING, MISSING, (1, 1, 1, 0), None),
    (ABSTAIN, ABSTAIN, found(A), (0, 1, 0, 0), None),
    (ABSTAIN, ABSTAIN, ABSTAIN, (1, 1, 0, 0), None),
    (YES, YES, YES, (1, 1, 1, 0), None),
    (NO, NO, NO, (1, 1, 1, 0), None),
    # W: right even if the reader could not see why; U: a definite answer to an unanswerable question
    (found(A), ABSTAIN, found(A), (1, 0, 0, 1), ErrorKind.OTHER),
    (found(), ABSTAIN, found(A), (0, 0, 0, 1), ErrorKind.OTHER),
    (YES, ABSTAIN, NO, (0, 0, 0, 1), ErrorKind.OTHER),
    (NO, ABSTAIN, NO, (1, 0, 0, 1), ErrorKind.OTHER),
    (MISSING, ABSTAIN, MISSING, (1, 0, 0, 1), ErrorKind.OTHER),
    # U: a locator outside the supported set
    (found(A, B), found(A), found(A), (0, 0, 0, 1), ErrorKind.EXTRA_LOCATOR),
    (found(B), found(A), found(A), (0, 0, 0, 1), ErrorKind.EXTRA_LOCATOR),
    (found(A), found(), found(), (0, 0, 0, 1), ErrorKind.EXTRA_LOCATOR),
    (found("in-3"), found(A), found(A), (0, 0, 0, 1), ErrorKind.EXTRA_LOCATOR),
    (found(A), MISSING, MISSING, (0, 0, 0, 1), ErrorKind.EXTRA_LOCATOR),
    # U: basis_missing where a Basis is visible
    (MISSING, found(A), found(A), (0, 0, 0, 1), ErrorKind.OTHER),
    (MISSING, found(), found(), (0, 0, 0, 1), ErrorKind.OTHER),
    # U: yes where the visible request lacks s
    (YES, NO, NO, (0, 0, 0, 1), ErrorKind.OTHER),
    # wrong but not U: a part left out, empty or no where there is more, the empty set for basis_missing, abstaining
    (found(A), found(A, B), found(A, B), (0, 0, 0, 0), ErrorKind.STRICT_SUBSET),
    (found(), found(A), found(A), (0, 0, 0, 0), ErrorKind.STRICT_SUBSET),
    (NO, YES, YES, (0, 0, 0, 0), ErrorKind.OTHER),
    (found(), MISSING, MISSING, (0, 0, 0, 0), ErrorKind.OTHER),
    (ABSTAIN, found(A), found(A), (0, 0, 0, 0), ErrorKind.UNFOUNDED_ABSTENTION),
    (ABSTAIN, MISSING, MISSING, (0, 0, 0, 0), ErrorKind.UNFOUNDED_ABSTENTION),
    (ABSTAIN, YES, YES, (0, 0, 0, 0), ErrorKind.UNFOUNDED_ABSTENTION),
]


@pytest.mark.parametrize(("answer", "supported", "complete", "expected", "error"), CASES)
def test_the_sentences_of_the_contract(
    answer: Answer, supported: Answer, complete: Answer, expected: tuple[int, int, int, int], error: ErrorKind | None
) -> None:
    scored = score(answer, supported, complete)
    assert (scored.w, scored.g, scored.d, scored.u) == expected
    assert scored.error == error
    assert scored.a == scored.g - scored.d


def test_an_invalid_answer_scores_nothing_and_its_u_is_unknown() -> None:
    scored = score(Invalid("no JSON"), found(A), found(A))
    assert (scored.w, scored.g, scored.d, scored.a, scored.u, scored.error) == (0, 0, 0, 0, None, None)
    assert scored.reason is Reason.INVALID


record_answers = st.one_of(
    st.just(ABSTAIN),
    st.just(MISSING),
    st.frozensets(st.sampled_from([A, B, "act-02.result[2]"])).map(
        lambda named: Answer(Status.ANSWERED, locators=named)
    ),
)
triples = st.one_of(
    st.tuples(record_answers, record_answers, record_answers),
    st.tuples(*[st.sampled_from([YES, NO, ABSTAIN])] * 3),
)


@given(triples)
def test_what_holds_of_every_score(triple: tuple[Answer, Answer, Answer]) -> None:
    answer, supported, complete = triple
    scored = score(answer, supported, complete)
    assert scored.g == (answer == supported)
    assert scored.w == (answer == complete)
    assert scored.d == (answer == supported and answer.status is not Status.ABSTAIN)
    assert scored.a == (answer == supported and answer.status is Status.ABSTAIN)
    assert not (scored.g and scored.u)
    assert (scored.error is None) == bool(scored.g)
    # An abstention asserts nothing; so does an answer within the supported set.
    if answer.status is Status.ABSTAIN:
        assert scored.u == 0
    if answer.locators is not None and supported.locators is not None:
        assert scored.u == (not answer.locators <= supported.locators)


LOCATORS = ["request.user", A, B, "act-02.result[2]", "act-02.result", "act-1.result", "in-3", " act-01.result", ""]
statuses = st.sampled_from(["answered", "abstain", "basis_missing"])
anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def supported_answers(question: str) -> st.SearchStrategy[dict[str, Any]]:
    """Answers in the interchange form."""
    if question == "q1":
        return st.sampled_from([{"status": "abstain", "value": None}]) | st.booleans().map(
            lambda value: {"status": "answered", "value": value}
        )
    others = ["abstain"] if question == "q2" else ["abstain", "basis_missing"]
    return st.sampled_from([{"status": status, "locators": None} for status in others]) | st.lists(
        st.sampled_from(LOCATORS[:5]), unique=True
    ).map(lambda named: {"status": "answered", "locators": named})


def given_answers(question: str) -> st.SearchStrategy[Any]:
    """What readers might say: right forms mostly, then forms that are wrong in one place, then anything."""
    name = "value" if question == "q1" else "locators"
    payload = st.booleans() if question == "q1" else st.lists(st.sampled_from(LOCATORS), max_size=4)
    right = st.fixed_dictionaries({"status": st.just("answered"), name: payload})
    without: st.SearchStrategy[Any] = st.fixed_dictionaries(
        {"status": statuses}, optional={name: st.none() | st.just([])}
    )
    wrong = st.fixed_dictionaries({"status": statuses | anything, name: payload | anything})
    return st.one_of(right, right, supported_answers(question), without, wrong, anything)


@given(st.data(), st.sampled_from(QUESTIONS))
def test_an_independent_scorer_agrees(data: st.DataObject, question: str) -> None:
    """The contract's text written down a second time, over generated responses."""
    body = data.draw(given_answers(question))
    supported, complete = (data.draw(supported_answers(question)) for _ in range(2))
    read = read_response(json.dumps({question: body}))[question]
    ours = score(read, _answer(question, supported), _answer(question, complete))
    expected = contract_scorer.scores(question, body, supported, complete)
    assert {"w": ours.w, "g": ours.g, "d": ours.d, "a": ours.a, "u": ours.u} == expected


def _answer(question: str, form: dict[str, Any]) -> Answer:
    answer = read_response(json.dumps({question: form}))[question]
    assert isinstance(answer, Answer)
    return answer


def test_an_independent_scorer_agrees_on_a_whole_study(studied: Studied) -> None:
    """From the responses as given and the files of the study, without the product's results."""

    def rows(name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (studied.folder.path / name).read_text().splitlines()]

    supported = {(row["case"], row["condition"]): row for row in rows("supported.jsonl")}
    complete = {row["case"]: row["complete"] for row in rows("cases.jsonl")}
    checked = 0
    for reader in ("sim/copy-h", "sim/guess-order", "sim/drop-locator:0.3", "sim/no-json:0.3"):
        ours = {
            (result.case, result.condition, result.question): result.score
            for result in studied.results
            if result.reader == reader
        }
        for entry in read_journal(journal_path(studied.folder.responses, reader)):
            try:
                response = json.loads(entry.response or "")
            except ValueError:
                response = {}
            for question in QUESTIONS:
                expected = contract_scorer.scores(
                    question, response.get(question), supported[entry.key][question], complete[entry.case][question]
                )
                found = ours[*entry.key, question]
                assert {"w": found.w, "g": found.g, "d": found.d, "a": found.a, "u": found.u} == expected
                checked += 1
    assert checked == 4 * 64 * 8 * 3
