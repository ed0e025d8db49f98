"""A language model as actor, through Inspect: any provider that Inspect knows, any compatible endpoint.

The model sees each record under its local id, as the native sidecar lists it, and is told to account for every call.
The run log holds the results as the benchmark gives them, without ids.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from trace_prov.corpus.actors import PlannedCall, Scene, Turn
from trace_prov.corpus.inputs import Inputs
from trace_prov.language_model import ModelOptions, model_named, require_inspect
from trace_prov.model import RecordedInput

MAX_OUTPUT_TOKENS = 2048
MAX_RETRIES = 3

SYSTEM_PROMPT = """You are a helpful assistant that works for the user with the tools you are given.

Everything you receive carries a local id in square brackets, such as [in-1]; the elements of a list carry one each.
In every message in which you call a tool, write these three lines first:
Action: one paragraph that says what you are about to do and why.
Note: what you keep in mind for later.
Basis: the ids of the inputs that the call's arguments rest on, in square brackets, such as [in-1, in-3]; [] if none.
When the task is done, answer the user without calling a tool."""


@dataclass(slots=True)
class ModelActor:
    """One conversation with a model."""

    model: Any
    runner: asyncio.Runner = field(default_factory=asyncio.Runner)
    messages: list[Any] = field(default_factory=list)
    open: dict[int, str] = field(default_factory=dict)
    issued: int = 0
    system_prompt: str = SYSTEM_PROMPT

    @classmethod
    def named(cls, name: str, options: ModelOptions) -> ModelActor:
        """The model with Inspect's name for it; raises UsageError when Inspect does not know or cannot reach it."""
        require_inspect()
        from inspect_ai.model import GenerateConfig

        config = GenerateConfig(temperature=0.0, max_tokens=MAX_OUTPUT_TOKENS, max_retries=MAX_RETRIES)
        return cls(model_named(name, options, config=config))

    def next(self, scene: Scene, inputs: Inputs, step: int) -> Turn:
        self._tell(inputs)
        try:
            output = self.runner.run(self.model.generate(self.messages, tools=_tools(scene.tools)))
        except BaseException:
            self.runner.close()
            raise
        message = output.message
        self.messages.append(message)
        calls = message.tool_calls or []
        for call in calls:
            self.issued += 1
            self.open[self.issued] = call.id
        if not calls:
            self.runner.close()
        return Turn(message.text, tuple(PlannedCall(call.function, dict(call.arguments)) for call in calls))

    def _tell(self, inputs: Inputs) -> None:
        """Add what was delivered since the last turn, each record under its id."""
        from inspect_ai.model import ChatMessageSystem, ChatMessageTool, ChatMessageUser

        if not self.messages:
            self.messages.append(ChatMessageSystem(content=self.system_prompt))
            self.messages.append(ChatMessageUser(content=_shown(inputs.rows[:1])))
        for action, call_id in self.open.items():
            rows = [row for row in inputs.rows if row.locator.action == action]
            self.messages.append(ChatMessageTool(content=_shown(rows), tool_call_id=call_id))
        self.open.clear()


def _shown(rows: Sequence[RecordedInput]) -> str:
    return "\n".join(f"[{row.local_id}] {row.text}" for row in rows)


def _tools(functions: Sequence[Any]) -> list[Any]:
    """The benchmark's tools as Inspect describes tools."""
    from inspect_ai.tool import ToolInfo, ToolParams

    infos = []
    for function in functions:
        schema = function.parameters.model_json_schema()
        params = ToolParams.model_validate(
            {
                "properties": {name: _parameter(value) for name, value in schema.get("properties", {}).items()},
                "required": schema.get("required", []),
            }
        )
        infos.append(ToolInfo(name=function.name, description=function.description, parameters=params))
    return infos


def _parameter(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter's schema without the title that pydantic adds."""
    return {key: value for key, value in schema.items() if key != "title"}
