"""Key custody: one master secret per owner, HKDF per version, epoch and channel, commit-then-reveal.

A p-value is worthless when the key was chosen after seeing the log. So an owner publishes a commitment to key and
scheme before a dispute and opens it afterwards; a reveal opens one epoch only and never the master secret.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from trace_prov.errors import UsageError
from trace_prov.watermark.errors import KeyFileError
from trace_prov.watermark.prf import encode
from trace_prov.watermark.scheme import Scheme, scheme_from_json

KEY_FORMAT = "trace-prov-watermark-keys/1"
COMMIT_FORMAT = "trace-prov-watermark-commitment/1"
REVEAL_FORMAT = "trace-prov-watermark-reveal/1"
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Keys:
    """The two channel keys of one owner, scheme version and epoch; printing it shows no secret."""

    key_id: str
    owner: str
    version: str
    epoch: int
    k1: bytes = field(repr=False)
    k2: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Epoch:
    """A period in which one derived key was used for embedding."""

    number: int
    created: str
    retired: str | None = None


@dataclass(frozen=True, slots=True)
class KeyRing:
    """What a key file holds: the owner's master secret and the epochs derived from it."""

    owner: str
    epochs: tuple[Epoch, ...]
    master: bytes = field(repr=False)

    def keys(self, scheme: Scheme, epoch: int | None = None) -> Keys:
        """Return the keys of `epoch` (default: the current one) for this scheme's version. Raises `UsageError`."""
        numbers = sorted(one.number for one in self.epochs)
        if epoch is not None and epoch not in numbers:
            raise UsageError(f"no epoch {epoch}; the keys of {self.owner} have {', '.join(map(str, numbers))}")
        return derive(self.master, self.owner, scheme.version, self.current if epoch is None else epoch)

    @property
    def current(self) -> int:
        """Number of the newest epoch."""
        return max(epoch.number for epoch in self.epochs)

    def rotated(self, now: str) -> KeyRing:
        """Return the ring with a new epoch; open ones are retired at `now` and stay usable for detection."""
        old = tuple(Epoch(e.number, e.created, e.retired or now) for e in self.epochs)
        return KeyRing(self.owner, (*old, Epoch(self.current + 1, now)), self.master)


def derive(master: bytes, owner: str, version: str, epoch: int = 1) -> Keys:
    """Derive independent channel keys (HKDF-SHA256, RFC 5869; info = owner, version, epoch, channel)."""
    return Keys(
        key_id=_expand(master, 8, owner, version, epoch, "id").hex(),
        owner=owner,
        version=version,
        epoch=epoch,
        k1=_expand(master, 32, owner, version, epoch, "selection"),
        k2=_expand(master, 32, owner, version, epoch, "tally"),
    )


def _expand(master: bytes, length: int, *parts: str | int) -> bytes:
    info = encode("trace-prov watermark", *parts)
    return HKDF(algorithm=SHA256(), length=length, salt=None, info=info).derive(master)


def new_ring(owner: str, now: str | None = None) -> KeyRing:
    """Return a ring with a fresh master secret from the operating system."""
    return KeyRing(owner, (Epoch(1, now or timestamp()),), secrets.token_bytes(SECRET_BYTES))


