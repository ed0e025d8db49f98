"""The query files of `queries/cypher/`: what they ask, their parameters, their text for runs and for packages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from trace_prov.errors import UsageError
from trace_prov.neo4j.mapping import PACKAGE_PREFIX

_ENDING = ".cypher"
_PARAMETER = re.compile(r"//\s+:param (\w+) => (null|'[^']*')\s+(\S.*)")
_RUN = "(r:Run)"
_COLUMNS = re.compile(r"Returns: (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as the file's comment names it; `example` is what the comment sets in Browser, null for all."""

    name: str
    example: str | None
    meaning: str

    @property
    def needed(self) -> bool:
        return self.meaning.endswith("; needed")


@dataclass(frozen=True, slots=True)
class CypherFile:
    """A query as stored: `title` is the first sentence of its comment, `text` includes the comment."""

    name: str
    text: str
    title: str
    parameters: tuple[Parameter, ...]

    @property
    def for_packages(self) -> str:
        """The same question asked of evidence packages, whose nodes have labels of their own."""
        return self.text.replace(":Run)", f":{PACKAGE_PREFIX}Run)")


def cypher_files() -> tuple[CypherFile, ...]:
    """All query files, by name."""
    return tuple(cypher_file(name) for name in _names())


@cache
def cypher_file(name: str) -> CypherFile:
    """The query of this name; raises UsageError that lists what exists."""
    if name not in _names():
        raise UsageError(f"no query {name!r}; known: {', '.join(_names())}")
    return parse(name, (files("trace_prov.queries") / "cypher" / (name + _ENDING)).read_text("utf-8"))


def parse(name: str, text: str) -> CypherFile:
    """Read a query file's comment."""
    header = list(_header(text))
    words = " ".join(line.removeprefix("//").strip() for line in header)
    found = (_PARAMETER.fullmatch(line.rstrip()) for line in header)
    parameters = tuple(
        Parameter(match[1], None if match[2] == "null" else match[2][1:-1], match[3]) for match in found if match
    )
    return CypherFile(name, text, words.split(". ")[0], parameters)


def _header(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if not line.startswith("//"):
            return
        yield line


@cache
def _names() -> tuple[str, ...]:
    folder = files("trace_prov.queries") / "cypher"
    return tuple(sorted(item.name.removesuffix(_ENDING) for item in folder.iterdir() if item.name.endswith(_ENDING)))
