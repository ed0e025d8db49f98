"""Condition files: what they may say, and an error with its place for everything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from trace_prov.errors import FormatError, SourceError, UsageError
from trace_prov.model import TableState
from trace_prov.package.condition import BUILT_IN, Labels, condition_named, read_condition
from trace_prov.package.redact import read_rules

TOML = """
name = "court"
account = true
native = false
table = "partial"
rows = ["in-2"]
labels = "opaque"
redact = ["tool:get_balance.result", "*.argument.password"]
"""
YAML = """
name: court
account: true
table: partial
rows: [in-2]
labels: opaque
redact: ["tool:get_balance.result", "*.argument.password"]
"""


def test_toml_and_yaml_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(TOML)
    (tmp_path / "a.yaml").write_text(YAML)
    condition = condition_named(str(tmp_path / "a.toml"))
    assert condition == condition_named(str(tmp_path / "a.yaml"))
    assert (condition.table, condition.labels, condition.rows) == (TableState.PARTIAL, Labels.OPAQUE, ("in-2",))
    assert [rule.tool for rule in condition.redact] == ["get_balance", None]


def test_native_stands_for_request_and_inputs(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("native = true")
    condition = read_condition(tmp_path / "mine.toml")
    assert (condition.name, condition.request, condition.inputs) == ("mine", True, True)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("acount = true", "acount"),
        ('account = "yes"', "account"),
        ('name = "C10"', "name"),
        ('name = "../x"', "name"),
        ('table = "whole"', "table"),
        ("table = []", "table"),
        ('table = "partial"', "rows"),
        ('rows = ["in-1"]', "rows"),
        ('inputs = true\ntable = "partial"\nrows = ["in-1"]', "inputs"),
        ('labels = "blind"', "labels"),
        ('redact = "act-01.result"', "redact"),
        ('redact = ["act-01.result", "result"]', "redact, item 2"),
        ("redact = [1]", "redact, item 1"),
        ("name = ", None),
    ],
)
def test_errors_name_the_key(text: str, place: str | None, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(FormatError) as error:
        read_condition(path)
    assert error.value.place == place
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    "text", ["[1, 2]", "a: [", "- " * 5000, "!!python/object:os.system x", "&a [*a]", "\x00", "{" * 3000]
)
def test_hostile_yaml_is_refused_in_words(text: str, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(FormatError):
        read_condition(tmp_path / "mine.yaml")


def test_other_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="C10"):
        condition_named("C12")
    with pytest.raises(SourceError):
        condition_named(str(tmp_path / "none.toml"))
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FormatError):
        condition_named(str(tmp_path / "b.toml"))
    assert condition_named("R11") is BUILT_IN["R11"]


def test_rules_files_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "rules.txt"
    path.write_text("# hide\nact-01.result\n\n  act-02.argument.body\n")
    assert [rule.text for rule in read_rules(path)] == ["act-01.result", "act-02.argument.body"]
    path.write_text("act-01.result\nact-x\n")
    with pytest.raises(FormatError, match="line 2"):
        read_rules(path)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("account = true", encoding="utf-8-sig")
    (tmp_path / "rules.txt").write_text("act-01.result\r\n# a comment\r\n", encoding="utf-8-sig")
    assert read_condition(tmp_path / "a.toml").account
    assert [rule.text for rule in read_rules(tmp_path / "rules.txt")] == ["act-01.result"]
