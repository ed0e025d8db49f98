"""From what the user names (logs, packages, a store) to the material of an export."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from trace_prov.derive import Question, derive
from trace_prov.errors import UsageError
from trace_prov.export.material import Custody, Material
from trace_prov.graph.store import TraceStore
from trace_prov.load import Loaded, load_paths
from trace_prov.model import Run


def is_packages(paths: Sequence[Path]) -> bool:
    """Whether the paths are packages; raises UsageError when some are and others are logs."""
    from trace_prov.package.bag import is_package

    kinds = {path.is_dir() and is_package(path) for path in paths}
    if len(kinds) > 1:
        raise UsageError("export logs and packages apart: a package is not the log that it comes from")
    return kinds == {True}


def of_packages(paths: Sequence[Path], custody: Custody) -> Material:
    """What the packages show, each with the finding for its own target."""
    from trace_prov.package.bag import EVIDENCE, read_package
    from trace_prov.package.comparator import finding_of

    packages = [(path, read_package(path)) for path in paths]
    return Material(
        runs=_once(package.run for _, package in packages),
        findings={package.run.id: (finding_of(package),) for _, package in packages},
        custody=custody,
        files={package.run.id: (path / EVIDENCE,) for path, package in packages},
    )


def of_logs(runs: Iterator[Run], paths: Sequence[Path], question: Question, custody: Custody) -> Material:
    """The runs of logs, with the files they were read from."""
    found = _once(runs)
    files = {run.id: tuple(_files(run, paths)) for run in found}
    return Material(found, {run.id: tuple(derive(run, question)) for run in found}, custody, files)


def of_store(folder: Path, names: Sequence[str], question: Question, custody: Custody) -> Material:
    """The runs of a store, or those named."""
    with TraceStore.open(folder) as store:
        runs = tuple(store.run(name) for name in (names or store.runs()))
    return Material(runs, {run.id: tuple(derive(run, question)) for run in runs}, custody)


def load_logs(paths: Sequence[Path], format_name: str | None, max_bytes: int) -> Iterator[Loaded]:
    return load_paths(paths, format_name=format_name, max_bytes=max_bytes)


def _once(runs: Iterator[Run]) -> tuple[Run, ...]:
    """The runs, each identifier once: the same log given twice is one run."""
    return tuple({run.id: run for run in runs}.values())


def _files(run: Run, paths: Sequence[Path]) -> Iterator[Path]:
    """The log and the sidecar, as the user's paths lead to them; of several with one name those with their hash."""
    source = run.source
    for name, digest in ((source.name, source.sha256), (source.sidecar_name, source.sidecar_sha256)):
        if name is None:
            continue
        places = [
            place
            for path in paths
            for place in ((path / name, path.parent / name) if path.is_dir() else (path.parent / Path(name).name,))
            if place.is_file()
        ]
        if len(places) > 1:
            places = [place for place in places if hashlib.sha256(place.read_bytes()).hexdigest() == digest]
        yield from places[:1]
