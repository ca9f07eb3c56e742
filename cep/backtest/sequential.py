"""The records of an archive through one run in this process: what every other way must equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from cep.backtest.records import encoded
from cep.backtest.selection import Selection
from cep.engine.kernels.state import OUT_ORDER
from cep.engine.native import Compiled
from cep.engine.rows import Rows


def sequential(
    rules: Compiled, selection: Selection, advance: Callable[[int], None] = lambda n: None
) -> Iterator[Rows]:
    """Output rows in order, `Rows.orders` being `order_of` ingest."""
    run = rules.start()
    done = 0
    for batch in encoded(selection, run):
        orders = batch.ints[:, OUT_ORDER].copy()
        # counted on, so that records of two symbols that share a number stay two records
        batch.ints[:, OUT_ORDER] = np.arange(done, done + len(batch))
        rows = run.feed(batch)
        rows.ints[:, OUT_ORDER] = orders[rows.ints[:, OUT_ORDER] - done]
        done += len(batch)
        advance(len(batch))
        yield rows
