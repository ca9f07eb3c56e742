"""A plan at work on a database and on our engine behind it, some rows at a time.

First the database takes rows, for good, and gives what it makes of them; then our engine takes the
same rows with that. Between the two a caller can keep what the database has made.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from cep.database.batches import Arrivals, Found, Ints, in_order
from cep.database.order import arrivals
from cep.database.runner import Runner
from cep.engine.columns import Column
from cep.engine.divided import Divided
from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import OUT_CLOCK
from cep.engine.native import Run
from cep.engine.rows import Rows
from cep.fragments.rows import DerivedRow, Line, StreamRows
from cep.plan.nodes import Event, Plan
from cep.plan.outlets import streams_read
from cep.plan.query import Query


class Fragments:
    """Both fragments of a plan at work. `first` is the place of the database's first event.

    A row that is older than one before it stands in the database at that one's time, for rows lie
    in order there, with its own beside it, by which windows let it go. `late` counts such rows.
    """

    def __init__(
        self,
        plan: Plan,
        plans: Divided,
        runner: Runner,
        run: Run,
        wanted: frozenset[str],
        first: int = 0,
    ) -> None:
        self.plans = plans
        self.runner = runner
        self.run = run
        self.late = 0
        self._wanted = wanted
        self._shift = 1 - first
        self._ranks = _ranks(plan)
        self._fed = plans.feeding()
        self._names = {stream.name: stream.schema.names for stream in plan.sources}

    @property
    def taken(self) -> int:
        """The place of the last row that the database has."""
        return self.runner.progress.seq - self._shift

    def front(self, parts: Sequence[StreamRows], *, whole: bool = False) -> list[DerivedRow]:
        """What the database makes of rows that come after those it has; they are taken for good.

        `whole`: in one transaction. DatabaseError: `taken` tells how far it has come.
        """
        before, newest_msc = self.taken, self.runner.progress.now_msc
        own = _dense(parts, before)
        known = np.maximum.accumulate(np.concatenate([[newest_msc], own]))[1:]
        pushed = [
            Arrivals(part.stream, places, known[places], self._columns(part), part.times)
            for part in parts
            if len(places := part.orders - before - 1)
        ]
        if whole:
            found = self.runner.push_whole(pushed)
        else:
            found = [one for batch in self.runner.push(pushed) for one in batch]
        self.late += sum(
            int((part.times < known[part.orders - before - 1]).sum()) for part in parts
        )
        return self._made(found, before, own)

    def again(self, parts: Sequence[StreamRows]) -> list[DerivedRow]:
        """What the database has made of its last batch, once more; `parts` are its rows."""
        before = self.runner.progress.done - self._shift
        own = _dense([part.between(before, self.taken) for part in parts], before)
        return self._made(self.runner.again(), before, own)

    def lines(self, made: Sequence[DerivedRow]) -> list[Line]:
        """What of it is wanted as output."""
        names = {name: self.plans.front.stream(name).schema.names for name, *_ in made}
        return [
            (
                (order, 1, self._ranks[stream]),
                {"stream": stream, "time_msc": time, "kind": "current"}
                | dict(zip(names[stream], values, strict=True)),
            )
            for stream, order, time, values in made
            if stream in self._wanted
        ]

    def behind(self, parts: Sequence[StreamRows], made: Sequence[DerivedRow]) -> list[Line]:
        """What our engine makes of the rows, and of what the database has made of them."""
        return self.numbered(self.run.feed(self._encoded(parts, made)))

    def numbered(self, rows: Rows) -> list[Line]:
        """Rows of our engine; those that no query makes follow what came before them."""
        ranks: dict[tuple[int, int], int] = {}
        lines = []
        for order, clock, row in zip(
            rows.orders.tolist(), rows.ints[:, OUT_CLOCK].tolist(), rows.dicts(), strict=True
        ):
            phase = int(clock >= 0)  # below: time has made it, in front of a record
            least = ranks.get((order, phase), 0)
            rank = max(least, self._ranks.get(row["stream"], least))
            ranks[order, phase] = rank
            lines.append(((order, phase, rank), row))
        return lines

    def _columns(self, part: StreamRows) -> tuple[Column, ...]:
        """In the order of the stream's schema."""
        return tuple(part.columns[name] for name in self._names[part.stream])

    def _made(self, found: Sequence[Found], before: int, own: Ints) -> list[DerivedRow]:
        made = []
        for stream, seq, _, _, values in in_order(found, self._ranks):
            order = seq - self._shift
            made.append((stream, order, int(own[order - before - 1]), values))
        return made

    def _encoded(self, parts: Sequence[StreamRows], made: Sequence[DerivedRow]) -> InputRows:
        """Source rows (whose keys get numbers as they come), and what the database has made."""
        encode = self.run.encoder.encode
        rows: dict[str, InputRows] = {}
        for part in parts:
            if part.stream in self.run.encoder.sources:
                rows[part.stream] = encode(part.stream, part.columns, part.times, part.orders)
        passed: defaultdict[str, list[DerivedRow]] = defaultdict(list)
        for one in made:
            if one[0] in self.plans.passed:
                passed[one[0]].append(one)
        for stream, some in passed.items():
            _, orders, times, values = zip(*some, strict=True)
            names = self.run.encoder.source(stream).schema.names
            lists = dict(zip(names, map(list, zip(*values, strict=True)), strict=True))
            rows[stream] = encode(stream, lists, np.array(times), np.array(orders))
        if not rows:
            nothing = self.run.no_rows()
            return InputRows(nothing.ints, nothing.floats)
        fed = sorted(rows, key=lambda stream: self._fed.get(stream, -1))
        return InputRows.merge([rows[name] for name in fed])


def _dense(parts: Sequence[StreamRows], before: int) -> Ints:
    """The time of each place after `before`; where there is no row, that of the row before it."""
    last = max((int(part.orders[-1]) for part in parts if len(part.orders)), default=before)
    places = np.zeros(last - before, np.int64)
    times = np.zeros(last - before, np.int64)
    for part in parts:
        at = part.orders - before - 1
        places[at] = at
        times[at] = part.times
    filled: Ints = times[np.maximum.accumulate(places)] if len(times) else times
    return filled


def _ranks(plan: Plan) -> dict[str, int]:
    """The place among the rows of a record of each stream that leads back to a source by queries.

    What engines find, and what follows from that, comes right behind what they were told.
    """
    known = {source.name for source in plan.sources}
    for operator in plan.operators:
        if isinstance(operator, Event) and operator.source in known:
            known.add(operator.name)
        elif isinstance(operator, Query) and known.intersection(streams_read(operator)):
            known.add(operator.target or "")
    return {name: rank for name, rank in arrivals(plan).streams.items() if name in known}


def merged(*lines: Sequence[Line]) -> list[Line]:
    """Output of both fragments in one order."""
    return sorted((one for some in lines for one in some), key=lambda line: line[0])
