"""One record proven without the others: its content, its salt and the way from its leaf to the signed root."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from trace_prov.model import Run
from trace_prov.seal.errors import SealError
from trace_prov.seal.standalone import (
    PREDICATE_TYPE,
    RECORDS,
    STATEMENT,
    leaf_hash,
    read_regular,
    root_from_path,
)
from trace_prov.seal.statement import is_signed_by, parse_object
from trace_prov.seal.tree import inclusion_path, salt_of
from trace_prov.seal.units import units_of

FORMAT = "trace-prov-proof 1"


def prove(folder: Path, unit: str, *, log: Run | None = None, secret: bytes | None = None) -> dict[str, Any]:
    """The proof that a unit is in the seal of a package.

    A withheld unit needs the log that it stands in and the secret of the salts. Raises SealError when the unit is not
    in the seal, or when it is withheld and these are not given or not the right ones.
    """
    envelope = parse_object(_read(folder / STATEMENT), STATEMENT)
    records = parse_object(_read(folder / RECORDS), RECORDS)
    try:
        leaves = records["leaves"]
        hashes = [bytes.fromhex(leaf["leaf"]) for leaf in leaves]
    except (KeyError, TypeError, ValueError) as error:
        raise SealError(str(folder / RECORDS), expected="the records of a seal", found=repr(error)) from None
    shown = next((i for i, leaf in enumerate(leaves) if leaf.get("unit") == unit and "content" in leaf), None)
    if shown is not None and leaves[shown].get("withheld") and log is not None:
        raise SealError(
            str(folder),
            place=unit,
            expected="a leaf that commits to the record",
            found="one that says only that it is withheld",
            hint="sealing with --log commits to it",
        )
    if shown is not None:
        index, content, salt = shown, leaves[shown]["content"], bytes.fromhex(leaves[shown]["salt"])
    elif log is None or secret is None:
        hint = "a withheld record needs --log and --salt-secret"
        raise SealError(str(folder), place=unit, expected="a record that the package shows", found="none", hint=hint)
    else:
        content = next((item.content for item in units_of(log) if item.name == unit), None)
        if content is None:
            raise SealError(str(folder), place=unit, expected="a record of the log", found="none")
        salt = salt_of(secret, log.id, content)
        leaf = leaf_hash(salt, content)
        if leaf not in hashes:
            found = "no such leaf"
            raise SealError(str(folder), place=unit, expected="the leaf of this record in the seal", found=found)
        index = hashes.index(leaf)
    path = inclusion_path(hashes, index)
    if root_from_path(index, len(hashes), leaf_hash(salt, content), path) != _signed_root(envelope):
        raise SealError(str(folder), expected="records that give the signed root", found="others: it was changed")
    return {
        "format": FORMAT,
        "envelope": envelope,
        "index": index,
        "content": content,
        "salt": salt.hex(),
        "path": [step.hex() for step in path],
    }


def _signed_root(envelope: dict[str, Any]) -> bytes:
    try:
        return bytes.fromhex(_payload(envelope)["predicate"]["records"]["root"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise SealError(STATEMENT, expected="a statement as trace-prov seal writes it", found=repr(error)) from None


def read_proof(path: Path) -> bytes:
    """The bytes of a proof's file; raises SealError when there are none to read."""
    return _read(path)


def check_proof(data: bytes, source: str, key: Any) -> dict[str, Any]:
    """The content that a proof proves; raises SealError when it does not hold."""
    proof = parse_object(data, source)
    try:
        if proof["format"] != FORMAT:
            raise SealError(source, expected=FORMAT, found=str(proof["format"]))
        if not is_signed_by(proof["envelope"], key):
            raise SealError(source, expected="a statement signed by this key", found="none")
        statement = _payload(proof["envelope"])
        if statement["predicateType"] != PREDICATE_TYPE:
            raise SealError(source, expected=PREDICATE_TYPE, found=str(statement["predicateType"]))
        records = statement["predicate"]["records"]
        leaf = leaf_hash(bytes.fromhex(proof["salt"]), proof["content"])
        path = [bytes.fromhex(step) for step in proof["path"]]
        root = root_from_path(proof["index"], records["size"], leaf, path)
        content: dict[str, Any] = proof["content"]
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise SealError(source, expected="a proof as trace-prov prove writes it", found=repr(error)) from None
    if root is None or root.hex() != records["root"]:
        raise SealError(source, expected="a path to the signed root", found="one that leads elsewhere")
    return content


def proof_bytes(proof: dict[str, Any]) -> bytes:
    return json.dumps(proof, indent=1, sort_keys=True).encode() + b"\n"


def is_proof(path: Path) -> bool:
    """Whether a path is to be read as a proof: it is a file, as packages are folders."""
    return path.is_file()


def _payload(envelope: dict[str, Any]) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(base64.b64decode(envelope["payload"], validate=True))
    return value


def _read(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        raise SealError(str(path), expected="a sealed package", found=error.strerror or str(error)) from None
