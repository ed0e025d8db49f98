"""`trace-prov validate --as package`: a folder of packages opened up, a report put into words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trace_prov.errors import PackageError
from trace_prov.package.folders import find_packages, inventory_of
from trace_prov.package.shacl import Grade
from trace_prov.package.validate import Report, validate_package


def packages_of(path: Path) -> Iterator[Path]:
    """The packages at or below a folder, those that its inventory has and that are gone included.

    A folder that holds none is taken for a package itself, which then lacks everything.
    """
    if not path.is_dir():
        yield path
        return
    try:
        found = [package.path for package in find_packages([path])]
    except PackageError:
        found = [path]
    yield from sorted({*found, *(path / folder for folder in inventory_of(path))})


def check(path: Path, engine: str, least: str) -> tuple[bool, str, list[str], dict[str, Any]]:
    """(kept, headline, lines, JSON) for one package; rules of a lower grade than `least` are told and break nothing."""
    report = validate_package(path, engine)
    kept = not report.broken(Grade(least))
    lines = [f"{item.grade} ({item.rule}) at {item.place}: {item.message}" for item in sorted(report.violations)]
    return kept, _headline(report, kept), lines, {**report.as_json(), "ok": kept}


def _headline(report: Report, kept: bool) -> str:
    condition = report.condition or "no readable evidence"
    seen = sum(report.focus.values())
    counts = [
        f"{sum(item.grade is grade for item in report.violations)} {grade}"
        for grade in Grade
        if any(item.grade is grade for item in report.violations)
    ]
    verdict = "keeps its contract" if kept else "breaks its contract"
    told = f"; {', '.join(counts)}" if counts else ""
    shapes = f"{len(report.focus)} shapes saw {seen} nodes, {report.triples} triples"
    return f"package {condition} {verdict}: {shapes}, engine {report.engine}{told}"
