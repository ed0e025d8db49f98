"""Sealing a package: the records' tree, the statement over every file, the signature, all inside the bag."""

from __future__ import annotations

import contextlib
import json
import shutil
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from trace_prov.model import Run
from trace_prov.package.bag import read_package
from trace_prov.package.condition import Labels
from trace_prov.package.model import Package
from trace_prov.seal.errors import SealError
from trace_prov.seal.keys import public_pem
from trace_prov.seal.standalone import (
    PUBLIC_KEY,
    RECORDS,
    STATEMENT,
    TAG_MANIFEST,
    TIME_STAMP,
    UNSIGNED,
    digest_of,
    files_below,
    manifest_text,
    tree_root,
)
from trace_prov.seal.statement import signed, statement
from trace_prov.seal.timestamp import request_time_stamp
from trace_prov.seal.tree import Leaf, leaves_of, records_json
from trace_prov.seal.units import units_of

SCRIPT = "seal/verify.py"


@dataclass(frozen=True, slots=True)
class Sealed:
    """What a seal covers."""

    root: str
    leaves: int
    withheld: int
    committed: int


def leaves_of_package(package: Package, log: Run | None, secret: bytes) -> list[Leaf]:
    """The leaves of a package, in order; with the log that it comes from, withheld ones commit to its records."""
    opaque = package.contract.labels is Labels.OPAQUE
    record = None if log is None else units_of(log)
    key = package.run.id if log is None else log.id
    return leaves_of(units_of(package.run), record, secret, key, opaque)


def seal_package(
    folder: Path,
    signer: Any,
    secret: bytes,
    *,
    log: Run | None = None,
    timestamp_url: str | None = None,
    replace: bool = False,
) -> Sealed:
    """Seal a package in its folder; without `timestamp_url` the same package gives the same bytes.

    Raises SealError when it is sealed already (unless `replace`), when the log is not that of the package, or when
    no time stamp could be had; the package is then as it was.
    """
    package = read_package(folder)
    _refuse_links(folder)
    if (folder / "seal").exists() and not replace:
        raise SealError(str(folder), expected="a package without a seal", found="one", hint="--replace makes a new one")
    leaves = leaves_of_package(package, log, secret)
    before = {name: (folder / name).read_bytes() for name in files_below(folder) if _is_ours(name)}
    try:
        _write(folder, package, leaves, signer, timestamp_url)
    except OSError as error:
        _restore(folder, before)
        found = error.strerror or str(error)
        raise SealError(str(folder), expected="a folder that can be written", found=found) from None
    except BaseException:
        _restore(folder, before)
        raise
    withheld = [leaf for leaf in leaves if leaf.withheld]
    root = tree_root([leaf.hash for leaf in leaves]).hex()
    return Sealed(root, len(leaves), len(withheld), sum(leaf.content is None for leaf in withheld))


def _refuse_links(folder: Path) -> None:
    """Raise SealError for what is neither a file nor a folder: it could lead out of the package when it is written."""
    for name in (*files_below(folder), "seal"):
        path = folder / name
        if path.is_symlink() or not (path.is_file() or path.is_dir() or not path.exists()):
            raise SealError(str(folder), place=name, expected="a file", found="a link or a special file")


def _is_ours(name: str) -> bool:
    return name.startswith("seal/") or name == TAG_MANIFEST


def _write(folder: Path, package: Package, leaves: list[Leaf], signer: Any, timestamp_url: str | None) -> None:
    shutil.rmtree(folder / "seal", ignore_errors=True)
    (folder / "seal").mkdir()
    (folder / RECORDS).write_bytes(json.dumps(records_json(leaves), indent=1, sort_keys=True).encode() + b"\n")
    (folder / PUBLIC_KEY).write_bytes(public_pem(signer))
    (folder / SCRIPT).write_bytes((files("trace_prov.seal") / "standalone.py").read_bytes())
    body = statement(folder, leaves, package.run.id, package.contract.condition, UNSIGNED)
    (folder / STATEMENT).write_bytes(signed(body, signer))
    if timestamp_url is not None:
        (folder / TIME_STAMP).write_bytes(request_time_stamp((folder / STATEMENT).read_bytes(), timestamp_url))
    write_tag_manifest(folder)


def write_tag_manifest(folder: Path) -> None:
    """The manifest of all files that are no payload, the seal's among them."""
    tags = [name for name in files_below(folder) if not name.startswith("data/") and name != TAG_MANIFEST]
    text = manifest_text({name: digest_of(folder / name) for name in tags})
    (folder / TAG_MANIFEST).write_text(text, encoding="utf-8", newline="\n")


def _restore(folder: Path, before: dict[str, bytes]) -> None:
    """Put the files of the seal back as they were; a folder that could not be written holds them still."""
    for name in files_below(folder):
        if _is_ours(name) and name not in before:
            with contextlib.suppress(OSError):
                (folder / name).unlink()
    if not before:
        shutil.rmtree(folder / "seal", ignore_errors=True)
    for name, data in before.items():
        if not (folder / name).is_file() or (folder / name).read_bytes() != data:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
