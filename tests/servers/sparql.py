"""Two independent SPARQL servers for tests: Oxigraph (from PyPI) and Apache Jena Fuseki (from Maven)."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.servers.process import ServerStartError, running

START_SECONDS = 30


@dataclass(frozen=True)
class SparqlServer:
    """The addresses of a running SPARQL 1.1 server: query, update, and Graph Store."""

    name: str
    query: str
    update: str
    data: str
    pid: int


@contextmanager
def fuseki() -> Iterator[SparqlServer]:
    """Run Fuseki with an empty data set in memory."""
    with running("start_fuseki.py", "--port", "0", "--heap", "512m") as found:
        yield SparqlServer("fuseki", found["query"], found["update"], found["data"], found["pid"])


@contextmanager
def oxigraph(folder: Path) -> Iterator[SparqlServer]:
    """Run Oxigraph with its store in `folder`."""
    beside_python = Path(sys.executable).with_name("oxigraph")
    program = str(beside_python) if beside_python.is_file() else shutil.which("oxigraph")
    if program is None:
        raise ServerStartError("oxigraph is not installed (PyPI package oxigraph)")
    port = _free_port()
    command = [program, "serve", "--location", str(folder), "--bind", f"127.0.0.1:{port}"]
    log = folder.with_name(folder.name + ".log")
    with log.open("wb") as output:
        process = subprocess.Popen(
            _ending_with_us(command), stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        _wait_for_port(port, process, log)
        base = f"http://127.0.0.1:{port}"
        yield SparqlServer("oxigraph", f"{base}/query", f"{base}/update", f"{base}/store", process.pid)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(30)


def _ending_with_us(command: list[str]) -> list[str]:
    """Wrap `command` so that it ends when our end of its standard input closes, killed or not."""
    watcher = (
        "import subprocess, sys\n"
        "child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)\n"
        "sys.stdin.buffer.read()\n"
        "child.terminate()\n"
        "child.wait()\n"
    )
    return [sys.executable, "-c", watcher, *command]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        assert isinstance(port, int)
        return port


def _wait_for_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == os.EX_OK:
                return
        time.sleep(0.05)
    raise ServerStartError(log.read_text(encoding="utf-8", errors="replace"))
