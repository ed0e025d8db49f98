"""Encoding is injective; the keyed numbers are uniform, open and reproducible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from trace_prov.watermark.prf import digest, encode, to_units, unit, units

#: a change of the PRF would orphan every watermark already embedded
PINNED = "0x1.ae94126bbd592p-1"

FIELDS: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.text(max_size=6) | st.binary(max_size=6) | st.integers(), lambda inner: st.lists(inner, max_size=3)
)


@given(st.lists(FIELDS, max_size=4), st.lists(FIELDS, max_size=4))
def test_encoding_is_injective(first: list[Any], second: list[Any]) -> None:
    assert (encode(*first) == encode(*second)) == (first == second)


@pytest.mark.parametrize(
    ("first", "second"),
    [(["ab", "c"], ["a", "bc"]), (["a", ""], ["a"]), ([["a"], "b"], [["a", "b"]]), (["1"], [1]), ([""], [None])],
)
def test_fields_cannot_run_into_each_other(first: list[Any], second: list[Any]) -> None:
    assert digest(*first) != digest(*second)


def test_numbers_do_not_change_between_versions() -> None:
    assert unit(b"k" * 32, b"message") == units(b"k" * 32, [b"message"])[0]
    assert unit(b"k" * 32, b"message").hex() == PINNED


def test_numbers_are_uniform_and_open() -> None:
    u = units(b"k" * 32, [b"%d" % number for number in range(100_000)])
    assert u.min() > 0
    assert u.max() < 1
    assert stats.kstest(u, "uniform").pvalue > 1e-4
    lagged = np.corrcoef(u[:-1], u[1:])[0, 1]
    assert abs(lagged) < 5 / np.sqrt(len(u))


def test_extreme_words_stay_open() -> None:
    u = to_units(np.array([0, 2**64 - 1], dtype=np.uint64))
    assert 0 < u[0] < 1e-15
    assert u[1] < 1
    assert np.isfinite(np.log(u)).all()
    assert np.isfinite(np.log1p(-u)).all()
