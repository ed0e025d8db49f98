"""Does a seal hold what `trace-prov seal` writes, and no word more?

A signature shows who made a seal, not that its files keep to the contract of the package: whoever makes a key can sign
a text that the package withholds. So each file must be the one that the package and its leaves give.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from trace_prov.package.model import Package
from trace_prov.seal.sealing import SCRIPT
from trace_prov.seal.standalone import PAYLOAD_TYPE, PUBLIC_KEY, RECORDS, RECORDS_FORMAT, STATEMENT, UNSIGNED, canonical
from trace_prov.seal.statement import statement
from trace_prov.seal.tree import Leaf
from trace_prov.seal.units import units_of

_PEM = re.compile(rb"-----BEGIN PUBLIC KEY-----\n[A-Za-z0-9+/]{59}=\n-----END PUBLIC KEY-----\n")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_TOOL = re.compile(r"trace-prov [0-9A-Za-z.+-]{1,20}")


def form_problems(folder: Path, package: Package) -> Iterator[str]:
    """What in the files of a seal is not as `seal` writes it; their digests and signatures are checked elsewhere."""
    told = {unit.name: unit.content for unit in units_of(package.run)}
    try:
        records = json.loads((folder / RECORDS).read_bytes())
        leaves = [_leaf(entry, told) for entry in records["leaves"]]
        envelope = json.loads((folder / STATEMENT).read_bytes())
        body = json.loads(base64.b64decode(envelope["payload"]))
        tool = body["predicate"]["tool"]
        signature, *more = envelope["signatures"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        yield f"its files cannot be read: {error}"
        return
    if (folder / RECORDS).read_bytes() != _written({"format": RECORDS_FORMAT, "leaves": records["leaves"]}):
        yield f"{RECORDS}: not written as a seal has it"
    for number, problem in enumerate(leaves, start=1):
        if isinstance(problem, str):
            yield f"{RECORDS}, leaf {number}: {problem}"
    if _PEM.fullmatch((folder / PUBLIC_KEY).read_bytes()) is None:
        yield f"{PUBLIC_KEY}: more than a public key of Ed25519"
    if (folder / SCRIPT).read_bytes() != (files("trace_prov.seal") / "standalone.py").read_bytes():
        yield f"{SCRIPT}: not the script that this version of trace-prov ships"
    whole = [leaf for leaf in leaves if isinstance(leaf, Leaf)]
    if len(whole) < len(leaves):
        return
    due = statement(folder, whole, package.run.id, package.contract.condition, UNSIGNED)
    due["predicate"]["tool"] = tool
    if body != due or not isinstance(tool, str) or _TOOL.fullmatch(tool) is None:
        yield f"{STATEMENT}: it states something else than the package and its leaves give"
    form = {
        "payload": base64.b64encode(canonical(due)).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [signature],
    }
    written = json.dumps(form, indent=2, sort_keys=True).encode() + b"\n"
    if more or set(signature) != {"keyid", "sig"} or (folder / STATEMENT).read_bytes() != written:
        yield f"{STATEMENT}: not written as a seal has it"


def _leaf(entry: Any, told: Mapping[str, dict[str, Any]]) -> Leaf | str:
    """A leaf of the records, or what it says that a leaf does not; `told` are the units of the package."""
    if not set(entry) <= {"leaf", "unit", "salt", "content", "withheld"} or entry.get("withheld", True) is not True:
        return "a member that leaves do not have"
    if not all(_DIGEST.fullmatch(entry[name]) for name in ("leaf", "salt") if name in entry):
        return "its hash and salt are 64 hexadecimal digits"
    if ("content" in entry) is not ("salt" in entry) or not ("content" in entry or "withheld" in entry):
        return "it shows a content and its salt, or is withheld"
    if "unit" in entry and entry["unit"] not in told:
        return "a record of that name is not in the package"
    if "content" in entry and told.get(entry.get("unit")) != entry["content"]:
        return "the package tells it otherwise"
    return Leaf(bytes.fromhex(entry["leaf"]), entry.get("unit"), None, entry.get("content"), "withheld" in entry)


def _written(records: dict[str, Any]) -> bytes:
    return json.dumps(records, indent=1, sort_keys=True).encode() + b"\n"
