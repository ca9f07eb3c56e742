"""Columns of one stream into encoded rows: all that NumPy does in `cep.engine.encode`, in one pass.

Rows are written a block at a time, column by column, so that a block stays in the first cache while
each of its cells is written. If keys have their rows already and no clock is ahead of any record,
which is the usual case, key rows and clocks are written, too; else whoever called does that.
"""

from __future__ import annotations

import math

from cep.engine.jit import addressed, inline, inner
from cep.engine.kernels import clocks
from cep.engine.kernels.addressed import floats_2, floats_at, ints_2, places_at, words
from cep.engine.kernels.clocks import moves
from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import (
    OUT_CLOCK,
    OUT_KEY,
    OUT_ORDER,
    OUT_STREAM,
    OUT_TIME,
    Floats,
    Ints,
)

# The words of a table: how many rows, the number of their stream, the place of the first in the
# total order and the address of all places if they do not count on, the address of their times;
# of both arrays of rows the address and the columns, and how many of these attributes take; whether
# keys are assigned, the column of the key's attribute if there is one, the address and the length
# of the rows of keys by code; the address and the length of clocks, or 0; how many attributes.
(
    COUNT, STREAM, FIRST_ORDER, ORDERS, TIMES, INTS, INTS_WIDTH, INTS_USED, FLOATS, FLOATS_WIDTH,
    FLOATS_USED, ASSIGNS, KEY, KEY_ROWS, KEY_ROWS_LENGTH, CLOCKS, CLOCKS_LENGTH, COLUMNS, HEAD,
) = range(19)  # fmt: skip
# Of each attribute: what its column is, its address, the cell it goes to, and of texts the address
# and the length of the codes of their dictionary.
KIND, ADDRESS, CELL, CODES, CODES_LENGTH, COLUMN_WORDS = range(6)
WHOLE, REAL, TEXT = range(3)

REFUSED, ENCODED, ASSIGNED = range(3)
"""What the rows are then: none, as something does not fit; without key rows and clocks; ready."""
BLOCK = 256
"""Rows whose cells fit into a first cache of 32 KiB."""


@inline
def fits(t: Ints, times: Ints) -> bool:
    """Whether no time is before 1970 and every text has its code."""
    for i in range(t[COUNT]):
        if times[i] < 0:
            return False
    for c in range(HEAD, HEAD + t[COLUMNS] * COLUMN_WORDS, COLUMN_WORDS):
        if t[c + KIND] == TEXT:
            places, known = places_at(t[c + ADDRESS], t[COUNT]), t[c + CODES_LENGTH]
            for i in range(t[COUNT]):
                if places[i] < 0 or places[i] >= known:
                    return False
    return True


@inline
def has_row(t: Ints, rows: Ints, code: int) -> bool:
    """Whether a key has its row, and the clocks have room for it."""
    if code < 0 or code >= len(rows) or rows[code] == 0:
        return False
    if t[CLOCKS] == 0:
        return True
    return rows[code] < words(t[CLOCKS], t[CLOCKS_LENGTH])[clocks.ROOM]


@inline
def all_known(t: Ints, rows: Ints, codes: Ints) -> bool:
    known = True
    for place in range(len(codes)):
        known = known and has_row(t, rows, codes[place])
    return known


@inline
def are_known(t: Ints) -> bool:
    """Whether every key has its row: all texts of a dictionary, or else those that come."""
    c = t[KEY]
    if c < 0:
        return True
    rows = words(t[KEY_ROWS], t[KEY_ROWS_LENGTH])
    if t[c + KIND] == WHOLE:
        own = words(t[c + ADDRESS], t[COUNT])
        return all_known(t, rows, own)
    codes = words(t[c + CODES], t[c + CODES_LENGTH])
    if all_known(t, rows, codes):
        return True
    places, known = places_at(t[c + ADDRESS], t[COUNT]), True
    for i in range(t[COUNT]):
        known = known and has_row(t, rows, codes[places[i]])
    return known


@inline
def in_order(t: Ints, times: Ints) -> bool:
    """Whether no clock is ahead of any record: `Clocks.mark` of these writes their times."""
    if t[CLOCKS] == 0:
        return True
    c = words(t[CLOCKS], t[CLOCKS_LENGTH])
    if c[clocks.HAS_ONE] and not c[clocks.IS_SORTED]:
        return False  # keys may be ahead of the one clock
    newest_ms = c[clocks.TOP]
    for i in range(t[COUNT]):
        if times[i] < newest_ms:
            return False
        newest_ms = times[i]
    return True


