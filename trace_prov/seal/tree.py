"""The Merkle tree of a seal: salted leaves, withheld ones among them, and proofs that one leaf is in it (RFC 9162)."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trace_prov.seal.errors import SealError
from trace_prov.seal.standalone import RECORDS_FORMAT, canonical, leaf_hash, split_point, tree_root
from trace_prov.seal.units import Unit


@dataclass(frozen=True)
class Leaf:
    """A leaf as it is published. `unit`, `salt` and `content` are None where the record is withheld but committed to.

    `withheld`: the receiver does not see the record. A withheld leaf with a content commits to nothing but the fact
    that something is withheld, because the sealer had no more.
    """

    hash: bytes
    unit: str | None = None
    salt: bytes | None = None
    content: dict[str, Any] | None = None
    withheld: bool = False

    def as_json(self) -> dict[str, Any]:
        body: dict[str, Any] = {"leaf": self.hash.hex()}
        if self.unit is not None:
            body["unit"] = self.unit
        if self.salt is not None and self.content is not None:
            body |= {"salt": self.salt.hex(), "content": self.content}
        return body | ({"withheld": True} if self.withheld else {})


def salt_of(secret: bytes, run: str, content: dict[str, Any]) -> bytes:
    """The salt of a leaf: known to the holder of the secret, and to no one else as long as it is not published.

    It depends on the content, so that a unit that one package shows in another wording tells nothing of the first.
    """
    return hmac.digest(secret, b"trace-prov seal salt\n" + run.encode() + b"\n" + canonical(content), "sha256")


def shown_leaf(secret: bytes, run: str, unit: Unit) -> Leaf:
    """A leaf of a unit that the package shows, or that nobody who seals knows more of than that it is hidden."""
    salt = salt_of(secret, run, unit.content)
    return Leaf(leaf_hash(salt, unit.content), unit.name, salt, unit.content, withheld=unit.hidden)


def withheld_leaf(secret: bytes, run: str, unit: Unit, *, name_it: bool) -> Leaf:
    """A leaf that commits to a unit without showing it; named only where the package says that the unit is there."""
    hash_ = leaf_hash(salt_of(secret, run, unit.content), unit.content)
    return Leaf(hash_, unit.name if name_it else None, withheld=True)


def leaves_of(
    package: Sequence[Unit], record: Sequence[Unit] | None, secret: bytes, run: str, opaque: bool
) -> list[Leaf]:
    """The leaves of a package; with the complete `record`, withheld ones commit to what is withheld.

    `opaque`: the package has opaque labels, so accounts, bindings and inputs are worded otherwise than in the record.
    Raises SealError where the package shows something that the record does not hold.
    """
    if record is None:
        return [shown_leaf(secret, run, unit) for unit in package]
    relabelled = {unit.layer for unit in package if not unit.hidden and unit.layer in _RELABELLED} if opaque else set()
    shown = {unit.name: unit for unit in package if not unit.hidden}
    named = {unit.name for unit in package}
    leaves = []
    for unit in record:
        if unit.layer in relabelled:
            continue
        own = shown.pop(unit.name, None)
        if own is not None and own.content == unit.content:
            leaves.append(shown_leaf(secret, run, own))
        elif own is None:
            leaves.append(withheld_leaf(secret, run, unit, name_it=unit.name in named))
        else:
            raise _contradiction(unit.name, "the record of the log", "another")
    for name, unit in shown.items():
        if unit.layer not in relabelled:
            raise _contradiction(name, "something that the log holds", "something that it does not")
        leaves.append(shown_leaf(secret, run, unit))
    return leaves


_RELABELLED = frozenset({"account", "binding", "input"})


def _contradiction(name: str, expected: str, found: str) -> SealError:
    return SealError("package", place=name, expected=expected, found=found, hint="is --log the log of this package?")


def records_json(leaves: Sequence[Leaf]) -> dict[str, Any]:
    """The published records of a seal (seal/records.json)."""
    return {"format": RECORDS_FORMAT, "leaves": [leaf.as_json() for leaf in leaves]}


def inclusion_path(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The hashes that lead from a leaf to the root, lowest first (RFC 9162, 2.1.3.1)."""
    if len(leaves) <= 1:
        return []
    split = split_point(len(leaves))
    if index < split:
        return [*inclusion_path(leaves[:split], index), tree_root(list(leaves[split:]))]
    return [*inclusion_path(leaves[split:], index - split), tree_root(list(leaves[:split]))]
