"""An Inspect agent whose tool calls carry the watermark (needs the extra `watermark-inspect`).

At each turn the model is asked `samples` times; the key chooses among its answers, so the agent behaves as the model
would. Tools run as usual. Ghost records go to the trajectory in the sample's store, never to the model.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from inspect_ai.agent import Agent, AgentState, agent
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, Model, execute_tools, get_model
from inspect_ai.tool import Tool
from inspect_ai.util import store

from trace_prov.watermark.adapters.sampling import calls_record, frequencies
from trace_prov.watermark.embed import Embedder, Uniform
from trace_prov.watermark.keys import Keys
from trace_prov.watermark.scheme import Scheme
from trace_prov.watermark.trajectory import OBSERVATION, Record, run_to_json

#: where the trajectory stands in the sample's store
STORE_KEY = "trace_prov_watermark_trajectory"


@agent  # type: ignore[untyped-decorator,unused-ignore]
def watermarked(
    keys: Keys,
    scheme: Scheme,
    *,
    tools: Sequence[Tool],
    run_id: str,
    samples: int = 8,
    max_turns: int = 30,
    model: str | Model | None = None,
    rng: Uniform | None = None,
) -> Agent:
    """Return an agent that calls `tools` until it answers, watermarked under `keys`.

    The run's salt is `run_id`; keep it in the ledger. The trajectory is left in the store under `STORE_KEY`.
    """

    async def execute(state: AgentState) -> AgentState:
        task = state.messages[-1].text if state.messages else None
        fallback = rng or random.SystemRandom()
        embedder = Embedder(keys, scheme, run_id=run_id, salt=run_id, task=task, rng=fallback)
        for _ in range(max_turns):
            message = await _decide(get_model(model), state, tools, samples, embedder)
            state.messages.append(message)
            if not message.tool_calls:
                break
            done = await execute_tools(state.messages, list(tools))
            state.messages.extend(done.messages)
            answers = [message for message in done.messages if isinstance(message, ChatMessageTool)]
            embedder.record(_decision(message), _observations(answers))
            store().set(STORE_KEY, json.loads(json.dumps(run_to_json(embedder.run()))))
        return state

    return execute


async def _decide(
    model: Model, state: AgentState, tools: Sequence[Tool], samples: int, embedder: Embedder
) -> ChatMessageAssistant:
    outputs = [await model.generate(state.messages, tools=list(tools)) for _ in range(samples)]
    messages = [output.message for output in outputs]
    actions, shares, first = frequencies(messages, lambda message: _decision(message).action)
    chosen = first[embedder.decide(actions, shares).action]
    state.output = next(output for output in outputs if output.message is chosen)
    return chosen


def _decision(message: ChatMessageAssistant) -> Record:
    calls: list[tuple[str, Any]] = [(call.function, call.arguments) for call in message.tool_calls or []]
    return calls_record(calls, id=message.tool_calls[0].id if message.tool_calls else None)


def _observations(answers: Sequence[ChatMessageTool]) -> list[Record]:
    """One natural record a decision: the results of all calls of the message, joined."""
    text = "\n".join(answer.text for answer in answers)
    first = answers[0] if answers else None
    return [
        Record(
            OBSERVATION,
            text,
            None if first is None else first.function,
            call=None if first is None else first.tool_call_id,
        )
    ]
