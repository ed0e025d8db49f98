"""Every command of README.md runs as it stands there, in a folder that holds what a clone holds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: The two blocks that install the product and run these tests; CI runs them from a bare machine (.ci/run).
RUN_BY_CI = 2

_BLOCK = re.compile(r"(?:<!-- needs: ([\w, ]+) -->\n+)?```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: What a block can need -> the fixture of tests/servers that gives it.
FIXTURES = {"neo4j": "neo4j_server"}
#: The address that the page shows; a test's server listens on another port.
USUAL_URI = "bolt://localhost:7687"


@dataclass(frozen=True)
class Block:
    """A block of commands, the line of README.md that it starts at, and the servers that it needs."""

    line: int
    commands: tuple[str, ...]
    needs: tuple[str, ...]

    def __str__(self) -> str:
        return f"line-{self.line}"


def blocks(page: str) -> list[Block]:
    return [
        Block(
            line=page.count("\n", 0, match.start(2)) + 1,
            commands=tuple(match[2].replace("\\\n", " ").splitlines()),
            needs=tuple(re.findall(r"\w+", match[1] or "")),
        )
        for match in _BLOCK.finditer(page)
    ]


BLOCKS = blocks((ROOT / "README.md").read_text("utf-8"))[RUN_BY_CI:]

# Later blocks may use what earlier ones made, so all run in one folder, one after the other, on one worker.
pytestmark = pytest.mark.xdist_group("readme")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tracked files but those of the tests."""
    folder = tmp_path_factory.mktemp("clone")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if name.startswith("tests/") or not (ROOT / name).is_file():
            continue
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
    return folder


@dataclass(frozen=True)
class Shell:
    """Where and with what the commands of a block run."""

    folder: Path
    variables: dict[str, str]
    uri: str = USUAL_URI

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", command.replace(USUAL_URI, self.uri)],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


def shell(block: Block, folder: Path, request: pytest.FixtureRequest) -> Shell:
    """`trace-prov` on the path, and the servers that the block needs."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = {**os.environ, "PATH": path, "PYTHONUTF8": "1"}
    for need in block.needs:
        assert need in FIXTURES, f"README.md, before line {block.line}: needs {need!r}, known: {', '.join(FIXTURES)}"
        try:
            server = request.getfixturevalue(FIXTURES[need])
        except pytest.FixtureLookupError:
            pytest.skip(f"there is no fixture {FIXTURES[need]}")
        variables |= {"NEO4J_URI": server.uri, "NEO4J_USERNAME": server.user, "NEO4J_PASSWORD": server.password}
        return Shell(folder, variables, server.uri)
    return Shell(folder, variables)


def test_readme_has_blocks_to_run() -> None:
    assert BLOCKS, "README.md has no ```sh block after the first two"


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_the_commands_of_the_readme_run(block: Block, clone: Path, request: pytest.FixtureRequest) -> None:
    terminal = shell(block, clone, request)
    for command in filter(str.strip, block.commands):
        done = terminal.run(command)
        assert done.returncode == 0, (
            f"README.md, block at line {block.line}: {command}\nended with {done.returncode}\n"
            f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        )


def test_blocks_are_read_with_their_needs_and_continued_lines() -> None:
    page = "a\n```sh\none\n```\n<!-- needs: neo4j -->\n\n```sh\ntwo \\\n  three\nfour\n```\n```text\nno\n```\n"
    first, second = blocks(page)
    assert (first.line, first.commands, first.needs) == (3, ("one",), ())
    assert (second.commands, second.needs) == (("two    three", "four"), ("neo4j",))
