"""What an engine must do to stand behind the interface."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cep.plan.nodes import Plan


@dataclass(frozen=True, slots=True)
class Result:
    """One result: the query that made it, its time in ms, its attributes by name."""

    query: str
    time_msc: int
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """One event for a stream; `values` in the order of the stream's schema, None is null."""

    stream: str
    time_msc: int
    values: tuple[Any, ...]


class Provider(Protocol):
    """An engine that runs plans. An event processor calls it from one thread."""

    def refusals(self, plan: Plan) -> dict[str, str]:
        """What of a plan it cannot run: the reason by name of operator."""
        ...

    def change(self, plan: Plan, outputs: Collection[str]) -> None:
        """Run this plan from now on, and return the rows of the streams `outputs`.

        Operators that are as they were keep their windows; others begin empty.
        """
        ...

    def push(self, events: Sequence[Event]) -> list[Result]:
        """Take events, in order, and return all they cause, in order.

        The results are those of pushing the events one by one.
        """
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...
