"""docs/cli.md and the output in docs/contract.md are what the program prints; every command is documented."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from trace_prov.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLES: dict[str, list[str]] = tomllib.loads((ROOT / "docs" / "cli_examples.toml").read_text("utf-8"))


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield " ".join((*path, name)), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


COMMANDS = dict(commands(main))


def test_the_pages_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_an_example(name: str) -> None:
    assert COMMANDS[name].help, f"trace-prov {name} has no docstring, so its --help says nothing"
    assert EXAMPLES.get(name), f'add an example under "{name}" to docs/cli_examples.toml, then run: make docs'


def test_examples_are_of_commands_that_exist() -> None:
    assert set(EXAMPLES) - set(COMMANDS) == set(), "remove these from docs/cli_examples.toml, then run: make docs"


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_calls_that_the_command_accepts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The files that an example names need not be there.
    monkeypatch.setattr(click.Path, "convert", lambda _, value, *rest: value)
    for line in EXAMPLES[name]:
        called = [_parsed(tokens) for tokens in _calls(line)]
        assert any(command == name or command.startswith(f"{name} ") for command in called), line


def _calls(line: str) -> Iterator[list[str]]:
    """The arguments of each `trace-prov` in a command line, without redirections."""
    tokens: list[str] = []
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    for token in [*lexer, "&&"]:
        if token in ("&&", "|", ">"):
            if tokens[:1] == ["trace-prov"]:
                yield tokens[1:]
            tokens = []
        else:
            tokens.append(token)


def _parsed(tokens: list[str]) -> str:
    """The command that a call names; its options and arguments are read as the command itself reads them."""
    command: click.Command = main
    names: list[str] = []
    while isinstance(command, click.Group):
        names.append(tokens[len(names)])
        command = COMMANDS[" ".join(names)]
    command.make_context(names[-1], tokens[len(names) :])
    return " ".join(names)
