"""Tables that compare answers with answers: between readers, between conditions, and what reading costs."""

from __future__ import annotations

from itertools import combinations

from trace_prov.study.tables import Cell, Results, Table

#: Conditions that differ in nothing but how ids are spelt.
RENAMED = (("C00", "C01"), ("C10", "C11"))


def agreement_table(results: Results) -> Table:
    """Agreement and shared unsupported answers of each pair of readers; never a reference (CONTRACT §8)."""
    rows: list[tuple[Cell, ...]] = []
    for one, other in combinations(results.models, 2):
        for condition in results.conditions:
            for question in ("q1", "q2", "q3"):
                rows.append(
                    (one, other, condition, question.upper(), *_agreement(results, one, other, condition, question))
                )
    return Table(
        "agreement",
        "Agreement between readers",
        "Packages that both readers answered validly; equal answers; cases in which both answers are unsupported, and "
        "those in which they are the same unsupported answer.",
        (
            "reader",
            "other reader",
            "condition",
            "question",
            "both valid",
            "equal",
            "both unsupported",
            "same unsupported",
        ),
        tuple(rows),
    )


def _agreement(results: Results, one: str, other: str, condition: str, question: str) -> tuple[int, int, int, int]:
    ours, theirs = results.by_case(one, condition, question), results.by_case(other, condition, question)
    pairs = [
        (ours[case], theirs[case])
        for case in ours.keys() & theirs.keys()
        if ours[case].score.valid and theirs[case].score.valid
    ]
    unsupported = [(first, second) for first, second in pairs if first.score.u and second.score.u]
    return (
        len(pairs),
        sum(first.given == second.given for first, second in pairs),
        len(unsupported),
        sum(first.given == second.given for first, second in unsupported),
    )


def renaming_table(results: Results) -> Table:
    """How often a reader's answer changes when nothing but the spelling of the ids does."""
    rows: list[tuple[Cell, ...]] = []
    for reader in results.readers:
        for original, opaque in RENAMED:
            if not results.present(original, opaque):
                continue
            for question in ("q1", "q2", "q3"):
                before, after = (results.by_case(reader, name, question) for name in (original, opaque))
                pairs = [(before[case], after[case]) for case in before.keys() & after.keys()]
                valid = [pair for pair in pairs if pair[0].score.valid and pair[1].score.valid]
                changed = sum(one.given != other.given for one, other in valid)
                rows.append((reader, f"{original}/{opaque}", question.upper(), len(valid), changed))
    return Table(
        "renaming",
        "Changes of answer under renaming",
        "Packages that differ only in the spelling of ids, both answered validly, and how many answers differ.",
        ("reader", "conditions", "question", "pairs", "changed"),
        tuple(rows),
    )


def token_table(results: Results) -> Table:
    """Mean input tokens by reader and condition, and the growth against the first condition of its kind.

    The growth is that of the cases that were counted under both conditions.
    """
    rows: list[tuple[Cell, ...]] = []
    for reader in results.models:
        counted = {condition: _tokens(results, reader, condition) for condition in results.conditions}
        for condition, tokens in counted.items():
            if not tokens:
                continue
            base = next(counted[name] for name in counted if name[:1] == condition[:1] and counted[name])
            both = tokens.keys() & base.keys()
            before, after = (sum(part[case] for case in both) for part in (base, tokens))
            mean = sum(tokens.values()) / len(tokens)
            growth = (round((after - before) / len(both), 1), round(100 * (after / before - 1), 1)) if both else ()
            rows.append((reader, condition, len(tokens), round(mean, 1), *(growth or (None, None))))
    return Table(
        "tokens",
        "Input tokens",
        "Mean a package as the provider counts them; growth against the first condition of the same kind, over the "
        "cases that were counted under both.",
        ("reader", "condition", "packages", "mean", "more", "more in %"),
        tuple(rows),
    )


def _tokens(results: Results, reader: str, condition: str) -> dict[str, int]:
    """Input tokens by case of what the reader answered."""
    return {
        result.case: result.input_tokens
        for result in results.of(reader, condition, "q1")
        if result.input_tokens and result.outcome == "response"
    }
