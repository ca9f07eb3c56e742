"""Groups of commands whose help says of each command what it does, to the end of the sentence."""

from __future__ import annotations

import click


class Commands(click.Group):
    """As `click.Group`, which cuts what it says of a command at the end of the line."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, _summary(command)) for name, command in found if command is not None]
            )


def _summary(command: click.Command) -> str:
    """The first paragraph of its help, on one line."""
    return " ".join((command.help or "").split("\n\n")[0].split())
