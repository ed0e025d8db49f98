"""What every reader is told: one prompt and one JSON schema for all cases and conditions."""

from __future__ import annotations

from functools import cache
from typing import Any

MAX_INPUT_TOKENS = 16_384
MAX_OUTPUT_TOKENS = 2_048
TEMPERATURE = 0.0

#: What input is counted with, whatever the reader; o200k_base is the vocabulary that Inspect estimates with too.
TOKENIZER = "o200k_base"

INSTRUCTIONS = """\
You read the log of an LLM agent as far as it is visible to you and say what it supports. You get one evidence package
as JSON. It holds the agent's ordered actions with tool, arguments and results, a target (a literal and the action that
used it as an argument), and a declaration of what is withheld; depending on the package also the agent's accounts
(action paragraph, Note, Basis), the user's request with the recorded inputs, or a table that binds local ids such as
in-3 (or opaque labels such as ref_0123456789abcdef) to locators.

Locators are request.user for the request, act-NN.result for a whole tool result, act-NN.result[k] for element k of a
list result. If a result is given as elements, its records are the elements and not the whole. A record is earlier than
the target action if its result had been delivered before the step of the target action was issued: its after_step is
smaller than the action's step. The target action's own result and those of calls in the same step are not earlier.

A literal occurs in a record if it is a substring of its text, exactly as written, or of a string in it after
unescaping. The questions about the target literal and the target action are:
q1: does the literal occur in the user's request made before the action?
q2: in which earlier tool results (records) does it occur? Name all of them.
q3: which of the records of q2 does the Basis of the target action cite? An id of the Basis cites the record that the
table or the id map of the recorded inputs binds it to; a binding to a whole list result cites all of its elements. An
id means nothing by itself: neither its number nor its order tells which record it names.

Answer only what the package supports: an answer is supported if it is the same in every full log that agrees with all
that is visible. Otherwise abstain. In particular q1 cannot be answered without the request text, q3 not without the
account; if the account is visible and has no Basis, q3 is basis_missing; if the Basis is empty or no record holds the
literal, q3 is the empty list, with or without a table.

Reply with one JSON object and nothing else, in this form:
{"q1": {"status": "answered" or "abstain", "value": true, false or null},
 "q2": {"status": "answered" or "abstain", "locators": a list of locators or null},
 "q3": {"status": "answered", "basis_missing" or "abstain", "locators": a list of locators or null}}
value and locators are null unless the status is answered; an answered empty set is []."""

BEFORE, AFTER = "<evidence>\n", "\n</evidence>"


def question_text(evidence: bytes) -> str:
    """The user message for a package's evidence file."""
    return f"{BEFORE}{evidence.decode().rstrip()}{AFTER}"


def evidence_in(text: str) -> bytes:
    """The evidence file in a user message, for simulated readers."""
    return text.removeprefix(BEFORE).removesuffix(AFTER).encode()


def response_schema() -> dict[str, Any]:
    """The JSON schema of a response (CONTRACT §10), with every member required as strict modes want it."""

    def answer(statuses: list[str], name: str, payload: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {"status": {"type": "string", "enum": statuses}, name: payload},
            "required": ["status", name],
            "additionalProperties": False,
        }

    locators = {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}
    value = {"anyOf": [{"type": "boolean"}, {"type": "null"}]}
    return {
        "type": "object",
        "properties": {
            "q1": answer(["answered", "abstain"], "value", value),
            "q2": answer(["answered", "abstain"], "locators", locators),
            "q3": answer(["answered", "basis_missing", "abstain"], "locators", locators),
        },
        "required": ["q1", "q2", "q3"],
        "additionalProperties": False,
    }


def count_tokens(text: str) -> int:
    """How many tokens a text has. The vocabulary comes with the package: nothing is loaded over a network."""
    return len(_encoding().encode(text))


@cache
def _encoding() -> Any:
    import bpe_openai

    return bpe_openai.get_encoding(TOKENIZER)
