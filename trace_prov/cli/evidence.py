"""Where a command takes its runs from: logs, or a store of run graphs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trace_prov.cli.options import GivenPath, log_options
from trace_prov.cli.output import Reporter
from trace_prov.errors import UsageError
from trace_prov.load import load_paths
from trace_prov.model import Run

if TYPE_CHECKING:
    from trace_prov.graph.store import TraceStore

Command = Callable[..., Any]


@dataclass(frozen=True)
class Evidence:
    """The logs or the store that the user named."""

    logs: tuple[Path, ...]
    store: Path | None
    from_format: str | None
    max_bytes: int

    @contextmanager
    def opened(self, reporter: Reporter) -> Iterator[tuple[Iterator[Run], TraceStore | None]]:
        """The runs, one by one, with the store they are read back from, if any."""
        if self.store is None:
            loaded = load_paths(self.logs, format_name=self.from_format, max_bytes=self.max_bytes)
            yield reporter.runs_of(loaded), None
            return
        from trace_prov.graph.store import TraceStore

        with TraceStore.open(self.store) as store:
            yield reporter.runs_of(store.run(name) for name in store.runs()), store


def evidence_options(command: Command) -> Command:
    """LOGS with its options, or --store; handed on as one `evidence`."""

    @log_options(required=False)
    @click.option("--store", type=GivenPath(), help="Take the runs of this store instead of LOGS.")
    @functools.wraps(command)
    def with_evidence(
        *args: Any, logs: tuple[Path, ...], store: Path | None, from_format: str | None, max_bytes: int, **kwargs: Any
    ) -> Any:
        if (store is None) == (not logs):
            raise UsageError("give LOGS (files or folders) or --store, one of them")
        return command(*args, evidence=Evidence(logs, store, from_format, max_bytes), **kwargs)

    return with_evidence
