"""Language models by the names that Inspect gives them, such as `openai/NAME`; needs the extra `study`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from trace_prov.errors import UsageError


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How models are reached, as Inspect takes it; None leaves it to Inspect and the environment."""

    base_url: str | None = None
    api_key: str | None = None


def endpoint(url: str | None) -> str | None:
    """An address as given; raises UsageError for one that is none, or that holds a password or key.

    Addresses are noted in manifests and in Inspect's logs; what is secret belongs into the environment.
    """
    if url is None:
        return None
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise UsageError(f"no address of a model: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"no address of a model: {url!r}; it is like http://localhost:8000/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError(
            "the address of a model must hold no user, password, query or fragment, for it is written into logs; "
            "put a key into the environment as Inspect reads it, such as OPENAI_API_KEY"
        )
    return url


#: Models where Inspect and the environment say that they are.
AS_SET_UP = ModelOptions()


def require_inspect() -> None:
    """Raises UsageError when the optional package is not there."""
    try:
        import inspect_ai.model  # noqa: F401
    except ImportError as error:
        raise UsageError(f"a model needs the inspect_ai package: pip install 'trace-prov[study]' ({error})") from None


def model_named(name: str, options: ModelOptions = AS_SET_UP, *, config: Any = None) -> Any:
    """The model with Inspect's name for it; raises UsageError when Inspect does not know or cannot reach it."""
    require_inspect()
    from inspect_ai.model import GenerateConfig, get_model

    try:
        return get_model(
            name,
            config=config or GenerateConfig(),
            base_url=options.base_url,
            api_key=options.api_key,
            memoize=False,
        )
    except Exception as error:  # Inspect raises what its providers raise: no package, no key, no such name
        raise UsageError(f"the model {name} cannot be used: {_plain(str(error))}") from None


def _plain(message: str) -> str:
    """A message of Inspect without its colours, on one line."""
    from rich.errors import MarkupError
    from rich.text import Text

    with suppress(MarkupError):
        message = Text.from_markup(message).plain
    return " ".join(message.replace("\\n", " ").split())
