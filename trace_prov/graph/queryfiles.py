"""The queries of `queries/sparql/`: files that open with what they answer, their parameters and what comes back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from trace_prov.errors import UsageError

_ENDING = ".rq"
_PARAMETER = re.compile(r"#\s+\?(\w+)\s+(IRI|string|integer)\s+(\S.*)")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A variable that the caller may bind; `kind` is IRI, string or integer. One that is `needed` has no default."""

    name: str
    kind: str
    meaning: str

    @property
    def needed(self) -> bool:
        return self.meaning.endswith("; needed")


@dataclass(frozen=True, slots=True)
class QueryFile:
    """A query as stored. `title` is the first sentence of its comment, `parameters` what its comment names."""

    name: str
    text: str
    title: str
    parameters: tuple[Parameter, ...]


def queries() -> tuple[QueryFile, ...]:
    """All queries that come with the product, by name."""
    return tuple(query(name) for name in _names())


@cache
def query(name: str) -> QueryFile:
    """The query of this name; raises UsageError that lists what exists."""
    if name not in _names():
        raise UsageError(f"no query {name!r}; known: {', '.join(_names())}")
    text = (files("trace_prov.queries") / "sparql" / (name + _ENDING)).read_text("utf-8")
    return parse_query(name, text)


def parse_query(name: str, text: str) -> QueryFile:
    """A query file from its text."""
    header = list(_header(text))
    title = " ".join(line.removeprefix("#").strip() for line in header).split(". ")[0].split(": leave")[0]
    found = (_PARAMETER.fullmatch(line) for line in header)
    parameters = tuple(Parameter(match[1], match[2], match[3].strip()) for match in found if match)
    return QueryFile(name, text, title.strip(), parameters)


def _header(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if not line.startswith("#"):
            return
        yield line


@cache
def _names() -> tuple[str, ...]:
    folder = files("trace_prov.queries") / "sparql"
    return tuple(sorted(item.name.removesuffix(_ENDING) for item in folder.iterdir() if item.name.endswith(_ENDING)))
