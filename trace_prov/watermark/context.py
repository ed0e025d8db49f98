"""What a decision is keyed by: selection contexts and tally skeletons (WATERMARK §1.3 to 1.5).

Embedder and detector build their contexts here and nowhere else. Ghost records never enter a selection context.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from trace_prov.watermark.prf import DIGEST_SIZE, PERSON, Field, digest, encode
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.trajectory import Group, Run


def selection_context(scheme: Scheme, salt: str | None, task: str | None, previous: Sequence[Group]) -> bytes:
    """Return the 16-byte context of the decision that follows `previous` (only its last `window` groups count)."""
    fields: list[Field] = []
    for name in scheme.context_fields:
        if name == "salt":
            fields.append(salt)
        elif name == "task":
            fields.append(task)
        elif name == "actions":
            fields.append([group.decision.action for group in previous[-scheme.window :]])
        else:
            fields.append(first_observation(previous[-1]) if previous else None)
    return digest("selection", *fields)


def first_observation(group: Group) -> str | None:
    """The natural record that a context may hold: the first one, since a ghost is always appended after it."""
    return group.observations[0].content if group.observations else None


def selection_contexts(scheme: Scheme, run: Run, salt: str | None) -> Iterator[bytes]:
    """Yield the context of every group of `run`."""
    for index in range(len(run.groups)):
        yield selection_context(scheme, salt, run.task, run.groups[max(0, index - max(1, scheme.window)) : index])


def selection_message(context: bytes, action: str) -> bytes:
    """The PRF input of one candidate; unambiguous because the context has a fixed length."""
    return b"sel" + context + action.encode("utf-8", "surrogatepass")


class Skeleton:
    """The tags so far, as a running hash: the tally's context without the cost of hashing the prefix again."""

    def __init__(self, scheme: Scheme, salt: str | None) -> None:
        self._scheme = scheme
        self._salt = salt if scheme.tally_salted else None
        self._hash = hashlib.blake2b(encode("tally", self._salt), digest_size=DIGEST_SIZE, person=PERSON)
        self._index = 0

    def message(self, natural: int) -> bytes:
        """The PRF input of the next group's bit, when it has `natural` observation records of its own."""
        if self._scheme.tally == "index":
            return index_message(self._salt, self._index)
        here = self._hash.copy()
        # Under the parity rule a detector cannot tell a ghost from a natural record, so no count may enter.
        here.update(b"D" if self._scheme.natural_rule == "parity" else b"D" + b"O" * natural)
        return b"tal" + here.digest()

    def advance(self, observations: int) -> None:
        """Append a finished group, its ghost included."""
        self._hash.update(b"D" + b"O" * observations)
        self._index += 1


def index_message(salt: str | None, index: int) -> bytes:
    """The PRF input of the index-keyed bit of group `index` (from 0)."""
    return b"ind" + digest("index", salt, index)


def observed_bit(scheme: Scheme, group: Group) -> int:
    """The bit that a group's number of records shows (WATERMARK §1.5)."""
    count = len(group.observations)
    if scheme.natural_rule == "parity":
        return count % 2
    return int(count > scheme.natural_count(group.decision.tool))


def wants_ghost(scheme: Scheme, bit: int, natural: int, tool: str | None) -> bool:
    """Whether one more record makes a group with `natural` ones show `bit`."""
    if scheme.natural_rule == "parity":
        return natural % 2 != bit
    return bit == 1 and natural == scheme.natural_count(tool)
