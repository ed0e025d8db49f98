"""Attacks do what they say, are seeded, compose, and tell what became of every record."""

from __future__ import annotations

import dataclasses
import json
import math
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.watermark.helpers import KEYS, SCHEME, marked
from trace_prov.errors import UsageError
from trace_prov.watermark import attacks
from trace_prov.watermark.detect import detect, evaluate
from trace_prov.watermark.errors import EnvironmentMissingError
from trace_prov.watermark.prepare import prepare
from trace_prov.watermark.rewriters import EndpointRewriter, RuleRewriter
from trace_prov.watermark.trajectory import Group, Record, Run, call_record

RATES = {"delete-groups": "0.3", "truncate": "0.5", "cut-block": "0.4", "paraphrase": "0.7", "joint": "0.3,0.6"}
SPECS = [
    f"{name}:{RATES.get(name, '0.4')}" if wanted else name
    for name, (_, wanted) in attacks.ATTACKS.items()
    if name != "merge-runs"
]


def _apply(runs: list[Run], *specs: str, seed: int = 1) -> attacks.Attacked:
    return attacks.apply(runs, [attacks.parse(spec) for spec in specs], seed)


def _record(runs: list[Run], place: attacks.Place) -> Record:
    run = next(run for run in runs if run.id == place[0])
    group = run.groups[place[1] - 1]
    return (group.decision, *group.observations)[place[2]]


