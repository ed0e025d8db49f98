"""AgentDojo run logs: the three generations of the format, with the native sidecar where one stands beside the log.

A file is one run. Texts are strings or null (2024 to February 2025) or lists of blocks (later); blocks are joined with
a newline. Attack labels, payloads and verdicts (`injections`, `attack_type`, `injection_task_id`, `utility`,
`security`) are ground truth and are never read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trace_prov.conversation import Call, Conversation, Outcome, call_id, to_json_text, with_diagnostics
from trace_prov.errors import FormatError
from trace_prov.model import Run, Severity, Source
from trace_prov.sidecar import Sidecar, compare
from trace_prov.source import LogFile, ParsedJson, holds_rounded_number

NAME = "agentdojo"
TITLE = "AgentDojo run log (all generations, with NAME.native.json beside it)"
SIDECAR_SUFFIX = ".native.json"

_ROLES = ("system", "user", "assistant", "tool")


def detect(log: LogFile) -> str | None:
    """Why this is an AgentDojo log, or None."""
    if log.is_lines:
        return None
    document = log.document.value
    if (
        isinstance(document, dict)
        and "messages" in document
        and ("suite_name" in document or "pipeline_name" in document)
    ):
        return "an object with messages, suite_name and pipeline_name"
    return None


def load(log: LogFile, sidecar: Sidecar | None) -> Iterator[Run]:
    """The one run of the file. Raises FormatError when the file has another shape, SidecarError as `compare` does."""
    yield _load(log, log.document, sidecar)


def _load(log: LogFile, parsed: ParsedJson, sidecar: Sidecar | None) -> Run:
    document = parsed.value
    messages = document.get("messages") if isinstance(document, dict) else None
    if not isinstance(messages, list):
        raise FormatError(log.name, place="messages", expected="a list of messages", found=type(messages).__name__)
    conversation = Conversation()
    reader = _Reader(conversation, str(document.get("pipeline_name") or ""))
    for number, message in enumerate(messages):
        reader.read(message, f"messages[{number}]")
    if reader.rounded and parsed is not log.exact_document:
        return _load(log, log.exact_document, sidecar)
    for oddity in parsed.oddities:
        conversation.note("not-strict-json", "file", f"the file holds a {oddity}", Severity.WARNING)
    run = conversation.finish(
        _source(log, sidecar),
        agent=_text_or_none(document.get("pipeline_name")),
        task=_task(document),
        inputs=sidecar.inputs if sidecar else None,
        table=sidecar.table if sidecar else None,
    )
    return with_diagnostics(run, compare(sidecar, run)) if sidecar else run


def _source(log: LogFile, sidecar: Sidecar | None) -> Source:
    if sidecar is None:
        return Source(log.name, NAME, log.sha256, len(log.data))
    file = sidecar.file
    return Source(log.name, NAME, log.sha256, len(log.data), 0, file.name, file.sha256, len(file.data))


def _task(document: dict[str, Any]) -> str | None:
    suite, task = document.get("suite_name"), document.get("user_task_id")
    return f"{suite}/{task}" if isinstance(suite, str) and isinstance(task, str) else None


class _Reader:
    """Tells the messages of one log to a conversation."""

    def __init__(self, conversation: Conversation, pipeline: str) -> None:
        self.conversation = conversation
        self.filters_tools = "tool_filter" in pipeline
        self.previous_role: str | None = None
        self.first_request: str | None = None
        self.user_messages = 0
        self.rounded = False

    def read(self, message: Any, place: str) -> None:
        role = message.get("role") if isinstance(message, dict) else None
        try:
            if role == "user":
                self._user(message, place)
            elif role == "assistant":
                self._assistant(message, place)
            elif role == "tool":
                self._tool(message, place)
            elif role != "system":
                raise _BadMessageError(f"a message with role {role!r}, expected one of {', '.join(_ROLES)}")
        except _BadMessageError as error:
            self.conversation.damage(place, str(error))
        self.previous_role = role if isinstance(role, str) else None

    def _user(self, message: dict[str, Any], place: str) -> None:
        self.user_messages += 1
        text = self._readable(message, place)
        if self.first_request is None:
            self.first_request = text
        elif self.previous_role == "tool" and text == self.first_request:
            self.conversation.note("repeated-request", place, "the request is sent again; it is no further turn")
            return
        elif self.filters_tools and self.user_messages == 2:
            self.conversation.note("pipeline-prompt", place, "the tool filter's own prompt; it is no turn of the user")
            return
        self.conversation.request(text)

    def _assistant(self, message: dict[str, Any], place: str) -> None:
        text = self._readable(message, place)
        calls = message.get("tool_calls") or []
        if not isinstance(calls, list):
            self.conversation.damaged_part(place, "tool_calls is no list")
            calls = []
        self.conversation.assistant(text, [self._call(call) for call in calls], place)

    def _readable(self, message: dict[str, Any], place: str) -> str | None:
        """The text of a message that is no result; None where it is damaged."""
        try:
            return _content(message)
        except _BadMessageError as error:
            self.conversation.damaged_part(place, str(error))
            return None

    def _tool(self, message: dict[str, Any], place: str) -> None:
        native_id = call_id(message.get("tool_call_id"))
        # The call stands in the message again; it is needed only where no id tells.
        repeated = message.get("tool_call") if native_id is None else None
        call = self._call(repeated) if isinstance(repeated, dict) else None
        native_id = native_id or (call.native_id if call is not None else None)
        error = message.get("error")
        try:
            text = _error_text(error) if error else _content(message)
        except _BadMessageError as damage:
            self.conversation.damaged_result(native_id, place, str(damage))
        else:
            self.conversation.result(Outcome(text, native_id, call, is_error=bool(error)), place)

    def _call(self, call: Any) -> Call:
        if not isinstance(call, dict) or not isinstance(call.get("function"), str):
            native_id = call_id(call.get("id")) if isinstance(call, dict) else None
            return Call("", None, native_id, to_json_text(call), damage="a call without a function name")
        arguments = call.get("args")
        native_id = call_id(call.get("id"))
        if arguments is not None and not isinstance(arguments, dict):
            text = arguments if isinstance(arguments, str) else to_json_text(arguments)
            return Call(call["function"], None, native_id, text, damage="its arguments are no object")
        self.rounded = self.rounded or holds_rounded_number(arguments)
        return Call(call["function"], arguments or {}, native_id)


class _BadMessageError(Exception):
    """A message that breaks the format; the rest of the log is still read."""


def _content(message: dict[str, Any]) -> str:
    """The text of a message: a string, null (nothing was written) or blocks, joined with a newline."""
    content = message.get("content")
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise _BadMessageError("content is neither a text nor a list of blocks")
    texts = []
    for block in content:
        if not isinstance(block, dict):
            raise _BadMessageError("a content block is no object")
        if block.get("type", "text") != "text":
            continue  # a model's thinking is not part of what it wrote before the call
        text = block.get("content", block.get("text"))
        if text is not None and not isinstance(text, str):
            raise _BadMessageError("the content of a block is no text")
        texts.append(text or "")
    return "\n".join(texts)


def _error_text(error: Any) -> str:
    return error if isinstance(error, str) else to_json_text(error)


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
