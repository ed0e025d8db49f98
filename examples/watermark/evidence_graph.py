"""A marked agent that calls tools: its chat log as a run graph, the verdict beside it, and which calls carry it.

Run: python examples/watermark/evidence_graph.py FOLDER
It leaves chat.json (the log), marked.json (the same as a trajectory, with ghosts), keys.json and a store, for
trace-prov watermark detect marked.json --keys keys.json --annotate store
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from trace_prov.graph.store import TraceStore
from trace_prov.load import load_paths
from trace_prov.model import Run as LoadedRun
from trace_prov.watermark.annotating import annotate
from trace_prov.watermark.detect import detect
from trace_prov.watermark.embed import Embedder
from trace_prov.watermark.keys import Keys, new_ring, write_ring
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.trajectory import OBSERVATION, Record, Run, call_record, dump_runs

CITIES = ["Oslo", "Bergen", "Narvik", "Molde", "Alta", "Voss"]
TASK = "Find me a dry place for the weekend."


def marked_run(keys: Keys, scheme: Scheme, name: str, decisions: int = 24) -> tuple[Run, list[dict[str, Any]]]:
    """One run of a toy agent: as the trajectory that its provider keeps, and as chat messages."""
    rng = random.Random(name)
    embedder = Embedder(keys, scheme, run_id=name, salt=name, task=TASK, rng=rng)
    messages: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
    for number in range(1, decisions + 1):
        calls = [call_record("forecast", {"city": city, "day": number}) for city in CITIES]
        offered = {call.action: call for call in calls}
        chosen = offered[embedder.decide(list(offered), [1 / len(offered)] * len(offered)).action]
        answer = f"Day {number}: {rng.choice(['rain', 'sun', 'snow'])}"
        call_id = f"call_{name}_{number}"
        function = {"name": chosen.tool, "arguments": chosen.args}
        call = {"id": call_id, "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": call_id, "content": answer})
        embedder.record(replace(chosen, id=call_id), [Record(OBSERVATION, answer, chosen.tool, call=call_id)])
    return embedder.run(), messages


def main(folder: Path) -> None:
    """Mark, load, detect, annotate, ask."""
    scheme, ring = Scheme(), new_ring("example")
    write_ring(ring, folder / "keys.json")
    run, messages = marked_run(ring.keys(scheme), scheme, "weekend-1")
    data = dump_runs([run])
    (folder / "marked.json").write_bytes(data)
    (folder / "chat.json").write_text(json.dumps(messages))
    with TraceStore.create(folder / "store") as store:
        loaded = [item for item in load_paths([folder / "chat.json"]) if isinstance(item, LoadedRun)]
        for _ in store.add(loaded):
            pass
        found = detect([run], ring.keys(scheme), scheme)
        verdict = replace(found, inputs=(("marked.json", hashlib.sha256(data).hexdigest()),))
        (written,) = annotate(store, [verdict], [run])
        print(f"{verdict.decision}; {len(written.about)} decisions placed in {loaded[0].id}")
        for row in store.ask("watermark_evidence"):
            print(row["action"].value, row["tool"].value, row["standing"].value, row["tally"].value)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
