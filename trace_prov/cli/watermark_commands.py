"""The commands of `trace-prov watermark`: keys, detection, attacks, power, calibration, receipts and experiments."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import orjson

from trace_prov.cli.output import console, printable, say, shown_table, to_line
from trace_prov.cli.watermark_annotations import annotate, list_annotations, truth_for, unannotate
from trace_prov.errors import UsageError
from trace_prov.watermark import attacks as attack_tools
from trace_prov.watermark import calibrate as calibration
from trace_prov.watermark import keys as custody
from trace_prov.watermark import power as planner
from trace_prov.watermark import report
from trace_prov.watermark.annotating import Written
from trace_prov.watermark.consistency import check_receipt, receipt_from_json
from trace_prov.watermark.consistency import receipt as make_receipt
from trace_prov.watermark.convert import trajectory_of
from trace_prov.watermark.detect import detect_any
from trace_prov.watermark.errors import KeyFileError, SchemeError, TrajectoryError
from trace_prov.watermark.rewriters import EndpointRewriter, InspectRewriter, Rewriter, SmolRewriter
from trace_prov.watermark.scheme import Scheme, scheme_from_json
from trace_prov.watermark.trajectory import Run, dump_runs, parse_runs
from trace_prov.watermark.truth import dump_truth, truth_of
from trace_prov.watermark.verdict import FOUND, Verdict

EXISTING = click.Path(path_type=Path)


SEED = click.IntRange(min=0)


class Number(click.FloatRange):
    """A finite number in a range; click's own takes nan for one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number", param, ctx)
        return number


#: what `trace-prov watermark` holds
commands = click.Group()
commands.add_command(list_annotations)
commands.add_command(unannotate)


