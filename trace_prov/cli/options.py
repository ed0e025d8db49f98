"""Options that several commands share."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from trace_prov.derive import Question
from trace_prov.errors import UsageError
from trace_prov.model import action_id
from trace_prov.source import DEFAULT_MAX_BYTES

Command = Callable[..., Any]


class GivenPath(click.Path):
    """A path as `pathlib.Path`. The empty text, which a shell makes of an unset variable, is none."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("expected a path, found an empty text", param, ctx)
        return super().convert(value, param, ctx)


def log_options(*, required: bool = True) -> Callable[[Command], Command]:
    """LOGS, --from-format and --max-bytes."""

    def decorate(command: Command) -> Command:
        size = click.IntRange(min=1)
        command = click.option(
            "--max-bytes", type=size, default=DEFAULT_MAX_BYTES, show_default=True, help="Refuse a file of more bytes."
        )(command)
        command = click.option(
            "--from-format", metavar="NAME", help="Read every log as this format; default: by content."
        )(command)
        return click.argument("logs", nargs=-1, type=GivenPath(), metavar="LOGS...", required=required)(command)

    return decorate


def question_options(command: Command) -> Command:
    """--all-actions, --action, --argument and --literal, handed on as one `question`."""

    @click.option("--all-actions", is_flag=True, help="Ask about every action, not only the target's.")
    @click.option("--action", metavar="ID", help="Ask about this action, such as act-02.")
    @click.option("--argument", metavar="NAME", help="Ask about this argument of the action; default: as for a target.")
    @click.option("--literal", metavar="TEXT", help="Ask about this text: of the target's action, or of those named.")
    @functools.wraps(command)
    def with_question(
        *args: Any, all_actions: bool, action: str | None, argument: str | None, literal: str | None, **kwargs: Any
    ) -> Any:
        return command(*args, question=_question(all_actions, action, argument, literal), **kwargs)

    return with_question


def _question(all_actions: bool, action: str | None, argument: str | None, literal: str | None) -> Question:
    if literal == "":
        raise UsageError("--literal: the empty text is never a target; give at least one character")
    if argument is not None and literal is not None:
        raise UsageError("--argument and --literal exclude each other: a literal replaces the argument's value")
    if all_actions and action is not None:
        raise UsageError("--all-actions and --action exclude each other")
    return Question(all_actions, None if action is None else _spelt(action), argument, literal)


def _spelt(action: str) -> str:
    match = re.fullmatch(r"act-(\d{1,9})", action)
    if match is None or int(match[1]) == 0:
        raise UsageError(f"--action {action}: expected an action such as act-02")
    return action_id(int(match[1]))
