"""Marked runs of a toy agent that calls tools, as trajectories and as run graphs, and verdicts over graphs."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.watermark.helpers import KEYS, SCHEME
from trace_prov import model
from trace_prov.graph.store import TraceStore
from trace_prov.load import load_paths
from trace_prov.watermark.annotating import annotate
from trace_prov.watermark.convert import trajectory_of
from trace_prov.watermark.detect import detect
from trace_prov.watermark.embed import Embedder
from trace_prov.watermark.keys import Keys
from trace_prov.watermark.trajectory import OBSERVATION, Record, Run, call_record
from trace_prov.watermark.verdict import Verdict

CITIES = ("Oslo", "Bergen", "Narvik", "Molde", "Älta", "Voss")


def calling_run(name: str = "r-1", decisions: int = 24, keys: Keys = KEYS) -> tuple[Run, list[dict[str, Any]]]:
    """A marked run, and the same run as chat messages: without ghosts, which no agent sees."""
    rng = random.Random(name)
    embedder = Embedder(keys, SCHEME, run_id=name, salt=name, task="a dry place", rng=rng)
    messages: list[dict[str, Any]] = [{"role": "user", "content": "a dry place"}]
    for number in range(1, decisions + 1):
        # The trip tells the runs apart: a few calls that two runs share would place a decision in neither.
        offers = [call_record("forecast", {"city": city, "day": number, "trip": name}) for city in CITIES]
        calls = {call.action: call for call in offers}
        chosen = replace(calls[embedder.decide(list(calls), [1 / 6] * 6).action], id=f"{name}-{number}")
        answer = f"Day {number} of {name}: {rng.choice(['rain', 'sun'])}"
        function = {"name": chosen.tool, "arguments": chosen.args}
        called = [{"id": chosen.id, "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": None, "tool_calls": called})
        messages.append({"role": "tool", "tool_call_id": chosen.id, "content": answer})
        embedder.record(chosen, [Record(OBSERVATION, answer, chosen.tool, call=chosen.id)])
    return embedder.run(), messages


def loaded(folder: Path, *chats: list[dict[str, Any]]) -> list[model.Run]:
    """The runs that the product reads from chat logs."""
    for number, messages in enumerate(chats):
        (folder / f"chat-{number}.json").write_text(json.dumps(messages), "utf-8")
    paths = [folder / f"chat-{number}.json" for number in range(len(chats))]
    return [item for item in load_paths(paths) if isinstance(item, model.Run)]


def verdict_over(runs: Sequence[Run], keys: Keys = KEYS) -> Verdict:
    """A verdict that names the log it is about."""
    digest = hashlib.sha256(repr(runs).encode("utf-8", "backslashreplace")).hexdigest()
    return replace(detect(runs, keys, SCHEME), inputs=(("marked.json", digest),))


def annotated(store: TraceStore, runs: Sequence[model.Run]) -> dict[str, Any]:
    """Test runs for a key under which they are not marked, annotate a store with it, return the verdict as JSON.

    Some of the runs have no salt, so decisions are left out for more than one reason.
    """
    logs = [trajectory_of(run, None if number % 3 == 2 else run.id) for number, run in enumerate(runs)]
    verdict = verdict_over(logs)
    (written,) = annotate(store, [verdict], logs)
    value = json.loads(json.dumps(verdict.to_json()))
    for row in value["evidence"]:
        row["about"] = written.about.get((row["run"], row["group"]))
    return dict(value)