def scheme_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--scheme FILE."""
    return click.option("--scheme", "scheme_file", type=EXISTING, help="Scheme as JSON; default: the standard one.")(
        command
    )


def logs_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """LOGS: trajectory files."""
    return click.argument("logs", nargs=-1, required=True, type=EXISTING, metavar="LOGS...")(command)


def _scheme(path: Path | None) -> Scheme:
    if path is None:
        return Scheme()
    try:
        value = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise SchemeError(str(path), expected="a scheme as JSON", found=str(error)) from error
    if not isinstance(value, dict):
        raise SchemeError(str(path), expected="a JSON object", found=type(value).__name__)
    return scheme_from_json(value, str(path))


def _runs(paths: Sequence[Path]) -> tuple[list[Run], list[tuple[str, str]]]:
    """Read trajectory files, and logs of any format that the product knows; return runs and (name, SHA-256)."""
    runs: list[Run] = []
    inputs: list[tuple[str, str]] = []
    for path in paths:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise TrajectoryError(str(path), expected="a readable file", found=error.strerror) from error
        inputs.append((str(path), hashlib.sha256(data).hexdigest()))
        runs.extend(_trajectories(data, path))
    return runs, inputs


def _trajectories(data: bytes, path: Path) -> list[Run]:
    try:
        return parse_runs(data, str(path))
    except TrajectoryError as error:
        if error.place not in {"format", None}:
            raise
        found = _from_log(path)
        if not found:
            raise
        say("warning", f"{path}: a log of one result a call; ghost records cannot be seen in it")
        return found


def _from_log(path: Path) -> list[Run]:
    from trace_prov import model
    from trace_prov.load import load_paths

    return [trajectory_of(item) for item in load_paths([path]) if isinstance(item, model.Run)]


def _json_file(path: Path) -> Any:
    try:
        return orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise KeyFileError(str(path), expected="JSON", found=str(error)) from error


def _show(table: report.Table) -> None:
    console().print(shown_table(table.headings, table.rows))


def _emit(value: Any, out: Path | None) -> None:
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if out is None:
        click.echo(text)
    else:
        out.write_text(text + "\n", encoding="utf-8")


@commands.command()
@click.argument("file", type=EXISTING)
@click.option("--owner", help="Name of the owner, for a new key file.")
@click.option("--rotate", is_flag=True, help="Add a new epoch to an existing key file; older logs stay detectable.")
def keygen(*, file: Path, owner: str | None, rotate: bool) -> None:
    """Make a key FILE with a fresh master secret, or rotate one."""
    if rotate:
        ring = custody.read_ring(file).rotated(custody.timestamp())
        custody.write_ring(ring, file, overwrite=True)
    else:
        if not owner:
            raise UsageError("a new key file needs --owner NAME")
        ring = custody.new_ring(owner)
        custody.write_ring(ring, file)
    keys = ring.keys(Scheme())
    click.echo(f"{file}: owner {ring.owner}, epoch {ring.current}, key id {keys.key_id} (standard scheme)")


@commands.command()
@scheme_option
@click.option("--set", "changes", multiple=True, metavar="FIELD=JSON", help="Change a field, such as q=0.3.")
def scheme(*, scheme_file: Path | None, changes: tuple[str, ...]) -> None:
    """Print a scheme as JSON, and its digest on standard error."""
    value = _scheme(scheme_file).to_json()
    for change in changes:
        name, _, text = change.partition("=")
        try:
            value[name] = json.loads(text)
        except json.JSONDecodeError:
            value[name] = text
    made = scheme_from_json(value)
    _emit(made.to_json(), None)
    click.echo(f"digest: {made.digest}", err=True)


@commands.command()
@click.option("--keys", "key_file", required=True, type=EXISTING, help="Key file.")
@scheme_option
@click.option("--epoch", type=int, help="Epoch; default: the newest.")
@click.option("--out", type=EXISTING, help="Write here instead of standard output.")
def commit(*, key_file: Path, scheme_file: Path | None, epoch: int | None, out: Path | None) -> None:
    """Print a commitment to key and scheme, to be published before any dispute."""
    _emit(custody.commit(custody.read_ring(key_file), _scheme(scheme_file), custody.timestamp(), epoch), out)


@commands.command()
@click.option("--keys", "key_file", required=True, type=EXISTING, help="Key file.")
@scheme_option
@click.option("--epoch", type=int, help="Epoch; default: the newest.")
@click.option("--commitment", type=EXISTING, help="Check that the result opens this commitment.")
@click.option("--out", type=EXISTING, required=True, help="File for the reveal (it holds the channel keys).")
def reveal(*, key_file: Path, scheme_file: Path | None, epoch: int | None, commitment: Path | None, out: Path) -> None:
    """Write what opens a commitment: the channel keys of one epoch, never the master secret."""
    _emit(custody.reveal(custody.read_ring(key_file), _scheme(scheme_file), epoch), out)
    if commitment is not None:
        keys = custody.verify(commitment, out)
        click.echo(f"{out} opens {commitment}: key {keys.key_id} of {keys.owner}")


@commands.command()
@click.argument("commitment", type=EXISTING)
@click.argument("revealed", type=EXISTING)
def verify(*, commitment: Path, revealed: Path) -> None:
    """Check that REVEALED opens COMMITMENT."""
    keys = custody.verify(commitment, revealed)
    click.echo(f"{revealed} opens {commitment}: key {keys.key_id} of {keys.owner}")


@commands.command()
@logs_argument
@click.option("--keys", "key_files", required=True, multiple=True, type=EXISTING, help="Key file or reveal.")
@scheme_option
@click.option("--ledger", type=EXISTING, help="Salts of issued runs, one a line, for logs whose salt is gone.")
@click.option("--receipts", type=EXISTING, help="Receipts kept by the provider (JSON lines), to check skeletons.")
@click.option("--commitment", type=EXISTING, help="Commitment that key and scheme must open.")
@click.option("--evidence", is_flag=True, help="Show every decision, and why it counts or does not.")
@click.option("--disclose", is_flag=True, help="Write u and scores as well; they help a forger.")
@click.option("--annotate", "folder", type=EXISTING, help="Write the verdict beside the runs of this store.")
@click.option("--truth", type=EXISTING, help="What an attack did to the log, for --annotate.")
@click.option("--fail-on-found", is_flag=True, help="End with exit code 1 when a watermark is found.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "jsonl"]), default="text", show_default=True, help="Output."
)
def detect(
    *,
    logs: tuple[Path, ...],
    key_files: tuple[Path, ...],
    scheme_file: Path | None,
    ledger: Path | None,
    receipts: Path | None,
    commitment: Path | None,
    evidence: bool,
    disclose: bool,
    folder: Path | None,
    truth: Path | None,
    fail_on_found: bool,
    form: str,
) -> None:
    """Test LOGS, pooled, for the watermark of each key.

    LOGS are trajectory files (or logs of a known format, for the selection channel). All keys of all key files are
    tried, with Holm's correction for their number. Without a watermark the report gives the power the logs had.
    """
    scheme_ = _scheme(scheme_file)
    runs, inputs = _runs(logs)
    told = truth_for(truth, inputs, folder)
    # The same key given twice is one key: Holm's correction must not pay for it.
    keys = list(dict.fromkeys(key for path in key_files for key in custody.read_keys(path, scheme_)))
    _warn_of_exposed(key_files)
    committed = _committed(commitment, key_files, scheme_)
    verdicts = detect_any(runs, keys, scheme_, ledger=_ledger(ledger))
    extra = tuple(_receipt_findings(runs, receipts))
    verdicts = [
        dataclasses.replace(
            v,
            inputs=tuple(inputs),
            committed=committed,
            findings=(*v.findings, *extra),
            attacks=() if told is None else told.steps,
        )
        for v in verdicts
    ]
    written = [] if folder is None else annotate(folder, verdicts, runs, told, disclose=disclose)
    _print_verdicts(verdicts, form, written, evidence=evidence, disclose=disclose)
    if fail_on_found and any(verdict.decision == FOUND for verdict in verdicts):
        raise SystemExit(1)


def _warn_of_exposed(key_files: Sequence[Path]) -> None:
    for path in key_files:
        if custody.is_exposed(path):
            advice = "chmod 600; if somebody did, make a new key file, for rotating keeps the secret"
            say("warning", f"{path}: others can read this master secret ({advice})")


def _committed(commitment: Path | None, key_files: Sequence[Path], scheme_: Scheme) -> str | None:
    if commitment is None:
        return None
    if len(key_files) != 1:
        raise UsageError("--commitment goes with exactly one --keys file")
    return custody.check_commitment(commitment, key_files[0], scheme_)


def _ledger(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KeyFileError(str(path), expected="one salt a line", found=str(error)) from error
    salts = [line.strip() for line in text.splitlines() if line.strip()]
    if not salts:
        raise KeyFileError(str(path), expected="at least one salt", found="none")
    return salts


def _receipt_findings(runs: Sequence[Run], path: Path | None) -> list[Any]:
    if path is None:
        return []
    try:
        lines = [line for line in path.read_bytes().splitlines() if line.strip()]
        kept = [receipt_from_json(orjson.loads(line), f"{path}, line {n}") for n, line in enumerate(lines, 1)]
    except (OSError, orjson.JSONDecodeError) as error:
        raise KeyFileError(str(path), expected="one receipt a line", found=str(error)) from error
    by_run = {item.run: item for item in kept}
    missing = [run.id for run in runs if run.id not in by_run]
    for run_id in missing:
        say("warning", f"{path}: no receipt for run {run_id}")
    return [finding for run in runs if run.id in by_run for finding in check_receipt(run, by_run[run.id])]


def _print_verdicts(
    verdicts: Sequence[Verdict], form: str, written: Sequence[Written], *, evidence: bool, disclose: bool
) -> None:
    if form != "text":
        values = [verdict.to_json(disclose=disclose) for verdict in verdicts]
        for value, item in zip(values, written, strict=False):
            value["annotation"] = item.annotation
            for row in value["evidence"]:
                row["about"] = item.about.get((row["run"], row["group"]))
        if form == "json":
            _emit({"format": "trace-prov-watermark-verdicts/1", "verdicts": values}, None)
        else:
            for value in values:
                click.echo(to_line(value))
        return
    for verdict in verdicts:
        for line in report.verdict_lines(verdict):
            click.echo(printable(line))
        _show(report.channel_table(verdict))
        if verdict.findings:
            _show(report.findings_table(verdict))
        if evidence:
            _show(report.evidence_table(verdict, disclose=disclose))


@commands.command()
@logs_argument
@click.option("--metered", type=click.IntRange(min=0), help="Number of calls that the meter counted (one log only).")
def receipt(*, logs: tuple[Path, ...], metered: int | None) -> None:
    """Print what a provider should keep of each run (JSON lines): counts, tags and their Merkle root, record ids."""
    runs = _runs(logs)[0]
    if metered is not None and len(runs) != 1:
        raise UsageError(f"--metered is the count of one run; there are {len(runs)}")
    for run in runs:
        click.echo(to_line(make_receipt(run, metered).to_json()))


@commands.command()
@logs_argument
@click.option("--attack", "names", multiple=True, required=True, help="Such as delete-groups:0.3; repeat to compose.")
@click.option("--seed", type=SEED, default=42, show_default=True, help="Seed of everything random.")
@click.option("--out", type=EXISTING, required=True, help="File for the attacked trajectories.")
@click.option("--truth", type=EXISTING, help="File for the attacks and the fate of every record (JSON lines).")
@click.option("--rewriter", default="rules", show_default=True, help="rules, smol:FILE.gguf, inspect:MODEL, or a URL.")
@click.option("--model", default="default", show_default=True, help="Model name for a URL rewriter.")
def attack(
    *,
    logs: tuple[Path, ...],
    names: tuple[str, ...],
    seed: int,
    out: Path,
    truth: Path | None,
    rewriter: str,
    model: str,
) -> None:
    """Attack LOGS as a reseller might: delete, cut, strip, insert, reorder, rename, rewrite."""
    writer = _rewriter(rewriter, model)
    steps = [attack_tools.parse(name, writer) for name in names]
    runs, inputs = _runs(logs)
    result = attack_tools.apply(runs, steps, seed)
    data = dump_runs(result.runs)
    files = {out: data}
    if truth is not None:
        files[truth] = dump_truth(truth_of(result, inputs, data))
    _write_together(files)
    changed = sum(fate.changed for fate in result.fates)
    click.echo(f"{out}: {', '.join(result.steps)}; {result.lost} records lost, {changed} changed", err=True)


def _write_together(files: dict[Path, bytes]) -> None:
    """Write all of them or, where one cannot be written, none."""
    parts = {path: path.with_name(path.name + ".part") for path in files}
    try:
        for path, part in parts.items():
            part.write_bytes(files[path])
    except OSError:
        for part in parts.values():
            part.unlink(missing_ok=True)
        raise
    for path, part in parts.items():
        part.replace(path)


def _rewriter(text: str, model: str) -> Rewriter | None:
    kind, _, rest = text.partition(":")
    if text == "rules":
        return None
    if kind == "smol":
        return SmolRewriter(rest)
    if kind == "inspect":
        return InspectRewriter(rest)
    if kind in {"http", "https"}:
        return EndpointRewriter(text, model)
    raise UsageError(f"--rewriter {text}: expected rules, smol:FILE, inspect:MODEL or an http(s) address")


@commands.command()
@click.option("--log", "logs", multiple=True, type=EXISTING, help="What could this log have shown? (repeat to pool)")
@scheme_option
@click.option("--entropy", type=Number(min=0), default=1.8, show_default=True, help="Nats a decision.")
@click.option(
    "--candidates", type=click.IntRange(2, 1000), default=20, show_default=True, help="Candidates a decision."
)
@click.option("--per-run", type=Number(1, 1000), default=24.0, show_default=True, help="Decisions a run.")
@click.option("--deletion", type=Number(0, 1), default=0.0, show_default=True, help="Share deleted.")
@click.option("--rewriting", type=Number(0, 1), default=0.0, show_default=True, help="Share rewritten.")
@click.option("--kind", type=click.Choice(planner.KINDS), default="groups", show_default=True, help="What is deleted.")
@click.option("--target", type=Number(0.01, 0.999), default=0.9, show_default=True, help="Power wanted.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def power(*, logs: tuple[Path, ...], scheme_file: Path | None, target: float, form: str, **setting: Any) -> None:
    """How many runs are needed, or (with --log) what a given log could have shown."""
    scheme_ = _scheme(scheme_file)
    if logs:
        _power_of_logs(_runs(logs)[0], scheme_, form)
        return
    most = math.log(setting["candidates"])
    if setting["entropy"] > most:
        limit = f"{setting['candidates']} candidates have at most ln {setting['candidates']} = {most:.2f} nats"
        raise UsageError(f"--entropy {setting['entropy']:g}: {limit}")
    found = planner.plan(planner.Setting(**setting), scheme_, target)
    if form == "json":
        _emit({**dataclasses.asdict(found), "scheme_digest": scheme_.digest}, None)
        return
    for line in report.plan_lines(found, target, scheme_.alpha):
        click.echo(line)


def _power_of_logs(runs: Sequence[Run], scheme_: Scheme, form: str) -> None:
    from trace_prov.watermark.prepare import prepare

    pool = prepare(runs, scheme_)
    found = planner.power_of_log(pool)
    if form == "json":
        _emit({**dataclasses.asdict(found), "decisions": pool.seen, "scheme_digest": scheme_.digest}, None)
        return
    selection = "unknown" if found.selection is None else f"{found.selection:.2f}"
    click.echo(
        f"{pool.seen} decisions in {len(runs)} run(s): had they been marked, the joint test at alpha = "
        f"{scheme_.alpha:g} would have found it with probability {found.joint:.2f} "
        f"(selection {selection}, tally {found.tally:.2f}; {found.basis})"
    )


@commands.command()
@logs_argument
@scheme_option
@click.option("--keys", "count", type=click.IntRange(min=10), default=2000, show_default=True, help="Random keys.")
@click.option("--fixed-keys", type=click.IntRange(min=1), default=20, show_default=True, help="Fixed keys.")
@click.option("--pools", type=click.IntRange(min=10), default=100, show_default=True, help="Pools for a fixed key.")
@click.option("--seed", type=SEED, default=42, show_default=True, help="Seed of the keys and pools.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def calibrate(
    *, logs: tuple[Path, ...], scheme_file: Path | None, count: int, fixed_keys: int, pools: int, seed: int, form: str
) -> None:
    """False-positive rates on your own LOGS: over many keys, and under one fixed key with and without deduplication.

    Random keys never marked anything, so every hit is a false one, whether LOGS are marked or not.
    """
    scheme_ = _scheme(scheme_file)
    runs, _ = _runs(logs)
    for channel, reasons in calibration.untestable(runs, scheme_).items():
        say("warning", f"no decision of these logs counts in the {channel} channel ({reasons}): its rates say nothing")
    levels = calibration.many_keys(runs, scheme_, count, seed)
    sizes = sorted({1, min(10, len(runs)), len(runs)})
    fixed = calibration.fixed_key_table(runs, scheme_, keys=fixed_keys, pools=pools, sizes=sizes, seed=seed)
    if form == "json":
        rows = [{**dataclasses.asdict(row), "rate": row.rate, "interval": row.interval} for row in levels]
        fixed_rows = [
            {
                name: None if isinstance(value, float) and math.isnan(value) else value
                for name, value in dataclasses.asdict(row).items()
            }
            for row in fixed
        ]
        _emit({"scheme_digest": scheme_.digest, "many_keys": rows, "fixed_key": fixed_rows}, None)
        return
    click.echo(f"Scheme {scheme_.digest}; {len(runs)} run(s), {count} random keys")
    _show(report.level_table(levels))
    click.echo(f"One fixed key, {pools} random pools, {fixed_keys} keys one after another")
    _show(report.fixed_key_report(fixed))


@commands.command()
@click.argument("world", type=click.Choice(["synthetic", "toolbench", "textworld", "alfworld"]))
@click.option(
    "--out", type=EXISTING, required=True, help="Folder for results, tables and plots; resumes when it exists."
)
@click.option("--size", type=click.Choice(["small", "full"]), default="small", show_default=True, help="Repeats.")
@click.option("--only", multiple=True, help="Only these experiments (see docs/watermark.md).")
@click.option("--seed", type=SEED, default=42, show_default=True, help="Seed of everything random.")
def experiment(*, world: str, out: Path, size: str, only: tuple[str, ...], seed: int) -> None:
    """Embed, attack and detect over grids; write tables and plots beside the published figures."""
    from trace_prov.watermark.experiment import run_experiments

    written = run_experiments(world, out, size=size, only=only, seed=seed)
    for path in written:
        click.echo(str(path))
