"""How recorded text is read: lists and their elements, and the scalars of structured text (CONTRACT §1, §2).

Structured means that the text parses as JSON, else as YAML. Both are read for their string scalars only, with
numbers and dates left as written: whatever is not a string stands in the text as it is.

YAML is read as a stream of libyaml events and never composed into objects: hostile text (deep nesting, alias
bombs, tags that name Python objects) costs little more than its length. A list whose aliases would repeat its texts
beyond all proportion counts as text that does not parse.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from trace_prov.common_lists import common_list

_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_BLANK = " \t\r\n"
#: How many characters the aliases of a text may repeat: these, and so many for each of its own.
_ALIASED_AT_LEAST = 100_000
_ALIASED_PER_CHARACTER = 10


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


@dataclass(slots=True, eq=False)
class _Part:
    """A part of a YAML document whose scalars count together: a list's element, what an anchor names, a key, the rest.

    `strings` are its own values, in order and each once; `parts` are the parts that it holds or refers to.
    """

    strings: dict[str, None] = field(default_factory=dict)
    parts: list[_Part] = field(default_factory=list)


@dataclass(slots=True)
class _Open:
    """A collection that is being read, and the part that its values belong to. In a mapping every second is a value."""

    mapping: bool
    key_next: bool
    part: _Part


class _YamlReader:
    """Reads one YAML document. `root` is all of it, `elements` those of an outermost sequence with their first index.

    Raises yaml.YAMLError when the text is no single document.
    """

    def __init__(self, text: str) -> None:
        self.root = _Part()
        self.elements: list[tuple[int, _Part]] = []
        self._open: list[_Open] = []
        self._anchors: dict[str, str | _Part] = {}
        self._left = _ALIASED_AT_LEAST + _ALIASED_PER_CHARACTER * len(text)
        documents = 0
        for event in yaml.parse(text, Loader=_LOADER):
            if isinstance(event, yaml.NodeEvent):
                self._node(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._open.pop()
            elif isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise yaml.YAMLError("more than one document")

    def _node(self, event: yaml.NodeEvent) -> None:
        inner = self._open[-1] if self._open else None
        is_key = inner is not None and inner.mapping and inner.key_next
        if inner is not None:
            inner.key_next = not inner.key_next
        part = inner.part if inner is not None else self.root
        if inner is not None and not inner.mapping and len(self._open) == 1:
            assert event.start_mark is not None
            part = self._part_of(part)
            self.elements.append((event.start_mark.index, part))
        if isinstance(event, yaml.CollectionStartEvent):
            if is_key:
                part = _Part()  # what is in a key counts where an alias elsewhere names it
            elif event.anchor is not None:
                part = self._part_of(part)
            self._name(event.anchor, part)
            self._open.append(_Open(isinstance(event, yaml.MappingStartEvent), True, part))
            return
        value = self._value(event)
        if is_key:
            return
        if isinstance(value, str):
            part.strings[value] = None
        else:
            part.parts.append(value)

    @staticmethod
    def _part_of(whole: _Part) -> _Part:
        part = _Part()
        whole.parts.append(part)
        return part

    def _name(self, anchor: str | None, named: str | _Part) -> None:
        if anchor is not None:
            self._anchors[anchor] = named

    def _value(self, event: yaml.NodeEvent) -> str | _Part:
        """What a scalar or alias event stands for."""
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise yaml.YAMLError("alias without an anchor")
            return self._anchors[event.anchor]
        assert isinstance(event, yaml.ScalarEvent)
        value: str = event.value
        self._name(event.anchor, value)
        return value

    def strings_of(self, part: _Part) -> tuple[str, ...]:
        """The scalars of a part and of all that it refers to, each once.

        Raises yaml.YAMLError when aliases repeat so much that the text could not be written out.
        """
        strings: dict[str, None] = {}
        seen = {part}
        waiting = [part]
        while waiting:
            item = waiting.pop()
            self._left -= 1 + sum(len(string) for string in item.strings if string not in strings)
            strings |= item.strings
            if self._left < 0:
                raise yaml.YAMLError("aliases repeat too much")
            fresh = [other for other in dict.fromkeys(item.parts) if other not in seen]
            seen.update(fresh)
            waiting.extend(reversed(fresh))
        return tuple(strings)


def _yaml_strings(text: str) -> tuple[str, ...]:
    try:
        reader = _YamlReader(text)
        return reader.strings_of(reader.root)
    except (yaml.YAMLError, ValueError, RecursionError):
        return ()


def split_yaml(text: str) -> tuple[ListElement, ...]:
    """The elements of a YAML block sequence, as the YAML parser tells them."""
    try:
        reader = _YamlReader(text)
        strings = [reader.strings_of(part) for _, part in reader.elements]
        starts = _dashes(text, len(strings))
    except (yaml.YAMLError, ValueError, RecursionError):
        return ()
    if len(starts) != len(strings):
        return ()
    return tuple(
        ListElement(text[start:stop], values)
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
