"""Partial fills and filling modes: every fill is told once, and what became of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.wire import Side, SignalStatus
from tests.mql5.trading import signal, trading

EXECUTED, PARTIAL = SignalStatus.EXECUTED, SignalStatus.PARTIAL


def test_several_fills(tmp_path: Path) -> None:
    broker = "broker fills=4..4 fill_delay_ms=0..20 shuffle=1 duplicates=0.5 history_delay_ms=0..20"
    with trading(tmp_path, symbol="execution=3", broker=broker) as floor:
        for _ in range(3):
            request = signal(Side.BUY, 0.4)
            final = floor.ask(request)
            assert final.status is EXECUTED
            fills = [result for result in floor.results(request.id) if result.deal]
            assert [result.status for result in fills] == [PARTIAL] * 3 + [EXECUTED]
            assert [result.lots for result in fills] == pytest.approx([0.1] * 4)
            assert {result.deal for result in fills} == {
                deal.ticket for deal in floor.deals(request.id)
            }


def test_immediate_or_cancel(tmp_path: Path) -> None:
    symbol, broker = "execution=3 filling_modes=2", "broker liquidity=0.6"
    with trading(tmp_path, symbol=symbol, broker=broker) as floor:
        request = signal(Side.BUY, 1.0)
        final = floor.ask(request)
        assert final.status is SignalStatus.CANCELLED
        assert (final.deal, final.lots) == (0, 0.0)
        assert "0.6 of 1 lots filled" in final.text
        fills = [result for result in floor.results(request.id) if result.deal]
        assert {result.status for result in fills} == {PARTIAL}
        assert sum(result.lots for result in fills) == pytest.approx(0.6)


def test_rest_goes_on_working(tmp_path: Path) -> None:
    symbol = "execution=3"
    broker = "broker liquidity=0.6 fill_delay_ms=50..100"
    inputs = {"Filling": "FILLING_REST_WORKS"}
    with trading(tmp_path, symbol=symbol, broker=broker, inputs=inputs) as floor:
        request = signal(Side.SELL, 1.0)
        assert floor.ask(request).status is EXECUTED
        fills = [result for result in floor.results(request.id) if result.deal]
        assert len(fills) >= 2
        assert sum(result.lots for result in fills) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("execution", "modes"),
    [(0, 3), (1, 0), (2, 1), (2, 2), (2, 3), (3, 0), (3, 1), (3, 2)],
)
def test_filling_mode_of_the_symbol(tmp_path: Path, execution: int, modes: int) -> None:
    with trading(tmp_path, symbol=f"execution={execution} filling_modes={modes}") as floor:
        assert floor.ask(signal(Side.BUY, 0.1)).status is EXECUTED
