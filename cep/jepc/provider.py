"""What an engine must do to stand behind the interface."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from cep.plan.nodes import Plan

if TYPE_CHECKING:
    from cep.database.batches import Arrivals


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

    def push_batches(self, events: Sequence[Event]) -> Iterator[list[Result]]:
        """As `push`; results come as soon as they are for good, before more events are taken."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


class ColumnProvider(Provider, Protocol):
    """A provider that takes events column by column and gives results as it makes them.

    How results lie in what it gives is its own; `len` says how many there are.
    """

    def push_columns(self, arrivals: Sequence[Arrivals]) -> Iterator[Sequence[Sized]]:
        """Take events, ordered by their places; the results of each batch follow one another."""
        ...
