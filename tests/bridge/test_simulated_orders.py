"""What the simulated terminal does with orders, questions, the kill switch and dry runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mt5bridge.broker import codes
from mt5bridge.clock import Now
from mt5bridge.records import TICK, DealEntry, DealType, text_of
from mt5bridge.simulator import Account, Terminal, simulated_symbol, simulated_terminal
from mt5bridge.simulator.account import specification
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
    Side,
    SignalOrder,
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


def quote(account: Account, bid: float, ask: float, after_ms: int = 0) -> list[SignalResult]:
    tick = np.zeros(1, TICK)
    tick["bid"], tick["ask"], tick["time_msc"] = bid, ask, _ORDER.time_msc + after_ms
    return account.take_ticks({"EURUSD": tick})


def market(fills: tuple[float, ...] = (1.0,)) -> Account:
    """An account that has seen one tick of EURUSD, at the time of the order."""
    account = Account(fills)
    account.add(simulated_symbol("EURUSD"))
    quote(account, 1.25, 1.5)
    return account


def thin(filling: int) -> Account:
    """As `market`, where a tick offers 0.2 lots, of 0.5 that are wanted."""
    account = Account()
    symbol = simulated_symbol("EURUSD")
    account.add(symbol, replace(specification(symbol), depth_lots=0.2, filling=filling))
    quote(account, 1.25, 1.5)
    return account


def statuses(results: list[SignalResult]) -> list[SignalStatus]:
    return [result.status for result in results]


def test_a_market_order_has_its_prices_and_magic() -> None:
    account = market()
    (result,) = account.execute(_BUY)
    assert (result.status, result.lots, result.price) == (SignalStatus.EXECUTED, 0.3, 1.5)
    (deal,) = account.deals
    assert (deal["sl"], deal["tp"], deal["magic"]) == (1.0, 2.0, 42)
    assert bytes(deal["comment"]).startswith(b"%016x by hand" % _BUY.id)


def test_what_nobody_offers_is_refused_cancelled_or_works_on() -> None:
    """As the filling mode says: all or nothing, a part, or the rest at later ticks."""
    wanted = replace(_BUY, lots=0.5)
    (refused,) = thin(codes.FOK).execute(wanted)
    assert (refused.status, refused.retcode) == (SignalStatus.REJECTED, codes.REJECT)
    part, rest = thin(codes.IOC).execute(wanted)
    assert (part.status, part.lots, part.retcode) == (SignalStatus.PARTIAL, 0.2, codes.DONE_PARTIAL)
    assert (rest.status, rest.retcode) == (SignalStatus.CANCELLED, codes.CANCELLED)
    account = thin(codes.RETURN)
    stands, first = account.execute(wanted)
    assert (stands.status, first.status) == (SignalStatus.PLACED, SignalStatus.PARTIAL)
    (second,), (last,) = (quote(account, 1.25, 1.5, after) for after in (1, 2))
    assert [(one.status, one.lots) for one in (second, last)] == [
        (SignalStatus.PARTIAL, 0.2), (SignalStatus.EXECUTED, 0.1),
    ]  # fmt: skip
    assert not quote(account, 1.25, 1.5, 3) and account.orders == 0


def test_the_rest_that_works_on_is_taken_back_with_the_kill_switch() -> None:
    account = thin(codes.RETURN)
    account.execute(replace(_BUY, lots=0.5))
    (ended,) = account.halt("enough")
    assert (ended.status, account.orders) == (SignalStatus.CANCELLED, 0)
    closed, rest = account.execute(replace(_CLOSE, id=_CLOSE.id + 1)), account.positions
    assert statuses(closed) == [SignalStatus.EXECUTED] and rest == 0


def test_a_position_is_closed_in_part_and_by_ticket() -> None:
    account = market()
    account.execute(_BUY)
    ticket = int(account.deals["position_id"][0])
    assert account.symbol_of(ticket) == "EURUSD" and account.positions == 1
    part = replace(_CLOSE, id=2, ticket=ticket, lots=0.1, symbol="")
    assert [found.lots for found in account.execute(part)] == [0.1]
    rest = account.execute(replace(_CLOSE, id=3, ticket=ticket))
    assert [found.lots for found in rest] == [pytest.approx(0.2)]
    assert account.positions == 0 and account.symbol_of(ticket) == ""
    assert account.deals["entry"].tolist() == [DealEntry.IN, DealEntry.OUT, DealEntry.OUT]
    assert account.deals["type"].tolist() == [DealType.BUY, DealType.SELL, DealType.SELL]
    gone = account.execute(replace(_CLOSE, id=4, ticket=ticket))
    assert statuses(gone) == [SignalStatus.REJECTED]


def test_symbol_and_magic_close_everything_of_theirs() -> None:
    account = market()
    account.execute(_BUY)
    account.execute(replace(_BUY, id=2, magic=7))
    account.execute(replace(_CLOSE, id=3))
    assert account.positions == 1 and account.deals["magic"].tolist() == [42, 7, 42]


def pending(kind: OrderKind, price: float, **more: Any) -> Order:
    return replace(_BUY, kind=kind, price=price, sl=0.0, tp=0.0, **more)


def test_a_pending_order_is_placed_and_then_filled() -> None:
    """10.4"""
    account = market((0.5, 0.5))
    (placed,) = account.execute(pending(OrderKind.LIMIT, 1.4))
    assert (placed.status, placed.retcode, placed.price) == (SignalStatus.PLACED, 10_008, 1.4)
    assert (account.orders, account.positions) == (1, 0)
    assert quote(account, 1.25, 1.45) == []
    fills = quote(account, 1.25, 1.38)
    assert statuses(fills) == [SignalStatus.PARTIAL, SignalStatus.EXECUTED]
    assert {fill.order for fill in fills} == {placed.order} and fills[0].price == 1.38
    assert account.answer(_BUY.id) == [placed, *fills]
    assert (account.orders, account.positions) == (0, 1)
    account.execute(pending(OrderKind.STOP, 1.6, id=2, side=OrderSide.BUY))
    (stopped,) = [found for found in quote(account, 1.5, 1.7) if found.status.final]
    assert stopped.price == 1.7


def test_a_pending_order_is_changed_and_taken_back() -> None:
    account = market()
    (placed,) = account.execute(pending(OrderKind.LIMIT, 1.4))
    change = replace(_ORDER, id=2, kind=OrderKind.MODIFY, ticket=placed.order, price=1.3, symbol="")
    (changed,) = account.execute(replace(change, sl=1.2, tp=0.0))
    assert (changed.status, changed.retcode) == (SignalStatus.EXECUTED, 10_009)
    assert quote(account, 1.25, 1.35) == []
    assert account.symbol_of(placed.order) == "EURUSD"
    taken = account.execute(replace(change, id=3, kind=OrderKind.CANCEL))
    assert [(found.id, found.status) for found in taken] == [
        (_BUY.id, SignalStatus.CANCELLED), (3, SignalStatus.EXECUTED),
    ]  # fmt: skip
    for number, kind in ((4, OrderKind.CANCEL), (5, OrderKind.MODIFY)):
        (gone,) = account.execute(replace(change, id=number, kind=kind))
        assert gone.status is SignalStatus.REJECTED and gone.text.startswith("no such")


def test_a_pending_order_ends_when_its_time_has_passed() -> None:
    account = market()
    until_msc = _ORDER.time_msc + 500
    account.execute(pending(OrderKind.LIMIT, 1.4, valid_until_msc=until_msc))
    assert quote(account, 1.25, 1.5, 499) == []
    (ended,) = quote(account, 1.25, 1.5, 500)
    assert (ended.status, ended.id) == (SignalStatus.EXPIRED, _BUY.id)
    assert account.orders == 0


def test_what_a_change_does_not_name_stays() -> None:
    account = market()
    account.execute(replace(_BUY, sl=1.1, tp=2.0))
    ticket = int(account.deals["position_id"][0])
    change = replace(_ORDER, id=2, kind=OrderKind.MODIFY, ticket=ticket, price=0.0, symbol="")
    account.execute(replace(change, sl=1.2, tp=0.0))
    assert statuses(account.execute(replace(change, id=3, sl=1.2, tp=0.0))) == [
        SignalStatus.REJECTED
    ]
    quote(account, 2.1, 2.2)
    assert text_of(account.deals["comment"][-1]) == "[tp 2.00000]"


def test_halted_no_pending_order_is_left() -> None:
    """10.10"""
    account = market()
    account.execute(pending(OrderKind.LIMIT, 1.4))
    (ended,) = account.halt("news")
    assert (ended.status, ended.text) == (SignalStatus.CANCELLED, "halted: news")
    assert account.orders == 0 and account.halt("again") == []


@pytest.mark.parametrize(
    ("sl", "tp", "is_wider"),
    [(1.2, 0.0, False), (0.0, 1.9, False), (1.0, 0.0, True), (0.0, 2.1, True)],
)
def test_halted_stops_may_come_nearer_only(sl: float, tp: float, is_wider: bool) -> None:
    """10.10"""
    account, halt = market(), Halt(1, "news")
    account.execute(replace(_BUY, sl=1.1, tp=2.0))
    ticket = int(account.deals["position_id"][0])
    change = replace(_ORDER, id=2, kind=OrderKind.MODIFY, ticket=ticket, price=0.0, sl=sl, tp=tp)
    (result,) = account.execute(change, halt=halt)
    wanted = SignalStatus.REJECTED if is_wider else SignalStatus.EXECUTED
    assert result.status is wanted


def test_halted_it_opens_nothing_and_still_closes() -> None:
    """10.10"""
    account, halt = market(), Halt(1, "news")
    account.execute(_BUY, halt=Halt(0, "over"))
    (refused,) = account.execute(replace(_BUY, id=2), halt=halt)
    assert (refused.status, refused.retcode) == (SignalStatus.REJECTED, 0)
    assert refused.text == "halted: news"
    closed = account.execute(replace(_CLOSE, id=3), halt=halt)
    assert statuses(closed) == [SignalStatus.EXECUTED]


def test_a_dry_run_says_what_it_would_do() -> None:
    """10.7"""
    account = market()
    (result,) = account.execute(_BUY, TradeMode.DRY_RUN)
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
    account = market((0.5, 0.5))
    results = account.execute(_BUY)
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


def of_held(kind: OrderKind, number: int, **levels: float) -> SignalOrder:
    """Another level for what magic number 42 holds, or the end of what it has pending."""
    none = dict.fromkeys(("price", "stop", "target", "stop_distance", "target_distance"), 0.0)
    return SignalOrder(
        number, 0, 0, 42, 0.0, 0.0, 0.0, Side.CLOSE, "trail", "EURUSD", kind=kind,
        risk_percent=0.0, **{**none, **levels},
    )  # fmt: skip


def test_all_that_is_held_is_changed_and_while_halted_only_nearer() -> None:
    """10.13"""
    account, halt = market(), Halt(1, "news")
    account.execute(replace(_BUY, tp=0.0))
    for number, stop, status in ((2, 1.1, "EXECUTED"), (3, 1.05, "REJECTED"), (4, 1.1, "EXECUTED")):
        (found,) = account.execute(of_held(OrderKind.MODIFY, number, stop=stop), halt=halt)
        assert found.status is SignalStatus[status], number
    assert account.answer(3)[0].text == "halted: news"
    assert not quote(account, 1.2, 1.3)
    quote(account, 1.1, 1.2)  # the stop is reached
    assert account.positions == 0
    (gone,) = account.execute(of_held(OrderKind.MODIFY, 6, stop_distance=0.1))
    assert (gone.status, gone.text) == (SignalStatus.REJECTED, "no such position")


def test_all_that_is_pending_is_taken_back() -> None:
    account = market()
    placed = pending(OrderKind.LIMIT, 1.4)
    for number, magic in ((1, 42), (2, 7), (3, 42)):
        account.execute(replace(placed, id=number, magic=magic))
    found = account.execute(of_held(OrderKind.CANCEL, 9))
    assert [(one.id, one.status.name) for one in found] == [
        (1, "CANCELLED"), (3, "CANCELLED"), (9, "EXECUTED"),
    ]  # fmt: skip
    assert account.orders == 1
    (gone,) = account.execute(of_held(OrderKind.CANCEL, 10))
    assert (gone.status, gone.text) == (SignalStatus.REJECTED, "no such order")
    (dry,) = account.execute(of_held(OrderKind.CANCEL, 11), TradeMode.DRY_RUN)
    assert dry.text == "would cancel what is pending"
