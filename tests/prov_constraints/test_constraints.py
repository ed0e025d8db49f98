"""Each constraint, kept and broken, by our own cases; and properties of the verdict as a whole."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.prov_constraints.cases import INVALID, VALID
from tests.prov_constraints.generated import document, statements
from trace_prov.prov_constraints import Report, check_document, check_file
from trace_prov.prov_constraints.reading import instances_of_document
from trace_prov.prov_constraints.violations import NAMES

SETTINGS = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def verdict(lines: list[str]) -> Report:
    """Return the verdict on a document of these statements."""
    from prov.model import ProvDocument

    parsed = ProvDocument.deserialize(content=document(lines), format="provn")
    return check_document(instances_of_document(parsed))[0]


def constraints(report: Report) -> set[int]:
    return {violation.constraint for violation in report.violations}


@pytest.mark.parametrize("name", VALID)
def test_kept(name: str) -> None:
    assert verdict(VALID[name]).violations == ()


@pytest.mark.parametrize(("constraint", "lines"), [pytest.param(n, c, id=f"{n}: {w}") for n, w, c in INVALID])
def test_broken(constraint: int, lines: list[str]) -> None:
    report = verdict(lines)
    assert constraint in constraints(report)
    for violation in report.violations:
        assert violation.statements
        assert violation.message
        assert violation.name == NAMES[violation.constraint]


def test_a_broken_case_needs_all_of_its_statements() -> None:
    """Where one statement is left out of a broken case, it is another case: most of them are then kept."""
    kept = sum(not verdict(lines[:n] + lines[n + 1 :]).violations for _, _, lines in INVALID for n in range(len(lines)))
    total = sum(len(lines) for _, _, lines in INVALID)
    assert kept / total > 0.8


def test_a_cycle_names_its_constraints_and_statements() -> None:
    report = verdict(
        ["entity(ex:e1)", "entity(ex:e2)", "specializationOf(ex:e2, ex:e1)", "wasDerivedFrom(ex:e1, ex:e2)"]
    )
    (violation,) = report.violations
    assert (violation.constraint, violation.involved) == (42, (45,))
    assert "specializationOf(ex:e2, ex:e1)" in violation.statements
    assert "strictly before (Constraint 42) generation of ex:e1" in violation.message


def test_statements_meet_within_a_bundle_and_not_across(tmp_path: Path) -> None:
    """7.2 and 7.3: each bundle, and the top level, is judged by itself."""
    first, second = (f"activity(ex:a, 2026-03-02T{hour}:00:00, -)" for hour in ("09", "10"))
    path = tmp_path / "bundle.provn"
    path.write_text(document([first, "bundle ex:b", second, "endBundle"]))
    assert all(report.valid for report in check_file(path))
    path.write_text(document(["bundle ex:b", first, second, "endBundle"]))
    assert next(violation.constraint for report in check_file(path) for violation in report.violations) == 22


def test_a_mention_is_a_specialization(tmp_path: Path) -> None:
    """PROV-LINKS 5.4: so nothing mentions itself."""
    path = tmp_path / "mention.provn"
    path.write_text(document(["mentionOf(ex:e, ex:e, ex:b)"]))
    (report,) = check_file(path)
    assert [violation.constraint for violation in report.violations] == [52]


def test_bundles_are_instances_of_their_own(tmp_path: Path) -> None:
    text = """document
prefix ex <http://example.org/>
entity(ex:x)
bundle ex:b1
  activity(ex:x, -, -)
endBundle
bundle ex:b2
  specializationOf(ex:y, ex:y)
endBundle
endDocument
"""
    path = tmp_path / "bundles.provn"
    path.write_text(text)
    reports = check_file(path)
    assert [(report.bundle, report.valid) for report in reports] == [
        (None, True),
        ("ex:b1", True),
        ("ex:b2", False),
    ]


seeds = st.integers(0, 2**32)


@SETTINGS
@given(seeds)
def test_order_does_not_matter(seed: int) -> None:
    rng = random.Random(seed)
    lines = statements(rng)
    shuffled = rng.sample(lines, k=len(lines))
    assert verdict(lines).valid == verdict(shuffled).valid


@SETTINGS
@given(seeds)
def test_repeating_a_statement_changes_nothing(seed: int) -> None:
    # Also an unnamed one: two equal unnamed statements claim no more than one of them does.
    rng = random.Random(seed)
    lines = statements(rng)
    assert verdict(lines).valid == verdict([*lines, rng.choice(lines)]).valid


@SETTINGS
@given(seeds)
def test_other_names_do_not_change_the_verdict(seed: int) -> None:
    lines = statements(random.Random(seed))
    renamed = [line.replace("ex:", "ex:renamed-") for line in lines]
    assert constraints(verdict(lines)) == constraints(verdict(renamed))


@SETTINGS
@given(seeds)
def test_what_is_implied_may_be_said(seed: int) -> None:
    """Inferences 15 and 20 said aloud: an influence for each named relation, an alternate for each specialization."""
    lines = statements(random.Random(seed))
    said = []
    for line in lines:
        relation, _, rest = line.partition("(")
        identifier, semicolon, args = rest.rstrip(")").partition("; ")
        if semicolon and relation not in ("wasInfluencedBy", "entity", "activity", "agent"):
            ends = args.split(", ")[:2]
            if "-" not in ends:
                said.append(f"wasInfluencedBy({identifier}; {', '.join(ends)})")
        if relation == "specializationOf":
            said.append(f"alternateOf({rest}")
    assert verdict(lines).valid == verdict([*lines, *said]).valid


@SETTINGS
@given(seeds)
def test_a_part_of_a_valid_document_is_valid(seed: int) -> None:
    rng = random.Random(seed)
    lines = statements(rng)
    if verdict(lines).valid:
        part = [line for line in lines if rng.random() < 0.6]
        assert verdict(part).valid


def test_the_generated_documents_are_of_both_kinds() -> None:
    verdicts = [verdict(statements(random.Random(seed))) for seed in range(1500)]
    invalid = [report for report in verdicts if not report.valid]
    assert 300 < len(invalid) < 1200
    assert {22, 23, 24, 28, 29, 42, 51, 52, 53, 54, 55, 56} <= set().union(*map(constraints, invalid))
