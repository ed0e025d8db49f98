"""How a group of commands lists them in its help."""

from __future__ import annotations

from collections.abc import Iterable

import click

#: Longer than any first sentence: click shortens what is longer, and half a sentence helps nobody.
_WHOLE = 1000


def write_commands(
    group: click.Group, ctx: click.Context, formatter: click.HelpFormatter, title: str, names: Iterable[str]
) -> None:
    """A section with each command and its whole first sentence."""
    commands = [(name, group.get_command(ctx, name)) for name in names]
    with formatter.section(title):
        formatter.write_dl([(name, command.get_short_help_str(_WHOLE)) for name, command in commands if command])


class ListingGroup(click.Group):
    """A group that lists its commands with whole sentences."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_commands(self, ctx, formatter, "Commands", self.list_commands(ctx))
