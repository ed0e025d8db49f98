"""AgentDojo's workspace suite with a watermarked pipeline: real tools and environment, an offline model.

The model knows the right next call and otherwise looks around; the watermark only sees what it samples from it.
Run: pip install "trace-prov[watermark,agentdojo]"; python examples/watermark/agentdojo_agent.py
"""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence
from typing import Any

from agentdojo.agent_pipeline import AgentPipeline, BasePipelineElement, InitQuery, ToolsExecutionLoop, ToolsExecutor
from agentdojo.functions_runtime import EmptyEnv, Env, FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suite
from agentdojo.types import ChatAssistantMessage, ChatMessage, text_content_block_from_string

from trace_prov.watermark.adapters.sampling import calls_record, frequencies
from trace_prov.watermark.detect import detect
from trace_prov.watermark.embed import Embedder
from trace_prov.watermark.keys import Keys, new_ring
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.trajectory import OBSERVATION, Record, Run
from trace_prov.watermark.verdict import shown_p

Answer = tuple[str, FunctionsRuntime, Env, Sequence[ChatMessage], dict[str, Any]]
LOOKS = (
    "get_current_day",
    "get_unread_emails",
    "get_sent_emails",
    "get_draft_emails",
    "list_files",
    "get_received_emails",
)


class OfflineModel(BasePipelineElement):
    """Takes the next ground-truth step with probability 0.5, else calls a reading tool; answers at the end."""

    def __init__(self, task: Any, rng: random.Random) -> None:
        self.name, self._task, self._rng = "offline", task, rng
        self._plan: list[FunctionCall] | None = None

    def query(
        self,
        query: str,
        runtime: FunctionsRuntime,
        env: Env = EmptyEnv(),  # noqa: B008 - AgentDojo's signature
        messages: Sequence[ChatMessage] = (),
        extra_args: dict[str, Any] | None = None,
    ) -> Answer:
        if self._plan is None:
            self._plan = list(self._task.ground_truth(copy.deepcopy(env)))
        made = [call for message in messages for call in (message.get("tool_calls") or [])]
        done = sum(call.function not in LOOKS for call in made)
        steps = [call for call in self._plan if call.function not in LOOKS]
        calls: list[FunctionCall] | None = None
        if self._rng.random() >= 0.5:
            calls = [FunctionCall(function=self._rng.choice(LOOKS), args={})]
        elif done < len(steps):
            calls = [FunctionCall(function=steps[done].function, args=dict(steps[done].args))]
        text = [text_content_block_from_string("" if calls else str(self._task.GROUND_TRUTH_OUTPUT))]
        answer = ChatAssistantMessage(role="assistant", content=text, tool_calls=calls)
        return query, runtime, env, [*messages, answer], extra_args or {}


class Watermarked(BasePipelineElement):
    """Asks the model several times and lets the key choose; logs decisions, results and ghosts."""

    def __init__(self, model: BasePipelineElement, embedder: Embedder, samples: int = 8) -> None:
        self.name, self._model, self._embedder, self._samples = "watermarked", model, embedder, samples
        self._pending: Record | None = None

    def query(
        self,
        query: str,
        runtime: FunctionsRuntime,
        env: Env = EmptyEnv(),  # noqa: B008 - AgentDojo's signature
        messages: Sequence[ChatMessage] = (),
        extra_args: dict[str, Any] | None = None,
    ) -> Answer:
        self._log(messages)
        asked = [self._model.query(query, runtime, env, messages, extra_args or {}) for _ in range(self._samples)]
        answers = [list(answer[3])[-1] for answer in asked]
        actions, shares, first = frequencies(answers, lambda answer: _decision(answer).action)
        chosen = first[self._embedder.decide(actions, shares).action]
        self._pending = _decision(chosen)
        return query, runtime, env, [*messages, chosen], extra_args or {}

    def _log(self, messages: Sequence[ChatMessage]) -> None:
        if self._pending is None or not messages or messages[-1]["role"] != "tool":
            return
        text = "\n".join(block["content"] for block in messages[-1]["content"] or [])
        self._embedder.record(self._pending, [Record(OBSERVATION, text, self._pending.tool)])
        self._pending = None


def _decision(message: Any) -> Record:
    return calls_record([(call.function, dict(call.args)) for call in message.get("tool_calls") or []])


def one_run(suite: Any, number: int, keys: Keys, scheme: Scheme) -> tuple[Run, bool]:
    """Run one user task of the suite."""
    task = suite.user_tasks[f"user_task_{number}"]
    rng = random.Random(number)
    embedder = Embedder(
        keys, scheme, run_id=f"workspace-{number}", salt=f"workspace-{number}", task=task.PROMPT, rng=rng
    )
    model = Watermarked(OfflineModel(task, rng), embedder)
    pipeline = AgentPipeline([InitQuery(), model, ToolsExecutionLoop([ToolsExecutor(), model], max_iters=25)])
    pipeline.name = "watermarked"
    useful, _ = suite.run_task_with_pipeline(pipeline, task, None, {})
    return embedder.run(), bool(useful)


def main() -> None:
    """Run ten user tasks and test the pooled log."""
    scheme = Scheme()
    keys, other = new_ring("example").keys(scheme), new_ring("someone else").keys(scheme)
    suite = get_suite("v1.2", "workspace")
    done = [one_run(suite, number, keys, scheme) for number in range(10)]
    runs = [run for run, _ in done if run.groups]
    print(f"{sum(useful for _, useful in done)} of 10 tasks solved, {sum(len(run.groups) for run in runs)} tool calls")
    for name, key in (("own key", keys), ("another key", other)):
        verdict = detect(runs, key, scheme)
        print(f"{name}: {verdict.decision}, p = {shown_p(verdict.log_p_joint)}")


if __name__ == "__main__":
    main()
