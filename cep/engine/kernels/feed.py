"""How Python enters a stage in which nothing but engines is at work."""

from __future__ import annotations

from cep.engine.jit import addressed
from cep.engine.kernels.addressed import START, STOP, TABLE, row_floats, row_ints, state_of, words
from cep.engine.kernels.arrive import feed_rows
from cep.engine.kernels.clocks import mark_row


@addressed
def enter(address: int) -> int:
    """Feed the rows that the table at an address names: see `feed_rows`."""
    table, rows = words(address, TABLE), row_ints(address)
    mark_row(address, rows)
    return feed_rows(table[START], table[STOP], rows, row_floats(address), state_of(address))
