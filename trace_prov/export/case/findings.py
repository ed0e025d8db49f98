"""Findings as analytic results: the answer in a sentence, its support status as a tag, its evidence as content.

The sentence is for people; the finding as it is stands in a content of its own, in the interchange form (CONTRACT §10).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from trace_prov.export.case.nodes import Node, one_or_all, payload_facet
from trace_prov.export.case.run_layer import RunNodes
from trace_prov.finding import Finding, NotApplicable, RecordsAnswer, RequestAnswer, Status, to_json
from trace_prov.model import Locator

_QUESTIONS = {
    "q1": "Q1, whether the literal occurs in the user's request",
    "q2": "Q2, the earlier records in which the literal occurs (H)",
    "q3": "Q3, those of them that the agent's Basis cites (J)",
}


def add_finding(run: RunNodes, finding: Finding | NotApplicable, analysis: Node, position: int) -> list[Node]:
    """Add the results of one finding; returns all that the analysis gave."""
    body = json.dumps(to_json(finding), ensure_ascii=False, sort_keys=True)
    key = (run.run.id, "finding", str(position), body)
    form = run.nodes.add(
        "uco-observable:ContentData",
        *key,
        core_name="finding in its interchange form",
        core_hasFacet=payload_facet(body, *key, mime_type="application/json"),
    )
    if isinstance(finding, NotApplicable):
        about = finding.action or "the run"
        sentence = f"The questions do not apply to {about}: {finding.reason}."
        return [
            form,
            _result(run, key, analysis, [form], name="not applicable", sentence=sentence, tag="not applicable"),
        ]
    results = [form]
    for question, answer in (("q1", finding.q1), ("q2", finding.q2), ("q3", finding.q3)):
        found = [run.contents[locator] for locator in _evidence(answer) if locator in run.contents]
        results.append(
            _result(
                run,
                (*key, question),
                analysis,
                [form, *found],
                name=f"{question.upper()} for {finding.target.action}",
                sentence=f"{_subject(finding)} {_QUESTIONS[question]}: {_answer(answer)}",
                tag=answer.status.value,
            )
        )
    return results


def _result(
    run: RunNodes, key: tuple[str, ...], analysis: Node, content: list[Node], *, name: str, sentence: str, tag: str
) -> Node:
    return run.nodes.add(
        "uco-analysis:AnalyticResult",
        *key,
        core_name=name,
        core_statement=sentence,
        core_tag=tag,
        analysis_originatingAnalysis=analysis,
        analysis_resultContent=one_or_all(content),
    )


def _subject(finding: Finding) -> str:
    target = finding.target
    where = "a literal given by the examiner" if target.argument is None else f"argument {target.argument}"
    return f"For {target.action}, {where}, literal {json.dumps(target.literal, ensure_ascii=False)}:"


def _answer(answer: RequestAnswer | RecordsAnswer) -> str:
    if isinstance(answer, RequestAnswer):
        known = {True: "yes, supported by the evidence.", False: "no, supported by the evidence."}
        text = "no answer is supported by the evidence." if answer.value is None else known[answer.value]
    elif answer.status is Status.BASIS_MISSING:
        text = "the account states no Basis."
    elif answer.locators is not None:
        text = f"{_list(answer.locators)}, supported by the evidence."
    else:
        assert answer.bounds is not None
        text = (
            f"no answer is supported by the evidence; certain: {_list(answer.bounds.certain)}; "
            f"possible: {_list(answer.bounds.possible)}."
        )
    return " ".join([text, *_further(answer)])


def _further(answer: RequestAnswer | RecordsAnswer) -> Iterator[str]:
    if answer.matches:
        yield f"Found {', '.join(f'{match.locator} ({match.how.value})' for match in sorted(answer.matches))}."
    if isinstance(answer, RecordsAnswer):
        if answer.bindings:
            yield f"Bound: {', '.join(f'{row.local_id} -> {row.locator}' for row in answer.bindings)}."
        if answer.dangling:
            yield f"Ids that name nothing: {', '.join(answer.dangling)}."
    if answer.needed:
        yield f"It would take {', '.join(answer.needed)}."


def _list(locators: tuple[Locator, ...]) -> str:
    return ", ".join(str(locator) for locator in sorted(set(locators))) or "none"


def _evidence(answer: RequestAnswer | RecordsAnswer) -> list[Locator]:
    return sorted({match.locator for match in answer.matches})
