"""Ticks from a running terminal through the MetaTrader5 package (Windows)."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mt5bridge.history.block import HistoryError, TickBlock
from mt5bridge.history.epochs import BadRow, Ints
from mt5bridge.history.folds import DoubleHours, check_gaps
from mt5bridge.history.zones import ServerTime
from mt5bridge.records import TICK

WINDOW_MS = 6 * 3_600_000


class Terminal(Protocol):
    """The part of the MetaTrader5 module that is used."""

    COPY_TICKS_ALL: int

    def initialize(self) -> bool: ...
    def shutdown(self) -> None: ...
    def last_error(self) -> tuple[int, str]: ...
    def symbol_select(self, symbol: str, enable: bool) -> bool: ...
    def copy_ticks_range(
        self, symbol: str, date_from: datetime, date_to: datetime, flags: int
    ) -> npt.NDArray[Any] | None: ...


@contextlib.contextmanager
def terminal() -> Iterator[Terminal]:
    """The terminal of this machine, for the length of a block."""
    try:
        module = importlib.import_module("MetaTrader5")
    except ImportError as error:
        raise HistoryError(
            "the MetaTrader5 package is not installed; it works on Windows beside a terminal: "
            "in the checkout of mt5cep run: pip install '.[terminal]'. "
            "Elsewhere export the ticks as CSV and import the file"
        ) from error
    found: Terminal = module
    if not found.initialize():
        raise HistoryError(f"the terminal does not answer ({_why(found)}); start it and log in")
    try:
        yield found
    finally:
        found.shutdown()


def copy_ticks(
    found: Terminal,
    symbol: str,
    from_msc: int,
    to_msc: int,
    server: ServerTime,
    window_ms: int = WINDOW_MS,
) -> Iterator[TickBlock]:
    """Ticks of `symbol` with `from_msc` <= server time < `to_msc`, a window of time at a time."""
    if not found.symbol_select(symbol, True):
        raise HistoryError(
            f"{symbol}: unknown to the terminal ({_why(found)}); check the name in Market Watch"
        )
    folds = DoubleHours(server)
    for begin in range(from_msc, to_msc, window_ms):
        end = min(begin + window_ms, to_msc)
        ticks = _window(found, symbol, begin, end)
        offsets = _offsets(server, folds, symbol, ticks["time_msc"])
        cuts = np.flatnonzero(np.diff(offsets)) + 1
        for part, offset in zip(np.split(ticks, cuts), np.split(offsets, cuts), strict=True):
            if len(part):
                yield TickBlock(symbol, part, int(offset[0]))
    folds.finish()


def _offsets(server: ServerTime, folds: DoubleHours, symbol: str, walls: Ints) -> Ints:
    """Offset from UTC of each tick. HistoryError for a clock time that does not tell its moment."""
    place = f"{symbol} in the terminal"
    try:
        check_gaps(server, walls)
    except BadRow as bad:
        raise bad.at(place) from None
    return folds.resolve(symbol, walls, server.offsets_ms(walls), lambda _: place)


def _window(found: Terminal, symbol: str, begin: int, end: int) -> npt.NDArray[Any]:
    """Ticks of [begin, end); the terminal counts in whole seconds, both ends included."""
    answer = found.copy_ticks_range(
        symbol, _moment(begin // 1000), _moment(-(-end // 1000)), found.COPY_TICKS_ALL
    )
    if answer is None:
        raise HistoryError(
            f"{symbol}: the terminal gave no ticks from {_moment(begin // 1000):%Y-%m-%d %H:%M} on "
            f"({_why(found)}); open the symbol's chart so that its history is loaded, and try again"
        )
    if answer.dtype.names != TICK.names:
        raise HistoryError(
            f"{symbol}: this MetaTrader5 package has other tick fields {answer.dtype.names}; "
            "install a release that fits"
        )
    ticks = answer.astype(TICK)
    return ticks[(ticks["time_msc"] >= begin) & (ticks["time_msc"] < end)]


def _moment(seconds: int) -> datetime:
    """Server time as the package wants it: the clock's reading, called UTC."""
    return datetime.fromtimestamp(seconds, UTC)


def _why(found: Terminal) -> str:
    code, text = found.last_error()
    return f"error {code}: {text}"
