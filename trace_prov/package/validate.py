"""Does a folder keep the contract of the package that it claims to be?

In this order: the folder and its bag; the evidence file, read strictly; its two graph forms, which must be the bytes
that the evidence gives; the shapes of its condition and layers. Each violation has its grade, rule, place and words.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyoxigraph

from trace_prov.errors import PackageError
from trace_prov.package.bag import (
    EVIDENCE,
    INFO_KEYS,
    JSON_LD,
    PAYLOAD,
    README,
    RECEIVER_NOTE,
    SEAL,
    TAGS,
    TRIG,
    VERSION,
    PackageFolder,
    bagit_library,
    files_in,
    tag_files,
)
from trace_prov.package.contract import RULE, Shapes, shapes_for
from trace_prov.package.evidence import package_from_bytes, package_to_bytes
from trace_prov.package.graph import PACKAGE, package_to_quads, quads_of, to_jsonld, to_trig
from trace_prov.package.model import Contract, Package, contract_from
from trace_prov.package.shacl import Engine, Grade, engine_named, to_ntriples
from trace_prov.package.soundness import unsound

#: How many differing statements are named before the rest is counted.
SHOWN = 5

#: From the folder of a sealed package to what is wrong with its seal.
SealCheck = Callable[[Path], Iterable[str]]

_RUN = re.compile(r"^urn:trace-prov:run:[0-9a-f]{32}")
_ELEMENT = re.compile(r"\.result:([0-9]+)$")


@dataclass(frozen=True, order=True, slots=True)
class Violation:
    """A rule that is not kept: where, and in words."""

    grade: Grade
    rule: str
    place: str
    message: str


@dataclass
class Report:
    """The verdict on one folder. `focus` says how many nodes each shape saw."""

    path: Path
    engine: str
    condition: str | None = None
    violations: list[Violation] = field(default_factory=list)
    focus: dict[str, int] = field(default_factory=dict)
    triples: int = 0

    def add(self, rule: str, place: str, message: str, grade: Grade = Grade.REQUIRED) -> None:
        violation = Violation(grade, rule, place, message)
        if violation not in self.violations:
            self.violations.append(violation)

    def broken(self, least: Grade = Grade.REQUIRED) -> bool:
        """Whether some rule of at least this grade is not kept."""
        grades = list(Grade)
        return any(grades.index(violation.grade) <= grades.index(least) for violation in self.violations)

    @property
    def conforms(self) -> bool:
        return not self.broken()

    def as_json(self) -> dict[str, Any]:
        return {
            "condition": self.condition,
            "conforms": self.conforms,
            "engine": self.engine,
            "triples": self.triples,
            "violations": [
                {"grade": str(item.grade), "rule": item.rule, "place": item.place, "message": item.message}
                for item in self.violations
            ],
            "focus_nodes": self.focus,
        }


def validate_package(
    path: Path, engine: str = "fast", case: str | None = None, seal: SealCheck | None = None
) -> Report:
    """Check one folder; raises PackageError when it is no folder at all, UsageError for an unknown engine.

    `case` is the case's name, where an inventory tells it: then the labels must be those of the case. `seal` says what
    is wrong with the seal of a sealed package.
    """
    run_shapes = engine_named(engine)
    if not path.is_dir():
        raise PackageError(
            str(path), expected="the folder of a package", found="none" if not path.exists() else "a file"
        )
    report = Report(path, engine)
    folder = PackageFolder(path)
    _check_files(report, path)
    _check_bag(report, folder)
    _check_tags(report, folder)
    _check_seal(report, path, seal)
    package = _check_evidence(report, folder)
    quads = None if package is None else package_to_quads(package)
    graph = _check_graphs(report, folder, quads)
    if package is not None and quads is not None:
        for item in unsound(package, case):
            report.add(item.rule, item.place, item.message, item.grade)
        _check_shapes(report, quads, shapes_for(package.contract), run_shapes)
        if graph is not None and set(graph) != set(quads):
            _check_shapes(report, graph, shapes_for(package.contract), run_shapes, "graph.trig: ")
    elif graph is not None:
        contract = _claimed(graph)
        if contract is not None:
            _check_shapes(report, graph, shapes_for(contract), run_shapes, "graph.trig: ")
    return report


def _claimed(graph: Iterable[pyoxigraph.Quad]) -> Contract | None:
    """What a graph claims, where its evidence cannot be read; None where it claims nothing that can be."""
    claims = {
        quad.predicate.value.removeprefix(PACKAGE): quad.object.value
        for quad in graph
        if isinstance(quad.object, pyoxigraph.Literal)
    }
    try:
        return contract_from(claims)
    except (KeyError, ValueError):
        return None


def _check_files(report: Report, path: Path) -> None:
    """The files of a package are there, and no other file, folder or link."""
    expected = {*PAYLOAD, *TAGS}
    found = set(files_in(path))
    for name in sorted(found):
        if (path / name).is_symlink():
            report.add("bag", name, "a link stands where only files may be")
        elif name not in expected and name not in SEAL:
            report.add("bag", name, "a file that packages do not have")
    for name in sorted(expected - found):
        report.add("bag", name, "this file of the package is missing")
    for folder in sorted(entry.name for entry in path.iterdir() if entry.is_dir()):
        if folder not in ("data", "seal"):
            report.add("bag", folder, "a folder that packages do not have")
    if (path / "data").is_dir():
        for entry in sorted((path / "data").iterdir()):
            if entry.is_dir():
                report.add("bag", f"data/{entry.name}", "a folder that packages do not have")


def _check_bag(report: Report, folder: PackageFolder) -> None:
    """The bag is complete and every byte is the one that was bagged (RFC 8493), by the bagit library."""
    bagit = bagit_library()
    path = folder.path
    if any(violation.message.startswith("a link") for violation in report.violations):
        return  # the library would follow it
    try:
        if folder.read("bagit.txt") != VERSION.encode():
            report.add("bag", "bagit.txt", f"expected just {VERSION.splitlines()[0]} and UTF-8 as encoding")
            return
        bag = bagit.Bag(str(path))
        for key in bag.info:
            if key not in INFO_KEYS:
                report.add("bag", "bag-info.txt", f"a package says nothing of {key!r} here")
        bag.validate()
    except PackageError:
        return  # a missing file is reported already
    except bagit.BagValidationError as error:
        for detail in error.details or [error]:
            report.add("bag", getattr(detail, "path", "bag"), _in_words(bagit, detail))
        _name_changed_files(report, folder, bag.entries)
    except (bagit.BagError, OSError, ValueError, LookupError) as error:
        report.add("bag", "bag", str(error) or type(error).__name__)


_CHANGED = "the bytes are not those that were bagged: their SHA-256 differs from the manifest's"


def _name_changed_files(report: Report, folder: PackageFolder, entries: dict[str, dict[str, str]]) -> None:
    """The library stops at the first kind of damage, such as a wrong total; this names every file all the same."""
    for name, digests in sorted(entries.items()):
        try:
            data = folder.read(name)
        except PackageError:
            continue  # missing or no file of a package: reported already
        if hashlib.sha256(data).hexdigest() != digests.get("sha256", "").lower():
            report.add("bag", name, _CHANGED)


def _in_words(bagit: Any, detail: object) -> str:
    if isinstance(detail, bagit.ChecksumMismatch):
        return _CHANGED
    if isinstance(detail, bagit.FileMissing):
        return "in the manifest, and not in the folder"
    if isinstance(detail, bagit.UnexpectedFile):
        return "in the folder, and not in the manifest"
    return str(detail)


def _check_tags(report: Report, folder: PackageFolder) -> None:
    """The tag files say what packages say, in the bytes in which packages say it: a manifest may have comments."""
    try:
        expected = tag_files(folder)
        found = {name: folder.read(name) for name in expected}
    except PackageError:
        return  # a missing file is reported already
    told = {violation.place for violation in report.violations}
    for name, data in expected.items():
        if found[name] != data and name not in told:
            report.add("bag", name, "not written as packages have it: another order, a blank, a comment, a value")


def _check_seal(report: Report, path: Path, check: SealCheck | None) -> None:
    """The seal is a whole one, and what checks seals finds nothing wrong: its files may hold what they like else."""
    folder = path / "seal"
    if folder.is_symlink() or not folder.exists():
        return
    for name in SEAL[:-1]:
        if not (path / name).is_file():
            report.add("seal", name, "this file of a seal is missing")
    for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
        if entry.is_dir() and not entry.is_symlink():
            report.add("seal", f"seal/{entry.name}", "a folder that packages do not have")
    if not report.violations and check is not None:
        for problem in check(path):
            report.add("seal", "seal", problem)
    elif check is None:
        report.add("seal", "seal", "a seal, which was not checked here: trace-prov verify does", Grade.RECOMMENDED)


def _check_evidence(report: Report, folder: PackageFolder) -> Package | None:
    """The evidence is read strictly, and written again it gives the same bytes: nothing can hide in it."""
    try:
        data = folder.read(EVIDENCE)
        package = package_from_bytes(data, EVIDENCE)
    except PackageError as error:
        inside = "" if error.place == EVIDENCE else f", {error.place or 'top'}"
        report.add("evidence", f"{EVIDENCE}{inside}", f"expected {error.expected}, found {error.found}")
        return None
    report.condition = package.contract.condition
    written = package_to_bytes(package)
    if written != data:
        at = next(
            (k for k, (a, b) in enumerate(zip(written, data, strict=False)) if a != b), min(len(written), len(data))
        )
        report.add(
            "evidence",
            f"{EVIDENCE}, byte {at}",
            "not written as evidence is: a member told twice or out of place, or blanks between them",
        )
    return package


def _check_graphs(
    report: Report, folder: PackageFolder, expected: list[pyoxigraph.Quad] | None
) -> list[pyoxigraph.Quad] | None:
    """Both graph forms are exactly what the evidence gives. Returns what the TriG file holds, when it can be read."""
    graph = None
    for name, form, write in (
        (TRIG, pyoxigraph.RdfFormat.TRIG, to_trig),
        (JSON_LD, pyoxigraph.RdfFormat.JSON_LD, to_jsonld),
    ):
        try:
            data = folder.read(name)
        except PackageError:
            continue  # reported as missing
        if expected is not None and data == write(expected):
            quads = expected
        else:
            try:
                quads = quads_of(data, form)
            except (SyntaxError, ValueError) as error:
                report.add("graph", name, f"cannot be read: {error}")
                continue
            if expected is not None:
                _report_differences(report, name, set(expected), set(quads))
        graph = quads if name == TRIG else graph
        report.triples = max(report.triples, len(quads))
    try:
        if folder.read(README) != RECEIVER_NOTE:
            report.add("bag", README, "not the note that packages have for their receiver")
    except PackageError:
        pass  # reported as missing
    return graph


def _report_differences(report: Report, name: str, expected: set[pyoxigraph.Quad], found: set[pyoxigraph.Quad]) -> None:
    differences = [
        *((quad, "says what the evidence does not") for quad in found - expected),
        *((quad, "lacks what the evidence says") for quad in expected - found),
    ]
    if not differences:
        report.add("graph", name, "the same statements, not written as packages are: a comment, or an unknown member")
    differences.sort(key=lambda item: str(item[0]))
    for quad, what in differences[:SHOWN]:
        subject = quad.subject.value if isinstance(quad.subject, pyoxigraph.NamedNode) else str(quad.subject)
        value = getattr(quad.object, "value", str(quad.object))
        report.add("graph", f"{name}, {place_of(subject)}", f"{what}: {_term(quad.predicate.value)} {value!r}")
    if len(differences) > SHOWN:
        report.add("graph", name, f"and {len(differences) - SHOWN} more statements differ")


def _check_shapes(
    report: Report, quads: Iterable[pyoxigraph.Quad], shapes: Shapes, run_shapes: Engine, prefix: str = ""
) -> None:
    quads = list(quads)
    report.focus = report.focus or shapes.focus_counts(quads)
    for rule in _rules_without_focus(shapes, shapes.focus_counts(quads)):
        report.add(rule, f"{prefix}whole package", "no shape of this rule saw a node, so it says nothing")
    for result in run_shapes(to_ntriples(quads), shapes):
        rule = shapes.owner.get(result.shape, result.shape.removeprefix(RULE))
        message = result.message
        if result.path and result.value and result.value not in message:
            message = f"{message} (found {_term(result.path)} {result.value!r})"
        report.add(rule, f"{prefix}{place_of(result.focus)}", message, result.grade)


def _rules_without_focus(shapes: Shapes, counts: dict[str, int]) -> Iterator[str]:
    """A rule none of whose shapes saw a node would hold of anything, which is no verdict."""
    rules: dict[str, int] = {}
    for name, (rule, _, _) in shapes.shapes.items():
        rules[rule] = rules.get(rule, 0) + counts[name]
    return (rule for rule, seen in sorted(rules.items()) if seen == 0)


def place_of(iri: str) -> str:
    """A node of a package's graph in words."""
    suffix = _RUN.sub("", iri)
    if suffix == iri:
        return iri
    suffix = suffix.removeprefix(":")
    if suffix.startswith("in:"):
        return f"row of {suffix.removeprefix('in:')}"
    names = {"": "the run", "package": "the claims", "table": "the binding table", "target": "the target"}
    if suffix.startswith("withheld:"):
        return f"line {suffix.removeprefix('withheld:')} of the declaration"
    return names.get(suffix, _ELEMENT.sub(r".result[\1]", suffix))


def _term(iri: str) -> str:
    return iri.removeprefix(PACKAGE).rsplit("#", maxsplit=1)[-1]
