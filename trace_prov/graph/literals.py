"""Text as RDF literals: every Python string can be written and comes back as it was.

RDF strings hold Unicode characters; a lone surrogate, which JSON can hold, is none. It is written as U+10F040 and
four digits of base 64 that spell its code point, the digits being U+10F000 to U+10F03F. These 65 private-use
characters are written the same way where a text holds them itself. So no two texts are written alike, and a text
occurs in another exactly when the written one occurs in the written other: SPARQL's CONTAINS keeps its meaning.
"""

from __future__ import annotations

import hashlib
import re

_DIGITS = 0x10F000
_LEAD = "\U0010f040"
_SPECIAL = re.compile("[\ud800-\udfff\U0010f000-\U0010f040]")
_WRITTEN = re.compile("\U0010f040([\U0010f000-\U0010f03f]{4})")
_CONTROL = re.compile("[\x00-\x1f\x7f\ufffe\uffff]")
_NAMED = {"\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f"}


def to_rdf(text: str) -> str:
    """The text with whatever RDF cannot hold written in private-use characters."""
    return text if text.isascii() else _SPECIAL.sub(lambda match: _spelt(ord(match[0])), text)


def from_rdf(text: str) -> str:
    """The text that `to_rdf` was given."""
    return text if text.isascii() else _WRITTEN.sub(lambda match: chr(_value(match[1])), text)


def _spelt(code_point: int) -> str:
    return _LEAD + "".join(chr(_DIGITS + (code_point >> shift & 63)) for shift in (18, 12, 6, 0))


def _value(digits: str) -> int:
    value = 0
    for digit in digits:
        value = value << 6 | ord(digit) - _DIGITS
    return value


def quoted(text: str) -> str:
    """The text (already `to_rdf`) as a string literal of canonical N-Quads."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    if not escaped.isprintable():
        escaped = _CONTROL.sub(lambda match: _NAMED.get(match[0]) or f"\\u{ord(match[0]):04X}", escaped)
    return f'"{escaped}"'


def sha256_of(text: str) -> str:
    """SHA-256 of a text in UTF-8, lone surrogates as the three bytes they would have there; lower-case hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
