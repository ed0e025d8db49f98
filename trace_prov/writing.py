"""Files and folders that are written whole or not at all, and never over the evidence that they are made from."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from trace_prov.errors import SourceError, UsageError


def refuse_inputs(out: Path, inputs: Iterable[Path]) -> None:
    """Raise UsageError when `out` is one of the inputs, or lies in one that is a package or a store."""
    target = out.resolve()
    for path in inputs:
        own = path.resolve()
        if target == own or (path.is_file() and out.exists() and path.samefile(out)):
            raise UsageError(f"--out {out} is what is exported: name another place")
        if own.is_dir() and own in target.parents and _is_closed(own):
            raise UsageError(f"--out {out} lies in {path}, which holds nothing but its own: name another place")


def _is_closed(folder: Path) -> bool:
    """Whether a folder is a package or a store; into a folder of logs an export may go."""
    from trace_prov.graph.store import MARKER

    return any((folder / name).is_file() for name in ("bagit.txt", MARKER))


def write_file(out: Path, data: bytes) -> None:
    """Write a file beside its place and move it there. Raises SourceError when that cannot be done."""
    try:
        if out.exists() and not out.is_file():  # a terminal, a pipe; a folder raises
            out.write_bytes(data)
            return
        _whole(out.resolve(), lambda part: part.write_bytes(data))
    except OSError as error:
        raise _unwritable(out, error) from None


def write_folder(out: Path, files: Sequence[tuple[str, bytes]]) -> None:
    """Write a folder, new or empty before. Raises SourceError when it holds something or cannot be written."""

    def fill(part: Path) -> None:
        for name, data in files:
            target = part / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)

    try:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise SourceError(str(out), expected="a new or empty folder", found="other files")
        out.parent.mkdir(parents=True, exist_ok=True)
        if out.exists():
            out.rmdir()
        _whole(out, fill)
    except OSError as error:
        raise _unwritable(out, error) from None


def write_whole(path: Path, text: str) -> None:
    """Write a text as UTF-8 beside its place and move it there; what a killed attempt left is written over.

    Raises OSError.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def _whole(out: Path, fill: Callable[[Path], object]) -> None:
    part = out.with_name(f".{out.name[:100]}.{os.getpid()}.part")
    try:
        fill(part)
        part.replace(out)
    except BaseException:
        shutil.rmtree(part) if part.is_dir() else part.unlink(missing_ok=True)
        raise


def _unwritable(out: Path, error: OSError) -> SourceError:
    return SourceError(str(out), expected="a place to write", found=error.strerror or str(error))
