"""`trace-prov export`: runs and findings in the forms that others read."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from trace_prov.cli.options import question_options
from trace_prov.cli.output import Reporter, printable
from trace_prov.derive import Question
from trace_prov.errors import UsageError
from trace_prov.export import EXPORTERS, exporter_named, gather
from trace_prov.export.material import Custody, Material
from trace_prov.source import DEFAULT_MAX_BYTES
from trace_prov.writing import refuse_inputs, write_file, write_folder

_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})")


@click.command()
@click.argument("inputs", nargs=-1, type=click.Path(path_type=Path), metavar="[LOG|PACKAGE]...")
@click.option("--to", "form", type=click.Choice(list(EXPORTERS)), required=True, help="The format to write.")
@click.option("--out", type=click.Path(path_type=Path), help="File to write, or folder for ro-crate; default: stdout.")
@click.option("--store", type=click.Path(path_type=Path), help="Export the runs of this store instead of files.")
@click.option("--run", "names", multiple=True, metavar="IRI", help="Only this run of the store; may be given again.")
@click.option("--examiner", metavar="NAME", help="Who examined the evidence; default: the program alone is named.")
@click.option("--time", metavar="TIME", help="When, such as 2026-03-03T08:00:00Z; default: none (ro-crate needs it).")
@click.option("--from-format", metavar="NAME", help="Read every log as this format; default: by content.")
@click.option("--max-bytes", type=click.IntRange(min=1), default=DEFAULT_MAX_BYTES, help="Refuse a larger log.")
@question_options
def export(
    *,
    inputs: tuple[Path, ...],
    form: str,
    out: Path | None,
    store: Path | None,
    names: tuple[str, ...],
    examiner: str | None,
    time: str | None,
    from_format: str | None,
    max_bytes: int,
    question: Question,
) -> None:
    """Write runs and their findings in the forms that others read.

    LOG and PACKAGE may be folders of them. case: a CASE 1.5 bundle. prov-n, prov-json, prov-xml,
    prov-jsonld, trig, nquads: the W3C PROV view. ro-crate: a folder with both and the logs. graphml, gexf: the
    property graph. The same input gives the same bytes; no clock is read.
    """
    custody = Custody(examiner, _checked(time))
    reporter = Reporter()
    if store is not None:
        if inputs:
            raise UsageError("--store excludes logs and packages: its runs are exported")
        material = gather.of_store(store, names, question, custody)
    elif not inputs:
        raise UsageError("name the logs or packages to export, or a store with --store")
    elif gather.is_packages(inputs):
        if question != Question():
            raise UsageError("a package has its own target; the question options are for logs and stores")
        material = gather.of_packages(inputs, custody)
    else:
        loaded = gather.load_logs(inputs, from_format, max_bytes)
        material = gather.of_logs(reporter.runs_of(loaded), inputs, question, custody)
    if material.runs:
        read = (path for paths in material.files.values() for path in paths)
        _write(form, material, out, [*inputs, *read, *([store] if store is not None else [])])
    if store is None and not gather.is_packages(inputs):
        reporter.close()


def _checked(time: str | None) -> str | None:
    if time is not None and _TIME.fullmatch(time) is None:
        raise UsageError(f"--time {time}: expected a date, a time and its zone, such as 2026-03-03T08:00:00Z")
    return time


def _write(form: str, material: Material, out: Path | None, inputs: Sequence[Path]) -> None:
    """Everything is made before anything is written, so that a refusal leaves no half file."""
    exporter = exporter_named(form)
    if out is not None:
        refuse_inputs(out, inputs)
    made = [(file.name, file.data) for file in exporter.export(material)]
    if not exporter.ending:
        if out is None:
            raise UsageError(f"--to {form} writes a folder: name it with --out")
        write_folder(out, made)
        return
    data = b"".join(content for _, content in made)
    if out is not None:
        write_file(out, data)
    elif sys.stdout.isatty():  # a log's own control characters must not command the terminal
        click.echo("\n".join(map(printable, data.decode().split("\n"))), nl=False)
    else:
        click.echo(data, nl=False)
