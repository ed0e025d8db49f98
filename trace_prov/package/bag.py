"""A package as a folder: a BagIt bag (RFC 8493) with the evidence, its two graph forms and a note for the receiver.

The same package gives the same bytes: the bag has no date. Reading opens only the files that a package has, by name,
inside the folder, and never through a link, so nothing else can be read by way of a package.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trace_prov.errors import PackageError, SourceError, UsageError
from trace_prov.package.evidence import package_from_bytes, package_to_bytes
from trace_prov.package.graph import package_to_quads, to_jsonld, to_trig
from trace_prov.package.model import Package
from trace_prov.source import DEFAULT_MAX_BYTES

EVIDENCE, TRIG, JSON_LD, README = "data/evidence.json", "data/graph.trig", "data/graph.jsonld", "data/README.txt"
PAYLOAD = (EVIDENCE, TRIG, JSON_LD, README)
MANIFEST, TAG_MANIFEST = "manifest-sha256.txt", "tagmanifest-sha256.txt"
TAGS = ("bagit.txt", "bag-info.txt", MANIFEST, TAG_MANIFEST)
#: What `trace-prov seal` adds beside the payload, of which the contract says nothing.
#: The time stamp, the last one, is not in every seal.
SEAL = tuple(
    f"seal/{name}" for name in ("public-key.pem", "records.json", "statement.dsse.json", "verify.py", "timestamp.tsr")
)
#: The keys of bag-info.txt; whatever else is to be said of a package is said outside of it.
INFO_KEYS = frozenset({"Bag-Software-Agent", "Payload-Oxum"})
SOFTWARE = "trace-prov"
VERSION = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"

RECEIVER_NOTE = b"""An evidence package: the part of one run of an LLM agent that its condition shows.

evidence.json  what is visible, as compact JSON: "contract" says which layers are shown, "withheld" what is hidden,
               "target" what is asked: did this literal stand in the user's request (Q1), in which records that the
               agent had received before this action (Q2), and which of those does its Basis cite (Q3)?
graph.trig     the same as an RDF dataset in PROV terms.
graph.jsonld   the same dataset as JSON-LD.

An answer is supported when it is the same in every full record that agrees with what is visible; otherwise the only
supported answer is to abstain. What is withheld may have any content.

Check the folder with any BagIt tool, its contract with "trace-prov validate FOLDER"; "trace-prov answer FOLDER" gives
the supported answers.
"""


def bagit_library() -> Any:
    """The `bagit` module, quiet; raises UsageError where it is not installed. Answering needs no bag."""
    try:
        import bagit
    except ImportError:
        raise UsageError("packages need the package bagit: pip install 'trace-prov[package]'") from None
    logging.getLogger("bagit").setLevel(logging.CRITICAL)
    return bagit


def payload(package: Package) -> dict[str, bytes]:
    """The files of a package below its folder, with their bytes."""
    quads = package_to_quads(package)
    return {
        EVIDENCE: package_to_bytes(package),
        TRIG: to_trig(quads),
        JSON_LD: to_jsonld(quads),
        README: RECEIVER_NOTE,
    }


def write_package(package: Package, folder: Path, *, overwrite: bool = False) -> bool:
    """Write a package; False when the folder holds this very package already.

    It appears whole or not at all. Raises PackageError when the folder holds something else, unless it is a package
    that is to be overwritten, and SourceError when it cannot be written.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".package-", dir=folder.parent) as temporary:
            made = Path(temporary) / "bag"
            _make_bag(made, payload(package))
            if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
                raise _occupied(folder, "something that is no folder")
            if folder.exists() and any(folder.iterdir()):
                if _same(made, folder):
                    return False
                if not (folder / "bagit.txt").is_file():
                    raise _occupied(folder, "a folder of other files")
                if not overwrite:
                    raise _occupied(folder, "another package", "--overwrite replaces it")
                shutil.rmtree(folder)
            elif folder.exists():
                folder.rmdir()
            made.rename(folder)
    except OSError as error:
        raise SourceError(str(folder), expected="a place to write", found=error.strerror or str(error)) from None
    return True


def _occupied(folder: Path, found: str, hint: str | None = None) -> PackageError:
    return PackageError(str(folder), expected="a new or empty folder, or this very package", found=found, hint=hint)