@inline
def write_head(t: Ints, times: Ints, ints: Ints, first: int, stop: int) -> None:
    """Everything of rows but their attributes; no key, and no clock."""
    stream, order, used, width = t[STREAM], t[FIRST_ORDER], t[INTS_USED], t[INTS_WIDTH]
    for i in range(first, stop):
        ints[i, OUT_ORDER] = order + i
        ints[i, OUT_STREAM] = stream
        ints[i, OUT_TIME] = times[i]
        ints[i, OUT_KEY] = NULL
        ints[i, OUT_CLOCK] = 0
        for cell in range(used, width):
            ints[i, cell] = 0
    if t[ORDERS] != 0:
        orders = words(t[ORDERS], t[COUNT])
        for i in range(first, stop):
            ints[i, OUT_ORDER] = orders[i]


@inline
def write_column(t: Ints, c: int, ints: Ints, floats: Floats, first: int, stop: int) -> None:
    """The cells of one attribute."""
    count, cell = t[COUNT], t[c + CELL]
    if t[c + KIND] == REAL:
        reals = floats_at(t[c + ADDRESS], count)
        for i in range(first, stop):
            value = reals[i]
            floats[i, cell] = value if math.isfinite(value) else math.nan
    elif t[c + KIND] == WHOLE:
        wholes = words(t[c + ADDRESS], count)
        for i in range(first, stop):
            ints[i, cell] = wholes[i]
    else:
        places = places_at(t[c + ADDRESS], count)
        codes = words(t[c + CODES], t[c + CODES_LENGTH])
        for i in range(first, stop):
            ints[i, cell] = codes[places[i]]


@inline
def assign(t: Ints, ints: Ints, first: int, stop: int) -> None:
    """The key rows and the clocks of rows in order, of keys that have their rows."""
    count = 0
    if t[CLOCKS] != 0:
        count = words(t[CLOCKS], t[CLOCKS_LENGTH])[clocks.OTHERS]
    for i in range(first, stop):
        ints[i, OUT_KEY] = 0
        ints[i, OUT_CLOCK] = ints[i, OUT_TIME] if t[CLOCKS] != 0 else 0
        for cell in range(t[INTS_WIDTH] - count, t[INTS_WIDTH]):
            ints[i, cell] = ints[i, OUT_TIME]
    if t[KEY] >= 0:
        rows, cell = words(t[KEY_ROWS], t[KEY_ROWS_LENGTH]), t[t[KEY] + CELL]
        for i in range(first, stop):
            ints[i, OUT_KEY] = rows[ints[i, cell]]


@inner
def tell(t: Ints, ints: Ints) -> None:
    """Let the clocks know of rows in order, as `Clocks.mark` does."""
    c, stream, last = words(t[CLOCKS], t[CLOCKS_LENGTH]), t[STREAM], t[COUNT] - 1
    c[clocks.TOP] = ints[last, OUT_TIME]
    if c[clocks.IS_SORTED]:
        return
    own = c[clocks.TIMES_AT] + stream * c[clocks.ROOM]
    for i in range(t[COUNT]):
        c[own + ints[i, OUT_KEY]] = ints[i, OUT_TIME]
    for place in range(c[clocks.OTHERS]):
        other = c[clocks.OTHERS_AT] + place * clocks.OTHER_WORDS
        if not c[other + clocks.OTHER_BY_KEY] and moves(c, other, stream):
            c[other + clocks.OTHER_TIME] = c[clocks.TOP]


@addressed
def take_in(address: int) -> int:
    """Write the rows that the table at an address tells of; what they are then. O(cells)."""
    head = words(address, HEAD)
    t, count = words(address, HEAD + head[COLUMNS] * COLUMN_WORDS), head[COUNT]
    times = words(t[TIMES], count)
    ints = ints_2(t[INTS], count, t[INTS_WIDTH])
    floats = floats_2(t[FLOATS], count, t[FLOATS_WIDTH])
    if not fits(t, times):
        return REFUSED
    assigns = t[ASSIGNS] != 0 and are_known(t) and in_order(t, times)
    for first in range(0, count, BLOCK):
        stop = min(first + BLOCK, count)
        write_head(t, times, ints, first, stop)
        for i in range(first, stop):
            for cell in range(t[FLOATS_USED], t[FLOATS_WIDTH]):
                floats[i, cell] = 0.0
        for column in range(t[COLUMNS]):
            write_column(t, HEAD + column * COLUMN_WORDS, ints, floats, first, stop)
        if assigns:
            assign(t, ints, first, stop)
        elif t[KEY] >= 0:
            for i in range(first, stop):
                ints[i, OUT_KEY] = ints[i, t[t[KEY] + CELL]]
    if assigns and t[CLOCKS] != 0:
        tell(t, ints)
    return ASSIGNED if assigns else ENCODED
