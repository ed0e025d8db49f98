"""Where packages lie: the folder of a case, the inventory beside the packages, and packages found below a folder."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from trace_prov.errors import PackageError, UsageError
from trace_prov.package.bag import is_package
from trace_prov.writing import write_whole

INVENTORY = "inventory.jsonl"
#: Longest name of a folder, in bytes; file systems take 255.
MAX_NAME = 180

# Characters that every file system takes, and that neither a shell nor an archive reads in a way of its own.
_SAFE = " #@+,=~()!"
_LEADING_DOTS = re.compile(r"\.+")


def case_folder(case: str) -> str:
    """The folder of a case below the folder of packages, by its path; never outside of it.

    Parts that would leave the folder, hide or not be a file name are percent-encoded, long ones shortened and told
    apart by a hash.
    """
    return "/".join(_folder_name(part) for part in case.split("/"))


def _folder_name(part: str) -> str:
    name = quote(part.encode("utf-8", "surrogatepass"), safe=_SAFE)
    dots = _LEADING_DOTS.match(name)
    if dots is not None:
        name = "%2E" * len(dots[0]) + name[dots.end() :]
    if name.endswith((" ", ".")):
        name = f"{name[:-1]}%{ord(name[-1]):02X}"
    if name in ("", "data", INVENTORY):
        # An empty part, and the names that a bag or the inventory has itself.
        name = f"%{name}" if name else "%"
    if len(name) > MAX_NAME:
        digest = hashlib.sha256(part.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        name = f"{name[: MAX_NAME - 17]}~{digest}"
    return name


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the inventory: what became of one run. `folder` is below the folder of the inventory."""

    case: str
    log: str
    condition: str
    status: str
    folder: str | None = None
    reason: str | None = None
    action: str | None = None
    argument: str | None = None

    def line(self) -> str:
        return json.dumps({name: value for name, value in asdict(self).items() if value is not None})


PACKAGED, NOT_APPLICABLE, REFUSED = "packaged", "not applicable", "refused"


def write_inventory(folder: Path, entries: Sequence[Entry]) -> None:
    """Write the inventory, one JSON line a run, in ASCII and in the order given.

    Packages of other cases that lie in the folder from before keep their rows, which come first.
    """
    named = {entry.case for entry in entries}
    told = {entry.folder for entry in entries}
    before = (
        json.dumps(row)
        for row in _rows_of(folder)
        if row["case"] not in named and row["folder"] not in told and is_package(folder / row["folder"])
    )
    lines = [*before, *(entry.line() for entry in entries)]
    write_whole(folder / INVENTORY, "".join(f"{line}\n" for line in lines))


@dataclass(frozen=True, slots=True)
class Found:
    """A package and the case that it is of: as the inventory beside it has it, else by its path."""

    path: Path
    case: str


def find_packages(paths: Sequence[Path]) -> Iterator[Found]:
    """The packages at or below the folders given, each folder's sorted by name; links are not followed.

    Raises UsageError for a path that does not exist, PackageError for one that holds no package.
    """
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: no such folder")
        if not path.is_dir():
            raise PackageError(str(path), expected="the folder of a package, or a folder of packages", found="a file")
        if is_package(path):
            yield Found(path, _case_of(path))
            continue
        cases = inventory_of(path)
        found = list(_packages_below(path))
        if not found:
            raise PackageError(str(path), expected="the folder of a package, or a folder of packages", found="neither")
        for package in found:
            below = package.relative_to(path).as_posix()
            yield Found(package, cases.get(below, unquote(below)))


def _packages_below(folder: Path) -> Iterator[Path]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.startswith(".") or not entry.is_dir(follow_symlinks=False):
            continue
        path = Path(entry.path)
        if is_package(path):
            yield path
        else:
            yield from _packages_below(path)


def _case_of(path: Path) -> str:
    """The case of a package given by itself: by the inventory of the nearest folder above that has one."""
    resolved = path.resolve()
    for parent in resolved.parents:
        if (parent / INVENTORY).is_file():
            below = resolved.relative_to(parent).as_posix()
            return inventory_of(parent).get(below, unquote(below))
    return unquote(resolved.name)


def case_in_inventory(path: Path) -> str | None:
    """The case of a package as the inventory of the nearest folder above that has one tells it, and nothing else."""
    resolved = path.resolve()
    for parent in resolved.parents:
        if (parent / INVENTORY).is_file():
            return inventory_of(parent).get(resolved.relative_to(parent).as_posix())
    return None


def _is_below(folder: str) -> bool:
    """Whether a folder that an inventory names lies below it, as all do that `package` writes."""
    return not folder.startswith("/") and not {"", ".", ".."}.intersection(folder.split("/"))


def inventory_of(folder: Path) -> dict[str, str]:
    """Folder -> case of every package in the inventory; empty where there is none that can be read."""
    return {row["folder"]: row["case"] for row in _rows_of(folder)}


def _rows_of(folder: Path) -> list[dict[str, Any]]:
    """The rows of the inventory that name a package below the folder."""
    try:
        rows = [json.loads(line) for line in (folder / INVENTORY).read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError, RecursionError):
        return []
    texts = (
        row for row in rows if isinstance(row, dict) and {str} == {type(row.get(name)) for name in ("folder", "case")}
    )
    return [row for row in texts if _is_below(row["folder"])]
