"""Log formats: one module each, bytes in, runs of the contract out; knows a format, nothing of graphs.

A format module has NAME, TITLE, SIDECAR_SUFFIX, `detect(log)`, which says why a file is of this format or None, and
`load(log, sidecar)`, which yields its runs. Adding a format adds one file here, one line below and one test file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from trace_prov.loaders import agentdojo, openai_chat
from trace_prov.model import Run
from trace_prov.sidecar import Sidecar
from trace_prov.source import LogFile


class Format(Protocol):
    """What a format module offers."""

    NAME: str
    TITLE: str
    SIDECAR_SUFFIX: str | None

    def detect(self, log: LogFile) -> str | None: ...

    def load(self, log: LogFile, sidecar: Sidecar | None) -> Iterator[Run]: ...


#: In the order of trial: the special before the general.
FORMATS: tuple[Format, ...] = (agentdojo, openai_chat)  # type: ignore[assignment]
