"""A deterministic offline run: files in, output rows out, in the one order of the records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cep.callbacks import Delivery
from cep.dropped import Ended, nobody
from cep.engine.encode import need_times
from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import Ints
from cep.engine.native import Compiled, Run
from cep.engine.rows import Rows
from cep.inputs import rows as read_rows
from cep.inputs.rows import column_names
from cep.interpreter.run import InterpretedRun, OutputRow
from cep.plan.nodes import Plan, Stream

BATCH_ROWS = 10_000
FIRST_ROWS = 500
"""Rows of the first batch, so that the first answers come soon; each next one has twice as many."""
INGEST = "ingest"


class ReplayError(ValueError):
    """Inputs that do not fit the rules or one another."""


@dataclass(frozen=True, slots=True)
class Source:
    """The rows of one source stream, in order, with their places in the total order."""

    stream: Stream
    table: pa.Table
    order: Ints

    def given(self) -> tuple[str, dict[str, pa.ChunkedArray], Ints, Ints]:
        """As a run takes them: the stream's name, a column per attribute, times and places."""
        columns = {name: self.table[name] for name in self.stream.schema.names}
        return self.stream.name, columns, self.table["time_msc"].to_numpy(), self.order


def _nobody(_said: str) -> None:
    """For those who need not be told."""


def read_sources(
    plan: Plan, files: Iterable[tuple[str, Path]], tell: Callable[[str], None] = _nobody
) -> list[Source]:
    """Read `stream=file` inputs and put all rows in one order.

    Files with a column `ingest` carry their order; others are sorted by time, equal times in the
    order of the files. `tell` is told of a file without rows, and of one that is not in order.
    ReplayError and `cep.inputs.InputError` say what does not fit.
    """
    read = [(_source_stream(plan, name), path) for name, path in files]
    if not read:
        raise ReplayError("no input: give --input STREAM=FILE for each source stream to feed")
    ordered = {INGEST in column_names(path) for _, path in read}
    if len(ordered) > 1:
        raise ReplayError("some inputs have a column `ingest` and some have none: give all or none")
    attributes = [(INGEST, "long")] if ordered == {True} else []
    tables = [(stream, read_rows(path, _types(stream) + attributes)) for stream, path in read]
    for (stream, path), (_, table) in zip(read, tables, strict=True):
        if said := oddity(table):
            tell(f"{stream.name}: {path}: {said}")
    return in_order(tables)


def oddity(table: pa.Table) -> str:
    """What whoever gave these rows may not know: there are none, or they are sorted first."""
    if not table.num_rows:
        return "no rows"
    if INGEST in table.column_names:
        return ""
    older = np.flatnonzero(np.diff(table["time_msc"].to_numpy()) < 0)
    if not len(older):
        return ""
    which = f", the first of {len(older):,} such rows" if len(older) > 1 else ""
    return (
        f"row {older[0] + 2} is older than the one before it{which}; rows are taken in the order of"
        f" time (a column `{INGEST}` gives another one)"
    )


def _types(stream: Stream) -> list[tuple[str, str]]:
    return [(attribute.name, str(attribute.type)) for attribute in stream.schema.attributes]


def _source_stream(plan: Plan, name: str) -> Stream:
    for stream in plan.sources:
        if stream.name == name:
            return stream
    known = ", ".join(stream.name for stream in plan.sources) or "none"
    raise ReplayError(f"no source stream {name!r} in the rules; they define: {known}")


def in_order(tables: list[tuple[Stream, pa.Table]]) -> list[Source]:
    """Give every row its place in the total order: its ingest number, else 0 for the first.

    Where rows share ingest numbers they are counted on, too.
    """
    keys = [
        table[INGEST if INGEST in table.column_names else "time_msc"].to_numpy()
        for _, table in tables
    ]
    together = np.concatenate(keys)
    places = np.argsort(together, kind="stable")
    ranks = np.empty(len(places), np.int64)
    ranks[places] = np.arange(len(places))
    if INGEST in tables[0][1].column_names and np.all(np.diff(together[places]) > 0):
        ranks = together.astype(np.int64)
    sources, first = [], 0
    for (stream, table), key in zip(tables, keys, strict=True):
        order = ranks[first : first + len(key)]
        first += len(key)
        sorting = np.argsort(order)
        sorted_table = table if np.all(sorting[1:] > sorting[:-1]) else table.take(sorting)
        sources.append(Source(stream, sorted_table, order[sorting]))
    return sources


