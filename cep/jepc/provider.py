"""What an engine must do to stand behind the interface."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from cep.database.errors import EventError
from cep.dropped import Dropped
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

    @property
    def dropped(self) -> Dropped:
        """What it has dropped so far, by operator of the plan and reason; closed, too.

        Operators that go on under another plan keep their counts, others take theirs along. Events
        that are refused are not dropped.
        """
        ...

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

        The results are those of pushing the events one by one. EventError, and nothing taken, when
        one is older than one before it.
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


def newest_after(events: Sequence[Event], newest_msc: int) -> int:
    """The newest time when they have come; EventError for one that comes after a newer one."""
    for place, event in enumerate(events):
        if event.time_msc < newest_msc:
            raise EventError.late(place, event.time_msc, newest_msc)
        newest_msc = event.time_msc
    return newest_msc
