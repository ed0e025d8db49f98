"""Neo4j Community for tests, started by the script that `make neo4j` uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.servers.process import running


@dataclass(frozen=True)
class Neo4jServer:
    """Where a running server listens, and who may log in. `pid` is the Java process, `home` its folder."""

    uri: str
    http: str
    user: str
    password: str
    database: str
    version: str
    pid: int
    home: Path
    jars: Path
    java: Path

    @property
    def auth(self) -> tuple[str, str]:
        """The pair that the driver wants."""
        return self.user, self.password


@contextmanager
def neo4j_community(
    home: Path,
    *,
    bolt_port: int = 0,
    http_port: int = 0,
    settings: tuple[str, ...] = (),
    guide: Path | None = None,
) -> Iterator[Neo4jServer]:
    """Run Neo4j with its files in `home`, authentication on; what is in `home` from an earlier run is kept.

    `guide` is a folder with guide and style, which Browser then shows on start.
    """
    arguments = ["--home", str(home), "--bolt-port", str(bolt_port), "--http-port", str(http_port)]
    arguments += ["--guide", str(guide or home / "no-guide"), "--guide-port", "0"]
    for setting in settings:
        arguments += ["--set", setting]
    with running("start_neo4j.py", *arguments) as found:
        yield Neo4jServer(
            uri=found["uri"],
            http=found["http"],
            user=found["user"],
            password=Path(found["password_file"]).read_text(encoding="utf-8").strip(),
            database=found["database"],
            version=found["version"],
            pid=found["pid"],
            home=home,
            jars=Path(found["jars"]),
            java=Path(found["java"]),
        )
