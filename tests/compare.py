"""Comparing findings with expected ones, which hold only some of the keys (CONTRACT §10)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from trace_prov.derive import Question
from trace_prov.derive.engines import Derive
from trace_prov.finding import to_json
from trace_prov.load import load_paths
from trace_prov.model import Run


def runs_below(folder: Path) -> list[Run]:
    loaded = list(load_paths([folder]))
    problems = [item for item in loaded if not isinstance(item, Run)]
    assert not problems, problems
    return [item for item in loaded if isinstance(item, Run)]


def expected_by_log(folder: Path) -> dict[str, dict[str, Any]]:
    lines = (folder / "expected.jsonl").read_text().splitlines()
    return {body["log"]: body for body in map(json.loads, lines)}


def differences(folder: Path, runs: Iterable[Run], engine: Derive) -> Iterator[str]:
    """Each place in which the findings of the runs differ from expected.jsonl, or a log that is missing from them."""
    expected = expected_by_log(folder)
    for run in runs:
        found = [to_json(finding) for finding in engine(run, Question())]
        if len(found) != 1:
            yield f"{run.source.name}: {len(found)} findings"
            continue
        yield from _differences(expected.pop(run.source.name), found[0], run.source.name)
    yield from (f"{log}: no finding" for log in expected)


def _differences(expected: dict[str, Any], found: dict[str, Any], place: str) -> Iterator[str]:
    for key, value in expected.items():
        if isinstance(value, dict):
            yield from _differences(value, found.get(key, {}), f"{place} {key}")
        elif found.get(key) != value:
            yield f"{place} {key}: expected {value!r}, found {found.get(key)!r}"
