"""Options that several commands share, as one decorator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Command = TypeVar("Command", bound=Callable[..., Any])


def with_options(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    """The command with these options, which `--help` lists in their order."""
    for option in reversed(options):
        command = option(command)
    return command
