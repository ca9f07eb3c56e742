"""The records of an archive through one run in this process: what every other way must equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from cep.backtest.gathered import gathered
from cep.backtest.held_ticks import Held
from cep.backtest.records import Moment, ingest_of, lived
from cep.backtest.selection import Selection
from cep.dropped import Ended, nobody
from cep.engine.input_rows import InputRows
from cep.engine.kernels.state import OUT_ORDER, OUT_TIME, Ints
from cep.engine.native import Compiled, Run
from cep.engine.rows import Rows


def sequential(
    rules: Compiled,
    selection: Selection,
    advance: Callable[[int], None] = lambda n: None,
    ended: Ended = nobody,
    held: Held | None = None,
) -> Iterator[Rows]:
    """Output rows in order, `Rows.orders` being `order_of` ingest.

    Sorted history ends with its newest record; what was lived ends as it did, with its watermarks.
    `ended` is told what was dropped, and `held` gets the ticks for who needs them again.
    """
    run = rules.start(mode="lived" if selection.is_lived else "sorted")
    yield from gathered(_fed_all(run, selection, advance, held), run.masks)
    ended(run.dropped)


def _fed_all(
    run: Run, selection: Selection, advance: Callable[[int], None], held: Held | None
) -> Iterator[Rows]:
    # counted on, so that records of two symbols that share a number stay two records
    done = last = newest_msc = 0
    for record in lived(selection, run, held):
        if isinstance(record, Moment):
            tell_places(run, np.array([record.order]), done)
            for told in run.watermarks.tell(*record.told):
                yield caused_at(record.order, run.tell(told, done))
            done += 1
        else:
            last = int(record.ints[-1, OUT_ORDER])
            newest_msc = max(newest_msc, int(record.ints[:, OUT_TIME].max()))
            rows = _fed(run, record, done)
            done += len(record)
            advance(len(record))
            yield rows
    if done and selection.ends_sorted:
        tell_places(run, np.array([last]), done)
        yield caused_at(last, run.end(newest_msc, done))


def caused_at(order: int, rows: Rows) -> Rows:
    """The rows, all caused at a place in the order."""
    rows.ints[:, OUT_ORDER] = order
    return rows


def _fed(run: Run, batch: InputRows, first: int) -> Rows:
    """What a batch leads to when it is fed with orders from `first` on."""
    orders = batch.ints[:, OUT_ORDER].copy()
    batch.ints[:, OUT_ORDER] = np.arange(first, first + len(batch))
    tell_places(run, orders, first)
    rows = run.feed(batch)
    rows.ints[:, OUT_ORDER] = orders[rows.ints[:, OUT_ORDER] - first]
    return rows


def tell_places(run: Run, orders: Ints, first: int) -> None:
    """Let functions see the ingest numbers of what is fed next, as they do where it was lived."""
    ingest = ingest_of(orders)
    run.number_by(lambda order: int(ingest[order - first]))
