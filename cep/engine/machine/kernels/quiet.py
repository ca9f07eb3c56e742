"""Records of which nothing comes but that bars under way go on: most ticks of rules about candles.

For each reader of the stream it is known beforehand that it takes no more: a condition in front is
false, or the row belongs to a bar under way, which it does not end. Then nothing is put on the
stack. Whether it is so is asked of all readers before any of them takes the row, so that another
row begins anew, the long way.
"""

from __future__ import annotations

import math

from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.bars import (
    BAR_BY,
    BAR_PRICE,
    BAR_SIZE,
    BY_TICKS,
    BY_TIME,
    BY_VOLUME,
    IS_OPEN,
    TICKS,
    bar_end,
    bar_grew,
    bar_of,
)
from cep.engine.machine.kernels.evaluate import is_true, leave_value
from cep.engine.machine.kernels.keyed import group_known
from cep.engine.machine.kernels.steps import BARS
from cep.engine.machine.kernels.streams import ENTER_CONDITION, STREAM_LIST, STREAM_READERS
from cep.engine.machine.kernels.words import (
    EVALUATION,
    HOME,
    NEXT,
    OP,
    QUIET_BARS,
    TIME,
    Floats,
    Ints,
)

NOT_TAKEN, TAKES_MORE = 0, -1
"""Instead of the bar of a reader: its condition is false; it may do more."""


@inner
def bar_for(i: Ints, f: Floats, p: Ints, node: int, row: int) -> int:
    """The bar under way that a row becomes part of, without ending it; `TAKES_MORE` if none."""
    group = group_known(i, f, p, node, i[0, HOME], row)
    if group == 0 or p[node + BAR_BY] == BY_VOLUME:
        return TAKES_MORE
    bar = bar_of(p, node, group)
    if not i[0, bar + IS_OPEN]:
        return TAKES_MORE
    if p[node + BAR_BY] == BY_TIME and i[0, row + TIME] >= bar_end(i, p, node, bar):
        return TAKES_MORE
    if p[node + BAR_BY] == BY_TICKS and i[0, bar + TICKS] + 1 >= i[0, p[node + BAR_SIZE]]:
        return TAKES_MORE
    leave_value(i, f, p, p[node + BAR_PRICE], row, EVALUATION)
    return TAKES_MORE if math.isnan(f[0, EVALUATION]) else bar


@inner
def stayed_quiet(i: Ints, f: Floats, p: Ints, stream: int, row: int) -> bool:
    """Have a row that is not late become part of bars; false: more may come of it, and nothing has
    happened. O(readers).
    """
    readers, first = p[stream + STREAM_READERS], p[stream + STREAM_LIST]
    for reader in range(readers):
        entry, bar = p[first + reader], NOT_TAKEN
        if is_true(i, f, p, p[entry + ENTER_CONDITION], row):
            node = p[entry + NEXT]
            bar = bar_for(i, f, p, node, row) if p[node + OP] == BARS else TAKES_MORE
        if bar == TAKES_MORE:
            return False
        i[0, QUIET_BARS + reader] = bar
    for reader in range(readers):
        bar, node = i[0, QUIET_BARS + reader], p[p[first + reader] + NEXT]
        if bar != NOT_TAKEN:
            leave_value(i, f, p, p[node + BAR_PRICE], row, EVALUATION)
            bar_grew(i, f, p, node, bar, row, f[0, EVALUATION])
    return True
