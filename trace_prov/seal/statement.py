"""The signed statement: in-toto Statement v1 in a DSSE envelope, by securesystemslib."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trace_prov import __version__
from trace_prov.seal.errors import SealError
from trace_prov.seal.keys import signer_module
from trace_prov.seal.standalone import (
    PAYLOAD_TYPE,
    PREDICATE_TYPE,
    STATEMENT_TYPE,
    canonical,
    digest_of,
    files_below,
    tree_root,
)
from trace_prov.seal.tree import Leaf


def statement(
    folder: Path, leaves: Sequence[Leaf], run: str, condition: str, unsigned: frozenset[str]
) -> dict[str, Any]:
    """What is signed: the digest of every file of the folder but `unsigned`, and the root over the records."""
    withheld = [leaf for leaf in leaves if leaf.withheld]
    return {
        "_type": STATEMENT_TYPE,
        "subject": [
            {"name": name, "digest": {"sha256": digest_of(folder / name)}}
            for name in files_below(folder)
            if name not in unsigned
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "condition": condition,
            "records": {
                "tree": "RFC 9162, SHA-256, salted leaves",
                "root": tree_root([leaf.hash for leaf in leaves]).hex(),
                "size": len(leaves),
                "withheld": len(withheld),
                "withheldAndCommitted": sum(leaf.content is None for leaf in withheld),
            },
            "run": run,
            "tool": f"trace-prov {__version__}",
        },
    }


def signed(body: dict[str, Any], signer: Any) -> bytes:
    """The statement in an envelope, as a file. Ed25519 is deterministic: the same statement gives the same bytes."""
    envelope = _dsse().Envelope(canonical(body), PAYLOAD_TYPE, {})
    envelope.sign(signer)
    return json.dumps(envelope.to_dict(), indent=2, sort_keys=True).encode() + b"\n"


def is_signed_by(envelope: dict[str, Any], key: Any) -> bool:
    """Whether the envelope carries a signature by this key; key identifiers are hints only (DSSE 1.0)."""
    dsse = _dsse()
    from securesystemslib.exceptions import UnverifiedSignatureError

    try:
        # from_dict rewrites the signatures that it is given.
        read = dsse.Envelope.from_dict({**envelope, "signatures": [dict(item) for item in envelope["signatures"]]})
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    for signature in read.signatures.values():
        try:
            key.verify_signature(signature, read.pae())
        except (UnverifiedSignatureError, ValueError):
            continue
        return True
    return False


def parse_object(data: bytes, source: str) -> dict[str, Any]:
    """The JSON object of a file; raises SealError when it is none."""
    try:
        value = json.loads(data)
    except ValueError as error:
        raise SealError(source, expected="a JSON object", found=str(error)) from None
    except RecursionError:
        raise SealError(source, expected="a JSON object", found="values nested too deeply") from None
    if not isinstance(value, dict):
        raise SealError(source, expected="a JSON object", found=type(value).__name__)
    return value


def _dsse() -> Any:
    signer_module()
    import securesystemslib.dsse

    return securesystemslib.dsse
