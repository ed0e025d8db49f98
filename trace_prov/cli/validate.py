"""`trace-prov validate`: does a file keep the rules of what it claims to be?

A kind of validation is one function from a path and the options to a Verdict, and one entry in VALIDATORS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from trace_prov.cli.output import printable, say, to_line
from trace_prov.errors import InputError, UsageError

EXIT_VIOLATIONS, EXIT_BAD_INPUT = 1, 2


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says beside the files; each kind of validation takes what is its own."""

    engine: str | None = None
    ontologies: tuple[Path, ...] = ()
    rules_only: bool = False
    fail_on: str = "required"

    def engine_among(self, kind: str, *engines: str) -> str:
        """Return the engine, by default the first; raises UsageError for one of another kind of validation."""
        engine = self.engine or engines[0]
        if engine not in engines:
            raise UsageError(f"--engine {engine} does not belong to --as {kind}; it has {', '.join(engines)}")
        return engine


@dataclass(frozen=True, slots=True)
class Verdict:
    """`ok` decides the exit code; `headline` and `lines` say it in words, `body` says it as JSON."""

    ok: bool
    headline: str
    lines: tuple[str, ...]
    body: dict[str, Any]


Validator = Callable[[Path, Options], Verdict]


def validate_prov(path: Path, options: Options) -> Verdict:
    """PROV-CONSTRAINTS: the document and each of its bundles as an instance."""
    engine = options.engine_among("prov", "fast", "shapes")
    if options.ontologies or options.rules_only:
        raise UsageError("--ontology-graph and --rules-only belong to --as case")
    try:
        from trace_prov.prov_constraints import check_document
        from trace_prov.prov_constraints.rdf import check_document_with_shapes
        from trace_prov.prov_constraints.reading import read_prov
    except ImportError as error:
        raise UsageError(f"--as prov needs the package {error.name}: pip install 'trace-prov[prov]'") from error

    file = read_prov(path)
    reports = (check_document_with_shapes if engine == "shapes" else check_document)(file.instances)
    lines = [f"note: {note}" for note in file.notes]
    for report in reports:
        where = "" if report.bundle is None else f"bundle {report.bundle}: "
        for violation in report.violations:
            rule = f"Constraint {violation.constraint} ({violation.name})" if violation.constraint else violation.name
            lines.append(f"{where}{rule}: {violation.message}")
            lines.extend(f"    {statement}" for statement in violation.statements)
    count = sum(report.statements for report in reports)
    ok = all(report.valid for report in reports)
    body = {
        "format": file.format,
        "valid": ok,
        "notes": list(file.notes),
        "instances": [
            {
                "bundle": report.bundle,
                "statements": report.statements,
                "valid": report.valid,
                "violations": [violation.as_json() for violation in report.violations],
            }
            for report in reports
        ],
    }
    word = "valid" if ok else "not valid"
    bundles = len(reports) - 1
    among = f" and {bundles} bundle{'s' * (bundles != 1)}" if bundles else ""
    headline = f"{word} PROV: {file.format}, {count} statements in the document{among}"
    return Verdict(ok, headline, tuple(lines), body)


def validate_case(path: Path, options: Options) -> Verdict:
    """CASE 1.5 / UCO 1.5: the ontology's rules, and apart from them our own checks."""
    engine = options.engine_among("case", "fast", "case-utils")
    from trace_prov.case import check_case

    report = check_case(path, engine=engine, extensions=options.ontologies, checks=not options.rules_only)
    counts = report.severities
    found = [f"{counts[word]} {word}{'s' * (counts[word] != 1)}" for word in ("Violation", "Warning", "Info")]
    found.append(f"{len(report.undefined)} undefined terms")
    rules = "kept" if report.conforms else f"broken ({', '.join(found)})"
    lines = [
        f"{result.severity} at {result.focus}{f', {result.path}' if result.path is not None else ''}: {result.message}"
        + (f" (found {result.value})" if result.value is not None else "")
        for result in report.results
    ]
    lines.extend(f"Undefined term: {term} is not in the ontology" for term in report.undefined)
    headline = f"{report.triples} triples; the rules of CASE: {rules}"
    if not options.rules_only:
        errors = sum(finding.level == "error" for finding in report.findings)
        headline += f"; additional checks: {errors} errors, {len(report.findings) - errors} warnings"
        lines.extend(
            f"additional check, {finding.level} ({finding.check}) at {finding.place}: {finding.message}"
            for finding in report.findings
        )
    body = {
        "triples": report.triples,
        "engine": report.engine,
        "conforms": report.conforms,
        "results": [
            {
                "severity": result.severity,
                "focus": str(result.focus),
                "path": None if result.path is None else str(result.path),
                "value": None if result.value is None else str(result.value),
                "constraint": result.component,
                "message": result.message,
            }
            for result in report.results
        ],
        "undefined_terms": list(report.undefined),
        "sound": None if options.rules_only else report.sound,
        "findings": [finding.as_json() for finding in report.findings],
    }
    return Verdict(report.conforms and report.sound, headline, tuple(lines), body)


