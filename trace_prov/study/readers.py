"""Asking readers, on Inspect: its providers and logs; a question a conversation, in serial order, without retries.

A reader is a model as Inspect names it (`openai/NAME`, `anthropic/NAME`, `openai-api/SERVICE/NAME`, …) or a simulated
one (`sim/NAME`), which answers through Inspect's mock model by the same way as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from trace_prov.errors import TraceProvError, UsageError
from trace_prov.language_model import AS_SET_UP, ModelOptions, model_named, require_inspect
from trace_prov.study.folder import Question, StudyFolder
from trace_prov.study.journal import Entry, Event, Journal, journal_path, read_responses
from trace_prov.study.policies import PREFIX, SimulatedReader
from trace_prov.study.prompt import (
    INSTRUCTIONS,
    MAX_INPUT_TOKENS,
    MAX_OUTPUT_TOKENS,
    TEMPERATURE,
    count_tokens,
    question_text,
    response_schema,
)

#: Inspect's own mock model.
MOCK = "mockllm/"

#: After so many failures in a row the reader is stopped: a wrong key or name must not use up the questions.
FAILURES_IN_A_ROW = 5


class ReaderStoppedError(TraceProvError):
    """A reader cannot go on; what it answered is kept and the same command goes on from there."""


def check_reader(name: str, options: ModelOptions = AS_SET_UP) -> None:
    """Raises UsageError for a reader that cannot be asked (no such name, no key), before anything is made."""
    if not name.startswith(PREFIX) and "/" not in name:
        raise UsageError(
            f"no reader {name!r}; a model is named as Inspect does, such as openai/NAME, or {PREFIX}perfect"
        )
    journal_path(Path(), name)
    reader_model(name, options)


def open_questions(folder: StudyFolder, reader: str, *, retry_failed: bool = False) -> list[Question]:
    """The questions that the reader still has to be asked, in order."""
    questions = folder.questions()
    packages = {question.key: question.package_sha256 for question in questions}
    closed = {
        entry.key
        for entry in read_responses(journal_path(folder.responses, reader), packages)
        if entry.closes and not (retry_failed and entry.event is Event.FAILED)
    }
    return [question for question in questions if question.key not in closed]


def ask(
    folder: StudyFolder,
    reader: str,
    options: ModelOptions = AS_SET_UP,
    *,
    retry_failed: bool = False,
    cache: bool = False,
    on_answer: Callable[[], None] = lambda: None,
) -> None:
    """Ask a reader all questions that it has not answered yet; raises ReaderStoppedError when it cannot go on.

    With `cache` Inspect keeps responses in its own cache and takes those that are there, from any study, instead of
    asking; the journal notes which were taken.
    """
    questions = open_questions(folder, reader, retry_failed=retry_failed)
    journal = Journal(journal_path(folder.responses, reader))
    try:
        fitting = []
        for question in questions:
            if question.tokens <= MAX_INPUT_TOKENS:
                fitting.append(question)
            else:
                journal.add(_entry(question, Event.TOO_LONG, input_tokens=question.tokens))
                on_answer()
        if fitting:
            # Inspect's cache cannot tell simulated readers apart: to it they are all one mock model.
            cache = cache and not reader.startswith((PREFIX, MOCK))
            _evaluate(folder, reader, options, fitting, _Keeper(journal, on_answer), cache=cache)
    finally:
        journal.close()


def _entry(question: Question, event: Event, **more: Any) -> Entry:
    return Entry(event, question.case, question.condition, question.package_sha256, **more)


class _Keeper:
    """Keeps what comes back, and stops a reader that only fails."""

    def __init__(self, journal: Journal, on_answer: Callable[[], None]) -> None:
        self.journal = journal
        self.on_answer = on_answer
        self.failures = 0
        self.last_error: str | None = None

    @property
    def gave_up(self) -> bool:
        return self.failures >= FAILURES_IN_A_ROW

    def asked(self, question: Question) -> None:
        self.journal.add(_entry(question, Event.ASKED))

    def answered(self, question: Question, output: Any) -> None:
        self.failures = 0
        usage = output.usage
        self._close(
            _entry(
                question,
                Event.RESPONSE,
                response=output.completion,
                stop_reason=output.stop_reason,
                model=output.model,
                input_tokens=None if usage is None else _all_input_tokens(usage),
                output_tokens=None if usage is None else usage.output_tokens,
                cached=True if _came_from_cache() else None,
            )
        )

    def failed(self, question: Question, error: Exception) -> None:
        self.failures += 1
        # Inspect's retry loop, though it makes one attempt only, wraps what the provider said.
        said = getattr(getattr(error, "last_attempt", None), "exception", lambda: None)() or error
        self.last_error = f"{type(said).__name__}: {said}"
        self._close(_entry(question, Event.FAILED, error=self.last_error))

    def _close(self, entry: Entry) -> None:
        self.journal.add(entry)
        self.on_answer()


def _came_from_cache() -> bool:
    """Whether the response of the sample under way was in Inspect's cache."""
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import transcript

    calls = [event for event in transcript().events if isinstance(event, ModelEvent)]
    return bool(calls) and calls[-1].cache == "read"


