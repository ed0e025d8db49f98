"""What every exporter is given, and what it gives back: pure values, so that equal input gives equal bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trace_prov.finding import Finding, NotApplicable
from trace_prov.model import Run


@dataclass(frozen=True, slots=True)
class Custody:
    """Who examined what was received, and when, as far as the examiner says so.

    Nothing is made up: without `examiner` the program alone is named, without `time` (an xsd:dateTime with its zone)
    the records of custody carry none, because a clock read at export would change the bytes and prove nothing.
    """

    examiner: str | None = None
    time: str | None = None


@dataclass(frozen=True)
class Material:
    """Runs with their findings (by run identifier), and the custody that goes with them.

    `files` are the logs as received, by run identifier, where the exporter can have them.
    """

    runs: tuple[Run, ...]
    findings: Mapping[str, tuple[Finding | NotApplicable, ...]] = field(default_factory=dict)
    custody: Custody = Custody()
    files: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file of an export: its path below the target (empty when the format is a single file) and its bytes."""

    name: str
    chunks: Iterable[bytes]

    @property
    def data(self) -> bytes:
        return b"".join(self.chunks)


Export = Callable[[Material], Iterator[ExportedFile]]


@dataclass(frozen=True, slots=True)
class Exporter:
    """A format: `--to NAME`. `ending` is that of its file; empty when it is a folder of files."""

    name: str
    title: str
    ending: str
    export: Export
