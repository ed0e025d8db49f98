"""The command line: one file a group of commands, each a few lines that call the line of the product.

Exit codes: 0 fine; 1 findings or violations where the command was asked to fail on them; 2 bad input or usage.
Commands are imported only when they are called, so that `trace-prov --help` needs no optional package.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys

import click

from trace_prov import __version__
from trace_prov.cli.listing import write_commands
from trace_prov.errors import TraceProvError, UsageError

#: section of the help -> command name -> (module, attribute); adding a command adds one line here and one file beside
#: this one.
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Ask logs": {
        "derive": ("trace_prov.cli.derive", "derive"),
        "explain": ("trace_prov.cli.derive", "explain"),
    },
    "Keep and query": {
        "load": ("trace_prov.cli.store", "load"),
        "query": ("trace_prov.cli.store", "query"),
        "neo4j": ("trace_prov.cli.neo4j", "neo4j"),
    },
    "Hand over part of the evidence": {
        "answerability": ("trace_prov.cli.package_answerability", "answerability"),
        "plan": ("trace_prov.cli.package_plan", "plan_package"),
        "package": ("trace_prov.cli.package", "package"),
        "validate": ("trace_prov.cli.validate", "validate"),
        "answer": ("trace_prov.cli.package_answer", "answer_packages"),
        "diff": ("trace_prov.cli.package_diff", "diff_packages"),
    },
    "Seal and exchange": {
        "seal-key": ("trace_prov.cli.seal", "seal_key"),
        "seal": ("trace_prov.cli.seal", "seal"),
        "verify": ("trace_prov.cli.seal", "verify"),
        "prove": ("trace_prov.cli.seal", "prove_"),
        "export": ("trace_prov.cli.export", "export"),
        "import": ("trace_prov.cli.importing", "import_"),
    },
    "Research": {
        "corpus": ("trace_prov.cli.corpus", "corpus"),
        "study": ("trace_prov.cli.study", "study"),
        "watermark": ("trace_prov.cli.watermark", "watermark"),
    },
}
COMMANDS = {name: place for section in SECTIONS.values() for name, place in section.items()}

#: command -> the extra of pyproject.toml that brings what it needs beyond the plain installation
EXTRAS = {
    "corpus": "agentdojo",
    "import": "prov",
    "neo4j": "neo4j",
    "package": "package",
    "prove": "seal",
    "seal": "seal",
    "seal-key": "seal",
    "study": "study",
    "verify": "seal",
    "watermark": "watermark",
}

EXIT_BAD_INPUT = 2

#: How the database begins to say so, wherever something is read from it.
STORE_DAMAGED = ("Corruption: ", "IO error: ")


class LazyGroup(click.Group):
    """A group whose commands are imported on first use and whose user errors never show a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """By section in the order of the work, each with its whole first sentence."""
        for title, names in SECTIONS.items():
            write_commands(self, ctx, formatter, title, names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name]
        try:
            command = getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            return _not_installed(cmd_name, error)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except TraceProvError as error:
            sentence = str(error)
        except ModuleNotFoundError as error:
            sentence = _missing(ctx.invoked_subcommand, error)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # the reader of the output has gone; click ends without a word
            where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
            sentence = f"{where}{error.strerror or error}"
        except RuntimeError as error:
            if not str(error).startswith(STORE_DAMAGED):
                raise
            sentence = f"the store is damaged; load the logs into a new one: {error}"
        from trace_prov.cli.output import say

        say("error", sentence)
        raise SystemExit(EXIT_BAD_INPUT)


def _missing(command: str | None, error: ModuleNotFoundError) -> str:
    """What to install; a module of our own that is missing is our mistake and stays an exception."""
    package = (error.name or "").split(".")[0]
    if package in ("", "trace_prov"):
        raise error
    return f"{command or 'this'} needs the package {package}: {_install(command)}"


def _install(command: str | None) -> str:
    return f"pip install 'trace-prov[{EXTRAS.get(command or '', 'all')}]'"


def _not_installed(name: str, error: ModuleNotFoundError) -> click.Command:
    """Stands for a command whose optional packages are not installed, so that help still lists it."""
    sentence = _missing(name, error)

    @click.command(name, add_help_option=False, context_settings={"ignore_unknown_options": True})
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def stand_in(arguments: tuple[str, ...]) -> None:
        raise UsageError(sentence)

    stand_in.short_help = f"(not installed: {_install(name)})"
    return stand_in


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="trace-prov")
def main() -> None:
    """Provenance graphs for the forensics of LLM-agent logs.

    Exit codes: 0 fine, 1 findings or violations where asked to fail, 2 bad input or usage.
    """
    _prepare_streams()


def _prepare_streams() -> None:
    """Output is UTF-8 whatever the locale, and a file name that is none is shown with escapes.

    A stream that the caller closed is opened on the null device, or the next file opened would take its place. Raises
    UsageError when it is standard output: there is no way to answer.
    """
    is_closed = sys.stdout is None
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    if is_closed:
        raise UsageError("standard output is closed; send it to a file, a pipe or /dev/null")
