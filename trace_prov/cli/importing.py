"""`trace-prov import`: CASE bundles and PROV documents of others into a store."""

from __future__ import annotations

from pathlib import Path

import click

from trace_prov.cli.output import printable, say, to_line
from trace_prov.errors import InputError
from trace_prov.exchange.reading import READERS, Imported, read_document
from trace_prov.exchange.storing import Stored, store_document
from trace_prov.graph.store import TraceStore


@click.command(name="import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILES...")
@click.option("--store", required=True, type=click.Path(path_type=Path), help="The store; made when it is not there.")
@click.option("--from-format", "form", type=click.Choice(list(READERS)), help="What they are; default: by content.")
@click.option("--accept-losses", is_flag=True, help="Load a file although reading it as JSON-LD drops some of it.")
@click.option("--format", "shown", type=click.Choice(["text", "jsonl"]), default="text", help="How it is reported.")
def import_(*, files: tuple[Path, ...], store: Path, form: str | None, accept_losses: bool, shown: str) -> None:
    """Load CASE bundles and PROV documents into a store.

    Statements are counted in against out; a file of which something would be lost is refused by name. Tool calls of
    an agent become runs, which answer the same questions as runs of logs; the document itself is kept in a graph of
    its own, the custody that a CASE bundle states in another.

    Exit code 2 when some file was refused; the others are loaded all the same.
    """
    refused = False
    with TraceStore.create(store) as opened:
        for path in files:
            try:
                imported = read_document(path, form, accept_losses=accept_losses)
                stored = store_document(opened, imported)
            except InputError as error:
                say("error", str(error))
                refused = True
                continue
            _report(imported, stored, shown)
    if refused:
        raise SystemExit(2)


def _report(imported: Imported, stored: Stored, shown: str) -> None:
    if shown == "jsonl":
        body = {
            "file": imported.name,
            "format": imported.format,
            "read": imported.read,
            "kept": imported.kept,
            "document": stored.document,
            "new": stored.new,
            "runs": [{"run": run, "new": new} for run, new in stored.runs],
            "notes": list(imported.notes),
        }
        click.echo(to_line(body))
        return
    runs = len(stored.runs)
    known = sum(not new for _, new in stored.runs)
    words = f"{imported.read:,} statements read, {imported.kept:,} kept; {runs} run{'s' * (runs != 1)}"
    click.echo(f"{printable(imported.name)}: {imported.format}, {words}{f' ({known} known already)' if known else ''}")
    for note in imported.notes:
        click.echo(f"  {printable(note)}")
