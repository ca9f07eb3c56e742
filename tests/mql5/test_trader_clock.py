"""A computer whose clock is hours ahead or behind: what was executed is found, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.records import Records
from mt5bridge.wire import Side, Signal, SignalResult, SignalStatus
from tests.mql5.trading import IDENTITY, SYMBOL, Floor, signal, still, trading
from tests.waiting import wait_until

EXECUTED, REJECTED, EXPIRED = SignalStatus.EXECUTED, SignalStatus.REJECTED, SignalStatus.EXPIRED
HOUR_MS = 3_600_000
OFFSET_MS = 2 * HOUR_MS
LOST = "broker lost=1 comments=drop"


def _clock(ahead_ms: int) -> str:
    return f"clock mode=recorded offset_ms={OFFSET_MS} ahead_ms={ahead_ms}\n"


def _fast(tick_ms: int) -> Records:
    """A market in which the trade server's time runs: a tick has so many milliseconds."""
    ticks = still(60_000)
    ticks["time_msc"] = (
        ticks["time_msc"][0] + tick_ms * (ticks["time_msc"] - ticks["time_msc"][0]) // 5
    )
    ticks["time"] = ticks["time_msc"] // 1_000
    return ticks


def _foreign(floor: Floor, magic: int = 7) -> int:
    """Another program buys the same; its deal's time by the trade server."""
    known = len(floor.trades())
    floor.terminal.act(f"broker='program buy {SYMBOL} 0.1 {magic}'")
    wait_until(lambda: len(floor.trades()) > known)
    return floor.trades()[-1].time_msc


def _lost(floor: Floor, request: Signal) -> None:
    """Send a request that gets lost on its way to the broker; return when it has left."""
    before = len(floor.broker().requests)
    floor.server.send(IDENTITY, request)
    wait_until(lambda: len(floor.broker().requests) > before)


@pytest.mark.parametrize("ahead_ms", [-3 * HOUR_MS, 3 * HOUR_MS])
def test_executed_and_found(tmp_path: Path, ahead_ms: int) -> None:
    broker = _clock(ahead_ms) + "broker timeout=1 comments=drop"
    with trading(tmp_path, broker=broker) as floor:
        first, second = (floor.ask(signal(Side.BUY, 0.1)) for _ in range(2))
        assert (first.status, second.status) == (EXECUTED, EXECUTED)
        assert first.deal != second.deal


def test_older_order_of_another_program_is_not_ours(tmp_path: Path) -> None:
    broker = _clock(-3 * HOUR_MS) + LOST
    with trading(tmp_path, broker=broker, prices=_fast(1_000)) as floor:
        older = _foreign(floor)
        wait_until(lambda: _foreign(floor, magic=8) > older + 60_000)
        assert floor.ask(signal(Side.BUY, 0.1)).text == "not found at the broker"


def test_later_order_of_another_program_is_not_ours(tmp_path: Path) -> None:
    inputs = {"ReconcileSeconds": "10"}
    with trading(tmp_path, broker=_clock(0) + LOST, prices=_fast(2_000), inputs=inputs) as floor:
        _lost(floor, request := signal(Side.BUY, 0.1))
        begun = _foreign(floor, magic=8)
        wait_until(lambda: _foreign(floor, magic=8) > begun + 300_000)
        _foreign(floor)
        final = floor.final(request.id)
        assert (final.status, final.text) == (REJECTED, "not found at the broker")


def test_magic_number_zero_is_everybodys(tmp_path: Path) -> None:
    with trading(tmp_path, broker=_clock(0) + LOST) as floor:
        _lost(floor, request := signal(Side.BUY, 0.1, magic=0))
        _foreign(floor, magic=0)
        final = floor.final(request.id)
        assert (final.status, final.text) == (REJECTED, "not found at the broker")


def _good_for(floor: Floor, ms: int) -> SignalResult:
    """Ask for something that is good for so long by the market's time."""
    market_msc = _foreign(floor, magic=8) - OFFSET_MS
    return floor.ask(signal(Side.BUY, 0.1, valid_until_msc=market_msc + ms))


@pytest.mark.parametrize("ahead_ms", [-3 * HOUR_MS, 3 * HOUR_MS])
def test_too_late_by_the_markets_clock(tmp_path: Path, ahead_ms: int) -> None:
    with trading(tmp_path, broker=_clock(ahead_ms)) as floor:
        assert _good_for(floor, -10_000).status is EXPIRED
        wait_until(lambda: _good_for(floor, 60_000).status is EXECUTED)
        assert _good_for(floor, -10_000).status is EXPIRED
