"""Locators and order (CONTRACT §1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trace_prov.model import Locator


@given(st.builds(Locator, st.integers(0, 2000), st.integers(0, 2000)))
def test_a_locator_is_read_as_it_is_written(locator: Locator) -> None:
    assert Locator.parse(str(locator)) == locator


@pytest.mark.parametrize(
    "text",
    [
        "",
        "act-1.result",
        "act-01",
        "act-00.result",
        "act-007.result",
        "act-01.result[0]",
        "act-01.result[01]",
        "act-01.result[-1]",
        "act-01.result[1२]",
        "request.user[0]",
        "request.users",
        "act-01.result ",
        "act-०१.result",
        "act-01.result\n",
    ],
)
def test_what_is_no_locator(text: str) -> None:
    with pytest.raises(ValueError, match="not a locator"):
        Locator.parse(text)


def test_locators_sort_by_action_then_element_with_the_request_first() -> None:
    written = ["act-10.result", "act-02.result[10]", "request.user", "act-02.result[9]", "act-100.result"]
    assert [str(locator) for locator in sorted(map(Locator.parse, written))] == [
        "request.user",
        "act-02.result[9]",
        "act-02.result[10]",
        "act-10.result",
        "act-100.result",
    ]


def test_a_whole_covers_its_elements_and_nothing_else() -> None:
    whole, element = Locator(1), Locator(1, 2)
    assert whole.covers(element)
    assert whole.covers(whole)
    assert not element.covers(whole)
    assert not Locator(2).covers(element)
