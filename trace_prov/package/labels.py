"""Opaque labels for local ids (CONTRACT §7): a bijection that keeps the order of the ids, seeded by the case."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import replace
from itertools import islice

from trace_prov.model import Account, Basis, Binding, BindingTable, RecordedInput, Run

SEED = 42
OPAQUE = re.compile(r"ref_[0-9a-f]{16}")

_NUMBERED = re.compile(r"(?P<prefix>.*?)(?P<number>[0-9]+)", re.DOTALL)
#: Where an id stands as a whole token: a hyphen or an underscore between word characters joins a longer word, a point
#: before a digit a longer number.
_TOKEN = r"(?<!\w)(?<!\w-)(?:{})(?!\w)(?!-\w)(?!\.[0-9])"
_LABEL = re.compile(_TOKEN.format(OPAQUE.pattern))
#: What reads like a local id: a letter, then a digit, with nothing but id characters between.
_ID_LIKE = re.compile(r"[^\W\d_](?:[^\W\d]|-)*\d")
ID_WORD = re.compile(r"[A-Za-z0-9_-]+")
#: Unicode categories of what looks like a hyphen, and of what is not seen at all or drawn over another character.
_DASHES, _UNSEEN = frozenset({"Pd"}), frozenset({"Cf", "Mn", "Me", "Mc"})
_MINUS = "\u2212"
#: How many labels a case has at most, for the check that a label is one of them: more than any run has ids.
_MOST_LABELS = 100_000


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
    return dict(zip(ordered, sorted(_first(_seed(case), len(ordered))), strict=True))


def _seed(case: str) -> bytes:
    return hashlib.sha256(f"{SEED}|{case}".encode("utf-8", "surrogatepass")).digest()


def _first(seed: bytes, number: int) -> set[str]:
    """The first labels that are drawn, this many different ones."""
    labels: set[str] = set()
    for label in _drawn(seed):
        if len(labels) == number:
            break
        labels.add(label)
    return labels


def _drawn(seed: bytes) -> Iterator[str]:
    """Labels from SHA-256 in counter mode. One without a digit would be no local id (CONTRACT §10), so it is passed."""
    counter = 0
    while True:
        digits = hashlib.sha256(seed + counter.to_bytes(8, "big")).hexdigest()[:16]
        counter += 1
        if not digits.isalpha():
            yield f"ref_{digits}"


def relabelled(text: str, labels: Mapping[str, str]) -> str:
    """The text with every id that stands as a whole token replaced, and nothing else."""
    if not labels:
        return text
    longest_first = "|".join(re.escape(local_id) for local_id in sorted(labels, key=len, reverse=True))
    return re.sub(_TOKEN.format(longest_first), lambda match: labels[match[0]], text)


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


def id_like_words(run: Run, labels: Collection[str]) -> tuple[str, ...]:
    """The words of the accounts that read like local ids and are none of these labels, sorted: ids never issued.

    So do words that only look like it: with another hyphen, with digits or letters of another script or width, with
    characters between that are not seen.
    """
    words: set[str] = set()
    for action in run.actions:
        for text in texts_of(action.account):
            rest = _LABEL.sub(lambda match: " " if match[0] in labels else match[0], text)
            words.update(word for word in _words(rest) if _ID_LIKE.search(as_seen(word)) is not None)
    return tuple(sorted(words))


def labels_in(run: Run) -> set[str]:
    """All labels in the accounts, the table and the recorded inputs."""
    ids = ids_of(run)
    return ids.union(*(_LABEL.findall(text) for action in run.actions for text in texts_of(action.account)))


def foreign_labels(labels: Set[str], case: str, *, number: int | None) -> set[str]:
    """Those of the labels that this case does not have; `number` is how many ids its run has, where that is known."""
    seed = _seed(case)
    if number is not None:
        return set(labels).difference(_first(seed, number))
    left = set(labels)
    for label in islice(_drawn(seed), _MOST_LABELS):
        if not left:
            break
        left.discard(label)
    return left


def as_seen(word: str) -> str:
    """The word in plain letters: compatibility forms and other hyphens replaced, what is not seen left out."""
    if word.isascii():
        return word
    folded = unicodedata.normalize("NFKC", word)
    kinds = ((character, unicodedata.category(character)) for character in folded)
    return "".join(_hyphen(character, kind) for character, kind in kinds if kind not in _UNSEEN)


def _hyphen(character: str, kind: str) -> str:
    return "-" if kind in _DASHES or character == _MINUS else character


def _words(text: str) -> Iterator[str]:
    yield from ID_WORD.findall(text)
    if not text.isascii():
        joined = "".join(character if _joins(character) else " " for character in text)
        yield from (word for word in joined.split() if not word.isascii())


def _joins(character: str) -> bool:
    if character.isalnum() or character in ("_", "-", _MINUS):
        return True
    return unicodedata.category(character) in _DASHES | _UNSEEN


def texts_of(account: Account) -> Iterator[str]:
    """All texts of an account."""
    for text in (account.text, account.action_paragraph, account.note, account.basis.text):
        if text is not None:
            yield text
