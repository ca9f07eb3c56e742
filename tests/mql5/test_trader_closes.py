"""Closing parts: nothing is left, and nothing asked for, that a symbol does not allow."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.wire import OrderKind, Side, SignalStatus
from tests.mql5.trading import BID, IDENTITY, POINT, Floor, order, signal, trading
from tests.waiting import LONG_S

EXECUTED, REJECTED = SignalStatus.EXECUTED, SignalStatus.REJECTED
COARSE = "volume_min=0.1 volume_step=0.05 volume_max=1"


def _refused(floor: Floor, lots: float, text: str, ticket: int = 0) -> None:
    before = len(floor.broker().requests)
    final = floor.ask(order(OrderKind.CLOSE, ticket=ticket, lots=lots))
    assert final.status is REJECTED and text in final.text
    assert len(floor.broker().requests) == before


def _volumes(floor: Floor) -> list[float]:
    """The lots of all positions."""
    return [round(each.volume, 8) for each in floor.broker().positions.values()]


def test_what_would_be_left_is_enough_for_an_order(tmp_path: Path) -> None:
    """docs/orders.md: "A part that is less than the least, or leaves less, is refused"."""
    with trading(tmp_path, symbol=COARSE) as floor:
        ticket = floor.ask(signal(Side.BUY, 0.25)).order
        _refused(floor, 0.2, "leaves 0.05, less than the least of EURUSD, 0.1", ticket)
        _refused(floor, 0.07, "asks for 0.05, less than the least of EURUSD, 0.1", ticket)
        part = order(OrderKind.CLOSE, ticket=ticket, lots=0.149)
        assert floor.ask(part).status is EXECUTED  # rounded down
        assert floor.lots(part.id) == 0.1 and _volumes(floor) == [0.15]
        assert floor.ask(order(OrderKind.CLOSE, ticket=ticket, lots=0.3)).status is EXECUTED
        assert _volumes(floor) == []


def test_several_positions(tmp_path: Path) -> None:
    """What is refused of one position is not done of the others either."""
    with trading(tmp_path, symbol=COARSE) as floor:
        for _ in range(2):
            floor.ask(signal(Side.BUY, 0.2))
        _refused(floor, 0.25, "asks for 0.05, less than the least")
        assert floor.ask(order(OrderKind.CLOSE, lots=0.3)).status is EXECUTED
        assert _volumes(floor) == [0.1]


def test_a_share_of_a_netting_position(tmp_path: Path) -> None:
    """What counts is what the strategy holds, not the whole position."""
    with trading(tmp_path, mode="netting", symbol=COARSE) as floor:
        floor.ask(signal(Side.BUY, 0.25))
        floor.ask(signal(Side.BUY, 0.5, magic=8))
        _refused(floor, 0.2, "closing 0.2 of 0.25 of position")
        assert floor.ask(order(OrderKind.CLOSE, lots=0.15)).status is EXECUTED
        assert floor.ask(order(OrderKind.CLOSE, lots=9.0)).status is EXECUTED
        assert _volumes(floor) == [0.5]


def test_no_order_of_several_is_too_small(tmp_path: Path) -> None:
    """A twentieth of a lot more than two orders hold is not the third one's."""
    with trading(tmp_path, mode="netting", symbol=COARSE) as floor:
        for lots in (0.7, 0.7, 0.65):
            floor.ask(signal(Side.BUY, lots))
        closed = order(OrderKind.CLOSE)
        assert floor.ask(closed).status is EXECUTED
        assert [deal.volume for deal in floor.deals(closed.id)] == pytest.approx([1.0, 0.95, 0.1])


def test_a_symbol_that_market_watch_does_not_show(tmp_path: Path) -> None:
    with trading(tmp_path, symbol="selected=0") as floor:
        bought = floor.ask(signal(Side.BUY, 0.2))
        assert bought.status is EXECUTED
        assert floor.ask(order(OrderKind.CLOSE, ticket=bought.order, lots=0.1)).status is EXECUTED
        assert floor.ask(signal(Side.CLOSE)).status is EXECUTED


@pytest.mark.parametrize("mode", ["netting", "hedging"])
def test_a_trailing_stop_while_the_market_is_closed(tmp_path: Path, mode: str) -> None:
    """Of changes that wait, the last one counts: a stop never goes back."""
    with trading(tmp_path, mode=mode) as floor:
        ticket = floor.ask(signal(Side.BUY, 0.1, stop_points=900)).order
        floor.terminal.act("broker='closed=EURUSD'")
        floor.terminal.wait_journal("script: broker closed=EURUSD", LONG_S)
        stops = [BID - points * POINT for points in (800, 700, 600)]
        moves = [order(OrderKind.MODIFY, ticket=ticket, sl=stop) for stop in stops]
        for move in moves:
            floor.server.send(IDENTITY, move)
        for move in moves[:-1]:
            assert floor.final(move.id).status is REJECTED
        floor.terminal.act("broker='open=EURUSD'")
        assert floor.final(moves[-1].id).status is EXECUTED
        [position] = floor.broker().positions.values()
        assert position.sl == pytest.approx(stops[-1])