def validate_package(path: Path, options: Options) -> Verdict:
    """An evidence package: its bag, its evidence and graphs, and the shapes of its contract."""
    engine = options.engine_among("package", "fast", "pyshacl")
    if options.ontologies or options.rules_only:
        raise UsageError("--ontology-graph and --rules-only belong to --as case")
    from trace_prov.cli.package_validate import check

    ok, headline, lines, body = check(path, engine, options.fail_on)
    return Verdict(ok, headline, tuple(lines), body)


#: `--as` -> how it is validated. A new kind adds one function and one entry.
VALIDATORS: dict[str, Validator] = {"prov": validate_prov, "case": validate_case, "package": validate_package}
#: What a folder is taken for when --as is not given.
FOLDER_KIND = "package"


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILES...")
@click.option("--as", "kind", type=click.Choice(sorted(VALIDATORS)), help="What the files claim to be.")
@click.option(
    "--engine",
    type=click.Choice(["fast", "case-utils", "shapes", "pyshacl"]),
    help="fast (default); case-utils: case_validate itself (slow); shapes: prov by the SHACL shapes (slow); "
    "pyshacl: package by the reference engine (slow).",
)
@click.option(
    "--ontology-graph",
    "ontologies",
    multiple=True,
    type=click.Path(path_type=Path),
    help="case: an ontology of your own beside CASE; may be given again.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["required", "recommended", "optional"]),
    default="required",
    show_default=True,
    help="package: the lowest grade of rule that must be kept.",
)
@click.option("--rules-only", is_flag=True, help="case: leave out the additional checks, as case_validate does.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "jsonl"]),
    default="text",
    show_default=True,
    help="How the verdicts are printed.",
)
def validate(
    *, files: tuple[Path, ...], kind: str | None, engine: str | None, ontologies: tuple[Path, ...], rules_only: bool,
    fail_on: str, form: str,
) -> None:  # fmt: skip
    """Check files against the rules of what they claim to be.

    prov: W3C PROV-CONSTRAINTS, in PROV-N, PROV-JSON, PROV-JSONLD, PROV-XML or PROV-O. case: CASE 1.5 / UCO 1.5,
    with the verdict of case_validate, and apart from it what case_validate lets pass. package: the folder of an
    evidence package, or a folder of packages, which is what a folder is taken for.

    Exit codes: 0 all rules are kept, 1 some file breaks them, 2 some file cannot be read as what it claims to be.
    """
    options = Options(engine, ontologies, rules_only, fail_on)
    for path in files:
        if not path.exists():
            raise UsageError(f"{path}: no such file or folder")
    code = 0
    verdicts: list[dict[str, Any]] = []
    for path, chosen in _expanded(files, kind):
        try:
            verdict = VALIDATORS[chosen](path, options)
        except InputError as error:
            say("error", str(error))
            code = EXIT_BAD_INPUT
            continue
        code = max(code, 0 if verdict.ok else EXIT_VIOLATIONS)
        body = {"file": str(path), "as": chosen, "ok": verdict.ok, **verdict.body}
        if form == "text":
            click.echo(f"{printable(str(path))}: {printable(verdict.headline)}")
            for line in verdict.lines:
                click.echo(f"  {printable(line)}")
        elif form == "jsonl":
            click.echo(to_line(body))
        else:
            verdicts.append(body)
    if form == "json":
        click.echo(to_line(verdicts))
    raise SystemExit(code)


def _expanded(files: tuple[Path, ...], kind: str | None) -> Iterator[tuple[Path, str]]:
    """Each path with what it is taken for; a folder of packages gives each of its packages."""
    for path in files:
        chosen = _kind(path, kind)
        if chosen == FOLDER_KIND:
            from trace_prov.cli.package_validate import packages_of

            yield from ((package, chosen) for package in packages_of(path))
        else:
            yield path, chosen


def _kind(path: Path, kind: str | None) -> str:
    if kind is None and path.is_dir() and FOLDER_KIND in VALIDATORS:
        return FOLDER_KIND
    if kind is None:
        raise UsageError(f"{path}: say what it claims to be with --as ({', '.join(sorted(VALIDATORS))})")
    return kind
