"""Ticks through the MetaTrader5 package, played by a module with the same types."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from mt5bridge.history import UTC, HistoryError, ServerTime, copy_ticks, terminal
from mt5bridge.records import TICK

SECOND_MS = 1000


class StandIn:
    """Answers like the package: whole seconds, both ends included, server time called UTC."""

    COPY_TICKS_ALL = -1

    def __init__(self, times_msc: list[int], connected: bool = True) -> None:
        self.ticks = np.zeros(len(times_msc), TICK)
        self.ticks["time_msc"] = times_msc
        self.ticks["time"] = np.array(times_msc) // 1000
        self.ticks["bid"] = np.arange(len(times_msc))
        self.connected = connected
        self.fails = False
        self.calls = 0
        self.closed = False

    def initialize(self) -> bool:
        return self.connected

    def shutdown(self) -> None:
        self.closed = True

    def last_error(self) -> tuple[int, str]:
        return (-10004, "No IPC connection")

    def symbol_select(self, symbol: str, enable: bool) -> bool:
        return symbol == "EURUSD" and enable

    def copy_ticks_range(
        self, symbol: str, date_from: datetime, date_to: datetime, flags: int
    ) -> Any:
        self.calls += 1
        if self.fails:
            return None
        assert (symbol, flags) == ("EURUSD", -1)
        assert date_from.microsecond == date_to.microsecond == 0
        first, last = int(date_from.timestamp()), int(date_to.timestamp())
        seconds = self.ticks["time"]
        return self.ticks[(seconds >= first) & (seconds <= last)]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    stand_in = StandIn([0, 999, 1000, 1000, 1999, 2000, 2500, 4000])
    monkeypatch.setitem(sys.modules, "MetaTrader5", stand_in)
    return stand_in


@pytest.mark.parametrize("window_ms", [1000, 1500, 3000, 100_000])
def test_windows_join_without_loss_or_repetition(module: StandIn, window_ms: int) -> None:
    with terminal() as found:
        blocks = list(copy_ticks(found, "EURUSD", 500, 4000, UTC, window_ms))
    ticks = np.concatenate([block.ticks for block in blocks])
    assert ticks["bid"].tolist() == [1, 2, 3, 4, 5, 6]
    assert ticks.dtype == TICK
    assert module.calls == -(-3500 // window_ms)
    assert module.closed


def test_server_time_gets_its_offset(module: StandIn) -> None:
    blocks = list(copy_ticks(module, "EURUSD", 0, 1000, ServerTime(7_200_000)))
    assert blocks[0].utc_offset_ms == 7_200_000


def test_an_unknown_symbol_is_named(module: StandIn) -> None:
    with pytest.raises(HistoryError, match=r"EURXXX: unknown to the terminal.*Market Watch"):
        list(copy_ticks(module, "EURXXX", 0, 1, UTC))


def test_a_failed_call_names_symbol_time_and_cause(module: StandIn) -> None:
    module.fails = True
    with pytest.raises(HistoryError, match=r"EURUSD: .*1970-01-01 00:00.*No IPC connection"):
        list(copy_ticks(module, "EURUSD", 0, 1, UTC))


def test_other_tick_fields_are_refused(module: StandIn) -> None:
    module.ticks = module.ticks[["time", "time_msc", "bid"]]
    with pytest.raises(HistoryError, match="other tick fields"):
        list(copy_ticks(module, "EURUSD", 0, 1, UTC))


def test_a_terminal_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "MetaTrader5", StandIn([], connected=False))
    with pytest.raises(HistoryError, match=r"does not answer.*start it"), terminal():
        pass


def test_without_the_package_the_way_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "MetaTrader5", None)
    with pytest.raises(HistoryError, match="export the ticks as CSV"), terminal():
        pass
