"""A time stamping authority on this machine: OpenSSL's own, behind HTTP as RFC 3161 (3.4) has it."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CONFIG = """
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
[stamper]
basicConstraints = CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, timeStamping
[tsa]
default_tsa = own
[own]
serial = {folder}/serial
crypto_device = builtin
signer_cert = {folder}/tsa.pem
certs = {folder}/ca.pem
signer_key = {folder}/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = {digests}
accuracy = secs:1
ess_cert_id_alg = sha256
"""


def _openssl(*arguments: str | Path) -> bytes:
    return subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True).stdout


@dataclass
class Authority:
    """Its folder has `ca.pem`, the root that receivers are given."""

    folder: Path
    url: str = ""
    requests: int = 0

    @property
    def roots(self) -> Path:
        return self.folder / "ca.pem"

    def answer(self, query: bytes) -> bytes:
        """What `openssl ts -reply` says to a request."""
        (self.folder / "query.tsq").write_bytes(query)
        out = self.folder / "reply.tsr"
        config = self.folder / "tsa.cnf"
        _openssl(
            "ts", "-reply", "-config", config, "-section", "own", "-queryfile", self.folder / "query.tsq", "-out", out
        )
        self.requests += 1
        return out.read_bytes()


def new_authority(folder: Path, digests: str = "sha256, sha384, sha512") -> Authority:
    """A root and a certificate for time stamps under it; it refuses other digests than those named."""
    folder.mkdir()
    config = folder / "tsa.cnf"
    config.write_text(CONFIG.format(folder=folder, digests=digests))
    (folder / "serial").write_text("01\n")
    subject = ["-subj", "/CN=Test root"]
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    _openssl("req", "-x509", *key, "-keyout", folder / "ca.key", "-out", folder / "ca.pem", *subject, "-days", "3",
             "-config", config, "-extensions", "ca")  # fmt: skip
    _openssl("req", *key, "-keyout", folder / "tsa.key", "-out", folder / "tsa.csr", "-subj", "/CN=Test TSA",
             "-config", config)  # fmt: skip
    _openssl("x509", "-req", "-in", folder / "tsa.csr", "-CA", folder / "ca.pem", "-CAkey", folder / "ca.key",
             "-out", folder / "tsa.pem", "-days", "2", "-extfile", config, "-extensions", "stamper",
             "-CAcreateserial")  # fmt: skip
    return Authority(folder)


@contextmanager
def serving(authority: Authority, answer: Callable[[bytes], bytes] | None = None, status: int = 200) -> Iterator[str]:
    """Its address while it answers; `answer` and `status` play one that does not do as it should."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["Content-Type"] == "application/timestamp-query"
            body = (answer or authority.answer)(query)
            self.send_response(status)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/tsr"
    finally:
        server.shutdown()
        server.server_close()
