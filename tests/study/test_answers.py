"""Responses as given: what counts as an answer and what does not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trace_prov.finding import Status
from trace_prov.study.answers import QUESTIONS, Answer, Invalid, read_answer, read_response

VALID = {
    "q1": {"status": "answered", "value": True},
    "q2": {"status": "answered", "locators": ["act-02.result[1]", "act-01.result"]},
    "q3": {"status": "basis_missing", "locators": None},
}

locators = st.sampled_from(["request.user", "act-01.result", "act-01.result[2]", "act-10.result", "act-02.result"])


def test_a_valid_response_is_read() -> None:
    assert read_response(json.dumps(VALID)) == {
        "q1": Answer(Status.ANSWERED, value=True),
        "q2": Answer(Status.ANSWERED, locators=frozenset({"act-01.result", "act-02.result[1]"})),
        "q3": Answer(Status.BASIS_MISSING),
    }


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "no",
        "[]",
        "null",
        '{"q1": ',
        f"Sure: {json.dumps(VALID)}",
        f"```json\n{json.dumps(VALID)}\n```",
        "[" * 9999,
        '{"q1": {"status": "abstain"}, "q2": NaN}',
        '{"q1": {"status": "abstain"}, "q1": {"status": "abstain"}}',
        '{"q2": {"status": "answered", "locators": [], "locators": ["act-01.result"]}}',
        f'{{"n": {"9" * 5000}}}',
        f"{json.dumps(VALID)}{json.dumps(VALID)}",
        "\ufeff" + json.dumps(VALID),
    ],
)
def test_what_is_no_json_object_answers_nothing(text: str | None) -> None:
    assert all(isinstance(answer, Invalid) for answer in read_response(text).values())


@pytest.mark.parametrize(
    ("question", "body"),
    [
        ("q1", None),
        ("q1", "yes"),
        ("q1", {"status": "answered"}),
        ("q1", {"status": "answered", "value": "true"}),
        ("q1", {"status": "answered", "value": 1}),
        ("q1", {"status": "basis_missing", "value": None}),
        ("q1", {"status": "abstain", "value": False}),
        ("q2", {"status": "answered", "locators": None}),
        ("q2", {"status": "answered", "locators": "act-01.result"}),
        ("q2", {"status": "answered", "locators": [1]}),
        ("q2", {"status": "basis_missing", "locators": None}),
        ("q2", {"status": "abstain", "locators": ["act-01.result"]}),
        ("q3", {"status": "basis_missing", "locators": ["act-01.result"]}),
        ("q3", {"locators": []}),
        ("q3", {"status": ["answered"], "locators": []}),
    ],
)
def test_a_question_of_another_form_is_invalid_by_itself(question: str, body: object) -> None:
    answers = read_response(json.dumps(VALID | {question: body}))
    assert [name for name in QUESTIONS if isinstance(answers[name], Invalid)] == [question]


@pytest.mark.parametrize("question", ["q2", "q3"])
def test_an_abstention_may_leave_out_its_locators_or_give_none(question: str) -> None:
    for body in ({"status": "abstain"}, {"status": "abstain", "locators": None}, {"status": "abstain", "locators": []}):
        assert read_answer(question, body) == Answer(Status.ABSTAIN)


def test_a_text_that_is_no_locator_is_kept_as_it_is() -> None:
    for text in (" act-01.result", "act-1.result", "ACT-01.result", "in-3", "", "\ud800"):
        assert read_answer("q2", {"status": "answered", "locators": [text]}) == Answer(
            Status.ANSWERED, locators=frozenset({text})
        )


@given(st.lists(locators), st.randoms())
def test_order_and_repetition_do_not_matter(named: list[str], random: object) -> None:
    again = [*named, *named[:2]]
    random.shuffle(again)  # type: ignore[attr-defined]
    one, other = (read_answer("q2", {"status": "answered", "locators": items}) for items in (named, again))
    assert one == other


@given(st.frozensets(locators))
def test_answers_are_written_sorted_by_action_then_element(named: frozenset[str]) -> None:
    written = Answer(Status.ANSWERED, locators=named).to_json("q3")["locators"]
    order = ["request.user", "act-01.result", "act-01.result[2]", "act-02.result", "act-10.result"]
    assert written == [name for name in order if name in named]
    assert read_answer("q3", {"status": "answered", "locators": written}) == Answer(Status.ANSWERED, locators=named)
