"""The agent's account before a call, read as written: `Action:`, `Note:` and `Basis:` lines (CONTRACT §4, §10)."""

from __future__ import annotations

import re

from trace_prov.model import Account, Basis, BasisState

WITHHELD = Account(Basis(BasisState.WITHHELD))

_BASIS_LINE = re.compile(r"^Basis:(.*)$", re.MULTILINE)
_SECTION = re.compile(r"^(Action|Note|Basis):[ \t]*", re.MULTILINE)
_LOCAL_ID = re.compile(r"[A-Za-z](?=[A-Za-z0-9_-]*[0-9])[A-Za-z0-9_-]*")


def states_a_basis(text: str) -> bool:
    """Whether some line of an assistant's text starts with `Basis:`; such a log holds accounts."""
    return "Basis:" in text and _BASIS_LINE.search(text) is not None


def read_account(text: str) -> Account:
    """The account in an assistant's text. No text at all has a Basis that is missing."""
    lines = list(_BASIS_LINE.finditer(text))
    basis = read_basis(lines[-1][1]) if lines else Basis(BasisState.MISSING)
    sections = _sections(text)
    return Account(basis, text or None, sections.get("Action"), sections.get("Note"))


def read_basis(written: str) -> Basis:
    """A Basis from what follows `Basis:` on its line; anything but a list of ids is malformed and keeps its text."""
    stripped = written.strip()
    listed = stripped
    if stripped.startswith("[") and stripped.endswith("]") and len(stripped) > 1:
        listed = stripped[1:-1].strip()
    if not listed:
        return Basis(BasisState.EMPTY, (), stripped)
    ids = tuple(item.strip() for item in listed.split(","))
    if all(is_local_id(item) for item in ids):
        return Basis(BasisState.IDS, ids, stripped)
    return Basis(BasisState.MALFORMED, (), stripped)


def is_local_id(text: str) -> bool:
    """A letter followed by letters, digits, `_` or `-`, with at least one digit (CONTRACT §10)."""
    return _LOCAL_ID.fullmatch(text) is not None


def _sections(text: str) -> dict[str, str]:
    """The first `Action:` and `Note:` paragraph, each up to the next of the three words at the start of a line."""
    sections: dict[str, str] = {}
    marks = list(_SECTION.finditer(text))
    for mark, following in zip(marks, [*marks[1:], None], strict=False):
        end = len(text) if following is None else following.start()
        sections.setdefault(mark[1], text[mark.end() : end].strip())
    return sections
