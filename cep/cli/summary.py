"""What commands that run rules tell at their end, on standard error."""

from __future__ import annotations

import click

from cep.dropped import Dropped


def tell_dropped(dropped: Dropped) -> None:
    """What was dropped, by name and reason; one line when nothing was."""
    click.echo("\n".join(dropped.lines()), err=True)


def note(said: str) -> None:
    """What may surprise, though nothing is wrong."""
    click.echo(f"note: {said}", err=True)