def _make_bag(folder: Path, files: dict[str, bytes]) -> None:
    bagit = bagit_library()
    folder.mkdir()
    for name, data in files.items():
        (folder / Path(name).name).write_bytes(data)
    bagit.make_bag(str(folder), {"Bag-Software-Agent": SOFTWARE, "Bagging-Date": ""}, checksums=["sha256"])
    # RFC 8493 is version 1.0, which the library reads but does not write; a date would make two makings differ.
    (folder / "bagit.txt").write_bytes(VERSION.encode())
    bag = bagit.Bag(str(folder))
    del bag.info["Bagging-Date"]
    bag.save()
    # The library lists tag files in the order in which the disk has them.
    (folder / TAG_MANIFEST).write_bytes(tag_files(PackageFolder(folder))[TAG_MANIFEST])


def tag_files(folder: PackageFolder) -> dict[str, bytes]:
    """The tag files that a package with this payload, and this seal if it has one, is written with.

    Raises PackageError where a file of the payload or of the bag is missing.
    """
    payload = {name: folder.read(name) for name in PAYLOAD}
    size = sum(map(len, payload.values()))
    info = f"Bag-Software-Agent: {SOFTWARE}\nPayload-Oxum: {size}.{len(payload)}\n"
    tags = {"bagit.txt": VERSION.encode(), "bag-info.txt": info.encode(), MANIFEST: _manifest(payload)}
    sealed = {name: folder.read(name) for name in SEAL if (folder.path / name).is_file()}
    return {**tags, TAG_MANIFEST: _manifest(tags | sealed)}


def _manifest(files: dict[str, bytes]) -> bytes:
    """A manifest, sorted by name, two blanks between digest and name: as the library and the seal write it."""
    lines = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items()))
    return "".join(lines).encode()


def _same(made: Path, folder: Path) -> bool:
    """Whether the folder holds the package that was made, a seal upon it apart."""
    ours, theirs = set(files_in(made)), set(files_in(folder))
    if theirs.intersection(SEAL):
        ours, theirs = ours - {TAG_MANIFEST}, theirs - {TAG_MANIFEST, *SEAL}
    return ours == theirs and all((made / name).read_bytes() == (folder / name).read_bytes() for name in ours)


def files_in(folder: Path) -> Iterator[str]:
    """Every entry below a folder that is not itself a folder, as a path below it; links are not followed."""
    for parent, folders, names in os.walk(folder):
        below = Path(parent)
        for name in (*names, *(name for name in folders if (below / name).is_symlink())):
            yield (below / name).relative_to(folder).as_posix()


@dataclass(frozen=True)
class PackageFolder:
    """A folder taken for a package. Only `read` opens files, and only those of a package."""

    path: Path

    def read(self, name: str, max_bytes: int = DEFAULT_MAX_BYTES) -> bytes:
        """The bytes of a file of the package; raises PackageError when it is none, or lies behind a link."""
        if name not in (*PAYLOAD, *TAGS, *SEAL):
            raise PackageError(str(self.path), place=name, expected="a file that packages have", found="another name")
        target = self.path / name
        for step in (target.parent, target):
            if step != self.path and step.is_symlink():
                raise PackageError(str(self.path), place=name, expected="a file inside the package", found="a link")
        try:
            descriptor = os.open(target, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        except OSError as error:
            found = error.strerror or str(error)
            raise PackageError(str(self.path), place=name, expected="a readable file", found=found) from None
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise PackageError(str(self.path), place=name, expected="a file", found="something else")
            if status.st_size > max_bytes:
                raise PackageError(
                    str(self.path), place=name, expected=f"at most {max_bytes:,} bytes", found=f"{status.st_size:,}"
                )
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read()
        except OSError as error:
            found = error.strerror or str(error)
            raise PackageError(str(self.path), place=name, expected="a readable file", found=found) from None
        finally:
            os.close(descriptor)


def is_package(path: Path) -> bool:
    """Whether a folder presents itself as a package, be it a damaged one."""
    return (path / "data").is_dir() or any((path / name).exists() for name in ("bagit.txt", MANIFEST))


def read_package(path: Path) -> Package:
    """The package that a folder holds, from its evidence file alone, which must be the one that was bagged.

    Raises PackageError where the file is not what the manifest says. `validate` checks all the rest.
    """
    folder = PackageFolder(path)
    data = folder.read(EVIDENCE)
    digest = hashlib.sha256(data).hexdigest()
    listed = {}
    for line in folder.read(MANIFEST).decode("utf-8", "replace").splitlines():
        entry = line.split(maxsplit=1)
        if len(entry) == 2:
            listed[entry[1].strip()] = entry[0].lower()
    if listed.get(EVIDENCE) != digest:
        raise PackageError(
            str(path),
            place=EVIDENCE,
            expected=f"the SHA-256 that {MANIFEST} has",
            found="other bytes" if EVIDENCE in listed else "no entry for it",
            hint="trace-prov validate says what is wrong with the package",
        )
    return package_from_bytes(data, f"{path}/{EVIDENCE}")
