"""A server script of docker/local run as a child: it says in JSON where it listens, and ends with us."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LOCAL = Path(__file__).resolve().parents[2] / "docker" / "local"


class ServerStartError(RuntimeError):
    """The script ended before it was ready; the message is what it printed."""


@contextmanager
def running(script: str, *arguments: str) -> Iterator[dict[str, Any]]:
    """Run docker/local/`script` until the block ends; yield what it said when it was ready.

    The script ends when the pipe to its standard input closes, which also happens when this process is killed.
    """
    command = [sys.executable, str(LOCAL / script), "--json", "--until-stdin-closes", *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        try:
            line = child.stdout.readline()
            if not line:
                raise ServerStartError(child.stderr.read())
            found = json.loads(line)
            assert isinstance(found, dict)
            yield found
        finally:
            child.stdin.close()
            child.wait(60)