@given(st.lists(st.sampled_from(SPECS), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_truth_accounts_for_every_record(specs: list[str], seed: int) -> None:
    """Every old record has one fate; an unchanged one is equal at its new place; every new record is accounted for."""
    runs = marked(2)
    result = _apply(runs, *specs, seed=seed)
    old = [fate.old for fate in result.fates if fate.old is not None]
    assert len(old) == len(set(old)) == sum(run.record_count for run in runs)
    new = [fate.new for fate in result.fates if fate.new is not None]
    assert len(new) == len(set(new)) == sum(run.record_count for run in result.runs)
    for fate in result.fates:
        if fate.old is not None and fate.new is not None:
            same = _record(runs, fate.old) == _record(result.runs, fate.new)
            assert same or fate.changed
    assert _apply(runs, *specs, seed=seed) == result


def test_merge_joins_everything() -> None:
    runs = marked(3)
    result = _apply(runs, "merge-runs")
    assert [run.id for run in result.runs] == [runs[0].id]
    assert len(result.runs[0].groups) == 72
    assert result.lost == 0


def test_amounts_are_as_asked() -> None:
    runs = marked(20)
    count = 20 * 24
    kept = sum(len(run.groups) for run in _apply(runs, "delete-groups:0.7").runs)
    assert abs(kept - 0.3 * count) < 5 * math.sqrt(0.21 * count)
    assert all(len(run.groups) == 7 for run in _apply(runs, "truncate:0.3").runs)
    assert all(len(run.groups) == 17 for run in _apply(runs, "cut-block:0.3").runs)
    changed = sum(fate.changed for fate in _apply(runs, "replace-action:0.5").fates)
    assert abs(changed - 0.5 * count) < 5 * math.sqrt(0.25 * count)


def test_a_replaced_action_is_another_candidate() -> None:
    runs = marked(3)
    for old, new in zip(runs, _apply(runs, "replace-action:1").runs, strict=True):
        for before, after in zip(old.groups, new.groups, strict=True):
            assert after.decision.action != before.decision.action
            assert after.decision.action in (before.candidates or ())


def test_channels_complement_each_other() -> None:
    """Rewriting kills the selection channel and leaves the tally; deletion the other way round (WATERMARK §4.3)."""
    runs = marked(10)
    clean = detect(runs, KEYS, SCHEME)
    rewritten = detect(_apply(runs, "replace-action:1", "paraphrase:1").runs, KEYS, SCHEME)
    assert rewritten.tally == clean.tally
    assert rewritten.selection.z < 3
    deleted = detect(_apply(runs, "delete-groups:0.3").runs, KEYS, SCHEME)
    assert deleted.selection.z > 8
    assert deleted.tally.z < 5


def test_deletion_follows_the_power_law_of_the_window() -> None:
    """z / z0 is about (1-p)^(w+1/2) (WATERMARK §1.3); here p = 0.3 and w = 1."""
    runs = marked(60)
    before = evaluate(prepare(runs, SCHEME), KEYS).selection.z
    after = evaluate(prepare(_apply(runs, "delete-groups:0.3").runs, SCHEME), KEYS).selection.z
    assert after / before == pytest.approx(0.7**1.5, abs=0.06)


def test_observations_do_not_matter_to_an_action_context() -> None:
    runs = marked(5)
    before = evaluate(prepare(runs, SCHEME), KEYS).selection
    after = evaluate(prepare(_apply(runs, "delete-observations:0.7").runs, SCHEME), KEYS).selection
    assert after == before


def test_tools_are_renamed_in_candidates_too() -> None:
    call = call_record("ls", {"path": "/"})
    other = call_record("cat", {"path": "/x"})
    run = Run("r", "s", "t", (Group(call, (Record("O", "x", "ls"),), (call.action, other.action), (0.5, 0.5)),))
    renamed = attacks.apply([run], [("rename", attacks.rename_tools({"ls": "list"}))], 0).runs[0].groups[0]
    assert renamed.decision.action == call_record("list", {"path": "/"}).action
    assert renamed.candidates == (renamed.decision.action, other.action)
    assert renamed.observations[0].tool == "list"


@pytest.mark.parametrize("spec", ["nonsense", "truncate", "truncate:2", "truncate:x", "strip-ghosts:1", "joint:0.1"])
def test_a_wrong_attack_says_what_is_right(spec: str) -> None:
    with pytest.raises(UsageError):
        attacks.parse(spec)


def test_rule_rewriter_changes_texts_and_keeps_numbers() -> None:
    text = "File /tmp/a.txt found. Status: OK 1234. You see nothing."
    said = RuleRewriter().rewrite(text, 3)
    assert said != text
    assert "1234" in said
    assert RuleRewriter().rewrite(text, 3) == said
    assert len({RuleRewriter().rewrite(text, seed) for seed in range(20)}) > 5


class _Endpoint(BaseHTTPRequestHandler):
    answer = b""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = body["messages"][0]["content"].rsplit("\n\n", 1)[-1]
        reply = self.answer or json.dumps({"choices": [{"message": {"content": f" said: {text} "}}]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Endpoint)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_endpoint_rewriter_speaks_the_chat_protocol(endpoint: str) -> None:
    assert EndpointRewriter(endpoint, "m").rewrite("three files", 5) == "said: three files"
    runs = marked(1)
    result = attacks.apply(runs, [attacks.parse("paraphrase:1", EndpointRewriter(endpoint, "m"))], 0)
    assert all(o.content.startswith("said:") for group in result.runs[0].groups for o in group.observations)


def test_a_failing_endpoint_is_an_error(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Endpoint, "answer", b'{"error": "no"}')
    with pytest.raises(EnvironmentMissingError, match="choices"):
        EndpointRewriter(endpoint, "m").rewrite("x", 1)
    with pytest.raises(EnvironmentMissingError):
        EndpointRewriter("http://127.0.0.1:9/v1", "m", timeout=2).rewrite("x", 1)
    assert "secret" not in repr(EndpointRewriter("http://x", "m", api_key="secret"))


def test_stripping_probabilities_keeps_the_score() -> None:
    runs = marked(2)
    bare = _apply(runs, "strip-probabilities").runs
    before, after = detect(runs, KEYS, SCHEME), detect(bare, KEYS, SCHEME)
    assert after.selection.statistic == pytest.approx(before.selection.statistic, rel=0.1)
    assert after.log_e is None
    assert after.power.selection is None
    assert np.isfinite(after.selection.log_p)
    assert dataclasses.replace(before.tally) == after.tally