def timestamp() -> str:
    """Now, in UTC, to the second (ISO 8601)."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def write_ring(ring: KeyRing, path: Path, *, overwrite: bool = False) -> None:
    """Write a key file that only its owner can read. Raises `KeyFileError` when it exists already."""
    document = {
        "format": KEY_FORMAT,
        "owner": ring.owner,
        "secret": base64.b64encode(ring.master).decode(),
        "epochs": [{"number": e.number, "created": e.created, "retired": e.retired} for e in ring.epochs],
    }
    if path.exists() and not overwrite:
        raise KeyFileError(
            str(path),
            expected="a new file",
            found="an existing one",
            hint="a lost secret cannot be recovered",
        )
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as handle:
        handle.write(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
    part.replace(path)


def read_ring(path: Path) -> KeyRing:
    """Read a key file. Raises `KeyFileError`."""
    document = _document(path, KEY_FORMAT)
    try:
        master = base64.b64decode(document["secret"], validate=True)
        epochs = tuple(Epoch(int(e["number"]), str(e["created"]), e.get("retired")) for e in document["epochs"])
        owner = document["owner"]
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise KeyFileError(str(path), expected="owner, secret (base64) and epochs", found=_said(error)) from error
    if len(master) < 16 or not epochs or not isinstance(owner, str):
        raise KeyFileError(str(path), expected="a secret of at least 16 bytes, one epoch and an owner's name")
    numbers = [epoch.number for epoch in epochs]
    if min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise KeyFileError(str(path), place="epochs", expected="different numbers from 1", found=str(numbers))
    return KeyRing(owner, epochs, master)


def is_exposed(path: Path) -> bool:
    """Whether others than the owner may read this file, and it holds a master secret (POSIX only)."""
    if os.name != "posix" or not path.stat().st_mode & 0o077:
        return False
    return _document(path, None).get("format") == KEY_FORMAT


def read_keys(path: Path, scheme: Scheme) -> list[Keys]:
    """Return all keys that a key file or a reveal holds for `scheme`, newest epoch first."""
    if _document(path, None).get("format") == REVEAL_FORMAT:
        return [_opened(path, scheme)]
    ring = read_ring(path)
    numbers = sorted((epoch.number for epoch in ring.epochs), reverse=True)
    return [ring.keys(scheme, number) for number in numbers]


def commitment(keys: Keys, scheme: Scheme, nonce: bytes) -> str:
    """SHA-256 (hex) over nonce, scheme digest, owner, key id, version, epoch and both channel keys."""
    parts = encode(nonce, scheme.digest, keys.owner, keys.key_id, keys.version, keys.epoch, keys.k1, keys.k2)
    return hashlib.sha256(parts).hexdigest()


def commit(ring: KeyRing, scheme: Scheme, now: str, epoch: int | None = None) -> dict[str, Any]:
    """Return the public commitment document; the nonce comes from the master secret, so nothing has to be kept."""
    keys = ring.keys(scheme, epoch)
    return {
        "format": COMMIT_FORMAT,
        "commitment": commitment(keys, scheme, _nonce(ring, scheme, keys.epoch)),
        "owner": keys.owner,
        "key_id": keys.key_id,
        "epoch": keys.epoch,
        "scheme": scheme.to_json(),
        "scheme_digest": scheme.digest,
        "created": now,
    }


def reveal(ring: KeyRing, scheme: Scheme, epoch: int | None = None) -> dict[str, Any]:
    """Return the document that opens a commitment: keys and nonce of one epoch, never the secret."""
    keys = ring.keys(scheme, epoch)
    return {
        "format": REVEAL_FORMAT,
        "owner": keys.owner,
        "key_id": keys.key_id,
        "epoch": keys.epoch,
        "version": keys.version,
        "k1": keys.k1.hex(),
        "k2": keys.k2.hex(),
        "nonce": _nonce(ring, scheme, keys.epoch).hex(),
        "scheme": scheme.to_json(),
        "scheme_digest": scheme.digest,
    }


def verify(commit_path: Path, reveal_path: Path) -> Keys:
    """Return the revealed keys when they open the commitment. Raises `KeyFileError` when they do not."""
    public = _document(commit_path, COMMIT_FORMAT)
    opened = _document(reveal_path, REVEAL_FORMAT)
    scheme = scheme_from_json(opened.get("scheme", {}), str(reveal_path))
    keys = _opened(reveal_path, scheme)
    try:
        found = commitment(keys, scheme, bytes.fromhex(opened["nonce"]))
    except (KeyError, TypeError, ValueError) as error:
        raise KeyFileError(str(reveal_path), place="nonce", expected="hex digits", found=_said(error)) from error
    if found != public.get("commitment"):
        raise KeyFileError(
            str(reveal_path),
            expected=f"keys and scheme with commitment {public.get('commitment')}",
            found=found,
            hint="the key or the scheme is not the one committed to",
        )
    return keys


def check_commitment(commit_path: Path, key_path: Path, scheme: Scheme) -> str:
    """Return when key and scheme were committed to, checked with the owner's file."""
    if _document(key_path, None).get("format") == REVEAL_FORMAT:
        verify(commit_path, key_path)
    public = _document(commit_path, COMMIT_FORMAT)
    if public.get("scheme_digest") != scheme.digest:
        raise KeyFileError(
            str(commit_path),
            place="scheme_digest",
            expected=scheme.digest,
            found=str(public.get("scheme_digest")),
        )
    if _document(key_path, None).get("format") != REVEAL_FORMAT:
        ring = read_ring(key_path)
        found = commit(ring, scheme, "", int(public.get("epoch", ring.current)))["commitment"]
        if found != public.get("commitment"):
            raise KeyFileError(
                str(commit_path), place="commitment", expected=str(public.get("commitment")), found=found
            )
    return str(public.get("created"))


def _nonce(ring: KeyRing, scheme: Scheme, epoch: int) -> bytes:
    return _expand(ring.master, 32, ring.owner, scheme.version, epoch, f"nonce {scheme.digest}")


def _opened(path: Path, scheme: Scheme) -> Keys:
    document = _document(path, REVEAL_FORMAT)
    if document.get("scheme_digest") != scheme.digest:
        raise KeyFileError(
            str(path),
            place="scheme_digest",
            expected=scheme.digest,
            found=str(document.get("scheme_digest")),
            hint="pass the scheme of the reveal with --scheme",
        )
    try:
        return Keys(
            str(document["key_id"]),
            str(document["owner"]),
            str(document["version"]),
            int(document["epoch"]),
            bytes.fromhex(document["k1"]),
            bytes.fromhex(document["k2"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise KeyFileError(str(path), expected="key_id, owner, version, epoch, k1, k2", found=_said(error)) from error


def _document(path: Path, expected: str | None) -> dict[str, Any]:
    try:
        document = orjson.loads(path.read_bytes())
    except OSError as error:
        raise KeyFileError(str(path), expected="a readable file", found=error.strerror) from error
    except orjson.JSONDecodeError as error:
        raise KeyFileError(str(path), expected="JSON", found=str(error)) from error
    if not isinstance(document, dict):
        raise KeyFileError(str(path), expected="a JSON object", found=type(document).__name__)
    if expected is not None and document.get("format") != expected:
        raise KeyFileError(str(path), place="format", expected=expected, found=repr(document.get("format")))
    return document


def _said(error: Exception) -> str:
    return f"no {error}" if isinstance(error, KeyError) else str(error)
