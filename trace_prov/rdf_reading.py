"""Reading RDF that others wrote: nothing from the network, and no traceback on the user's screen."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from trace_prov.errors import FormatError


@contextmanager
def quietly() -> Iterator[None]:
    """Keep rdflib from a traceback in the log, or a warning, for each literal that breaks its datatype."""
    logger = logging.getLogger("rdflib.term")
    before, logger.disabled = logger.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.disabled = before


def refuse_remote_contexts(source: str, document: Any) -> None:
    """Raise FormatError when a JSON-LD context, also one inside a term's definition, is an address or imports one."""
    waiting: list[tuple[str, Any]] = [("$", document)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, list):
            waiting.extend((f"{place}[{number}]", item) for number, item in enumerate(value))
        elif isinstance(value, dict):
            name = value.get("@id")
            here = name if isinstance(name, str) and place != "$" else place
            context = value.get("@context")
            addresses = [
                part for part in (context if isinstance(context, list) else [context]) if isinstance(part, str)
            ]
            if isinstance(value.get("@import"), str):
                addresses.append(value["@import"])
            if addresses:
                raise FormatError(
                    source,
                    place=f"@context at {here}",
                    expected="a context inside the file",
                    found=f"the address {addresses[0]}",
                    hint="nothing is fetched from the network: put the context's terms into the file",
                )
            waiting.extend((here, member) for member in value.values())
