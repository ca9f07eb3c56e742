"""Each example does what the documentation shows, and loses nothing that is dropped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mt5bridge.emulator.broker_log import read_broker_log
from mt5bridge.records import TICK, DealType, Records
from tests.mql5.examples import SPY, example, printed, shown
from tests.mql5.trading import still
from tests.waiting import LONG_S

FIVE = "EURUSD GBPUSD USDJPY USDCHF AUDUSD"
END = "end quiet_ms=300"
BUYS = ("7 first", "7 first", "8 second")


def few(count: int) -> dict[str, Records]:
    """So many ticks of each symbol, the symbols one after another."""
    found = {}
    for place, name in enumerate(FIVE.split()):
        ticks = np.zeros(count, TICK)
        ticks["time_msc"] = 1_750_000_000_000 + 250 * np.arange(count) + 40 * place
        ticks["time"] = ticks["time_msc"] // 1_000
        ticks["bid"] = 1.1 + place / 10 + np.arange(count) / 100_000
        ticks["ask"], ticks["flags"] = ticks["bid"] + 0.0001, 6
        found[name] = ticks
    return found


def test_ticks_of_five_symbols_as_shown(tmp_path: Path) -> None:
    statements = ("pace step=1", "attach TickPrinter on EURUSD", END)
    with example(tmp_path, "TickPrinter", few(2), *statements, more=(SPY,)) as terminal:
        result = terminal.wait_end(LONG_S)
    assert printed(result, "TickPrinter") == shown("TickPrinter")


def test_equal_buys_at_once_as_shown(tmp_path: Path) -> None:
    buys = [f"at tick=50 broker='trade buy EURUSD 0.1 {what}'" for what in BUYS]
    statements = ("pace rate=1000", "attach DealPrinter on EURUSD TimerMs=10", *buys, END)
    with example(tmp_path, "DealPrinter", {"EURUSD": still(600)}, *statements) as terminal:
        result = terminal.wait_end(LONG_S)
    assert printed(result, "DealPrinter") == shown("DealPrinter")


@pytest.mark.parametrize(
    "start", ["pace rate=400", "account login_ms=400", "broker history_delay_ms=0..40"]
)
def test_fills_before_the_first_look_are_told(tmp_path: Path, start: str) -> None:
    """A program begins before there is a quote or an account: the first fill wakes it."""
    statements = (
        "pace rate=400", start, "attach DealPrinter on EURUSD TimerMs=60000",
        "at tick=300 broker='trade buy EURUSD 0.1'", "at tick=300 broker='trade sell EURUSD 0.1'",
        "at tick=600 broker='trade buy EURUSD 0.2'", "end quiet_ms=500",
    )  # fmt: skip
    with example(tmp_path, "DealPrinter", {"EURUSD": still(900)}, *statements) as terminal:
        result = terminal.wait_end(LONG_S)
    told = [line.split(" at ")[0].split(maxsplit=2)[2] for line in printed(result, "DealPrinter")]
    assert told == ["is buy 0.10 EURUSD", "is sell 0.10 EURUSD", "is buy 0.20 EURUSD"]


@pytest.mark.parametrize("seed", range(4))
def test_every_fill_of_a_burst_once_and_in_order(tmp_path: Path, seed: int) -> None:
    statements = (
        "pace rate=1000",
        "broker missing=0.4 duplicates=0.4 shuffle=1 history_delay_ms=0..40",
        "events busy=0.5",
        "attach DealPrinter on EURUSD TimerMs=10",
        "at tick=100 broker='burst 40 EURUSD 0.1'",
        "at tick=150 broker='burst 40 EURUSD 0.1'",
        "at tick=400 broker='burst 20 EURUSD 0.2'",
        "end quiet_ms=500",
    )
    with example(
        tmp_path, "DealPrinter", {"EURUSD": still(900)}, *statements, seed=seed
    ) as terminal:
        result = terminal.wait_end(LONG_S)
    told = [int(line.split()[1]) for line in printed(result, "DealPrinter")]
    deals = read_broker_log(tmp_path / "terminal" / "broker.log").deals.values()
    made = [deal.ticket for deal in deals if deal.type <= DealType.SELL]
    assert len(made) == 100
    assert sorted(told) == sorted(made)
