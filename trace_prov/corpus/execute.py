"""One execution on the real AgentDojo package: an actor in its pipeline, the run log, the native sidecar beside it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from trace_prov.corpus.accounts import draw
from trace_prov.corpus.actors import Actor, PlannedCall, Scene, Turn
from trace_prov.corpus.attack import ATTACK_NAME, NOT_INJECTABLE, Injection, choose_injection
from trace_prov.corpus.inputs import Inputs, result_text, text_of
from trace_prov.errors import UsageError
from trace_prov.writing import write_whole

BENCHMARK_VERSION = "v1.2.2"
SUITES = ("banking", "slack", "travel", "workspace")

#: After so many assistant messages with calls a run ends, as the benchmark's own loop does after 15.
MAX_STEPS = 60

SIDECAR_ENDING = ".native.json"
INCOMPLETE_ENDING = ".json.incomplete"


@dataclass(frozen=True, slots=True)
class Job:
    """One run to make: A0 without an injection task, A1 with one. `attack` names how an A1 run was attacked."""

    actor: str
    suite: str
    user_task: str
    injection_task: str | None = None
    attack: str = ATTACK_NAME

    @property
    def task(self) -> str:
        """The unit of the task-equal statistics (CONTRACT §8)."""
        return f"{self.suite}/{self.user_task}"

    @property
    def case(self) -> str:
        """The path of the log below the runs folder, without `.json`."""
        attack = "none" if self.injection_task is None else self.attack
        pipeline = self.actor.replace("/", "_")  # as the package's own logger does
        return f"{pipeline}/{self.suite}/{self.user_task}/{attack}/{self.injection_task or 'none'}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job: completed, or why not; for A1 the field that was changed."""

    job: Job
    completed: bool
    reason: str | None = None
    field: str | None = None


def require_agentdojo() -> None:
    """Raises UsageError when the optional package is not there."""
    try:
        import agentdojo.task_suite  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"making runs needs the agentdojo package: pip install 'trace-prov[agentdojo]' ({error})"
        ) from None


@cache
def suite_named(name: str) -> Any:
    from agentdojo.task_suite.load_suites import get_suite

    return get_suite(BENCHMARK_VERSION, name)


def execute(job: Job, make_actor: Callable[[str], Actor], runs: Path) -> Outcome:
    """Make one run below `runs`, unless it is there already; a run counts once its sidecar is written."""
    suite = suite_named(job.suite)
    user_task = suite.get_user_task_by_id(job.user_task)
    injection = None
    if job.injection_task is not None:
        injection_task = suite.get_injection_task_by_id(job.injection_task)
        candidates = _fields_read(job.suite, job.user_task)
        injection = choose_injection(suite, candidates, job.actor, user_task, injection_task)
        if injection is None:
            return Outcome(job, completed=False, reason=NOT_INJECTABLE)
    changed = None if injection is None else injection.field
    log = runs / f"{job.case}.json"
    sidecar = runs / f"{job.case}{SIDECAR_ENDING}"
    if sidecar.exists() and log.exists():
        return Outcome(job, completed=True, field=changed)
    element = _actor_element(job, make_actor(job.actor))
    try:
        _run(suite, job, element, injection, runs)
    except Exception as error:  # one run that a model or the benchmark stops must not stop the others
        if log.exists():
            log.replace(runs / f"{job.case}{INCOMPLETE_ENDING}")
        return Outcome(job, completed=False, reason=f"{type(error).__name__}: {error}", field=changed)
    write_whole(sidecar, json.dumps(element.state.inputs.sidecar(), indent=1, ensure_ascii=True) + "\n")
    return Outcome(job, completed=True, field=changed)


