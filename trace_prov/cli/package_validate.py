"""`trace-prov validate --as package`: a folder of packages opened up, a report put into words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trace_prov.errors import PackageError, UsageError
from trace_prov.package.bag import read_package
from trace_prov.package.folders import case_in_inventory, find_packages, inventory_of
from trace_prov.package.shacl import Grade
from trace_prov.package.validate import Report, SealCheck, validate_package


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
    report = validate_package(path, engine, case=case_in_inventory(path), seal=_seal_check())
    kept = not report.broken(Grade(least))
    lines = [f"{item.grade} ({item.rule}) at {item.place}: {item.message}" for item in sorted(report.violations)]
    return kept, _headline(report, kept), lines, {**report.as_json(), "ok": kept}


def _seal_check() -> SealCheck | None:
    """What checks the seal of a sealed package, where the libraries for it are installed."""
    try:
        from trace_prov.seal.checking import check_sealed
        from trace_prov.seal.form import form_problems
        from trace_prov.seal.keys import signer_module

        signer_module()
    except (ImportError, UsageError):
        return None

    def check(folder: Path) -> Iterator[str]:
        problems = check_sealed(folder).problems
        yield from problems or form_problems(folder, read_package(folder))

    return check


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
