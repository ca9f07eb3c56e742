"""The broker's loop over ticks as machine code, and by NumPy until there is some: nobody waits for
the compiler, and both come to the same bytes.
"""

from __future__ import annotations

from functools import partial
from typing import TypeVar

import numpy as np

from cep.engine.jit import entry
from cep.engine.machine_code import MachineCode, Made
from mt5bridge.broker import Broker, Terms, Waiting
from mt5bridge.broker.broker import Run
from mt5bridge.broker.leap import leap
from mt5bridge.broker.run import run
from mt5bridge.broker.state import Ints, Reals, State

Column = TypeVar("Column", Ints, Reals)
FEW_ORDERS = 300
"""Fewer are done by NumPy before machine code is loaded."""
ROWS_OF_ORDER = 5
"""An order without machine code takes as long as so many rows of rules."""


@Made
def compiled() -> Run:
    """`run` for the columns that `_in_columns` gives it, and for no others."""
    loop = entry(run)
    ints, reals = np.empty(0, np.int64), np.empty(0)
    Broker(Terms(), (), loop).run(ints, ints, ints, reals, reals)
    loop.disable_compile()  # type: ignore[attr-defined]
    return partial(_in_columns, loop)


def _in_columns(
    loop: Run,
    state: State,
    rows: Ints,
    places: Ints,
    times_msc: Ints,
    bids: Reals,
    asks: Reals,
    waiting: Waiting,
    at: Ints,
) -> bool:
    """Run over columns that may be Arrow's: those are read only, to Numba another type."""
    columns = _own(rows), _own(places), _own(times_msc), _own(bids), _own(asks)
    return loop(state, *columns, waiting, at)


def _own(column: Column) -> Column:
    """A copy, unless it may be written already."""
    return np.require(column, requirements=["C", "W"])


CODE = MachineCode(compiled)


def loop_for(orders: int, more: int = 0) -> Run:
    """The loop for an account with so many orders, `more` of which are new to it.

    Many have another process make machine code, which takes over as soon as it is there.
    """
    if orders < FEW_ORDERS or not CODE.is_there(ROWS_OF_ORDER * more):
        return leap
    return compiled.code
