"""Logs of the product's own formats as trajectories: group i is action i, and the selection channel can be tested."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from tests.watermark.helpers import KEYS, SCHEME
from trace_prov import model
from trace_prov.cli import main
from trace_prov.load import load_paths
from trace_prov.watermark.convert import trajectory_of
from trace_prov.watermark.detect import detect
from trace_prov.watermark.keys import new_ring, write_ring

LOG = Path(__file__).parents[2] / "examples" / "bill-payment.json"


def test_groups_follow_actions() -> None:
    runs = [item for item in load_paths([LOG]) if isinstance(item, model.Run)]
    converted = trajectory_of(runs[0], salt="s")
    assert len(converted.groups) == len(runs[0].actions)
    for action, group in zip(runs[0].actions, converted.groups, strict=True):
        assert group.decision.tool == action.tool
        assert json.loads(group.decision.args or "{}") == {a.name: a.value for a in action.arguments}
        assert len(group.observations) == int(action.has_records)
    assert converted.task == runs[0].turns[0].content.text
    verdict = detect([converted], KEYS, SCHEME)
    assert [row.group for row in verdict.evidence] == [action.number for action in runs[0].actions]


def test_a_log_can_be_given_to_detect(tmp_path: Path) -> None:
    write_ring(new_ring("x"), tmp_path / "keys.json")
    done = CliRunner().invoke(main, ["watermark", "detect", str(LOG), "--keys", str(tmp_path / "keys.json")])
    assert done.exit_code == 0
    assert "abstain" in done.output
    assert "run salt missing" in done.output
    assert "ghost records cannot be seen" in done.output
