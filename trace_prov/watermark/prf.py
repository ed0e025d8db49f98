"""Pseudo-random numbers from a key: unambiguous encoding, keyed BLAKE2b (RFC 7693), 53 bits (WATERMARK §1.2).

Fields are length-prefixed and typed, so that no two different field lists give the same bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Field = str | bytes | int | None | Sequence[Any]
#: separates these hashes from every other use of BLAKE2b with the same key (at most 16 bytes)
PERSON = b"trace-prov-wm"
DIGEST_SIZE = 16
BELOW_ONE = 1 - 2.0**-53


def encode(*fields: Field) -> bytes:
    """Return `fields` as bytes; injective: different lists of fields give different bytes."""
    return b"".join(_encode_one(field) for field in fields)


def _encode_one(field: Field) -> bytes:
    if field is None:
        return b"n"
    if isinstance(field, str):
        body = field.encode("utf-8", "surrogatepass")
        return b"s" + len(body).to_bytes(8, "big") + body
    if isinstance(field, bytes):
        return b"b" + len(field).to_bytes(8, "big") + field
    if isinstance(field, int):
        body = str(int(field)).encode()
        return b"i" + len(body).to_bytes(8, "big") + body
    return b"l" + len(field).to_bytes(8, "big") + encode(*field)


def digest(*fields: Field) -> bytes:
    """Return a 16-byte unkeyed digest of `fields`: what a context is stored and compared as."""
    return hashlib.blake2b(encode(*fields), digest_size=DIGEST_SIZE, person=PERSON).digest()


def words(key: bytes, messages: Iterable[bytes]) -> NDArray[np.uint64]:
    """Return one keyed 64-bit word for each message."""
    blake2b = hashlib.blake2b
    joined = b"".join([blake2b(message, digest_size=8, key=key, person=PERSON).digest() for message in messages])
    return np.frombuffer(joined, dtype=">u8").astype(np.uint64)


def to_units(raw: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return ((x >> 11) + 1/2) / 2^53 for each word, kept below one (the largest would round up to it)."""
    return np.minimum(((raw >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53, BELOW_ONE)


def units(key: bytes, messages: Iterable[bytes]) -> NDArray[np.float64]:
    """Return one number in the open interval (0, 1) for each message, from 53 bits."""
    return to_units(words(key, messages))


def unit(key: bytes, message: bytes) -> float:
    """Return the number in (0, 1) that `key` gives `message`; equal to `units(key, [message])[0]`."""
    raw = hashlib.blake2b(message, digest_size=8, key=key, person=PERSON).digest()
    return min(((int.from_bytes(raw, "big") >> 11) + 0.5) / 2.0**53, BELOW_ONE)
