#!/usr/bin/env python3
"""Check a sealed evidence package with Python's standard library alone.

    python3 seal/verify.py [FOLDER] [--key PUBLIC-KEY.pem] [--tsa-certificate ROOTS.pem]

Checked here: every file against the bag's manifests and against the signed statement, that no file is missing or
extra, the Merkle tree over the records (RFC 9162, 2.1) and each record's salted leaf. The Ed25519 signature and the
time stamp need OpenSSL 3, which is run when it is there; otherwise the report says that they were not checked.

Without --key the signature is checked with the key inside the package: this shows that the package is as its signer
left it, not who the signer is. This file is part of what it checks: compare it with the one that trace-prov ships.
Exit codes: 0 nothing wrong, 1 something was changed, 2 this is no sealed package.
"""

from __future__ import annotations

import argparse
import base64
import calendar
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MANIFEST, TAG_MANIFEST = "manifest-sha256.txt", "tagmanifest-sha256.txt"
RECORDS = "seal/records.json"
STATEMENT = "seal/statement.dsse.json"
PUBLIC_KEY = "seal/public-key.pem"
TIME_STAMP = "seal/timestamp.tsr"
#: Files that no signed statement can hold: they come after it.
UNSIGNED = frozenset({STATEMENT, TIME_STAMP, TAG_MANIFEST})
PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://w3id.org/trace-prov/seal/v1"
RECORDS_FORMAT = "trace-prov-seal 1"
#: A sealed package has one signature; whoever adds more must not keep the checker busy.
MAX_SIGNATURES = 16


#: What reading a damaged or hostile file can raise.
DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:200]


