"""Start a Java server from its Maven artefacts and never leave it behind.

Shared by start_neo4j.py and start_fuseki.py, for machines without a container engine. Standard library only, so
that any Python 3.11 runs it without an install step.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

LOOPBACK = "127.0.0.1"
STOP_SECONDS = 30
PR_SET_PDEATHSIG = 1  # linux/prctl.h


class LaunchError(Exception):
    """The server cannot be started here; the message says why and what to do."""


def find_java(oldest: int, newest: int) -> Path:
    """Return a Java of version `oldest` to `newest`: JAVA_HOME first, then the PATH, then Debian's folder."""
    candidates = [Path(os.environ["JAVA_HOME"], "bin", "java")] if os.environ.get("JAVA_HOME") else []
    on_path = shutil.which("java")
    candidates += [Path(on_path)] if on_path else []
    candidates += sorted(Path("/usr/lib/jvm").glob("*/bin/java"))
    seen = []
    for java in candidates:
        major = _java_major(java)
        if major is not None and oldest <= major <= newest:
            return java
        seen.append(f"{java} ({major or 'does not start'})")
    raise LaunchError(
        f"this server needs Java {oldest} to {newest}; found {', '.join(seen) or 'none'}. Install one, or set JAVA_HOME"
    )


def _java_major(java: Path) -> int | None:
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(match.group(1)) if match else None


def fetch_jars(pom: Path, cache: Path) -> Path:
    """Return the folder below `cache` with the run-time jars that `pom` names; Maven fetches them once.

    The folder is named by the pom's file name and version, and appears only when it is complete, so that two
    processes may ask at the same time.
    """
    version = re.search(r"<server\.version>([^<]+)<", pom.read_text(encoding="utf-8"))
    if version is None:
        raise LaunchError(f"{pom} has no <server.version> property")
    jars = cache / f"{pom.stem}-{version.group(1)}"
    if jars.is_dir():
        return jars
    maven = shutil.which("mvn")
    if maven is None:
        raise LaunchError("Maven (mvn) is not on the PATH; it fetches the server's jars. Install it and try again")
    cache.mkdir(parents=True, exist_ok=True)
    print(f"fetching {jars.name} with Maven into {cache}", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".fetch-") as folder:
        unfinished = Path(folder, "lib")
        command = [
            maven,
            "-B",
            "-q",
            "-f",
            str(pom),
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
        ]
        answer = subprocess.run(
            [*command, f"-DoutputDirectory={unfinished}"], capture_output=True, text=True, check=False
        )
        if answer.returncode != 0:
            raise LaunchError(f"Maven could not fetch {jars.name}:\n{(answer.stdout + answer.stderr)[-2000:]}")
        try:
            unfinished.rename(jars)
        except OSError:
            if not jars.is_dir():  # else another process was faster, with the same files
                raise
    return jars


def free_port() -> int:
    """Return a loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port = probe.getsockname()[1]
        assert isinstance(port, int)
        return port


def spawn(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    """Start `command` in a session of its own, output into `log`; on Linux it ends when this process dies.

    To be called before any thread is started.
    """
    parent = os.getpid()

    def die_with_parent() -> None:
        if sys.platform == "linux":
            ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
            if os.getppid() != parent:
                os._exit(1)

    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - no thread runs yet
        )


def wait_until(ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path, seconds: float) -> None:
    """Return when `ready()`; raise LaunchError with the end of the log when the server ends or time runs out."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise LaunchError(f"the server ended with status {process.returncode}:\n{_tail(log)}")
        if ready():
            return
        time.sleep(0.1)
    stop(process)
    raise LaunchError(f"the server did not answer within {seconds:g} s:\n{_tail(log)}")


def _tail(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-3000:]


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the process: SIGTERM, time to close its files, then SIGKILL."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def stop_on_sigterm() -> None:
    """Make SIGTERM behave like Ctrl-C from here on, so that `finally` blocks end the server."""

    def on_signal(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, on_signal)


def run_until_told(process: subprocess.Popen[bytes], *, watch_stdin: bool) -> None:
    """Block until the server ends or, with `watch_stdin`, standard input closes.

    A test run that is killed closes that pipe, so its server goes with it on every system.
    """
    if not watch_stdin:
        process.wait()
        return
    while sys.stdin.buffer.read(1):
        pass
