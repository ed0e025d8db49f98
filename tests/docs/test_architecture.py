"""What the pages point to is there: names of the code, files, links, and the parts of a decision record."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
DECISIONS = sorted((DOCS / "decisions").glob("[0-9]*.md"))

_NAME = re.compile(r"`(trace_prov(?:\.\w+)+)`")
_FILE = re.compile(r"`((?:benchmarks|docker|docs|examples|loaders|ontology|queries|shapes|tests|trace_prov)/[\w./-]+)`")
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_ANCHOR = re.compile(r"\]\(#([^)]+)\)")


def shown(pages: list[Path]) -> list[str]:
    return [page.relative_to(ROOT).as_posix() for page in pages]


@cache
def names_in(module: Path) -> frozenset[str]:
    """What a module defines, with the members of its classes; read and not imported, so no extra is needed."""
    found: set[str] = set()
    for node in ast.parse(module.read_text("utf-8")).body:
        own = _defined(node)
        found.update(own)
        if isinstance(node, ast.ClassDef):
            found.update(f"{node.name}.{name}" for member in node.body for name in _defined(member))
    return frozenset(found)


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def is_there(name: str) -> bool:
    """Whether a dotted name is a module, or what one defines."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:length])
        module = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        if module.is_file():
            rest = ".".join(parts[length:])
            return not rest or rest in names_in(module)
    return False


@pytest.mark.parametrize("page", PAGES, ids=shown(PAGES))
def test_names_of_the_code_exist(page: Path) -> None:
    gone = [name for name in _NAME.findall(page.read_text("utf-8")) if not is_there(name)]
    assert not gone, f"{page.relative_to(ROOT)} names what is not in the code: {gone}; say where it is decided now"


def test_a_name_that_is_gone_is_found() -> None:
    assert is_there("trace_prov.derive.native.derive")
    assert is_there("trace_prov.model.Run.turns_before")
    assert not is_there("trace_prov.derive.native.derived")
    assert not is_there("trace_prov.model.Run.turns_after")
    assert not is_there("trace_prov.nothing")


@pytest.mark.parametrize("page", PAGES, ids=shown(PAGES))
def test_files_and_links_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    files = [name for name in _FILE.findall(text) if "NAME" not in name and not (ROOT / name).exists()]
    links = [link for link in _LINK.findall(text) if "://" not in link and not (page.parent / link).exists()]
    assert not files, f"{page.relative_to(ROOT)} names files that are not there: {files}"
    assert not links, f"{page.relative_to(ROOT)} links to what is not there: {links}"


@pytest.mark.parametrize("page", PAGES, ids=shown(PAGES))
def test_links_within_a_page_lead_to_a_heading(page: Path) -> None:
    text = page.read_text("utf-8")
    headings = {_anchor(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    assert set(_ANCHOR.findall(text)) - headings == set()


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_contract_has_the_sections_that_comments_refer_to() -> None:
    headings = re.findall(r"^## (\d+)\. ", (DOCS / "contract.md").read_text("utf-8"), re.MULTILINE)
    sources = [
        path for folder in ("trace_prov", "loaders", "queries", "shapes") for path in (ROOT / folder).rglob("*.*")
    ]
    texts = (path.read_text("utf-8") for path in sources if path.suffix in (".py", ".rq", ".cypher", ".ttl"))
    cited = {number for text in texts for number in re.findall(r"CONTRACT §(\d+)", text)}
    assert headings == [str(number) for number in range(1, 11)]
    assert cited
    assert cited <= set(headings)


@pytest.mark.parametrize("record", DECISIONS, ids=shown(DECISIONS))
def test_a_decision_has_its_date_and_parts(record: Path) -> None:
    text = record.read_text("utf-8")
    assert re.search(r"^# \d+\. .+\n\nDate: \d{4}-\d\d-\d\d\.$", text, re.MULTILINE)
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Options", "Choice", "Price"]
    assert record.name in (DOCS / "decisions" / "README.md").read_text("utf-8")


def test_decisions_are_numbered_without_gaps() -> None:
    assert [int(record.name[:4]) for record in DECISIONS] == list(range(1, len(DECISIONS) + 1))
