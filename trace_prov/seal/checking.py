"""A sealed package -> what was changed in it, with the names of the records concerned.

The checks of the script inside the package (standalone), by the same code; and what needs libraries: the signature
(securesystemslib), the time stamp (rfc3161-client), the bag (bagit), the contract (package/validate), and every record
as each file of the package tells it against the leaf that was sealed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bagit
import pyoxigraph

from trace_prov.errors import InputError, TraceProvError
from trace_prov.graph import iris
from trace_prov.graph.read import run_from_quads
from trace_prov.model import Run
from trace_prov.package.bag import EVIDENCE, JSON_LD, TRIG
from trace_prov.package.evidence import package_from_bytes
from trace_prov.package.graph import quads_of
from trace_prov.package.validate import validate_package
from trace_prov.seal.errors import SealError
from trace_prov.seal.keys import load_public
from trace_prov.seal.standalone import (
    DAMAGE,
    PUBLIC_KEY,
    RECORDS,
    STATEMENT,
    TIME_STAMP,
    check_bag,
    check_records,
    check_subjects,
    read_regular,
    read_statement,
)
from trace_prov.seal.statement import is_signed_by, parse_object
from trace_prov.seal.timestamp import check_time_stamp, stated_time
from trace_prov.seal.units import units_of


@dataclass
class SealReport:
    """`problems`: what was changed or does not hold; `notes`: what was found, and what could not be checked."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    predicate: dict[str, Any] = field(default_factory=dict)

    @property
    def intact(self) -> bool:
        return not self.problems


def check_sealed(folder: Path, key: Any | None = None, roots: Path | None = None) -> SealReport:
    """Check a sealed package; `key` is the signer's public key, `roots` the PEM of the time stamping authority.

    Raises SealError when there is no seal to check.
    """
    if not (folder / STATEMENT).is_file():  # the check of a link follows, and names it
        raise SealError(str(folder), expected=f"a sealed package with {STATEMENT}", found="none")
    report = SealReport()
    report.problems += check_bag(folder)
    report.problems += _bagit_problems(folder) if not report.problems else []
    try:
        statement, _, _ = read_statement(folder)
        report.predicate = statement["predicate"]
        report.problems += check_subjects(folder, statement)
        report.problems += check_records(folder, statement)
    except ValueError as error:
        report.problems.append(str(error))
    _check_signature(report, folder, key)
    _check_time_stamp(report, folder, roots)
    report.problems += _record_problems(folder)
    _check_contract(report, folder)
    report.problems = list(dict.fromkeys(report.problems))
    return report


def _bagit_problems(folder: Path) -> list[str]:
    try:
        bagit.Bag(str(folder)).validate()
    except bagit.BagError as error:
        return [f"bag: {error}"]
    return []


def _check_signature(report: SealReport, folder: Path, key: Any | None) -> None:
    try:
        used = load_public(read_regular(folder / PUBLIC_KEY), PUBLIC_KEY) if key is None else key
        envelope = parse_object(read_regular(folder / STATEMENT), STATEMENT)
    except (InputError, OSError) as error:
        report.problems.append(str(error))
        return
    if not is_signed_by(envelope, used):
        report.problems.append(f"{STATEMENT}: no valid signature by {'the key inside' if key is None else 'this key'}")
        return
    if key is None:
        report.notes.append("the signer is not identified: no key was given, the one inside the package was used")
    else:
        report.notes.append(f"signed by the key {used.keyid}")


def _check_time_stamp(report: SealReport, folder: Path, roots: Path | None) -> None:
    path = folder / TIME_STAMP
    if path.is_symlink() or not path.is_file():
        report.notes.append("no time stamp: nothing says when it was sealed")
        return
    try:
        stamp = path.read_bytes()
        moment = stated_time(stamp, TIME_STAMP)
        if roots is None:
            report.notes.append(f"a time stamp states {moment}; not checked, as no authority's certificate was given")
            return
        check_time_stamp(stamp, (folder / STATEMENT).read_bytes(), roots)
    except SealError as error:
        report.problems.append(str(error))
        return
    report.notes.append(f"sealed not later than {moment}, by the time stamping authority")


def _record_problems(folder: Path) -> Iterator[str]:
    """Each record as a file of the package tells it, against what was sealed."""
    try:
        leaves = json.loads(read_regular(folder / RECORDS))["leaves"]
        sealed = {leaf["unit"]: leaf["content"] for leaf in leaves if "content" in leaf}
    except DAMAGE:  # told by check_records
        return
    for name, reader in ((EVIDENCE, _run_of_evidence), (TRIG, _run_of_trig), (JSON_LD, _run_of_jsonld)):
        try:
            told = {unit.name: unit for unit in units_of(reader(read_regular(folder / name)))}
        except (TraceProvError, SyntaxError, *DAMAGE) as error:
            yield f"{name}: cannot be read: {error}"
            continue
        for unit in told.values():
            # A unit that is hidden may have a leaf that does not show its name.
            if unit.name not in sealed and not unit.hidden:
                yield f"{unit.name}: in {name} and not sealed"
            elif sealed.get(unit.name, unit.content) != unit.content:
                yield f"{unit.name}: {name} does not tell what was sealed"
        for unit_name in sealed:
            if unit_name not in told:
                yield f"{unit_name}: sealed and not in {name}"


def _run_of_evidence(data: bytes) -> Run:
    return package_from_bytes(data, EVIDENCE).run


def _run_of_trig(data: bytes) -> Run:
    return _run_of_quads(quads_of(data, pyoxigraph.RdfFormat.TRIG))


def _run_of_jsonld(data: bytes) -> Run:
    return _run_of_quads(quads_of(data, pyoxigraph.RdfFormat.JSON_LD))


def _run_of_quads(quads: list[pyoxigraph.Quad]) -> Run:
    names = (getattr(quad.graph_name, "value", "").removesuffix(":account") for quad in quads)
    return run_from_quads(quad for quad, name in zip(quads, names, strict=True) if iris.is_run(name))


def _check_contract(report: SealReport, folder: Path) -> None:
    if report.problems:
        report.notes.append("the contract was not checked, as the package was changed")
        return
    try:
        validation = validate_package(folder)
    except InputError as error:
        report.problems.append(f"contract: {error}")
        return
    if not validation.conforms:
        report.problems += [f"contract: {item.place}: {item.message}" for item in validation.violations]
