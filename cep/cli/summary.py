"""What commands that run rules tell at their end, on standard error."""

from __future__ import annotations

from cep.cli.text import say
from cep.dropped import Dropped


def tell_dropped(dropped: Dropped) -> None:
    """What was dropped, by name and reason; one line when nothing was."""
    say("\n".join(dropped.lines()), err=True)


def note(said: str) -> None:
    """What may surprise, though nothing is wrong."""
    say(f"note: {said}", err=True)
