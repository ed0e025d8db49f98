"""`trace-prov plan`: the least evidence that keeps a question answerable, and what a redaction would lose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trace_prov.cli.options import log_options, question_options
from trace_prov.cli.output import Reporter, printable, say, to_line
from trace_prov.cli.package import refuse_all_actions, rules_from
from trace_prov.cli.package_answer import in_words
from trace_prov.derive import Question
from trace_prov.errors import SourceError, UsageError
from trace_prov.finding import NotApplicable, Status
from trace_prov.load import load_paths
from trace_prov.model import Run, TableState
from trace_prov.package.build import case_id
from trace_prov.package.condition import Condition, condition_named
from trace_prov.package.lattice import QUESTIONS, answer_to
from trace_prov.package.plan import Plan, Unanswerable, loss, plan, to_toml
from trace_prov.package.redact import Rule

#: What a redaction is held against when no condition is named: everything that the log has.
EVERYTHING = Condition("everything", account=True, request=True, inputs=False, table=TableState.COMPLETE)


@click.command("plan")
@log_options()
@question_options
@click.option(
    "--keep", multiple=True, metavar="Q", help="Keep this question answerable: Q1, Q2 or Q3; may be repeated."
)
@click.option("--redact", multiple=True, metavar="RULE", help="Say what this redaction would lose; may be repeated.")
@click.option(
    "--condition",
    metavar="NAME|FILE",
    help="What would be shown without the redaction; default: everything that the log has.",
)
@click.option(
    "--write", type=click.Path(path_type=Path), help="Write the plan as a condition file for `package --condition`."
)
@click.option("--format", "form", type=click.Choice(["text", "jsonl"]), default="text", show_default=True)
def plan_package(
    *, logs: tuple[Path, ...], from_format: str | None, max_bytes: int, question: Question, keep: tuple[str, ...],
    redact: tuple[str, ...], condition: str | None, write: Path | None, form: str,
) -> None:  # fmt: skip
    """Plan a package: show as little as keeps a question answerable, or see what a redaction would lose.

    Redaction rules are those of trace-prov package. LOST: the log answers the question, what is left does not. "still
    readable": a hidden text, or a value in it, stands elsewhere too.

    Exit codes: 0 fine, 1 a question cannot be kept, or a redaction loses one, 2 bad input.
    """
    if bool(keep) == bool(redact):
        raise UsageError("give either --keep Q1|Q2|Q3 or --redact RULE")
    names = tuple(name.upper() for name in keep)
    for name in names:
        if name not in QUESTIONS:
            raise UsageError(f"--keep {name}: known are {', '.join(QUESTIONS)}")
    rules = rules_from(redact)
    base = EVERYTHING if condition is None else condition_named(condition)
    reporter = Reporter()
    refuse_all_actions(question)
    bad = False
    idle = list(rules)
    runs = reporter.runs_of(load_paths(logs, format_name=from_format, max_bytes=max_bytes))
    for number, run in enumerate(runs):
        if write is not None and number:
            raise UsageError("--write: a plan is made for one log")
        if names:
            body, failed = _kept(run, names, question, write)
        else:
            body, failed, unused = _lost(run, rules, base, question)
            idle = [rule for rule in idle if rule in unused]
        bad = bad or failed
        if form == "jsonl":
            click.echo(to_line({"case": case_id(run.source), **body}))
        else:
            _print(case_id(run.source), body)
    if idle and reporter.runs:
        reporter.damaged = True
        say("error", f"no run has anything for {', '.join(rule.text for rule in idle)}")
    reporter.close()
    raise SystemExit(1 if bad else 0)


def _kept(run: Run, keep: tuple[str, ...], question: Question, write: Path | None) -> tuple[dict[str, Any], bool]:
    found = plan(run, keep, question)
    if isinstance(found, NotApplicable):
        return {"not_applicable": found.reason}, False
    if isinstance(found, Unanswerable):
        return {"cannot_keep": found.question, "needed": list(found.needed)}, True
    if write is not None:
        try:
            write.write_text(to_toml(found.condition), encoding="utf-8")
        except OSError as error:
            raise SourceError(str(write), expected="a file to write", found=error.strerror or str(error)) from None
        use = f"trace-prov package LOG --condition {write} --out DIR"
        click.echo(printable(f"{write}: written; to use it: {use}"), err=True)
    return _plan_json(found), False


def _plan_json(found: Plan) -> dict[str, Any]:
    needs = found.needs
    return {
        "keep": list(found.keep),
        "show": {
            "account": [found.target.action] if needs.account else [],
            "request": sorted(needs.turns),
            "rows": sorted(needs.rows),
            "table": str(found.condition.table),
            "records": [str(locator) for locator in sorted(needs.records)],
        },
        "redact": [rule.text for rule in found.condition.redact],
    }


def _lost(
    run: Run, rules: tuple[Rule, ...], base: Condition, question: Question
) -> tuple[dict[str, Any], bool, tuple[Rule, ...]]:
    """The answers before and after, whether one is lost, and the rules that found nothing."""
    found = loss(run, rules, base, question)
    if isinstance(found, NotApplicable):
        return {"not_applicable": found.reason}, False, ()
    lost = [name for name in QUESTIONS if found.lost(name)]
    answers = {}
    for name in QUESTIONS:
        before, after = answer_to(found.before, name), answer_to(found.after, name)
        answers[name] = {"before": in_words(before), "after": in_words(after)}
        if after.status is Status.ABSTAIN:
            answers[name]["needed"] = ", ".join(after.needed) or "nothing would help"
    echoes = [
        {"hidden": echo.hidden, "stands_in": echo.stands_in} | ({} if echo.part is None else {"part": echo.part})
        for echo in found.echoes
    ]
    return (
        {"condition": base.name, "lost": lost, "answers": answers, "still_readable": echoes},
        bool(lost),
        found.unused,
    )


def _print(case: str, body: dict[str, Any]) -> None:
    click.echo(printable(case))
    if "not_applicable" in body:
        click.echo(printable(f"  not applicable: {body['not_applicable']}"))
    elif "cannot_keep" in body:
        needed = ", ".join(body["needed"]) or "nothing would help"
        click.echo(printable(f"  {body['cannot_keep']} is open even on the full record; needed: {needed}"))
    elif "keep" in body:
        show = body["show"]
        for name, text in (
            ("keep", ", ".join(body["keep"])),
            ("account", ", ".join(show["account"]) or "withhold"),
            ("request", ", ".join(f"turn {number}" for number in show["request"]) or "withhold"),
            ("table", f"{show['table']} {' '.join(show['rows'])}".strip()),
            ("records", ", ".join(show["records"]) or "withhold all"),
            ("redact", " ".join(body["redact"]) or "nothing"),
        ):
            click.echo(printable(f"  {name}: {text}"))
    else:
        for name, change in body["answers"].items():
            lost = " LOST" if name in body["lost"] else ""
            needed = f" (needed: {change['needed']})" if "needed" in change else ""
            click.echo(printable(f"  {name}: {change['before']} -> {change['after']}{lost}{needed}"))
        for echo in body["still_readable"]:
            text = f"{echo['part']!r}, a value in" if "part" in echo else "the text of"
            click.echo(printable(f"  still readable: {text} {echo['hidden']} stands in {echo['stands_in']}"))
