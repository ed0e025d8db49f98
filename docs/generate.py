"""Write what the documentation takes from the product itself.

python docs/generate.py            write docs/cli.md and the output shown in ```console blocks
python docs/generate.py --check    write nothing; show what is stale and end with exit code 1

docs/cli.md is the `--help` of every command, with the examples of docs/cli_examples.toml. In a ```console block each
line that starts with `$ ` is run, and what it prints stands below it.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from trace_prov.cli import main as trace_prov

DOCS = Path(__file__).parent
ROOT = DOCS.parent
REFRESH = "python docs/generate.py (or: make docs)"
#: Pages whose ```console blocks are run.
PAGES_WITH_OUTPUT = ("contract.md",)
WIDTH = 100

_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(group: click.Group = trace_prov, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """(name, command) of every command and subcommand, a group before its members."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield " ".join((*path, name)), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


def examples() -> dict[str, list[str]]:
    """Example command lines by the name of their command."""
    return tomllib.loads((DOCS / "cli_examples.toml").read_text("utf-8"))


def help_of(name: str) -> str:
    """What `trace-prov NAME --help` prints."""
    arguments = [*name.split(), "--help"]
    result = CliRunner().invoke(
        trace_prov, arguments, prog_name="trace-prov", terminal_width=WIDTH, catch_exceptions=False
    )
    if result.exit_code != 0:
        raise SystemExit(f"trace-prov {name} --help ended with {result.exit_code}:\n{result.output}")
    return result.output.rstrip()


def cli_page() -> str:
    """docs/cli.md."""
    given = examples()
    parts = [
        "# Command line\n\n"
        f"Written from the program's own `--help` by `{REFRESH}`; do not edit. Examples: `docs/cli_examples.toml`.\n\n"
        "A table is for people; `--format json`, `jsonl` or `csv` is for pipes. Progress, warnings and errors go to\n"
        "standard error. Exit codes: 0 fine; 1 findings or violations where a command was asked to fail on them;\n"
        "2 bad input or usage.",
        _section("trace-prov", "", []),
    ]
    parts.extend(_section(f"trace-prov {name}", name, given.get(name, [])) for name, _ in commands())
    return "\n\n".join(parts) + "\n"


def _section(title: str, name: str, lines: list[str]) -> str:
    level = "#" * (2 + max(0, len(name.split()) - 1))
    shown = f"{level} {title}\n\n```text\n{help_of(name)}\n```"
    return f"{shown}\n\n```sh\n" + "\n".join(lines) + "\n```" if lines else shown


def page_with_output(text: str) -> str:
    """The page with the commands of its ```console blocks run again, all in one new folder beside `examples`."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        return _CONSOLE.sub(lambda block: f"```console\n{_run_again(block[1], Path(folder))}```", text)


def _run_again(block: str, folder: Path) -> str:
    lines = [line for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"{line}\n{_output_of(line.removeprefix('$ '), folder)}" for line in lines)


def _output_of(command: str, folder: Path) -> str:
    """What a command prints on both outputs, without the blanks that pad a table."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def pages() -> Iterator[tuple[Path, str]]:
    """Each page that is written here, wholly or in part, as it should be."""
    yield DOCS / "cli.md", cli_page()
    for name in PAGES_WITH_OUTPUT:
        page = DOCS / name
        yield page, page_with_output(page.read_text("utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a page is stale")
    check = parser.parse_args().check
    stale = False
    for page, wanted in pages():
        found = page.read_text("utf-8") if page.exists() else ""
        if found == wanted:
            continue
        stale = True
        name = page.relative_to(ROOT).as_posix()
        if check:
            diff = difflib.unified_diff(found.splitlines(), wanted.splitlines(), name, "the product", lineterm="")
            print("\n".join(diff))
        else:
            page.write_text(wanted, "utf-8")
            print(f"written: {name}")
    if check and stale:
        raise SystemExit(f"stale; to refresh, run: {REFRESH}, and commit what it writes")


if __name__ == "__main__":
    main()
