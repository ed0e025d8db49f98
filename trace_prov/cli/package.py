"""`trace-prov package`: from logs to evidence packages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from trace_prov.cli.options import log_options, question_options
from trace_prov.cli.output import Reporter, printable, say
from trace_prov.derive import Question
from trace_prov.errors import UsageError
from trace_prov.load import load_paths
from trace_prov.package.condition import BUILT_IN, condition_named
from trace_prov.package.folders import INVENTORY, REFUSED
from trace_prov.package.redact import Rule, RuleError, parse_rule, read_rules
from trace_prov.package.writer import PackageWriter


def rules_from(redact: tuple[str, ...], files: tuple[Path, ...] = ()) -> tuple[Rule, ...]:
    """The rules given one by one and in files; raises UsageError for what is none."""
    rules = []
    for text in redact:
        try:
            rules.append(parse_rule(text))
        except RuleError as error:
            raise UsageError(f"--redact {text!r}: expected {error.expected}") from None
    for file in files:
        rules.extend(read_rules(file))
    return tuple(rules)


def refuse_all_actions(question: Question) -> Question:
    if question.all_actions:
        raise UsageError("--all-actions: a package has one target; name it with --action, --argument or --literal")
    return question


@click.command()
@log_options()
@question_options
@click.option(
    "--condition",
    required=True,
    metavar="NAME|FILE",
    help=f"What the packages show: {', '.join(BUILT_IN)}, or a TOML or YAML file that defines a condition.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder of the packages.")
@click.option("--redact", multiple=True, metavar="RULE", help="Hide also this, such as act-03.result; may be repeated.")
@click.option(
    "--redact-file",
    "files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Hide also what the rules of this file name, one a line.",
)
@click.option("--overwrite", is_flag=True, help="Replace other packages that lie where these go.")
def package(
    *, logs: tuple[Path, ...], from_format: str | None, max_bytes: int, question: Question, condition: str, out: Path,
    redact: tuple[str, ...], files: tuple[Path, ...], overwrite: bool,
) -> None:  # fmt: skip
    """Make one evidence package a case: what a condition shows of a log, in a BagIt folder.

    DIR/<case>/ is the package of the log <case>.json; DIR/inventory.jsonl tells what became of every log. A log
    without a target is not applicable and stays in the inventory with the reason.

    \b
    A package always shows actions, arguments and results. Beside them
      R00  nothing                       C00  the account
      R10  the account                   C10  the account, the binding table
      R01  the request, native inputs    C01  as C00 with opaque ids
      R11  both                          C11  as C10 with opaque ids

    Redaction rules: act-03.result, act-03.result[2], act-03.argument.body, act-03.arguments, act-03.account,
    request.user[1]; tool:NAME or * in place of an action means each of that tool, or all. What a redaction would lose:
    trace-prov plan LOG --redact RULE.

    Exit codes: 0 fine, 2 a log was damaged, or a package refused or a rule without use.
    """
    reporter = Reporter()
    writer = PackageWriter(
        out,
        condition_named(condition),
        refuse_all_actions(question),
        rules_from(redact, files),
        strict=len(logs) == 1 and not logs[0].is_dir(),
        overwrite=overwrite,
    )
    counts: Counter[str] = Counter()
    for entry in writer.write(reporter.runs_of(load_paths(logs, format_name=from_format, max_bytes=max_bytes))):
        counts[entry.status] += 1
        if entry.status == REFUSED:
            reporter.damaged = True
            say("error", f"{entry.case}: {entry.reason}")
        elif entry.reason is not None and writer.strict:
            say("warning", f"{entry.case}: not applicable: {entry.reason}")
    told = ", ".join(f"{number} {status}" for status, number in sorted(counts.items())) or "no run"
    click.echo(printable(f"{writer.condition.name}: {told}; see {out / INVENTORY}"))
    if writer.unused and counts and REFUSED not in counts:
        reporter.damaged = True
        say("error", f"no run has anything for {', '.join(rule.text for rule in writer.unused)}")
    reporter.close()