def printable(text: str) -> str:
    """The text without what a terminal would take for commands."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def canonical(value: Any) -> bytes:
    """The one JSON text of a value: sorted keys, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def leaf_hash(salt: bytes, content: Any) -> bytes:
    """A record's leaf: RFC 9162 2.1.1 over the salt and the canonical content."""
    return hashlib.sha256(b"\x00" + salt + canonical(content)).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def tree_root(leaves: list[bytes]) -> bytes:
    """The Merkle tree hash of leaf hashes (RFC 9162, 2.1.1)."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = split_point(len(leaves))
    return node_hash(tree_root(leaves[:split]), tree_root(leaves[split:]))


def split_point(size: int) -> int:
    """The largest power of two smaller than `size`."""
    return 1 << (size - 1).bit_length() - 1


def root_from_path(index: int, size: int, leaf: bytes, path: list[bytes]) -> bytes | None:
    """The root that an inclusion proof leads to (RFC 9162, 2.1.3.2); None when the proof has the wrong length."""
    if not 0 <= index < size:
        return None
    node, last, found = index, size - 1, leaf
    for step in path:
        if last == 0:
            return None
        if node & 1 or node == last:
            found = node_hash(step, found)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            found = node_hash(found, step)
        node, last = node >> 1, last >> 1
    return found if last == 0 else None


def files_below(folder: Path) -> list[str]:
    """Every file, link or other entry that is no folder, as a path below the folder."""
    found = []
    for parent, folders, names in os.walk(folder):
        linked = [name for name in folders if (Path(parent) / name).is_symlink()]
        found += [(Path(parent) / name).relative_to(folder).as_posix() for name in (*names, *linked)]
    return sorted(found)


def digest_of(path: Path) -> str:
    """SHA-256 of a file; of a link, a pipe or what cannot be read a word, so that it never agrees."""
    if path.is_symlink():
        return "a link"
    if not path.is_file():
        return "no file"
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            for block in iter(lambda: file.read(2**20), b""):
                digest.update(block)
    except OSError:
        return "unreadable"
    return digest.hexdigest()


def read_regular(path: Path) -> bytes:
    """The bytes of a file; raises OSError for a link or a pipe, which could lead anywhere or never end."""
    if path.is_symlink() or not path.is_file():
        raise OSError(f"{path.name} is no file")
    return path.read_bytes()


def manifest_text(entries: dict[str, str]) -> str:
    """A manifest in the form in which packages have it: sorted by name, two blanks between."""
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(entries.items()))


def check_bag(folder: Path) -> list[str]:
    """What differs from the manifests: both must be exactly what the files give."""
    problems = []
    digests = {name: digest_of(folder / name) for name in files_below(folder)}
    payload = {name: digest for name, digest in digests.items() if name.startswith("data/")}
    tags = {name: digest for name, digest in digests.items() if name not in payload and name != TAG_MANIFEST}
    for manifest, entries in ((MANIFEST, payload), (TAG_MANIFEST, tags)):
        path = folder / manifest
        if not path.is_file():
            problems.append(f"{manifest}: the file is missing")
            continue
        written = b"" if path.is_symlink() else path.read_bytes()
        if written == os.fsencode(manifest_text(entries)):
            continue
        listed = parse_manifest(written)
        changed = [name for name in sorted(entries) if listed.get(name, entries[name]) != entries[name]]
        problems += [f"{name}: changed, its SHA-256 is not the listed one" for name in changed]
        problems += [f"{name}: not listed in {manifest}" for name in sorted(set(entries) - set(listed))]
        problems += [f"{name}: listed in {manifest} and missing" for name in sorted(set(listed) - set(entries))]
        if listed == entries:
            problems.append(f"{manifest}: changed, it is not written as a sealed package has it")
    return problems


def parse_manifest(data: bytes) -> dict[str, str]:
    listed = {}
    for line in os.fsdecode(data).split("\n")[:-1]:
        digest, _, name = line.partition("  ")
        listed[name] = digest
    return listed


def read_statement(folder: Path) -> tuple[dict[str, Any], bytes, list[bytes]]:
    """(statement, signed bytes, signatures) of the envelope (DSSE 1.0); raises ValueError when it is none."""
    try:
        envelope = json.loads(read_regular(folder / STATEMENT))
        payload = base64.b64decode(envelope["payload"], validate=True)
        signatures = [base64.b64decode(item["sig"], validate=True) for item in envelope["signatures"]]
        statement = json.loads(payload)
        kind = envelope["payloadType"]
        stated = (statement["_type"], statement["predicateType"])
        check_form(statement)
    except DAMAGE as error:
        raise ValueError(f"{STATEMENT}: no DSSE envelope with an in-toto statement ({reason(error)})") from None
    if kind != PAYLOAD_TYPE or stated != (STATEMENT_TYPE, PREDICATE_TYPE):
        raise ValueError(f"{STATEMENT}: another kind of statement: {kind}, {stated[1]}")
    encoded = kind.encode()
    signed = b"DSSEv1 %d %b %d %b" % (len(encoded), encoded, len(payload), payload)
    return statement, signed, signatures


def check_form(statement: dict[str, Any]) -> None:
    """Raise KeyError or TypeError unless the statement has the parts that the checks use."""
    records = statement["predicate"]["records"]
    for word in (records["root"], *(subject["name"] for subject in statement["subject"])):
        if not isinstance(word, str):
            raise TypeError(f"a text was expected, not {word!r}")
    if not all(isinstance(records[name], int) for name in ("size", "withheld")):
        raise TypeError("numbers were expected as size and withheld")
    for subject in statement["subject"]:
        subject["digest"]["sha256"]


def check_subjects(folder: Path, statement: dict[str, Any]) -> list[str]:
    """Every file is a subject of the statement with its digest, but those that come after it."""
    stated = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
    found = {name: digest_of(folder / name) for name in files_below(folder) if name not in UNSIGNED}
    changed = [name for name in sorted(found) if stated.get(name, found[name]) != found[name]]
    problems = [f"{name}: changed since it was sealed" for name in changed]
    problems += [f"{name}: added since the package was sealed" for name in sorted(set(found) - set(stated))]
    problems += [f"{name}: sealed and missing" for name in sorted(set(stated) - set(found))]
    return problems


def check_records(folder: Path, statement: dict[str, Any]) -> list[str]:
    """The leaves give the signed root, and each visible record its leaf."""
    try:
        records = json.loads(read_regular(folder / RECORDS))
        signed = statement["predicate"]["records"]
        problems = []
        leaves = []
        for number, entry in enumerate(records["leaves"]):
            leaf = bytes.fromhex(entry["leaf"])
            leaves.append(leaf)
            if "content" in entry and leaf_hash(bytes.fromhex(entry["salt"]), entry["content"]) != leaf:
                problems.append(f"{entry.get('unit', f'leaf {number}')}: the record is not the one that was sealed")
        is_signed = len(leaves) == signed["size"] and tree_root(leaves).hex() == signed["root"]
        if records["format"] != RECORDS_FORMAT or not is_signed:
            problems.append(f"{RECORDS}: the leaves do not give the signed root")
        hidden = sum("content" not in entry or bool(entry.get("withheld")) for entry in records["leaves"])
        if hidden != signed["withheld"]:
            problems.append(f"{RECORDS}: {hidden} leaves are withheld, the statement says {signed['withheld']}")
    except DAMAGE as error:
        return [f"{RECORDS}: cannot be read as the records of a seal ({reason(error)})"]
    return problems


def check_signature(folder: Path, signed: bytes, signatures: list[bytes], key: Path) -> tuple[list[str], list[str]]:
    """(problems, remarks) on the signature, by OpenSSL where it is there."""
    openssl = shutil.which("openssl")
    if openssl is None:
        return [], ["signature not checked: OpenSSL is not installed"]
    with tempfile.TemporaryDirectory() as temporary:
        message = Path(temporary) / "message"
        message.write_bytes(signed)
        public = Path(temporary) / "key"
        try:
            # The key inside the package may be anything, a pipe that never ends among others.
            public.write_bytes(key.read_bytes() if key != folder / PUBLIC_KEY else read_regular(key))
        except OSError as error:
            return [f"{PUBLIC_KEY if key == folder / PUBLIC_KEY else key}: cannot be read ({error})"], []
        for number, signature in enumerate(signatures[:MAX_SIGNATURES]):
            file = Path(temporary) / f"signature{number}"
            file.write_bytes(signature)
            command = [openssl, "pkeyutl", "-verify", "-pubin", "-inkey", str(public), "-rawin"]
            command += ["-in", str(message), "-sigfile", str(file)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return [], ["signature checked by OpenSSL"]
            if "Unknown option" in done.stderr or "unknown option" in done.stderr:
                return [], ["signature not checked: this OpenSSL is older than 3.0"]
    return [f"{STATEMENT}: no signature by this key"], []


def check_time_stamp(folder: Path, roots: Path | None) -> tuple[list[str], list[str]]:
    """(problems, remarks) on the RFC 3161 time stamp over the statement's file."""
    if (folder / TIME_STAMP).is_symlink() or not (folder / TIME_STAMP).is_file():
        return [], ["no time stamp"]
    openssl = shutil.which("openssl")
    if roots is None or openssl is None:
        return [], ["time stamp not checked: it needs OpenSSL and --tsa-certificate"]
    command = [openssl, "ts", "-verify", "-in", str(folder / TIME_STAMP), "-data", str(folder / STATEMENT)]
    # The certificates need to have been valid when the stamp was made, not today (RFC 3161, appendix B).
    moment = stated_moment(openssl, folder / TIME_STAMP)
    command += ["-CAfile", str(roots), *([] if moment is None else ["-attime", str(moment)])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        when = "" if moment is None else time.strftime(", made at %Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
        return [], [f"time stamp checked by OpenSSL{when}"]
    return [f"{TIME_STAMP}: not a time stamp of this statement by this authority"], []


def stated_moment(openssl: str, stamp: Path) -> int | None:
    """The time that a stamp states, in seconds of POSIX time, as OpenSSL reads it."""
    command = [openssl, "ts", "-reply", "-in", str(stamp), "-text"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    found = re.search(r"Time stamp: (\w{3} +\d+ \d\d:\d\d:\d\d)(?:\.\d+)? (\d{4}) GMT", done.stdout)
    try:
        return None if found is None else calendar.timegm(time.strptime(f"{found[1]} {found[2]}", "%b %d %H:%M:%S %Y"))
    except ValueError:
        return None


def verify(folder: Path, key: Path | None, roots: Path | None) -> tuple[list[str], list[str]]:
    """(problems, remarks); raises ValueError when the folder is no sealed package."""
    statement, signed, signatures = read_statement(folder)
    problems = [*check_bag(folder), *check_subjects(folder, statement), *check_records(folder, statement)]
    wrong, remarks = check_signature(folder, signed, signatures, key or folder / PUBLIC_KEY)
    late, more = check_time_stamp(folder, roots)
    if key is None:
        remarks.append("the signer is not identified: no --key was given, the key inside the package was used")
    return [*dict.fromkeys([*problems, *wrong, *late])], [*remarks, *more]


def main() -> int:
    parser = argparse.ArgumentParser(description="Check a sealed evidence package.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--key", type=Path, help="the signer's public key, PEM, from another source than the package")
    parser.add_argument("--tsa-certificate", type=Path, help="roots of the time stamping authority, PEM")
    given = parser.parse_args()
    try:
        problems, remarks = verify(given.folder, given.key, given.tsa_certificate)
    except ValueError as error:
        print(printable(f"not a sealed package: {error}"), file=sys.stderr)
        return 2
    for remark in remarks:
        print(printable(f"note: {remark}"))
    for problem in problems:
        print(printable(f"changed: {problem}"))
    print(f"{len(problems)} changes found" if problems else "nothing was changed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
