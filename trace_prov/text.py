"""How recorded text is read: lists and their elements, and the scalars of structured text (CONTRACT §1, §2).

Structured means that the text parses as JSON, else as YAML. Both are read for their string scalars only, with
numbers and dates left as written: whatever is not a string stands in the text as it is.

YAML is read as a stream of libyaml events and never composed into objects: hostile text (deep nesting, alias
bombs, tags that name Python objects) costs no more than its length.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from trace_prov.common_lists import common_list

_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_BLANK = " \t\r\n"


@dataclass(frozen=True, slots=True)
class ListElement:
    """One element of a list result: its own slice of the text, and the strings read in it, unescaped.

    `strings` is None where reading the slice alone gives the same.
    """

    text: str
    strings: tuple[str, ...] | None


def split_list(text: str) -> tuple[ListElement, ...]:
    """The elements of a result that is a list, in order; empty when it is none, or an empty list (CONTRACT §1).

    A list is a JSON array, or a YAML block sequence whose first non-blank characters are `- `. A slice runs from
    the element's dash (or its first character in JSON) to before the next element.
    """
    start = len(text) - len(text.lstrip(_BLANK))
    if text.startswith("[", start):
        return _split_json(text)
    if text.startswith("- ", start):
        slices = common_list(text)
        return split_yaml(text) if slices is None else tuple(ListElement(item, None) for item in slices)
    return ()


#: What a list that was cut may begin with: a YAML dash, or a JSON array as far as its first value tells.
_LIST_START = re.compile(
    r"""[ \t\r\n]*(\Z|-(\Z|[ ])|\[[ \t\r\n]*(\Z|["\[{\]]|t(\Z|r)|f(\Z|a)|n(\Z|u)|"""
    r"""-?[0-9]*(\.[0-9]*)?([eE][-+]?[0-9]*)?[ \t\r\n]*(\Z|[,\]])))"""
)


def may_be_list(visible: str) -> bool:
    """Whether the result that begins with this text may have been a list, so that its elements are the records."""
    return _LIST_START.match(visible) is not None


def decoded_strings(text: str) -> tuple[str, ...]:
    """Every string scalar in structured text, unescaped, keys of mappings left out; empty for other text."""
    try:
        return tuple(_json_strings(parse_json(text)))
    except ValueError:
        return _yaml_strings(text)


class Pairs(list[tuple[str, object]]):
    """A JSON object as its members in order: a name given twice keeps both values."""


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


_JSON = json.JSONDecoder(
    object_pairs_hook=Pairs, parse_int=lambda _: None, parse_float=lambda _: None, parse_constant=_no_constant
)


def parse_json(text: str) -> object:
    """JSON as RFC 8259 has it (no NaN), numbers dropped, objects as `Pairs`; raises ValueError when it is none."""
    try:
        return _JSON.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _json_strings(value: object) -> Iterator[str]:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Pairs):
            stack.extend(member for _, member in reversed(item))
        elif isinstance(item, list):
            stack.extend(reversed(item))


def _split_json(text: str) -> tuple[ListElement, ...]:
    try:
        array = parse_json(text)
    except ValueError:
        return ()
    if not array or not isinstance(array, list) or isinstance(array, Pairs):
        return ()
    starts, end = _json_starts(text, len(array))
    return tuple(
        ListElement(text[start:stop], tuple(_json_strings(value)))
        for start, stop, value in zip(starts, [*starts[1:], end], array, strict=True)
    )


def _json_starts(text: str, count: int) -> tuple[list[int], int]:
    """Where each of the array's elements begins, and where the last one ends. The text is known to be an array."""
    starts = []
    position = _skip_blank(text, text.index("[") + 1)
    end = position
    for _ in range(count):
        starts.append(position)
        _, end = _JSON.raw_decode(text, position)
        position = _skip_blank(text, _skip_blank(text, end) + 1)
    return starts, end


def _skip_blank(text: str, position: int) -> int:
    while text[position : position + 1] in _BLANK and position < len(text):
        position += 1
    return position


@dataclass(slots=True)
class _Open:
    """A collection that is being read. In a mapping every second node is a value."""

    mapping: bool
    key_next: bool
    in_key: bool


def _yaml_nodes(text: str) -> Iterator[tuple[int, int, str | None]]:
    """(depth, index of the first character, text) of each string value; text None announces a node at depth 1.

    Raises yaml.YAMLError when the text is no single YAML document.
    """
    stack: list[_Open] = []
    anchors: dict[str | None, str | None] = {}
    documents = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise yaml.YAMLError("more than one document")
        elif isinstance(event, yaml.NodeEvent):
            is_key = _next_is_key(stack)
            if len(stack) == 1:
                yield 1, _index(event), None
            if isinstance(event, yaml.CollectionStartEvent):
                in_key = is_key or (bool(stack) and stack[-1].in_key)
                stack.append(_Open(isinstance(event, yaml.MappingStartEvent), True, in_key))
                anchors[event.anchor] = None
                continue
            value = _scalar_value(event, anchors)
            if value is not None and not is_key and not (stack and stack[-1].in_key):
                yield len(stack), _index(event), value


def _index(event: yaml.Event) -> int:
    assert event.start_mark is not None
    return event.start_mark.index


def _next_is_key(stack: list[_Open]) -> bool:
    if not stack or not stack[-1].mapping:
        return False
    is_key = stack[-1].key_next
    stack[-1].key_next = not is_key
    return is_key


def _scalar_value(event: yaml.Event, anchors: dict[str | None, str | None]) -> str | None:
    """The scalar that a scalar or alias event stands for; None for an alias of a collection."""
    if isinstance(event, yaml.AliasEvent):
        if event.anchor not in anchors:
            raise yaml.YAMLError("alias without an anchor")
        return anchors[event.anchor]
    assert isinstance(event, yaml.ScalarEvent)
    value: str = event.value
    anchors[event.anchor] = value
    return value


def _yaml_strings(text: str) -> tuple[str, ...]:
    try:
        return tuple(value for _, _, value in _yaml_nodes(text) if value is not None)
    except (yaml.YAMLError, ValueError, RecursionError):
        return ()


def split_yaml(text: str) -> tuple[ListElement, ...]:
    """The elements of a YAML block sequence, as the YAML parser tells them."""
    nodes: list[int] = []
    strings: list[list[str]] = []
    try:
        for _, index, value in _yaml_nodes(text):
            if value is None:
                nodes.append(index)
                strings.append([])
            else:
                strings[-1].append(value)
        starts = _dashes(text, len(nodes))
    except (yaml.YAMLError, ValueError, RecursionError):
        return ()
    if len(starts) != len(nodes):
        return ()
    return tuple(
        ListElement(text[start:stop], tuple(values))
        for start, stop, values in zip(starts, [*starts[1:], len(text)], strings, strict=True)
    )


# A dash that opens an item of a sequence at column 0. Breaks that only YAML knows are left to its scanner.
_DASH = re.compile(r"^-(?=[ \t\n]|\Z)", re.MULTILINE)
_OTHER_BREAK = re.compile("[\r\x85\u2028\u2029]")


def _dashes(text: str, count: int) -> list[int]:
    """Where the dashes of the outermost block sequence, which has `count` items, stand.

    All dashes of one sequence share a column. At column 0 a search finds each of them, and maybe more inside
    quoted text; where it finds just `count` it found the right ones, else the YAML scanner tells.
    """
    if text.startswith("-") and _OTHER_BREAK.search(text) is None:
        starts = [match.start() for match in _DASH.finditer(text)]
        if len(starts) == count:
            return starts
    return _scanned_dashes(text)


def _scanned_dashes(text: str) -> list[int]:
    starts = []
    depth = 0
    for token in yaml.scan(text, Loader=_LOADER):
        if isinstance(token, yaml.BlockEntryToken):
            if depth == 1:
                starts.append(token.start_mark.index)
        elif isinstance(token, (yaml.BlockSequenceStartToken, yaml.BlockMappingStartToken)):
            depth += 1
        elif isinstance(token, yaml.BlockEndToken):
            depth -= 1
    return starts


# An escape that may give another character than a blank, a quote, a slash or a backslash.
_OTHER_ESCAPE = re.compile(r'\\[^nrt"\\/ ]')
_ESCAPED_BREAK = re.compile(r"""[\s'"\\/]+""")
_PLAIN_BREAK = re.compile(r"[\s']+")


def unescapes_freely(text: str) -> bool:
    """Whether reading `text` as JSON or YAML may give characters that do not stand in it, blanks and quotes apart."""
    return "\\" in text and _OTHER_ESCAPE.search(text) is not None


def pieces_of(literal: str, *, backslashes: bool) -> tuple[str, ...]:
    """The runs of characters in a literal that reading structured text leaves as they are.

    Without backslashes in the text only folded blanks and doubled single quotes change.
    """
    return tuple((_ESCAPED_BREAK if backslashes else _PLAIN_BREAK).split(literal))


def decoding_may_show(pieces: tuple[str, ...], text: str) -> bool:
    """Whether a literal that does not stand in `text` may still stand in a scalar of it after unescaping.

    For texts that do not unescape freely. Reading structured text costs far more than searching it, so this settles
    most texts without it. Unescaping changes blanks (folded lines, indentation), doubled quotes and what follows a
    backslash; all other characters of a scalar stand in the text, in order. So each piece of the literal must stand
    there too, and a literal that is all one piece cannot have been changed.
    """
    return len(pieces) > 1 and all(piece in text for piece in pieces)
