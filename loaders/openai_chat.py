"""OpenAI chat messages: a list, an object with `messages`, or JSON lines of messages or of whole conversations.

Arguments are a JSON text (opened once more where they were encoded twice) or an object. A damaged line is reported and
reading goes on past it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from trace_prov.conversation import Call, Conversation, Outcome, call_id, read_arguments, to_json_text
from trace_prov.errors import FormatError
from trace_prov.model import Run, Severity, Source
from trace_prov.sidecar import Sidecar
from trace_prov.source import LogFile, ParsedJson, holds_float, parse_json

NAME = "openai_chat"
TITLE = "OpenAI chat messages: a list, {messages: …}, or JSON lines of either"
SIDECAR_SUFFIX = None

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def detect(log: LogFile) -> str | None:
    """Why this is a list of chat messages, or None."""
    if log.is_lines:
        kinds = [_line_kind(line) for _, line in _first(log.lines(), 20)]
        known = [kind for kind in kinds if kind is not None]
        return f"JSON lines of {known[0]}" if known and None not in known else None
    messages = _messages_of(log.document.value)
    if messages and any(_is_message(message) for message in messages):
        return "a list of messages with roles"
    return None


def _first(lines: Iterable[tuple[int, bytes]], count: int) -> Iterator[tuple[int, bytes]]:
    for line, _ in zip(lines, range(count), strict=False):
        yield line


def _line_kind(line: bytes) -> str | None:
    try:
        value = parse_json(line, "").value
    except FormatError:
        return None
    if _messages_of(value):
        return "conversations"
    return "messages" if _is_message(value) else None


def _messages_of(value: Any) -> list[Any] | None:
    messages = value.get("messages") if isinstance(value, dict) else value
    return messages if isinstance(messages, list) else None


def _is_message(value: Any) -> bool:
    return (
        isinstance(value, dict) and isinstance(value.get("role"), str) and bool({"content", "tool_calls"} & set(value))
    )


def load(log: LogFile, sidecar: Sidecar | None) -> Iterator[Run]:
    """The runs of the file, one or one a line. Raises FormatError when the file has another shape."""
    if not log.is_lines:
        yield _whole_file(log)
    elif any(_line_kind(line) == "conversations" for _, line in _first(log.lines(), 20)):
        yield from _conversation_lines(log)
    else:
        yield _message_lines(log)


def _whole_file(log: LogFile) -> Run:
    parsed = _with_exact_results(log.document, log.data, log.name)
    messages = _messages_of(parsed.value)
    if messages is None:
        raise FormatError(log.name, expected="a list of messages", found=type(parsed.value).__name__)
    return _run(log, _read_messages(messages, parsed), 0)


def _conversation_lines(log: LogFile) -> Iterator[Run]:
    for number, line in log.lines():
        conversation = Conversation()
        try:
            parsed = _read_line(line, log.name, f"line {number}")
            messages = _messages_of(parsed.value)
            if messages is None:
                raise FormatError(log.name, place=f"line {number}", expected="a conversation", found="something else")
        except FormatError as error:
            conversation.damage(f"line {number}", str(error), "unreadable-line")
        else:
            conversation = _read_messages(messages, parsed, f"line {number}, ")
        yield _run(log, conversation, number)


def _message_lines(log: LogFile) -> Run:
    conversation = Conversation()
    for number, line in log.lines():
        place = f"line {number}"
        try:
            parsed = _read_line(line, log.name, place)
        except FormatError as error:
            conversation.damage(place, f"unreadable line: {error}", "unreadable-line")
            continue
        _report_oddities(conversation, parsed, place)
        _read(conversation, parsed.value, place)
    return _run(log, conversation, 0)


def _read_line(line: bytes, name: str, place: str) -> ParsedJson:
    return _with_exact_results(parse_json(line, name, place), line, name, place)


def _with_exact_results(parsed: ParsedJson, data: bytes, name: str, place: str = "") -> ParsedJson:
    """The same, read again with its numbers as written where a result is a structured value that holds some."""
    messages = _messages_of(parsed.value) or [parsed.value]
    results = [_result_content(message) for message in messages]
    if any(_is_value(content) and holds_float(content) for content in results):
        return parse_json(data, name, place, exact=True)
    return parsed


def _result_content(message: Any) -> Any:
    is_result = isinstance(message, dict) and message.get("role") in ("tool", "function")
    return message.get("content") if is_result else None


def _read_messages(messages: list[Any], parsed: ParsedJson, prefix: str = "") -> Conversation:
    conversation = Conversation()
    _report_oddities(conversation, parsed, prefix.rstrip(", ") or "file")
    for number, message in enumerate(messages):
        _read(conversation, message, f"{prefix}messages[{number}]")
    return conversation


def _report_oddities(conversation: Conversation, parsed: ParsedJson, place: str) -> None:
    for oddity in parsed.oddities:
        conversation.note("not-strict-json", place, f"holds a {oddity}", Severity.WARNING)


def _run(log: LogFile, conversation: Conversation, member: int) -> Run:
    return conversation.finish(Source(log.name, NAME, log.sha256, len(log.data), member))


def _read(conversation: Conversation, message: Any, place: str) -> None:
    role = message.get("role") if isinstance(message, dict) else None
    if role == "user":
        conversation.request(_readable(conversation, message, place))
    elif role == "assistant":
        text = _readable(conversation, message, place)
        conversation.assistant(text, _calls(conversation, message, place), place)
    elif role in ("tool", "function"):
        _result(conversation, message, place)
    elif role not in ("system", "developer"):
        expected = f"expected one of {', '.join(_ROLES)}"
        conversation.damage(place, f"a message with role {role!r}, {expected}")


class _BadContentError(Exception):
    """The content of a message breaks the format; the rest of the log is still read."""


def _readable(conversation: Conversation, message: dict[str, Any], place: str) -> str | None:
    """The text of a message that is no result; None where it is damaged."""
    try:
        return _text(message.get("content"), conversation, place)
    except _BadContentError as error:
        conversation.damaged_part(place, str(error))
        return None


def _result(conversation: Conversation, message: dict[str, Any], place: str) -> None:
    content, native_id = message.get("content"), call_id(message.get("tool_call_id"))
    try:
        if not _is_value(content):
            outcome = Outcome(_text(content, conversation, place), native_id)
        elif isinstance(content, list):
            elements = tuple(item if isinstance(item, str) else to_json_text(item) for item in content)
            outcome = Outcome(to_json_text(content), native_id, elements=elements)
        else:
            outcome = Outcome(to_json_text(content), native_id)
    except _BadContentError as error:
        conversation.damaged_result(native_id, place, str(error))
    else:
        conversation.result(outcome, place)


def _calls(conversation: Conversation, message: dict[str, Any], place: str) -> list[Call]:
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        conversation.damaged_part(place, "tool_calls is no list")
        return []
    if not calls and isinstance(message.get("function_call"), dict):
        calls = [{"function": message["function_call"]}]
    return [_call(call) for call in calls]


def _call(call: Any) -> Call:
    function, custom = (call.get("function"), call.get("custom")) if isinstance(call, dict) else (None, None)
    native_id = call_id(call.get("id")) if isinstance(call, dict) else None
    if not function and isinstance(custom, dict) and isinstance(custom.get("name"), str):
        return _custom_call(custom, native_id)
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return Call("", None, native_id, to_json_text(call), damage="a call without a function name")
    arguments = function.get("arguments")
    if isinstance(arguments, dict):
        return Call(function["name"], arguments, native_id)
    if arguments is None or arguments == "":
        return Call(function["name"], {}, native_id)
    if not isinstance(arguments, str):
        text, damage = to_json_text(arguments), "its arguments are neither a text nor an object"
        return Call(function["name"], None, native_id, text, damage=damage)
    return read_arguments(function["name"], arguments, native_id)


def _custom_call(custom: dict[str, Any], native_id: str | None) -> Call:
    """A call of a custom tool: one text of any form, as its only argument `input`; it is never opened as JSON."""
    text = custom.get("input")
    if text is None or isinstance(text, str):
        return Call(custom["name"], {"input": text or ""}, native_id)
    return Call(custom["name"], None, native_id, to_json_text(text), damage="its input is no text")


def _is_value(content: Any) -> bool:
    """Whether a result is a structured value and not the text of a message (a string, null or text parts)."""
    if isinstance(content, list):
        return not _are_parts(content)
    return content is not None and not isinstance(content, str)


def _are_parts(content: list[Any]) -> bool:
    """Whether all are parts of a message: typed, with what they hold under the name of the type (`image_url`).

    Other objects may well have a `type` too (accounts, files); beside a text an unknown part stays a part.
    """
    if not all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in content):
        return False
    has_text = any(isinstance(part.get("text", part.get("refusal")), str) for part in content)
    return has_text or all(part["type"] in part for part in content)


def _text(content: Any, conversation: Conversation, place: str) -> str:
    """The text of a message: a string, null or parts whose texts are joined with a newline."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise _BadContentError("content is neither a text nor a list of parts")
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
            continue
        if not isinstance(part, dict):
            raise _BadContentError("a content part is no object")
        text = part.get("text", part.get("refusal"))
        if isinstance(text, str):
            texts.append(text)
        else:
            conversation.note(
                "part-without-text", place, f"a part of type {part.get('type')!r} holds no text to search"
            )
    return "\n".join(texts)
