"""Accounts as written (CONTRACT §4, §10)."""

from __future__ import annotations

import pytest

from trace_prov.account import read_account, read_basis, states_a_basis
from trace_prov.model import BasisState


@pytest.mark.parametrize(
    ("written", "state", "ids"),
    [
        ("[in-2, in-6]", BasisState.IDS, ("in-2", "in-6")),
        ("in-2,in-2", BasisState.IDS, ("in-2", "in-2")),
        (" a_1 ", BasisState.IDS, ("a_1",)),
        ("ref_0123456789abcdef", BasisState.IDS, ("ref_0123456789abcdef",)),
        ("", BasisState.EMPTY, ()),
        ("[]", BasisState.EMPTY, ()),
        ("[ ]", BasisState.EMPTY, ()),
        ("none", BasisState.MALFORMED, ()),
        ("in-2,", BasisState.MALFORMED, ()),
        ("[in-2", BasisState.MALFORMED, ()),
        ("in-2]", BasisState.MALFORMED, ()),
        ("[", BasisState.MALFORMED, ()),
        ("2-in", BasisState.MALFORMED, ()),
        ("in", BasisState.MALFORMED, ()),
        ("in-2; in-3", BasisState.MALFORMED, ()),
        ("[[in-2]]", BasisState.MALFORMED, ()),
        ("in-2 (the bill)", BasisState.MALFORMED, ()),
    ],
)
def test_basis(written: str, state: BasisState, ids: tuple[str, ...]) -> None:
    basis = read_basis(written)
    assert (basis.state, basis.ids, basis.text) == (state, ids, written.strip())


def test_the_last_basis_line_counts_and_only_at_the_start_of_a_line_as_spelt() -> None:
    account = read_account("Note: see Basis: in-7\nBasis: in-1\nbasis: in-8\n Basis: in-9\nBasis: in-2\r\nthanks")
    assert account.basis.ids == ("in-2",)


def test_paragraph_and_note_are_kept_apart() -> None:
    account = read_account("Action: I pay.\nToday.\nNote: the bill says so\nBasis: [in-2]\n")
    assert (account.action_paragraph, account.note) == ("I pay.\nToday.", "the bill says so")
    assert account.text == "Action: I pay.\nToday.\nNote: the bill says so\nBasis: [in-2]\n"


@pytest.mark.parametrize("text", ["", "Action: x", "no Basis: here"])
def test_an_account_without_basis_is_missing_one(text: str) -> None:
    assert read_account(text).basis.state is BasisState.MISSING
    assert not states_a_basis(text)
