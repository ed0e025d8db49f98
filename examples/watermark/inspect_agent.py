"""An Inspect task with a watermarked agent; the model is Inspect's mock, so it runs offline.

Run: pip install "trace-prov[watermark,watermark-inspect]"; python examples/watermark/inspect_agent.py
"""

from __future__ import annotations

import random
import tempfile
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.tool import Tool, tool

from trace_prov.watermark.adapters.inspect import STORE_KEY, watermarked
from trace_prov.watermark.detect import detect
from trace_prov.watermark.keys import new_ring
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.trajectory import Run, canonical_json, parse_runs
from trace_prov.watermark.verdict import shown_p

TURNS = 15


@tool
def look_up() -> Tool:
    """A tool that answers about a page of a handbook."""

    async def execute(page: int) -> str:
        """Look up a page.

        Args:
            page: Number of the page.
        """
        return f"Page {page}: nothing about the alarm.\nSee also page {page + 3}."

    return execute


def mock(seed: int) -> Any:
    """A model that wanders through the handbook and answers at the end."""
    rng = random.Random(seed)

    def answer(messages: list[Any], *_: Any) -> ModelOutput:
        if sum(message.role == "assistant" for message in messages) >= TURNS:
            output = ModelOutput.from_content("mockllm/model", "The alarm is not in the handbook.")
        else:
            output = ModelOutput.for_tool_call("mockllm/model", "look_up", {"page": rng.randint(1, 9)})
        # Without a usage Inspect counts tokens with a vocabulary that it would have to download.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model("mockllm/model", custom_outputs=answer)


def logged_runs(keys: Any, scheme: Scheme, log_dir: str, count: int = 3) -> list[Run]:
    """Run Inspect and read the trajectories from its logs."""
    runs: list[Run] = []
    for number in range(count):
        agent = watermarked(keys, scheme, tools=[look_up()], run_id=f"inspect-{number}", rng=random.Random(number))
        task = Task(dataset=[Sample(input="Where is the alarm described?")], solver=agent)
        log = eval(task, model=mock(number), log_dir=log_dir, display="none")[0]
        for sample in log.samples or []:
            runs += parse_runs(canonical_json(sample.store[STORE_KEY]).encode(), "Inspect log")
    return runs


def main() -> None:
    """Run three samples and test the pooled log."""
    scheme = Scheme()
    keys = new_ring("example").keys(scheme)
    with tempfile.TemporaryDirectory() as folder:
        runs = logged_runs(keys, scheme, folder)
    verdict = detect(runs, keys, scheme)
    print(f"{verdict.selection.seen} tool calls: {verdict.decision}, p = {shown_p(verdict.log_p_joint)}")


if __name__ == "__main__":
    main()
