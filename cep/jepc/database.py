"""A database as a provider: SQLite, DuckDB or PostgreSQL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from threading import Event as Waiting
from typing import Any

import numpy as np
import sqlalchemy as sa

from cep.database.batches import Arrivals, Column, Found, in_order
from cep.database.drivers import connect
from cep.database.program import build, prepared
from cep.database.runner import Options, Runner
from cep.dropped import Dropped
from cep.jepc.provider import Event, Result
from cep.plan.nodes import Plan

PAUSE_MS = 100
"""Before the second attempt at a batch; twice as long before each further one."""


class DatabaseProvider:
    """Runs queries on a database of yours; what it cannot run it refuses by name.

    `url` as SQLAlchemy writes it: `sqlite://` (in memory), `sqlite:///file`, `duckdb:///file`,
    `postgresql://user:password@host:port/name`. A batch of events is one transaction. `durable`:
    what was pushed survives a power failure. `prefix` begins the names of its tables: give each of
    several runs in one database its own. `batch_events`: the most events of one transaction.
    `replace`: the queries may differ from those of an earlier run, whose windows are then emptied;
    otherwise they are DatabaseError, and nothing is touched.

    Events must come in the order of time; EventError for a late one, DatabaseError for what the
    database reports. Both leave what came before as it is.
    """

    def __init__(
        self,
        url: str = "sqlite://",
        *,
        durable: bool = False,
        prefix: str = "mt5cep_",
        batch_events: int | None = None,
        replace: bool = False,
    ) -> None:
        is_kept = not _is_in_memory(url)
        place = sa.engine.make_url(url).render_as_string() if is_kept else "memory"
        options = Options(prefix, durable, batch_events, is_kept, may_replace=replace, place=place)
        self._runner = Runner(connect(url, durable), options, _pause)

    @property
    def taken(self) -> int:
        """How many events have been taken for good, over all restarts."""
        return self._runner.progress.seq

    @property
    def dropped(self) -> Dropped:
        """Nothing: a database holds whatever its queries may still need."""
        return Dropped()

    def refusals(self, plan: Plan) -> dict[str, str]:
        """What of a plan the database does not run: the reason by operator."""
        return dict(build(prepared(plan), (), self._runner.dialect).refused)

    def change(self, plan: Plan, outputs: Collection[str]) -> None:
        """Go on with another plan; a plan that was run here before goes on where it was."""
        self._runner.change(plan, outputs)

    def push(self, events: Sequence[Event]) -> list[Result]:
        """Push the events, a batch at a time.

        When the database fails, nobody is told the results of the batches before: `push_batches`
        tells them in time.
        """
        return [one for results in self.push_batches(events) for one in results]

    def push_batches(self, events: Sequence[Event]) -> Iterator[list[Result]]:
        """A batch is taken when the next results are asked for; all events are checked at once."""
        return map(self._told, self._runner.push(_arrivals(events)))

    def push_columns(self, arrivals: Sequence[Arrivals]) -> Iterator[list[Found]]:
        """Push events column by column; results come batch by batch, as the database gives them."""
        return self._runner.push(arrivals)

    def last_results(self) -> list[Result]:
        """The results of the last batch once more.

        After a restart: the batch was taken for good, but perhaps nobody has seen its results.
        """
        return self._told(self._runner.again())

    def explain(self) -> str:
        """How each query is run: a line per step."""
        return self._runner.explain()

    def close(self) -> None:
        self._runner.close()

    def _told(self, found: Sequence[Found]) -> list[Result]:
        rows = in_order(found, self._runner.program.ranks)
        return [
            Result(stream, time, dict(zip(names, values, strict=True)))
            for stream, _, time, names, values in rows
        ]


def _is_in_memory(url: str) -> bool:
    try:
        name = sa.engine.make_url(url).database
    except sa.exc.ArgumentError:  # connecting says what is wrong
        return True
    return name in (None, "", ":memory:")


def _pause(attempt: int) -> None:
    Waiting().wait(PAUSE_MS / 1_000 * 2 ** (attempt - 1))


def _arrivals(events: Sequence[Event]) -> list[Arrivals]:
    """Events by stream, each with its place among all."""
    by_stream: defaultdict[str, list[int]] = defaultdict(list)
    for place, event in enumerate(events):
        by_stream[event.stream].append(place)
    made = []
    for stream, places in by_stream.items():
        rows: Any = (events[place].values for place in places)
        columns: tuple[Column, ...] = tuple(zip(*rows, strict=True))
        times = np.array([events[place].time_msc for place in places], np.int64)
        made.append(Arrivals(stream, np.array(places, np.int64), times, columns))
    return made
