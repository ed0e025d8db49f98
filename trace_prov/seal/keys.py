"""Key files: an Ed25519 pair as PEM (PKCS 8 and SubjectPublicKeyInfo, as OpenSSL writes them) and the salts' secret."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

from trace_prov.errors import UsageError
from trace_prov.seal.errors import SigningKeyError

SECRET_BYTES = 32
_HINT = "trace-prov seal-key FILE makes a pair"


def signer_module() -> Any:
    """securesystemslib's signers; raises UsageError that says how to get them."""
    try:
        import cryptography
        import securesystemslib.signer
    except ImportError:
        raise UsageError("seals need securesystemslib: pip install 'trace-prov[seal]'") from None
    assert cryptography
    return securesystemslib.signer


def new_key(path: Path) -> tuple[Path, Path]:
    """Make a key pair and a secret: `path`, `path.pub` and `path.salts`; returns the two beside it.

    Raises SigningKeyError when one of them is there already: a lost key cannot be had again.
    """
    signer = signer_module().CryptoSigner.generate_ed25519()
    public, salts = path.with_name(path.name + ".pub"), path.with_name(path.name + ".salts")
    for file in (path, public, salts):
        if file.exists() or file.is_symlink():
            raise SigningKeyError(str(file), expected="no file yet", found="one, which is left as it is")
    _write_new(path, signer.private_bytes, 0o600)
    _write_new(public, public_pem(signer), 0o644)
    _write_new(salts, secrets.token_hex(SECRET_BYTES).encode() + b"\n", 0o600)
    return public, salts


def _write_new(path: Path, data: bytes, mode: int) -> None:
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data)
    except OSError as error:
        raise SigningKeyError(str(path), expected="a place to write", found=error.strerror or str(error)) from None


def load_signer(path: Path) -> Any:
    """The signer of a private key file; raises SigningKeyError when it is no Ed25519 key without a pass phrase."""
    module = signer_module()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(_read(path), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise SigningKeyError(
            str(path), expected="an Ed25519 private key in PEM, without a pass phrase", found=str(error), hint=_HINT
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise SigningKeyError(str(path), expected="an Ed25519 key", found=type(key).__name__, hint=_HINT)
    return module.CryptoSigner(key)


def load_public(data: bytes, source: str) -> Any:
    """The public key of a PEM; raises SigningKeyError when it is none."""
    module = signer_module()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        return module.SSlibKey.from_crypto(load_pem_public_key(data))
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise SigningKeyError(source, expected="a public key in PEM", found=str(error)) from None


def load_public_file(path: Path) -> Any:
    return load_public(_read(path), str(path))


def public_pem(signer: Any) -> bytes:
    """The public key of a signer as PEM."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

    key = load_pem_private_key(signer.private_bytes, password=None).public_key()
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def load_secret(path: Path) -> bytes:
    """The secret of the salts: 64 hex digits; raises SigningKeyError when it is none."""
    try:
        secret = bytes.fromhex(_read(path).decode("ascii").strip())
    except ValueError:
        secret = b""
    if len(secret) != SECRET_BYTES:
        found = "something else"
        raise SigningKeyError(str(path), expected="a secret of 64 hex digits", found=found, hint=_HINT)
    return secret


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SigningKeyError(
            str(path), expected="a readable file", found=error.strerror or str(error), hint=_HINT
        ) from None
