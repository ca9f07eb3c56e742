"""The loops over ticks, the broker's and that over what its account is worth, as machine code, and
by NumPy until there is some: nobody waits for the compiler, and both come to the same bytes.
"""

from __future__ import annotations

from functools import partial
from typing import Protocol, TypeVar

import numpy as np

from cep.backtest.strides import strides
from cep.engine.jit import entry
from cep.engine.machine_code import MachineCode, Made
from mt5bridge.broker import Broker, Table, Terms, Waiting
from mt5bridge.broker.broker import Run
from mt5bridge.broker.leap import leap
from mt5bridge.broker.run import run
from mt5bridge.broker.state import DEAL_ROW, Ints, Reals, State
from mt5bridge.broker.worth import COURSE, HELD, MINUTE, STRETCH, Walk, walk

Column = TypeVar("Column", Ints, Reals)
FEW_ORDERS = 300
"""Fewer are done by NumPy before machine code is loaded."""
ROWS_OF_ORDER = 5
"""An order without machine code takes as long as so many rows of rules."""
TICKS_OF_ROW = 500
"""So many ticks without machine code take what an account goes through as long as one row."""


class Walker(Protocol):
    """`walk`, compiled, or `strides`."""

    def __call__(
        self,
        state: Walk,
        rows: Ints,
        times_msc: Ints,
        bids: Reals,
        asks: Reals,
        deals: Table,
        at: Ints,
        charges: Reals,
        charged_at: Ints,
    ) -> None: ...


@Made
def compiled() -> Run:
    """`run` for the columns that `_in_columns` gives it, and for no others."""
    loop = entry(run)
    ints, reals = np.empty(0, np.int64), np.empty(0)
    Broker(Terms(), (), loop).run(ints, ints, ints, reals, reals)
    loop.disable_compile()  # type: ignore[attr-defined]
    return partial(_in_columns, loop)


@Made
def walked() -> Walker:
    """`walk` for the columns that `_walked` gives it, and for no others."""
    loop = entry(walk)
    ints, reals = np.empty(0, np.int64), np.empty(0)
    tables = (np.zeros(rows, kind) for rows, kind in zip((1, 0, 0, 0), WALKED, strict=True))
    loop(Walk(*tables), ints, ints, reals, reals, np.empty(0, DEAL_ROW), ints, reals, ints)
    loop.disable_compile()  # type: ignore[attr-defined]
    return partial(_walked, loop)


def _walked(
    loop: Walker,
    state: Walk,
    rows: Ints,
    times_msc: Ints,
    bids: Reals,
    asks: Reals,
    deals: Table,
    at: Ints,
    charges: Reals,
    charged_at: Ints,
) -> None:
    """Walk over columns that may be Arrow's."""
    columns = _own(rows), _own(times_msc), _own(bids), _own(asks)
    loop(state, *columns, deals, at, charges, charged_at)


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
    flags = column.flags
    return column if flags.c_contiguous and flags.writeable else column.copy()


CODE = MachineCode(compiled)
WALK_CODE = MachineCode(walked)
WALKED = COURSE, HELD, MINUTE, STRETCH


def loop_for(orders: int, more: int = 0) -> Run:
    """The loop for an account with so many orders, `more` of which are new to it.

    Many have another process make machine code, which takes over as soon as it is there.
    """
    if orders < FEW_ORDERS or not CODE.is_there(ROWS_OF_ORDER * more):
        return leap
    return compiled.code


def walk_for(ticks: int) -> Walker:
    """The loop over what so many more ticks make of an account."""
    if ticks < TICKS_OF_ROW or not WALK_CODE.is_there(ticks // TICKS_OF_ROW):
        return strides
    return walked.code
