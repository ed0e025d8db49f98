"""The cases of the W3C Provenance Working Group and of ProvToolbox: every verdict, in PROV-N and PROV-XML."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from trace_prov.prov_constraints import check_file

DATA = Path(__file__).parent.parent / "data" / "prov_constraints"
ROWS = {row["file"]: row for row in csv.DictReader((DATA / "expected.tsv").open(), delimiter="\t")}
FILES = [*ROWS, *(name.replace(".provn", ".xml") for name, row in ROWS.items() if row["also_xml"] == "yes")]


@pytest.mark.parametrize("name", FILES)
def test_the_verdict_is_that_of_the_working_group(name: str) -> None:
    reports = check_file(DATA / name)
    row = ROWS[name.replace(".xml", ".provn")]
    assert all(report.valid for report in reports) == (row["expected"] == "valid")


@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if row["expected"] == "invalid"])
def test_the_constraint_named_is_one_that_the_case_was_written_for(name: str) -> None:
    # A time that two records give differently breaks the key (23) and the activity's time (28) alike.
    found = {
        number
        for report in check_file(DATA / name)
        for violation in report.violations
        for number in (violation.constraint, *violation.involved)
    }
    constraints = ROWS[name]["constraints"]
    if constraints == "DM" or constraints.startswith("malformed"):
        assert found == {0}
    elif constraints == "-":
        assert found
    else:
        assert found & set(map(int, re.findall(r"\d+", constraints)))


def test_the_corpus_is_complete() -> None:
    assert len(ROWS) == 62
    assert sum(row["expected"] == "valid" for row in ROWS.values()) == 30
