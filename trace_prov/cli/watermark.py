"""`trace-prov watermark`: the group. Its commands are in `watermark_commands` and need the extra `watermark`."""

from __future__ import annotations

import importlib

import click

from trace_prov.cli.listing import ListingGroup
from trace_prov.errors import UsageError

EXTRA = frozenset({"cryptography", "numpy", "scipy"})


class WatermarkGroup(ListingGroup):
    """Imports its commands on first use, so that `trace-prov --help` needs no optional package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_members().commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _members().commands.get(cmd_name)


def _members() -> click.Group:
    try:
        group = importlib.import_module("trace_prov.cli.watermark_commands").commands
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in EXTRA:
            raise
        raise UsageError(f"{error.name} is not installed: pip install 'trace-prov[watermark]'") from error
    assert isinstance(group, click.Group)
    return group


@click.group(cls=WatermarkGroup)
def watermark() -> None:
    """The TRACE watermark: mark an agent's trajectories, attack them, detect the mark."""
