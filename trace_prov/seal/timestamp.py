"""RFC 3161 time stamps over the statement's file: asked for at an authority's address, checked against its roots."""

from __future__ import annotations

import http.client
import urllib.parse
import urllib.request
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from trace_prov.errors import UsageError
from trace_prov.seal.der import with_sorted_certificates
from trace_prov.seal.errors import SealError

TIMEOUT_SECONDS = 30
MAX_ANSWER = 2**20


def _client() -> Any:
    try:
        import rfc3161_client
    except ImportError:
        raise UsageError("time stamps need rfc3161-client: pip install 'trace-prov[seal]'") from None
    return rfc3161_client


def request_time_stamp(data: bytes, url: str) -> bytes:
    """The authority's answer for `data` (its SHA-512 is sent, nothing of the data). Raises SealError when it refuses
    or answers for something else."""
    client = _client()
    try:
        is_address = urllib.parse.urlsplit(url).scheme in ("http", "https")
    except ValueError:
        is_address = False
    if not is_address:
        raise UsageError(f"--timestamp-url {url}: expected an http or https address")
    asked = client.TimestampRequestBuilder().data(data).nonce(nonce=True).cert_request(cert_request=True).build()
    request = urllib.request.Request(url, asked.as_bytes(), {"Content-Type": "application/timestamp-query"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            received: bytes = answer.read(MAX_ANSWER)
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise SealError(url, expected="a time stamp", found=str(error)) from None
    stamp = _decoded(received, url)
    if stamp.status != client.PKIStatus.GRANTED:
        raise SealError(url, expected="a time stamp", found=f"status {stamp.status}: {stamp.status_string}")
    told = _told(stamp, url)
    if told.nonce != asked.nonce or told.digest != asked.message_imprint.message:
        raise SealError(url, expected="a time stamp of what was sent", found="one of something else")
    return received


def stated_time(stamp: bytes, source: str) -> str:
    """The time that a stamp states, in ISO 8601; whether it can be believed is what `check_time_stamp` tells."""
    return _told(_decoded(stamp, source), source).moment.isoformat()


def check_time_stamp(stamp: bytes, data: bytes, roots: Path) -> None:
    """Raise SealError unless the stamp is of `data`, by an authority that the roots vouch for."""
    client = _client()
    from cryptography.x509 import load_pem_x509_certificates

    try:
        certificates = load_pem_x509_certificates(roots.read_bytes())
    except (OSError, ValueError) as error:
        raise SealError(str(roots), expected="certificates in PEM", found=str(error)) from None
    builder = client.VerifierBuilder()
    for certificate in dict.fromkeys(certificates):
        builder = builder.add_root_certificate(certificate)
    try:
        builder.build().verify_message(_decoded(stamp, "seal/timestamp.tsr"), data)
    except (client.VerificationError, ValueError) as error:
        raise SealError(
            "seal/timestamp.tsr", expected="a time stamp of the statement by this authority", found=str(error)
        ) from None


@dataclass(frozen=True, slots=True)
class _Told:
    """What the token of a response states."""

    nonce: int | None
    moment: datetime
    digest: bytes


def _told(stamp: Any, source: str) -> _Told:
    try:
        told = stamp.tst_info  # read, like each of its parts, only when it is asked for
        return _Told(told.nonce, told.gen_time, told.message_imprint.message)
    except ValueError as error:
        raise SealError(source, expected="a time stamp token", found=str(error)) from None


def _decoded(data: bytes, source: str) -> Any:
    try:
        return _client().decode_timestamp_response(with_sorted_certificates(data))
    except ValueError as error:
        raise SealError(source, expected="an RFC 3161 response", found=str(error)) from None
