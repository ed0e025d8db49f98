"""The trajectory format: round trip, canonical actions, and an error with its place for each kind of damage."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.watermark.helpers import marked
from trace_prov.watermark.errors import TrajectoryError
from trace_prov.watermark.trajectory import (
    FORMAT,
    Group,
    Record,
    Run,
    call_record,
    canonical_action,
    dump_runs,
    parse_runs,
    read_runs,
    run_to_json,
)


def test_round_trip() -> None:
    runs = marked(3)
    assert parse_runs(dump_runs(runs), "x") == runs
    lines = b"\n".join(json.dumps(run_to_json(run)).encode() for run in runs)
    assert parse_runs(lines, "x") == runs
    assert parse_runs(json.dumps(run_to_json(runs[0])).encode(), "x") == runs[:1]


def test_tool_calls_ids_and_times_round_trip() -> None:
    call = call_record("read_file", {"b": 1, "a": "x"}, content="I look", time="2026-01-01T00:00:00Z", id="c1")
    run = Run(
        "r",
        None,
        None,
        (Group(call, (Record("O", "text", "read_file", None, None, "o1", "c1"),), (call.action, "wait")),),
    )
    assert parse_runs(dump_runs([run]), "x") == [run]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda i: st.lists(i, max_size=3) | st.dictionaries(TEXT, i, max_size=3),
)


@given(st.dictionaries(TEXT, VALUES, max_size=4), TEXT.filter(bool))
def test_canonical_action_ignores_key_order_and_composition(args: dict[str, Any], tool: str) -> None:
    decomposed = json.loads(unicodedata.normalize("NFD", json.dumps(dict(reversed(args.items())), ensure_ascii=False)))
    first = canonical_action(tool, args)
    if len(decomposed) == len(args):
        assert canonical_action(unicodedata.normalize("NFD", tool), decomposed) == canonical_action(
            tool, json.loads(json.dumps(args))
        )
    assert json.loads(first)["tool"] == unicodedata.normalize("NFC", tool)


def test_registry_id_names_the_tool() -> None:
    assert canonical_action("Read File", {}, {"Read File": "fs.read"}) == canonical_action("fs.read", {})


RUN = {
    "id": "r",
    "groups": [{"decision": {"tool": "t", "args": {}}, "candidates": ["a", "b"], "probabilities": [0.5, 0.5]}],
}


def _damaged(path: list[Any], value: Any) -> bytes:
    document: Any = {"format": FORMAT, "runs": [json.loads(json.dumps(RUN))]}
    inner = document
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return json.dumps(document).encode()


GROUP = ["runs", 0, "groups", 0]
DAMAGE: dict[str, tuple[list[Any], Any, str | None]] = {
    "no runs": (["runs"], [], None),
    "runs no list": (["runs"], {}, "runs"),
    "other format": (["format"], "x/1", "format"),
    "run no object": (["runs", 0], 3, "runs[1]"),
    "run without id": (["runs", 0, "id"], None, "runs[1].id"),
    "groups no list": (["runs", 0, "groups"], None, "runs[1].groups"),
    "salt no text": (["runs", 0, "salt"], [1], "runs[1].salt"),
    "group no object": (GROUP, "x", "runs[1].groups[1]"),
    "decision missing": ([*GROUP, "decision"], None, "runs[1].groups[1].decision"),
    "decision empty": ([*GROUP, "decision"], {}, "runs[1].groups[1].decision"),
    "content no text": ([*GROUP, "decision"], {"content": 3}, "runs[1].groups[1].decision.content"),
    "observations no list": ([*GROUP, "observations"], {}, "runs[1].groups[1].observations"),
    "candidate no action": ([*GROUP, "candidates"], ["a", 3], "runs[1].groups[1].candidates.[2]"),
    "too few probabilities": ([*GROUP, "probabilities"], [1.0], "runs[1].groups[1].probabilities"),
    "probabilities off": ([*GROUP, "probabilities"], [0.5, 0.4], "runs[1].groups[1].probabilities"),
    "negative probability": ([*GROUP, "probabilities"], [1.5, -0.5], "runs[1].groups[1].probabilities"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_named_with_its_place(name: str) -> None:
    path, value, place = DAMAGE[name]
    with pytest.raises(TrajectoryError) as caught:
        parse_runs(_damaged(path, value), "log.json")
    assert caught.value.place == place
    assert "log.json" in str(caught.value)


def test_bad_line_and_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TrajectoryError, match="line 2"):
        parse_runs(json.dumps(RUN).encode() + b"\n{", "x")
    with pytest.raises(TrajectoryError, match="readable"):
        read_runs(tmp_path / "none.json")