def _run(suite: Any, job: Job, element: Any, injection: Injection | None, runs: Path) -> None:
    from agentdojo.agent_pipeline import AgentPipeline, InitQuery, SystemMessage, ToolsExecutionLoop, ToolsExecutor
    from agentdojo.benchmark import run_task_with_injection_tasks, run_task_without_injection_tasks
    from agentdojo.logging import OutputLogger

    loop = ToolsExecutionLoop([ToolsExecutor(), element], max_iters=MAX_STEPS)
    pipeline = AgentPipeline([SystemMessage(element.state.actor.system_prompt), InitQuery(), element, loop])
    pipeline.name = job.actor
    user_task = suite.get_user_task_by_id(job.user_task)
    with warnings.catch_warnings(), OutputLogger(str(runs)):
        warnings.simplefilter("ignore")
        if injection is None:
            run_task_without_injection_tasks(suite, pipeline, user_task, runs, True, BENCHMARK_VERSION)
        else:
            attack = _attack(suite, pipeline, injection)
            run_task_with_injection_tasks(
                suite, pipeline, user_task, attack, runs, True, [job.injection_task], BENCHMARK_VERSION
            )


@cache
def _fields_read(suite_name: str, user_task: str) -> list[str]:
    """The fields whose text reaches an actor that does the task as the benchmark lists it."""
    suite = suite_named(suite_name)
    attack = _attack(suite, None, Injection("", ""))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return list(attack.get_injection_candidates(suite.get_user_task_by_id(user_task)))
        except ValueError:
            return []


def _attack(suite: Any, pipeline: Any, injection: Injection) -> Any:
    from agentdojo.attacks.base_attacks import BaseAttack

    class AppendedText(BaseAttack):  # type: ignore[misc]
        name = ATTACK_NAME

        def attack(self, user_task: Any, injection_task: Any) -> dict[str, str]:
            return {injection.field: injection.text}

    return AppendedText(suite, pipeline)


@dataclass(slots=True)
class _State:
    """What one execution has come to: the inputs given so far, actions and steps issued, messages seen."""

    job: Job
    actor: Actor
    inputs: Inputs = field(default_factory=Inputs)
    actions: int = 0
    open: list[int] = field(default_factory=list)
    steps: int = 0
    seen: int = 0

    def observe(self, messages: Sequence[Any]) -> None:
        """Issue ids to what was delivered since the last turn; results come in the order of their calls."""
        for message in messages[self.seen :]:
            if message["role"] == "user" and not self.inputs.rows:
                self.inputs.give_request(text_of(message["content"]))
            elif message["role"] == "tool":
                self.inputs.give_result(self.open.pop(0), result_text(message))
        self.seen = len(messages) + 1  # the turn that follows is the actor's own

    def issue(self, turn: Turn) -> list[str]:
        """Count the calls of a turn; returns an id for each, the same whenever the run is made again."""
        ids = []
        for call in turn.calls:
            self.actions += 1
            self.open.append(self.actions)
            ids.append(f"call_{draw(self.job.case, self.actions, call.tool):016x}")
        return ids


def _actor_element(job: Job, actor: Actor) -> Any:
    """The actor as an element of an AgentDojo pipeline; its `state` holds the inputs for the sidecar."""
    from agentdojo.agent_pipeline import BasePipelineElement

    class ActorElement(BasePipelineElement):  # type: ignore[misc]
        def __init__(self) -> None:
            self.state = _State(job, actor)

        def query(
            self, query: str, runtime: Any, env: Any = None, messages: Sequence[Any] = (), extra_args: Any = None
        ) -> tuple[str, Any, Any, list[Any], Any]:
            state = self.state
            state.observe(messages)
            state.steps += 1
            turn = state.actor.next(_scene(job, runtime, env), state.inputs, state.steps)
            message = _assistant_message(turn, state.issue(turn))
            return query, runtime, env, [*messages, message], extra_args or {}

    return ActorElement()


def _scene(job: Job, runtime: Any, environment: Any) -> Scene:
    suite = suite_named(job.suite)
    injected = None if job.injection_task is None else suite.get_injection_task_by_id(job.injection_task)
    return Scene(
        run=job.case,
        user_task=suite.get_user_task_by_id(job.user_task),
        injection_task=injected,
        tools=tuple(runtime.functions.values()),
        environment=environment,
    )


def _assistant_message(turn: Turn, ids: Sequence[str]) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": [{"type": "text", "content": turn.text}],
        "tool_calls": [_function_call(call, native_id) for call, native_id in zip(turn.calls, ids, strict=True)],
    }


def _function_call(call: PlannedCall, native_id: str) -> Any:
    from agentdojo.functions_runtime import FunctionCall

    return FunctionCall(function=call.tool, args=dict(call.arguments), id=native_id)
