"""The smallest package that keeps a question answerable, and what a redaction would lose (CONTRACT §6).

By the completion rule, for a case whose full record is known:

- Q1 needs one turn that holds the literal, or every turn before the action where none does;
- Q2 needs every earlier record, since any hidden one may hold the literal;
- Q3 needs the account. Where its Basis cites ids, it needs the rows of all of them and the earlier records that they
  are bound to; or all earlier records, and as many rows as cover those that hold the literal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from trace_prov.conversation import to_json_text
from trace_prov.derive.native import derive
from trace_prov.derive.target import Question, targets
from trace_prov.errors import UsageError
from trace_prov.finding import Finding, NotApplicable, Status, Target
from trace_prov.model import Action, Basis, BasisState, Locator, RecordState, Run, TableState
from trace_prov.package.build import build
from trace_prov.package.comparator import finding_of
from trace_prov.package.condition import Condition
from trace_prov.package.lattice import QUESTIONS, answer_to
from trace_prov.package.model import Package
from trace_prov.package.redact import Rule, parse_rule
from trace_prov.text import decoded_strings

#: Rows are chosen among all subsets up to this many cited rows, one by one beyond.
EXACT_ROWS = 14
#: Shorter texts, and shorter values in a text, stand in others by chance.
SHORTEST_ECHO, SHORTEST_PART = 4, 8
_WORD = re.compile(r"\w+(?:[-.@/_]\w+)*")


@dataclass(frozen=True)
class Needs:
    """Pieces of evidence. `whole_table`: the table must be complete, for an id without a row to name nothing."""

    turns: frozenset[int] = frozenset()
    records: frozenset[Locator] = frozenset()
    account: bool = False
    rows: frozenset[str] = frozenset()
    whole_table: bool = False

    def with_all(self, other: Needs) -> Needs:
        return Needs(
            self.turns | other.turns,
            self.records | other.records,
            self.account or other.account,
            self.rows | other.rows,
            self.whole_table or other.whole_table,
        )

    def size(self, run: Run) -> tuple[int, int]:
        """How many pieces, then how many characters of text: what a custodian discloses."""
        texts = {record.locator: len(record.text or "") for action in run.actions for record in action.records}
        turns = {turn.number: len(turn.content.text or "") for turn in run.turns}
        pieces = len(self.turns) + len(self.records) + self.account + len(self.rows) + self.whole_table
        return pieces, sum(texts[one] for one in self.records) + sum(turns[one] for one in self.turns)


@dataclass(frozen=True)
class Plan:
    """A condition that shows as little as keeps the questions, and the package that it gives."""

    target: Target
    keep: tuple[str, ...]
    needs: Needs
    condition: Condition
    package: Package


@dataclass(frozen=True)
class Unanswerable:
    """A question that even the full record leaves open, and what it would take."""

    question: str
    needed: tuple[str, ...]


def plan(run: Run, keep: Sequence[str], question: Question | None = None) -> Plan | Unanswerable | NotApplicable:
    """The smallest package of a run that keeps the questions answerable with the answers of the full record."""
    for name in keep:
        if name not in QUESTIONS:
            raise UsageError(f"no question {name!r}; known: {', '.join(QUESTIONS)}")
    (chosen, *_) = targets(run, question or Question())
    if isinstance(chosen, NotApplicable):
        return chosen
    action, target = chosen
    finding = full_finding(run, target)
    for name in keep:
        answer = answer_to(finding, name)
        if answer.status is Status.ABSTAIN:
            return Unanswerable(name, answer.needed)
    needs = min(_ways(run, action, finding, keep), key=lambda way: way.size(run))
    condition = _condition(run, action, target, keep, needs)
    package = _built(run, condition, target)
    if not _keeps(package, finding, keep):
        # An element may not be readable without the list around it: then the whole list stays.
        lists = {locator.action for locator in needs.records}
        more = {record.locator for one in run.actions if one.number in lists for record in one.records}
        needs = replace(needs, records=needs.records | more)
        condition = _condition(run, action, target, keep, needs)
        package = _built(run, condition, target)
        assert _keeps(package, finding, keep)
    return Plan(target, tuple(keep), needs, condition, package)


def full_finding(run: Run, target: Target) -> Finding:
    """The finding on everything that the log has."""
    (finding,) = derive(run, Question(action=target.action, literal=target.literal))
    assert isinstance(finding, Finding)
    return finding


def _built(run: Run, condition: Condition, target: Target, rules: Sequence[Rule] = ()) -> Package:
    question = (
        Question(action=target.action, literal=target.literal)
        if target.argument is None
        else Question(action=target.action, argument=target.argument)
    )
    built = build(run, condition, question, rules)
    assert not isinstance(built, NotApplicable)
    return built.package


def _keeps(package: Package, finding: Finding, keep: Iterable[str]) -> bool:
    given = finding_of(package)
    return all(_same(answer_to(given, name), answer_to(finding, name)) for name in keep)


def _same(one: object, other: object) -> bool:
    names = ("status", "value", "locators")
    return all(getattr(one, name, None) == getattr(other, name, None) for name in names)


def _ways(run: Run, action: Action, finding: Finding, keep: Sequence[str]) -> Iterator[Needs]:
    """The ways to keep all the questions; the smallest is among them."""
    fixed = Needs()
    if "Q1" in keep:
        fixed = fixed.with_all(_for_request(run, action, finding))
    earlier = frozenset(record.locator for record in run.records_before(action))
    if "Q2" in keep:
        fixed = fixed.with_all(Needs(records=earlier))
    if "Q3" not in keep:
        yield fixed
        return
    for way in _for_cited(run, action.account.basis, finding, earlier):
        yield fixed.with_all(way)


def _for_request(run: Run, action: Action, finding: Finding) -> Needs:
    before = {run.turn_record(turn).locator: turn for turn in run.turns_before(action)}
    if finding.q1.value:
        holding = [before[match.locator] for match in finding.q1.matches]
        return Needs(turns=frozenset({min(holding, key=lambda turn: len(turn.content.text or "")).number}))
    return Needs(turns=frozenset(turn.number for turn in before.values()))


def _for_cited(run: Run, basis: Basis, finding: Finding, earlier: frozenset[Locator]) -> Iterator[Needs]:
    if basis.state in (BasisState.MISSING, BasisState.EMPTY):
        yield Needs(account=True)
        return
    if basis.state is BasisState.MALFORMED:
        yield Needs(account=True, records=earlier)
        return
    located = {row.local_id: row.locator for row in run.table.rows}
    cited = list(dict.fromkeys(basis.ids))
    bound = [local_id for local_id in cited if local_id in located]
    covered = frozenset(to for to in earlier if any(located[one].covers(to) for one in bound))
    if len(bound) == len(cited):
        yield Needs(account=True, rows=frozenset(bound), records=covered)
    elif run.table.state is TableState.COMPLETE:
        yield Needs(account=True, rows=frozenset(located), whole_table=True, records=covered)
    holding = [match.locator for match in finding.q2.matches]
    if finding.q2.status is Status.ANSWERED:
        rows = _fewest_rows(located, bound, holding)
        if rows is not None:
            yield Needs(account=True, rows=rows, records=earlier)


def _fewest_rows(located: dict[str, Locator], bound: list[str], holding: list[Locator]) -> frozenset[str] | None:
    """The fewest rows that cover every record that holds the literal; None where not even all of them do."""

    def cover(rows: Iterable[str]) -> bool:
        return all(any(located[row].covers(locator) for row in rows) for locator in holding)

    useful = [row for row in bound if any(located[row].covers(locator) for locator in holding)]
    if not cover(useful):
        return None
    if len(useful) <= EXACT_ROWS:
        sizes = range(len(useful) + 1)
        return next(frozenset(rows) for size in sizes for rows in combinations(useful, size) if cover(rows))
    kept = list(useful)
    for row in useful:
        if cover([other for other in kept if other != row]):
            kept.remove(row)
    return frozenset(kept)


def _condition(run: Run, action: Action, target: Target, keep: Sequence[str], needs: Needs) -> Condition:
    table = TableState.NONE
    if needs.whole_table:
        table = TableState.COMPLETE
    elif needs.rows:
        table = TableState.PARTIAL
    return Condition(
        name="keep-" + "-".join(keep),
        account=needs.account,
        request=bool(needs.turns),
        table=table,
        rows=tuple(sorted(needs.rows)) if table is TableState.PARTIAL else (),
        redact=tuple(parse_rule(text) for text in _redactions(run, action, target, needs)),
    )


def _redactions(run: Run, action: Action, target: Target, needs: Needs) -> Iterator[str]:
    """Everything that a package would show beyond the needs."""
    if needs.turns:
        for turn in run.turns:
            if turn.number not in needs.turns:
                yield f"request.user[{turn.number}]"
    seen_steps = {action.step}
    for other in run.actions:
        for argument in other.arguments:
            if (other.id, argument.name) != (target.action, target.argument) and argument.state is RecordState.PRESENT:
                yield f"{other.id}.argument.{argument.name}"
        if other.arguments_text is not None and not other.arguments:
            yield f"{other.id}.arguments"
        if needs.account and other.step not in seen_steps and other.account.basis.state is not BasisState.WITHHELD:
            seen_steps.add(other.step)
            yield f"{other.id}.account"
        locators = [record.locator for record in other.records]
        if not needs.records.intersection(locators):
            if locators:
                yield f"{other.id}.result"
        else:
            yield from (str(locator) for locator in locators if locator not in needs.records)


def to_toml(condition: Condition) -> str:
    """The condition as a file that `trace-prov package --condition FILE` reads."""
    lines = [f"name = {_quoted(condition.name)}"]
    for name in ("account", "request", "inputs", "declare_elements"):
        lines.append(f"{name} = {'true' if getattr(condition, name) else 'false'}")
    lines.append(f"table = {_quoted(condition.table)}")
    lines.append(f"labels = {_quoted(condition.labels)}")
    for name, items in (("rows", condition.rows), ("redact", tuple(rule.text for rule in condition.redact))):
        if items:
            lines.append(f"{name} = [\n" + "".join(f"    {_quoted(item)},\n" for item in items) + "]")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = "".join(
        f"\\{char}" if char in '"\\' else char if char.isprintable() else f"\\U{ord(char):08X}" for char in text
    )
    return f'"{escaped}"'


@dataclass(frozen=True, slots=True)
class Echo:
    """The text of a hidden address, or the `part` of it that is a value in it, still stands in a visible one."""

    hidden: str
    stands_in: str
    part: str | None = None


@dataclass(frozen=True)
class Loss:
    """What a redaction does to a question, and where the text that it hides can still be read."""

    before: Finding
    after: Finding
    unused: tuple[Rule, ...]
    echoes: tuple[Echo, ...]

    def lost(self, question: str) -> bool:
        return (
            answer_to(self.before, question).status is not Status.ABSTAIN
            and answer_to(self.after, question).status is Status.ABSTAIN
        )


def loss(
    run: Run, rules: Sequence[Rule], condition: Condition, question: Question | None = None
) -> Loss | NotApplicable:
    """Compare a condition with itself under further redactions."""
    before = build(run, condition, question)
    if isinstance(before, NotApplicable):
        return before
    after = build(run, condition, question, rules)
    if isinstance(after, NotApplicable):
        return after
    return Loss(
        finding_of(before.package),
        finding_of(after.package),
        tuple(rule for rule in rules if rule not in after.used),
        tuple(_echoes(before.package.run, after.package.run)),
    )


def _echoes(before: Run, after: Run) -> Iterator[Echo]:
    """Where a text that becomes hidden, or a value in it, still stands: a redaction follows no copies."""
    shown = dict(_texts(after))
    readings = {place: (text, *decoded_strings(text)) for place, text in shown.items()}
    for place, text in _texts(before):
        if place in shown or len(text) < SHORTEST_ECHO:
            continue
        values = {one for one in _values_in(text) if len(one) >= SHORTEST_PART}
        longest_first = sorted(values, key=lambda one: (-len(one), one))
        for other, read in readings.items():
            found = next((part for part in (text, *longest_first) if any(part in one for one in read)), None)
            if found is not None:
                yield Echo(place, other, None if found == text else found)


def _values_in(text: str) -> Iterator[str]:
    """The values of a structured text, and the words with a digit of any, such as account numbers."""
    yield from decoded_strings(text)
    yield from (word for word in _WORD.findall(text) if any(character.isdigit() for character in word))


def _texts(run: Run) -> Iterator[tuple[str, str]]:
    """Every visible text of a run with its address."""
    for turn in run.turns:
        if turn.content.text is not None:
            yield str(run.turn_record(turn).locator), turn.content.text
    for action in run.actions:
        for argument in action.arguments:
            if argument.state is RecordState.PRESENT:
                value = argument.value
                yield f"{action.id}.argument.{argument.name}", value if isinstance(value, str) else to_json_text(value)
        if action.arguments_text is not None:
            yield f"{action.id}.arguments", action.arguments_text
        if action.account.text is not None:
            yield f"{action.id}.account", action.account.text
        for record in action.records:
            if record.text is not None:
                yield str(record.locator), record.text
    for row in run.inputs:
        if row.text is not None:
            yield f"recorded input {row.local_id}", row.text