def end_msc(sources: Iterable[Source], until_msc: int | None = None) -> int | None:
    """When the input ends, UTC: at its newest row, or later where time is to pass until then.

    None when there is nothing.
    """
    columns = [source.table["time_msc"] for source in sources if len(source.order)]
    newest = [int(pc.max(column).as_py()) for column in columns]
    return max([*newest, *([] if until_msc is None else [until_msc])], default=None)


def slices(sources: Sequence[Source], batch_rows: int = BATCH_ROWS) -> Iterator[list[Source]]:
    """The sources cut into batches of the one order; a batch has those that have rows in it."""
    orders = sources[0].order
    if len(sources) > 1:
        orders = np.concatenate([source.order for source in sources])
        orders.sort(kind="stable")  # O(n) for a few parts that are sorted
    at, size = 0, min(FIRST_ROWS, batch_rows)
    while at < len(orders):
        bounds = orders[at], orders[min(len(orders), at + size) - 1] + 1
        at, size = at + size, min(2 * size, batch_rows)
        parts = []
        for source in sources:
            start, stop = np.searchsorted(source.order, bounds)
            if start < stop:
                table = source.table.slice(int(start), int(stop - start))
                parts.append(Source(source.stream, table, source.order[start:stop]))
        yield parts


def batches(run: Run, sources: list[Source], batch_rows: int = BATCH_ROWS) -> Iterator[InputRows]:
    """The sources' rows encoded, in the one order."""
    for parts in slices(sources, batch_rows):
        yield _merged(run, parts)


def _merged(run: Run, parts: Iterable[Source]) -> InputRows:
    return InputRows.merge([run.encoder.encode(*part.given()) for part in parts])


def _fed(run: Run, parts: Sequence[Source]) -> Rows:
    """What comes of the rows of a batch; those of one source go the shortest way."""
    return run.push(*parts[0].given()) if len(parts) == 1 else run.feed(_merged(run, parts))


def replay(
    rules: Compiled,
    sources: list[Source],
    advance: Callable[[int], None] = lambda n: None,
    delivery: Delivery | None = None,
    until_msc: int | None = None,
    ended: Ended = nobody,
) -> Iterator[Rows]:
    """Run the rules over the sources; yields output in order, told how many rows were done.

    With a callback that sends rows, those are fed after the batch at hand. The rows are sorted
    history, which ends with its newest row or at `until_msc`, UTC. `ended` is told what was
    dropped.
    """
    run = rules.start(mode="sorted")
    for parts in slices(sources):
        yield from _delivered(run, delivery, _fed(run, parts))
        advance(sum(len(part.order) for part in parts))
    if (ended_msc := end_msc(sources, until_msc)) is not None:
        yield from _delivered(run, delivery, run.end(ended_msc))
    ended(run.dropped)


def replay_interpreted(
    run: InterpretedRun,
    sources: list[Source],
    advance: Callable[[int], None] = lambda n: None,
    until_msc: int | None = None,
) -> Iterator[list[OutputRow]]:
    """The same by the interpreter alone, which takes one record at a time."""
    for parts in slices(sources):
        for n, stream, time_msc, values in records(parts):
            yield run.push(stream, time_msc, values, n)
        advance(sum(len(part.order) for part in parts))
    if (ended_msc := end_msc(sources, until_msc)) is not None:
        yield run.end(ended_msc)


def records(parts: list[Source]) -> Iterator[tuple[int, str, int, tuple[Any, ...]]]:
    """The records of a batch in the one order: place in it, stream, time in ms UTC, values."""
    found = []
    for part in parts:
        need_times(part.stream.name, part.table["time_msc"].to_numpy())
        names = ("time_msc", *part.stream.schema.names)
        columns = [part.table[name].to_pylist() for name in names]
        rows = zip(*columns, strict=True)
        stream = part.stream.name
        found += [(n, stream, row) for n, row in zip(part.order.tolist(), rows, strict=True)]
    for n, stream, (time_msc, *values) in sorted(found, key=itemgetter(0)):
        yield n, stream, time_msc, tuple(values)


def _delivered(run: Run, delivery: Delivery | None, rows: Rows) -> Iterator[Rows]:
    """The rows, and with a callback what it makes of them."""
    yield rows
    if delivery is not None:
        yield from _handed(run, delivery, rows)


def _handed(run: Run, delivery: Delivery, rows: Rows) -> Iterator[Rows]:
    """Deliver rows, feed what the callback sends, deliver what that causes, until it is quiet."""
    delivery.deliver(rows.dicts())
    while sent := delivery.callback.take_sent():
        for stream, time_msc, row in sent:
            caused = run.push_row(stream, time_msc, row)
            yield caused
            delivery.deliver(caused.dicts())
