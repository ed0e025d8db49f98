"""`trace-prov seal-key`, `seal`, `verify` and `prove`: packages that show whether they were changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trace_prov.cli.output import printable, say, to_line
from trace_prov.errors import InputError, UsageError
from trace_prov.load import Problem, load_paths
from trace_prov.model import Run
from trace_prov.seal.checking import SealReport, check_sealed
from trace_prov.seal.errors import SealError
from trace_prov.seal.keys import load_public_file, load_secret, load_signer, new_key
from trace_prov.seal.proof import check_proof, is_proof, proof_bytes, prove, read_proof
from trace_prov.seal.sealing import seal_package
from trace_prov.writing import refuse_inputs, write_file

EXIT_CHANGED, EXIT_BAD_INPUT = 1, 2
PATH = click.Path(path_type=Path)


@click.command(name="seal-key")
@click.argument("file", type=PATH)
def seal_key(file: Path) -> None:
    """Make a key pair for seals: FILE (keep it secret), FILE.pub (give it away), FILE.salts (keep it secret).

    FILE.salts is the secret of the leaves' salts: whoever has it can prove withheld records, and test guesses at them.
    The public key's number is printed: verify names it, so that a receiver can compare it with what you tell otherwise.
    """
    public, salts = new_key(file)
    click.echo(
        f"{file}: private key\n{public}: public key {load_public_file(public).keyid}\n{salts}: secret of the salts"
    )


@click.command()
@click.argument("packages", nargs=-1, required=True, type=PATH, metavar="PACKAGES...")
@click.option("--key", required=True, type=PATH, help="Ed25519 private key (PEM); trace-prov seal-key makes one.")
@click.option("--salt-secret", type=PATH, help="Secret of the salts; default: the key's file name with .salts.")
@click.option("--log", type=PATH, help="The log of the package: withheld records are committed to as well.")
@click.option("--timestamp-url", metavar="URL", help="Ask this RFC 3161 authority for a time stamp.")
@click.option("--replace", is_flag=True, help="Seal anew what is sealed already.")
def seal(
    *, packages: tuple[Path, ...], key: Path, salt_secret: Path | None, log: Path | None, timestamp_url: str | None,
    replace: bool,
) -> None:  # fmt: skip
    """Seal packages: sign every file and a Merkle tree over the records.

    A withheld record keeps its leaf, so the receiver sees that something is withheld and how much; its salt keeps the
    text from being guessed. With --log the leaf commits to the withheld text, which can then be proven later.
    """
    signer = load_signer(key)
    secret = load_secret(salt_secret or key.with_name(key.name + ".salts"))
    if log is not None and len(packages) != 1:
        raise UsageError("--log goes with one package")
    run = None if log is None else _run_of(log)
    for folder in packages:
        made = seal_package(folder, signer, secret, log=run, timestamp_url=timestamp_url, replace=replace)
        hidden = f"{made.withheld} withheld, {made.committed} of them committed to"
        click.echo(f"{printable(str(folder))}: sealed, {made.leaves} leaves ({hidden}), root {made.root}")


def _run_of(log: Path) -> Run:
    loaded = list(load_paths([log]))
    for item in loaded:
        if isinstance(item, Problem):
            raise item.error
    runs = [item for item in loaded if isinstance(item, Run)]
    if len(runs) != 1:
        raise SealError(str(log), expected="a log of one run", found=f"{len(runs)} runs")
    return runs[0]


@click.command()
@click.argument("paths", nargs=-1, required=True, type=PATH, metavar="PACKAGE|PROOF...")
@click.option("--key", type=PATH, help="The signer's public key (PEM), had from elsewhere than the package.")
@click.option("--tsa-certificate", "roots", type=PATH, help="Root certificates of the time stamping authority (PEM).")
@click.option("--format", "form", type=click.Choice(["text", "jsonl"]), default="text", help="How it is reported.")
def verify(*, paths: tuple[Path, ...], key: Path | None, roots: Path | None, form: str) -> None:
    """Check sealed packages, or proofs of single records, and name what was changed.

    Exit codes: 0 nothing was changed, 1 something was, 2 there is no seal to check.
    """
    public = None if key is None else load_public_file(key)
    code = 0
    for path in paths:
        try:
            report = _proof_report(path, public) if is_proof(path) else check_sealed(path, public, roots)
        except InputError as error:
            say("error", str(error))
            code = EXIT_BAD_INPUT
            continue
        code = max(code, 0 if report.intact else EXIT_CHANGED)
        _print(path, report, form)
    raise SystemExit(code)


def _proof_report(path: Path, public: Any | None) -> SealReport:
    if public is None:
        raise UsageError("a proof is checked with the signer's public key: --key FILE")
    try:
        content = check_proof(read_proof(path), str(path), public)
    except SealError as error:
        return SealReport([str(error)])
    return SealReport(notes=[f"proven: {to_line(content)}", f"signed by the key {public.keyid}"])


def _print(path: Path, report: SealReport, form: str) -> None:
    if form == "jsonl":
        body = {"path": str(path), "intact": report.intact, "problems": report.problems, "notes": report.notes}
        click.echo(to_line({**body, "statement": report.predicate}))
        return
    words = "nothing was changed" if report.intact else _counted(len(report.problems), "change")
    records = report.predicate.get("records", {})
    hidden = f", {records['withheld']} of {records['size']} records withheld" if "size" in records else ""
    click.echo(f"{printable(str(path))}: {words}{hidden}")
    for line in [*report.problems, *report.notes]:
        click.echo(f"  {printable(line)}")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


@click.command(name="prove")
@click.argument("package", type=PATH)
@click.argument("unit")
@click.option("--log", type=PATH, help="For a withheld record: the log that it stands in.")
@click.option("--salt-secret", type=PATH, help="For a withheld record: the secret of the salts.")
@click.option("--out", type=PATH, help="File to write; default: stdout.")
def prove_(*, package: Path, unit: str, log: Path | None, salt_secret: Path | None, out: Path | None) -> None:
    """Write a proof that one record of a sealed PACKAGE is what was sealed, without showing the others.

    UNIT is a locator such as act-01.result[2], or act-01, act-01.argument.NAME, act-01.account, "binding in-3".
    """
    run = None if log is None else _run_of(log)
    secret = None if salt_secret is None else load_secret(salt_secret)
    data = proof_bytes(prove(package, unit, log=run, secret=secret))
    if out is None:
        click.echo(data, nl=False)
    else:
        refuse_inputs(out, [package, *([log] if log is not None else [])])
        write_file(out, data)
