"""docs/dependencies.md has one line for each dependency in pyproject.toml, and no other."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PAGE = (ROOT / "docs" / "dependencies.md").read_text("utf-8")

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_ROW = re.compile(r"^\| `([^`]+)` \| (.+?) \| (.+?) \|$", re.MULTILINE)


def names(requirements: Iterable[str]) -> list[str]:
    """The packages that a list of requirements names; extras that name our own extras are no packages."""
    found = (_NAME.match(requirement) for requirement in requirements)
    return sorted(match[0] for match in found if match is not None and match[0] != PROJECT["project"]["name"])


WANTED = {
    "Always": names(PROJECT["project"]["dependencies"]),
    "To build": names(PROJECT["build-system"]["requires"]),
    **{f"Extra `{extra}`": names(listed) for extra, listed in PROJECT["project"]["optional-dependencies"].items()},
}


def documented() -> dict[str, list[str]]:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    rows = {section.splitlines()[0]: [row[0] for row in _ROW.findall(section)] for section in sections}
    return {title: listed for title, listed in rows.items() if title != "Not Python"}


@pytest.mark.parametrize("section", WANTED)
def test_each_dependency_has_its_line(section: str) -> None:
    page = documented()
    assert section in page or not WANTED[section], f"docs/dependencies.md lacks the section: ## {section}"
    missing = sorted(set(WANTED[section]) - set(page.get(section, [])))
    left_over = sorted(set(page.get(section, [])) - set(WANTED[section]))
    assert not missing, f"under ## {section} in docs/dependencies.md, say what these do here and why: {missing}"
    assert not left_over, f"under ## {section} in docs/dependencies.md, these are no longer needed: {left_over}"


def test_no_section_is_left_over() -> None:
    assert set(documented()) - set(WANTED) == set()


def test_no_package_is_told_twice_in_a_section() -> None:
    for section, listed in documented().items():
        assert len(listed) == len(set(listed)), section