def _all_input_tokens(usage: Any) -> int:
    """Input tokens with those that a provider read from or wrote to its cache, which it counts apart."""
    return int(usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0))


def _evaluate(
    folder: StudyFolder,
    reader: str,
    options: ModelOptions,
    questions: Sequence[Question],
    keeper: _Keeper,
    *,
    cache: bool,
) -> None:
    """One Inspect evaluation of the questions that are left; its log is kept for Inspect's viewer."""
    model = reader_model(reader, options)
    import inspect_ai

    logs = inspect_ai.eval(
        _task(folder, questions, keeper, cache=cache),
        model=model,
        display="none",
        log_dir=str(folder.inspect_logs),
        log_level="error",
        log_realtime=False,  # the journal keeps what came; Inspect's own buffer would double the time of short answers
        metadata={"reader": reader},
        max_samples=1,
        max_tasks=1,
        fail_on_error=False,
        score=False,
    )
    if keeper.gave_up:
        raise ReaderStoppedError(
            f"{reader}: stopped after {FAILURES_IN_A_ROW} failures in a row, the last being {keeper.last_error}; "
            "the same command goes on, with --retry-failed it asks these again"
        )
    if not logs or logs[0].status == "cancelled":
        raise KeyboardInterrupt  # Inspect takes the signal itself and ends in good order
    if logs[0].status != "success":
        raise ReaderStoppedError(f"{reader}: the evaluation ended early: {logs[0].error and logs[0].error.message}")


def _task(folder: StudyFolder, questions: Sequence[Question], keeper: _Keeper, *, cache: bool) -> Any:
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import CachePolicy, ChatMessageSystem, ChatMessageUser, GenerateConfig, ResponseSchema
    from inspect_ai.solver import solver
    from inspect_ai.util import JSONSchema

    by_id = {str(question.number): question for question in questions}

    @solver  # type: ignore[untyped-decorator]
    def ask_once() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            question = by_id[state.sample_id]
            if keeper.gave_up:
                state.completed = True
                return state
            keeper.asked(question)
            try:
                state = await generate(state)
            except Exception as error:
                keeper.failed(question, error)
                raise
            keeper.answered(question, state.output)
            return state

        return solve

    samples = [
        Sample(
            id=str(question.number),
            input=[
                ChatMessageSystem(content=INSTRUCTIONS),
                ChatMessageUser(content=question_text(folder.evidence(question))),
            ],
            metadata={"case": question.case, "condition": question.condition, "package": question.package_sha256},
        )
        for question in questions
    ]
    schema = ResponseSchema(name="answers", json_schema=JSONSchema.model_validate(response_schema()), strict=True)
    return Task(
        name="trace-prov-study",
        dataset=MemoryDataset(samples),
        solver=ask_once(),
        config=GenerateConfig(
            temperature=TEMPERATURE,
            max_tokens=MAX_OUTPUT_TOKENS,
            max_retries=0,
            max_connections=1,
            response_schema=schema,
            cache=CachePolicy(expiry=None) if cache else False,
        ),
    )


def reader_model(reader: str, options: ModelOptions = AS_SET_UP) -> Any:
    """The model that Inspect asks; raises UsageError when Inspect does not know or cannot reach it."""
    if reader.startswith(PREFIX):
        return _mock_model("mockllm/model", reader, SimulatedReader.parse(reader).answer)
    if reader.startswith(MOCK):
        # Inspect's own default text; its mock model would load a vocabulary over the network to count tokens.
        return _mock_model(reader, reader, lambda message: "Default output from mockllm/model")
    model = model_named(reader, options)
    _without_client_retries(model.api)
    return model


def _mock_model(name: str, reader: str, answer: Callable[[str], str]) -> Any:
    require_inspect()
    from inspect_ai.model import get_model

    return get_model(name, custom_outputs=_mock(reader, answer), memoize=False)


def _without_client_retries(api: Any) -> None:
    """Inspect's own retries are off by its settings; the clients of OpenAI and Anthropic have some of their own."""
    if hasattr(getattr(api, "client", None), "max_retries"):
        api.client.max_retries = 0
        api.model_args["max_retries"] = 0  # for the client that Inspect makes anew when it starts


def _mock(reader: str, answer: Callable[[str], str]) -> Callable[[Any, Any, Any, Any], Any]:
    from inspect_ai.model import ModelOutput, ModelUsage

    def output(messages: Any, tools: Any, tool_choice: Any, config: Any) -> Any:
        response = answer(messages[-1].text)
        given = ModelOutput.from_content(reader, response)
        read, written = sum(count_tokens(message.text) for message in messages), count_tokens(response)
        given.usage = ModelUsage(input_tokens=read, output_tokens=written, total_tokens=read + written)
        return given

    return output
