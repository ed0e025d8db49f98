"""The order of the certificates in a time stamp.

A token carries its certificates as a set, which DER sorts and many authorities leave in the order of their chain
(OpenSSL's among them, RFC 5652 10.2.3 allows it). rfc3161-client reads DER alone. The set is signed by nobody and its
order says nothing, so it is sorted before the token is read; what is kept is what the authority sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

SEQUENCE, CONTEXT_0 = 0x30, 0xA0


class Part(NamedTuple):
    """An encoded value: its tag, and where it, its content and what follows it begin."""

    tag: int
    start: int
    content: int
    end: int


def with_sorted_certificates(response: bytes) -> bytes:
    """The same response (RFC 3161, TimeStampResp), the certificates of its token in DER's order.

    Raises ValueError when this is no response.
    """
    (outer,) = _parts(response, 0, len(response))
    parts = list(_parts(response, outer.content, outer.end))
    if len(parts) == 1:  # refused: there is a status and no token
        return response
    content = _tagged(response, parts[1], CONTEXT_0)
    signed = _tagged(response, content, SEQUENCE)
    try:
        certificates = _tagged(response, signed, CONTEXT_0)
    except ValueError:
        return response
    each = (response[part.start : part.end] for part in _parts(response, certificates.content, certificates.end))
    return response[: certificates.content] + b"".join(sorted(each)) + response[certificates.end :]


def _tagged(data: bytes, outer: Part, tag: int) -> Part:
    """The first part with this tag inside another."""
    for part in _parts(data, outer.content, outer.end):
        if part.tag == tag:
            return part
    raise ValueError(f"no part with the tag {tag:#x} at byte {outer.start}")


def _parts(data: bytes, start: int, end: int) -> Iterator[Part]:
    """The values from `start` to `end` (X.690, 8.1, definite lengths)."""
    while start < end:
        if start + 2 > end:
            raise ValueError(f"half a value at byte {start}")
        length, content = data[start + 1], start + 2
        if length & 0x80:
            size = length & 0x7F
            if not 0 < size <= 4:
                raise ValueError(f"no definite length at byte {start + 1}")
            length = int.from_bytes(data[content : content + size])
            content += size
        if content + length > end:
            raise ValueError(f"a value that goes beyond its frame at byte {start}")
        yield Part(data[start], start, content, content + length)
        start = content + length
