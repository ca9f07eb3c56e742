"""What the simulated terminal does with orders, questions, the kill switch and dry runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mt5bridge.clock import Now
from mt5bridge.records import DealEntry, DealType
from mt5bridge.simulator import Account, Terminal, simulated_symbol, simulated_terminal
from mt5bridge.simulator.account import Quote
from mt5bridge.wire import (
    Account as AccountFrame,
)
from mt5bridge.wire import (
    Ask,
    Asked,
    Frame,
    Halt,
    Hello,
    Order,
    OrderKind,
    OrderSide,
    SignalResult,
    SignalStatus,
    TradeMode,
    Welcome,
    decode,
)
from tests.bridge.live import walks
from tests.wire.samples import FRAMES

_ORDER = FRAMES["order"][1]
assert isinstance(_ORDER, Order)
_BUY = replace(_ORDER, kind=OrderKind.MARKET, price=0.0, sl=1.0, tp=2.0)
_CLOSE = replace(_ORDER, kind=OrderKind.CLOSE, side=OrderSide.NONE, price=0.0, lots=0.0)
_MARKET = Quote(bid=1.25, ask=1.5, time_msc=_ORDER.time_msc, utc_offset_ms=0)
_EURUSD = simulated_symbol("EURUSD")


def statuses(results: list[SignalResult]) -> list[SignalStatus]:
    return [result.status for result in results]


def test_a_market_order_has_its_prices_and_magic() -> None:
    account = Account()
    (result,) = account.execute(_BUY, _EURUSD, _MARKET)
    assert (result.status, result.lots, result.price) == (SignalStatus.EXECUTED, 0.3, 1.5)
    (deal,) = account.deals
    assert (deal["sl"], deal["tp"], deal["magic"]) == (1.0, 2.0, 42)
    assert bytes(deal["comment"]).startswith(b"%016x by hand" % _BUY.id)


def test_a_position_is_closed_in_part_and_by_ticket() -> None:
    account = Account()
    account.execute(_BUY, _EURUSD, _MARKET)
    ticket = int(account.deals["position_id"][0])
    assert account.symbol_of(ticket) == "EURUSD" and account.positions == 1
    part = replace(_CLOSE, id=2, ticket=ticket, lots=0.1, symbol="")
    assert [found.lots for found in account.execute(part, _EURUSD, _MARKET)] == [0.1]
    rest = account.execute(replace(_CLOSE, id=3, ticket=ticket), _EURUSD, _MARKET)
    assert [found.lots for found in rest] == [pytest.approx(0.2)]
    assert account.positions == 0 and account.symbol_of(ticket) == ""
    assert account.deals["entry"].tolist() == [DealEntry.IN, DealEntry.OUT, DealEntry.OUT]
    assert account.deals["type"].tolist() == [DealType.BUY, DealType.SELL, DealType.SELL]
    gone = account.execute(replace(_CLOSE, id=4, ticket=ticket), _EURUSD, _MARKET)
    assert statuses(gone) == [SignalStatus.REJECTED]


def test_symbol_and_magic_close_everything_of_theirs() -> None:
    account = Account()
    account.execute(_BUY, _EURUSD, _MARKET)
    account.execute(replace(_BUY, id=2, magic=7), _EURUSD, _MARKET)
    account.execute(replace(_CLOSE, id=3), _EURUSD, _MARKET)
    assert account.positions == 1 and account.deals["magic"].tolist() == [42, 7, 42]


@pytest.mark.parametrize(
    "kind", [OrderKind.LIMIT, OrderKind.STOP, OrderKind.MODIFY, OrderKind.CANCEL]
)
def test_what_it_does_not_do_is_rejected_by_name(kind: OrderKind) -> None:
    account = Account()
    (result,) = account.execute(replace(_ORDER, kind=kind, ticket=5), _EURUSD, _MARKET)
    assert result.status is SignalStatus.REJECTED and kind.name.lower() in result.text


def test_halted_it_opens_nothing_and_still_closes() -> None:
    """10.10"""
    account, halt = Account(), Halt(1, "news")
    account.execute(_BUY, _EURUSD, _MARKET, halt=Halt(0, "over"))
    (refused,) = account.execute(replace(_BUY, id=2), _EURUSD, _MARKET, halt=halt)
    assert (refused.status, refused.retcode) == (SignalStatus.REJECTED, 0)
    assert refused.text == "halted: news"
    closed = account.execute(replace(_CLOSE, id=3), _EURUSD, _MARKET, halt=halt)
    assert statuses(closed) == [SignalStatus.EXECUTED]


def test_a_dry_run_says_what_it_would_do() -> None:
    """10.7"""
    account = Account()
    (result,) = account.execute(_BUY, _EURUSD, _MARKET, TradeMode.DRY_RUN)
    assert (result.status, result.text) == (SignalStatus.DRY_RUN, "would buy 0.3 lots")
    assert len(account.deals) == 0


def talk(found: Terminal, frame: Frame | None = None) -> list[Frame]:
    now = Now(1_000, 1_000)
    if frame is not None:
        found.receive(frame, now)
    return [decode(message) for message in found.step(now).messages]


def live(trades: TradeMode = TradeMode.LIVE) -> Terminal:
    found = simulated_terminal(walks("A", 50), trades=trades)
    found.connected(Now(1_000, 1_000))
    assert [frame.trades for frame in talk(found) if isinstance(frame, Hello)] == [trades]
    talk(found, Welcome(1, 0, 1_000, 5_000, 65_536, "", ()))
    return found


def test_questions_are_answered_and_execute_nothing() -> None:
    """10.9"""
    found = live()
    order = replace(_BUY, symbol="A", valid_until_msc=0)
    asked = Ask((Asked(order.id), Asked(99)))
    answers = [f.status for f in talk(found, asked) if isinstance(f, SignalResult)]
    assert answers == [SignalStatus.UNKNOWN] * 2 and len(found.account.deals) == 0
    talk(found, order)
    answers = [f.status for f in talk(found, asked) if isinstance(f, SignalResult)]
    assert answers == [SignalStatus.EXECUTED, SignalStatus.UNKNOWN]
    assert len(found.account.deals) == 1 and found.orders == [order]


def test_a_question_is_answered_with_every_fill() -> None:
    """10.9: a final result alone would lose the fills before it."""
    account = Account((0.5, 0.5))
    results = account.execute(_BUY, _EURUSD, _MARKET)
    assert statuses(results) == [SignalStatus.PARTIAL, SignalStatus.EXECUTED]
    assert account.answer(_BUY.id) == results


def test_the_account_is_told_at_the_start_and_after_deals() -> None:
    """5.9"""
    found = simulated_terminal(walks("A", 50))
    found.connected(Now(1_000, 1_000))
    talk(found)
    frames = talk(found, Welcome(1, 0, 1_000, 5_000, 65_536, "", ()))
    (first,) = [frame for frame in frames if isinstance(frame, AccountFrame)]
    assert (first.balance, first.equity, first.positions) == (10_000.0, 10_000.0, 0)
    frames = talk(found, replace(_BUY, symbol="A", valid_until_msc=0))
    (second,) = [frame for frame in frames if isinstance(frame, AccountFrame)]
    assert second.positions == 1 and second.profit < 0  # the spread
    assert second.equity == pytest.approx(second.balance + second.profit)
