"""Why an answer is what it is, in a few lines for a person."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator

from trace_prov.derive.occurrence import Needle, matches_in
from trace_prov.finding import Finding, How, Match, RecordsAnswer, RequestAnswer, Status
from trace_prov.model import Action, BasisState, Locator, Record, RecordState, Run, TableState

_CONTEXT = 32
_SHOWN = 10


def explain(run: Run, finding: Finding) -> Iterator[tuple[str, str]]:
    """(heading, text) pairs in reading order; an empty heading continues the one before. Texts are untrusted."""
    action = run.action(finding.target.action)
    assert action is not None
    literal = finding.target.literal
    yield "log", f"{run.source.name} ({run.source.format}, SHA-256 {run.source.sha256})"
    if run.source.sidecar_name is not None:
        yield "sidecar", f"{run.source.sidecar_name} (SHA-256 {run.source.sidecar_sha256})"
    where = "a literal of the analyst's" if finding.target.argument is None else f"argument {finding.target.argument}"
    yield "action", f"{action.id} {action.tool}, issued in step {action.step}"
    yield "target", f"{where}: {literal!r}"
    yield from _headed("Q1 request", _explain_request(run, action, finding.q1, literal))
    yield from _headed("Q2 records", _explain_records(run, action, finding))
    yield from _headed("Q3 cited", _explain_cited(run, action, finding))
    yield from _headed("leads", _leads(run, action, literal, finding.q2))
    yield from _headed("notes", _notes(run))


def _headed(heading: str, lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines):
        yield ("" if number else heading), line


def _explain_request(run: Run, action: Action, answer: RequestAnswer, literal: str) -> Iterator[str]:
    if answer.status is Status.ABSTAIN:
        yield f"abstain: {', '.join(answer.needed)} is not visible"
    elif answer.value:
        records = {record.locator: record for record in (run.turn_record(turn) for turn in run.turns_before(action))}
        for match in answer.matches:
            yield f"yes: in {_found(match, records[match.locator], literal)}"
    else:
        yield "no: the user's request before this action does not hold it"


def _explain_records(run: Run, action: Action, finding: Finding) -> Iterator[str]:
    answer, literal = finding.q2, finding.target.literal
    earlier = list(run.actions_delivered_before(action))
    records = {record.locator: record for other in earlier for record in other.records}
    if answer.status is Status.ABSTAIN:
        yield f"abstain: {_list(answer.needed)} may hold it and cannot be read"
    elif not answer.matches:
        yield f"none: no record delivered before step {action.step} holds it ({len(records)} looked at)"
    if finding.target.argument is None and not answer.matches:
        later = _later_holders(run, action, literal)
        if later:
            shown = ", ".join(later[:_SHOWN]) + (f" and {len(later) - _SHOWN} more" if len(later) > _SHOWN else "")
            yield f"later ones do: {shown}; --action asks about a later action, --all-actions about all"
    for match in answer.matches:
        yield f"{_found(match, records[match.locator], literal)}{_echo(run, match.locator, literal)}"


def _later_holders(run: Run, action: Action, literal: str) -> list[str]:
    """Records that hold an analyst's literal and came too late for `action`: perhaps another one was meant."""
    needle = Needle.of(literal)
    later = (other for other in run.actions if other.result is not None and other.result.after_step >= action.step)
    return [str(match.locator) for other in later for match in matches_in(needle, other)]


def _found(match: Match, record: Record, literal: str) -> str:
    if match.how is How.DECODED:
        return f"{match.locator}, only after unescaping a value in it"
    text = record.text or ""
    at = text.index(literal)
    start, end = max(0, at - _CONTEXT), at + len(literal) + _CONTEXT
    return f"{match.locator}, as recorded: {'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _echo(run: Run, locator: Locator, literal: str) -> str:
    """A result of a call that itself had the value as an argument may only repeat it."""
    caller = run.actions[locator.action - 1]
    had = any(isinstance(argument.value, str) and literal in argument.value for argument in caller.arguments)
    return f" [echo: {caller.id} had it as an argument itself]" if had else ""


def _explain_cited(run: Run, action: Action, finding: Finding) -> Iterator[str]:
    answer, basis = finding.q3, finding.basis
    if basis.state is BasisState.WITHHELD:
        yield "abstain: no account is visible, so nothing says which record the agent cited"
        return
    if basis.state is BasisState.MISSING:
        yield "basis missing: the account before this call states no Basis"
        return
    yield f"Basis as written: {basis.text!r}"
    if basis.state is BasisState.MALFORMED:
        yield "which is no list of ids" + (
            "" if finding.q2.locators else "; no record holds the literal, so the set is empty"
        )
    for binding in answer.bindings:
        yield f"{binding.local_id} -> {binding.locator}: {_said_of(binding.locator, run, action, finding.q2)}"
    if answer.dangling:
        yield f"dangling: {_list(answer.dangling)} has no row in the complete table and names nothing"
    if answer.unbound:
        table = "no table" if run.table.state is TableState.NONE else "no row in the partial table"
        yield f"unbound: {_list(answer.unbound)} ({table})"
    if answer.status is Status.ABSTAIN:
        yield (
            f"abstain: to answer it needs {_list(answer.needed)}"
            if answer.needed
            else "abstain: no further evidence helps"
        )
    else:
        yield f"cited and holding the literal: {_list(str(locator) for locator in answer.locators or ())}"


def _said_of(locator: Locator, run: Run, action: Action, answer: RecordsAnswer) -> str:
    """What a record that the Basis names has to do with the literal."""
    if any(locator.covers(match.locator) for match in answer.matches):
        return "holds the literal"
    if answer.bounds is not None and any(
        locator.covers(hidden) or hidden.covers(locator) for hidden in answer.bounds.possible
    ):
        return "cannot be read, so it may hold the literal"
    earlier = {record.locator for record in run.records_before(action)}
    if locator.is_request or any(locator.covers(record) for record in earlier):
        return "does not hold the literal" if not locator.is_request else "the request, no tool result"
    return "not delivered before this action"


def _leads(run: Run, action: Action, literal: str, answer: RecordsAnswer) -> Iterator[str]:
    """Records that hold the literal only after Unicode normalisation: a lead, never a match (CONTRACT §2)."""
    wanted = unicodedata.normalize("NFC", literal)
    if literal.isascii():
        return
    matched = {match.locator for match in answer.matches}
    for record in run.records_before(action):
        if record.text is None or record.locator in matched or record.state is not RecordState.PRESENT:
            continue
        if wanted in unicodedata.normalize("NFC", record.text):
            yield f"{record.locator} holds it only after Unicode normalisation: a lead, no match"


def _notes(run: Run) -> Iterator[str]:
    """Diagnostics, the same kind told once with its count."""
    counts = Counter(diagnostic.code for diagnostic in run.diagnostics)
    seen = set()
    for diagnostic in run.diagnostics:
        if diagnostic.code in seen:
            continue
        seen.add(diagnostic.code)
        more = counts[diagnostic.code] - 1
        yield f"{diagnostic.place}: {diagnostic.message}" + (f" (and {more} more of this kind)" if more else "")


def _list(items: Iterator[str] | tuple[str, ...]) -> str:
    return ", ".join(items) or "none"
