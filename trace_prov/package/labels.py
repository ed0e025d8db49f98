"""Opaque labels for local ids (CONTRACT §7): a bijection that keeps the order of the ids, seeded by the case."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from trace_prov.model import Account, Basis, Binding, BindingTable, RecordedInput, Run

SEED = 42
OPAQUE = re.compile(r"ref_[0-9a-f]{16}")

_NUMBERED = re.compile(r"(?P<prefix>.*?)(?P<number>[0-9]+)", re.DOTALL)
#: What reads like a local id: a letter, then a digit, with nothing but id characters between.
_ID_LIKE = re.compile(r"[A-Za-z][A-Za-z_-]*[0-9]")
_WORD = re.compile(r"[A-Za-z0-9_-]+")


def id_order(local_id: str) -> tuple[str, int, str]:
    """The order of ids: by prefix, then by number, so that in-2 comes before in-10."""
    match = _NUMBERED.fullmatch(local_id)
    if match is None:
        return local_id, -1, local_id
    return match["prefix"], int(match["number"]), local_id


def ids_of(run: Run) -> set[str]:
    """All ids that were issued in the run or cited by an account of it."""
    issued = {row.local_id for row in run.table.rows} | {row.local_id for row in run.inputs}
    return issued.union(*(action.account.basis.ids for action in run.actions))


def opaque_labels(ids: Iterable[str], case: str) -> dict[str, str]:
    """A label for each id. The same ids of the same case get the same labels."""
    ordered = sorted(set(ids), key=id_order)
    seed = hashlib.sha256(f"{SEED}|{case}".encode("utf-8", "surrogatepass")).digest()
    labels: set[str] = set()
    for label in _drawn(seed):
        if len(labels) == len(ordered):
            break
        labels.add(label)
    return dict(zip(ordered, sorted(labels), strict=True))


def _drawn(seed: bytes) -> Iterator[str]:
    """Labels from SHA-256 in counter mode. One without a digit would be no local id (CONTRACT §10), so it is passed."""
    counter = 0
    while True:
        digits = hashlib.sha256(seed + counter.to_bytes(8, "big")).hexdigest()[:16]
        counter += 1
        if not digits.isalpha():
            yield f"ref_{digits}"


def relabelled(text: str, labels: Mapping[str, str]) -> str:
    """The text with every id that stands as a whole token replaced, and nothing else.

    A hyphen or an underscore between word characters joins a longer word, a point before a digit a longer number.
    """
    if not labels:
        return text
    longest_first = "|".join(re.escape(local_id) for local_id in sorted(labels, key=len, reverse=True))
    pattern = rf"(?<!\w)(?<!\w-)(?:{longest_first})(?!\w)(?!-\w)(?!\.[0-9])"
    return re.sub(pattern, lambda match: labels[match[0]], text)


def with_labels(run: Run, labels: Mapping[str, str]) -> Run:
    """The run with its ids relabelled in accounts, table and recorded inputs."""
    rows = tuple(Binding(labels[row.local_id], row.locator) for row in run.table.rows)
    inputs = tuple(RecordedInput(labels[row.local_id], row.channel, row.locator, row.text) for row in run.inputs)
    actions = tuple(replace(action, account=_account(action.account, labels)) for action in run.actions)
    return replace(run, actions=actions, table=BindingTable(run.table.state, rows), inputs=inputs)


def _account(account: Account, labels: Mapping[str, str]) -> Account:
    basis = account.basis
    return Account(
        Basis(basis.state, tuple(labels[local_id] for local_id in basis.ids), _maybe(basis.text, labels)),
        _maybe(account.text, labels),
        _maybe(account.action_paragraph, labels),
        _maybe(account.note, labels),
    )


def _maybe(text: str | None, labels: Mapping[str, str]) -> str | None:
    return None if text is None else relabelled(text, labels)


def id_like_words(run: Run) -> tuple[str, ...]:
    """The words of the accounts that read like local ids and are no labels, sorted: file names, ids never issued."""
    words: set[str] = set()
    for action in run.actions:
        for text in texts_of(action.account):
            for word in _WORD.findall(OPAQUE.sub("", text)):
                if _ID_LIKE.search(word) is not None:
                    words.add(word)
    return tuple(sorted(words))


def texts_of(account: Account) -> Iterator[str]:
    """All texts of an account."""
    for text in (account.text, account.action_paragraph, account.note, account.basis.text):
        if text is not None:
            yield text
