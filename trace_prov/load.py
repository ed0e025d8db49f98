"""From paths to runs: finding logs in folders, recognising formats, going on past what cannot be read.

Runs are yielded one by one and nothing is kept, so memory does not grow with the number of logs.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trace_prov.errors import FormatError, InputError, SidecarError, SourceError, UsageError
from trace_prov.loaders import FORMATS, Format
from trace_prov.model import Run
from trace_prov.sidecar import Sidecar, read_sidecar
from trace_prov.source import DEFAULT_MAX_BYTES, LogFile

#: Endings of files that are taken for logs when a folder is given. A file named itself may have any.
LOG_ENDINGS = (".json", ".jsonl", ".ndjson")
#: Files that the product itself writes among logs -> what to do when one is taken for a log.
OWN_FILES = {
    "corpus.json": "trace-prov corpus writes it; the logs of a corpus are in its folder runs",
    "evidence.json": "the evidence of a package is asked with trace-prov answer PACKAGE",
    "inventory.jsonl": "trace-prov corpus and package write it; the logs of a corpus are in its folder runs",
    "trace-prov-store.json": "the folder is a store; --store takes its runs",
}
SIDECAR_ENDINGS = tuple(format.SIDECAR_SUFFIX for format in FORMATS if format.SIDECAR_SUFFIX)


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that could not be used; the rest goes on."""

    error: InputError


@dataclass(frozen=True, slots=True)
class Ignored:
    """A file in a folder that is no log by its ending."""

    name: str


Loaded = Run | Problem | Ignored


def load_paths(
    paths: Sequence[Path], *, format_name: str | None = None, max_bytes: int = DEFAULT_MAX_BYTES
) -> Iterator[Loaded]:
    """The runs of the files and folders given, in the order of their names, with what could not be used.

    A run's `source.name` is its path below the folder given, or the name of the file given. Raises UsageError for an
    unknown format or a path that does not exist or may not be seen.
    """
    forced = None if format_name is None else format_named(format_name)
    for path in paths:
        _refuse_missing(path)
    for path, name in _named(paths):
        if os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises where the folder above may not be read
            yield from _load_folder(path, forced, max_bytes)
        else:
            yield from load_file(path, name, forced, max_bytes)


def _refuse_missing(path: Path) -> None:
    try:
        path.stat()
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file or folder") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None


def _named(paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Each path with the name it is shown under: the file's own, or as given where two files share one."""
    counts = Counter(path.name for path in paths if not path.is_dir())
    for path in paths:
        yield path, path.name if counts[path.name] == 1 else path.as_posix()


def _load_folder(folder: Path, forced: Format | None, max_bytes: int) -> Iterator[Loaded]:
    for below, names in _folders_below(folder):
        if isinstance(names, OSError):
            found = names.strerror or str(names)
            yield Problem(SourceError(below or str(folder), expected="a folder that can be read", found=found))
            continue
        for name in names:
            shown = below + name
            if name.endswith(SIDECAR_ENDINGS):
                if _log_name(name) not in names:
                    found = f"no {_log_name(name)} beside it"
                    yield Problem(SidecarError(shown, expected="the log of the sidecar", found=found))
            elif name.startswith(".") or not name.lower().endswith(LOG_ENDINGS):
                yield Ignored(shown)
            else:
                yield from load_file(folder / shown, shown, forced, max_bytes, siblings=names)


def _folders_below(folder: Path) -> Iterator[tuple[str, dict[str, None] | OSError]]:
    """(place below the folder given, file names in it) of a folder and those in it, sorted by name.

    An error instead of names: the folder cannot be read. Links to folders are not followed, so that no loop is
    possible.
    """
    waiting = [""]  # a stack of our own: folders may be nested deeper than calls
    while waiting:
        below = waiting.pop()
        try:
            with os.scandir(os.path.join(folder, below)) as entries:  # noqa: PTH118
                kinds = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        except OSError as error:
            yield below, error
            continue
        yield below, dict.fromkeys(sorted(name for name, is_folder in kinds.items() if not is_folder))
        inner = sorted((name for name, is_folder in kinds.items() if is_folder), reverse=True)
        waiting.extend(f"{below}{name}/" for name in inner)


def _log_name(sidecar: str) -> str:
    ending = next(ending for ending in SIDECAR_ENDINGS if sidecar.endswith(ending))
    return sidecar.removesuffix(ending) + ".json"


def load_file(
    path: Path,
    name: str,
    forced: Format | None = None,
    max_bytes: int = DEFAULT_MAX_BYTES,
    siblings: Container[str] | None = None,
) -> Iterator[Run | Problem]:
    """The runs of one file; a Problem where it, or the sidecar beside it, cannot be used.

    `siblings` are the names of the files beside it, where the caller knows them.
    """
    try:
        log = LogFile.read(path, name, max_bytes)
        format_ = forced or recognise(log)[0]
        sidecar = _read_sidecar_of(log, format_, max_bytes, siblings)
        yield from format_.load(log, sidecar)
    except InputError as error:
        yield Problem(error)
    except RecursionError:
        yield Problem(FormatError(name, expected="a log", found="brackets nested too deeply"))


def _read_sidecar_of(log: LogFile, format_: Format, max_bytes: int, siblings: Container[str] | None) -> Sidecar | None:
    if format_.SIDECAR_SUFFIX is None:
        return None
    beside = log.path.name.removesuffix(".json") + format_.SIDECAR_SUFFIX
    path = log.path.with_name(beside)
    if not (os.path.exists(path) if siblings is None else beside in siblings):  # noqa: PTH110 - False for a name too long
        return None
    name = log.name.removesuffix(".json") + format_.SIDECAR_SUFFIX
    try:
        return read_sidecar(LogFile.read(path, name, max_bytes))
    except FormatError as error:
        raise SidecarError(error.source, place=error.place, expected=error.expected, found=error.found) from None


def recognise(log: LogFile) -> tuple[Format, str]:
    """The format of a log by its content, and why; raises FormatError when it is none that is known."""
    for format_ in FORMATS:
        reason = format_.detect(log)
        if reason is not None:
            return format_, reason
    raise FormatError(
        log.name,
        expected="a log of a known format",
        found="JSON of another shape" if not log.is_lines else "JSON lines of another shape",
        hint=OWN_FILES.get(log.path.name)
        or f"known: {', '.join(format_.NAME for format_ in FORMATS)}; --from-format forces one",
    )


def format_named(name: str) -> Format:
    for format_ in FORMATS:
        if format_.NAME == name:
            return format_
    raise UsageError(f"no format {name!r}; known: {', '.join(format_.NAME for format_ in FORMATS)}")
