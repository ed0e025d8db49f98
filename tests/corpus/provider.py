"""A local server that speaks the protocols of OpenAI's chat completions and Anthropic's messages.

What it answers is a function of the conversation, so that a test says what "the model" does; every request is kept.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    text: str
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    #: An HTTP status other than 200 makes this an error of the provider.
    status: int = 200


#: Gets (role, text) of each message, system first, and how many tool results came so far.
Model = Callable[[list[tuple[str, str]]], Reply]


@dataclass
class Provider:
    model: Model
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.requests.append(body)
        if path.endswith("/chat/completions"):
            reply = self.model([(m["role"], _text(m.get("content"))) for m in body["messages"]])
            return reply.status, _openai(reply, body)
        assert path.endswith("/messages"), path
        reply = self.model(list(_anthropic_messages(body)))
        return reply.status, _anthropic(reply, body)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content or [])


def _anthropic_messages(body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "system", _text(body.get("system"))
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "tool_result":
                yield "tool", _text(block["content"])
            elif block["type"] == "text":
                yield message["role"], block["text"]


def _openai(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    if reply.status != 200:
        return {"error": {"message": reply.text, "type": "invalid_request_error", "code": None, "param": None}}
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = [
            {"id": f"call_{k}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for k, (name, arguments) in enumerate(reply.calls)
        ]
    finish = "tool_calls" if reply.calls else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }


def _anthropic(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    if reply.status != 200:
        return {"type": "error", "error": {"type": "invalid_request_error", "message": reply.text}}
    blocks: list[dict[str, Any]] = [{"type": "text", "text": reply.text}]
    blocks += [
        {"type": "tool_use", "id": f"toolu_{k}", "name": name, "input": arguments}
        for k, (name, arguments) in enumerate(reply.calls)
    ]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": blocks,
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = provider.answer(self.path.split("?")[0], body)
            data = json.dumps(answer).encode()
            kind = "application/json"
            if body.get("stream") and status == 200:
                data, kind = _anthropic_stream(answer), "text/event-stream"
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            pass

    return Handler


def _anthropic_stream(message: dict[str, Any]) -> bytes:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message | {"content": [], "stop_reason": None}}
    ]
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = block | {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 10}})
    events.append({"type": "message_stop"})
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


@contextmanager
def serving(model: Model) -> Iterator[Provider]:
    provider = Provider(model)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(provider))
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
