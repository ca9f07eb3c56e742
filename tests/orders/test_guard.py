"""Each limit refuses what is too much, by name, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mt5bridge.orders import Limits
from mt5bridge.orders.deals import dealt
from mt5bridge.orders.guard import Guard
from mt5bridge.orders.records import Halted
from mt5bridge.records import DEAL, DealEntry, DealKind, DealType, Records
from mt5bridge.server import DEALS, Batch
from mt5bridge.wire import Account, OrderKind, OrderSide, Side, SignalStatus
from tests.orders.desk import DAY_MS, NOON_MSC, Office, order, result, signal

CLOSINGS = [
    signal(90, side=Side.CLOSE, lots=0.0),
    order(91, kind=OrderKind.CLOSE, ticket=5, side=OrderSide.NONE),
    order(92, kind=OrderKind.CANCEL, ticket=5, side=OrderSide.NONE),
    order(93, kind=OrderKind.MODIFY, ticket=5, side=OrderSide.NONE),
]
TIGHT = Limits(
    lots_per_order=0.01,
    lots_per_symbol=0.01,
    lots_per_day=0.01,
    orders_per_minute=1,
    symbols=("XAUUSD",),
    loss_per_day=1.0,
)


def refusal(limits: Limits, *requests: object) -> str:
    """What the guard says to the last of some requests, the others being sent."""
    guard = Guard(limits)
    *before, last = requests
    for request in before:
        guard.sent(request, ["one"], NOON_MSC)  # type: ignore[arg-type]
    return guard.refusal(last, 1, ["me"], NOON_MSC) or ""  # type: ignore[arg-type]


@pytest.mark.parametrize("request_", CLOSINGS, ids=lambda found: type(found).__name__)
def test_what_only_reduces_risk_is_never_refused(request_: object) -> None:
    guard = Guard(TIGHT)
    guard.turn(Halted(NOON_MSC, True, "news"))
    guard.funds("me", account(-100.0))
    assert guard.refusal(request_, 1, ["me"], NOON_MSC) is None  # type: ignore[arg-type]


def account(profit: float) -> Account:
    return Account(NOON_MSC, 1_000.0, 0.0, profit, 1_000.0 + profit, 0.0, 0.0, 1, 0, 31)


def test_no_limit_refuses_nothing() -> None:
    assert refusal(Limits(), *(signal(number, lots=50.0) for number in range(500))) == ""


@pytest.mark.parametrize(
    ("limits", "good", "bad", "text"),
    [
        (
            Limits(lots_per_order=0.5), [signal(1, lots=0.5)], [signal(1, lots=0.51)],
            "lots_per_order 0.5: asked for sell 0.51 lots EURUSD",
        ),
        (
            Limits(lots_per_order=0.5), [signal(1, lots=0.5)], [order(1, lots=0.6)],
            "lots_per_order 0.5: asked for buy limit 0.6 lots EURUSD at 1.25",
        ),
        (
            Limits(lots_per_symbol=0.3),
            [signal(1), signal(2, symbol="GBPUSD"), signal(3, lots=0.2)],
            [signal(1), order(3, lots=0.21)],
            "lots_per_symbol 0.3: asked for buy limit 0.21 lots EURUSD at 1.25 with 0.1 open or on"
            " their way",
        ),
        (
            Limits(lots_per_day=0.3), [signal(1), signal(2), signal(3)],
            [signal(1), signal(2, symbol="GBPUSD"), signal(3), signal(4)],
            "lots_per_day 0.3: asked for sell 0.1 lots EURUSD after 0.3 today",
        ),
        (
            Limits(orders_per_minute=2), [signal(1), signal(2)], [signal(1), signal(2), signal(3)],
            "orders_per_minute 2: asked for sell 0.1 lots EURUSD after 2",
        ),
        (
            Limits(symbols=("EURUSD", "GBPUSD")), [signal(1)], [signal(1, symbol="XAUUSD")],
            "symbols EURUSD, GBPUSD: asked for XAUUSD",
        ),
        (
            Limits(lots_per_order=0.5, lots_assumed=0.4), [signal(1, lots=0.0)],
            [signal(1, lots=0.55)], "lots_per_order 0.5: asked for sell 0.55 lots EURUSD",
        ),
        (
            Limits(lots_per_order=0.5), [signal(1)], [signal(1, lots=0.0)],
            "lots_per_order 0.5: asked for sell EURUSD (counted as 1 lots)",
        ),
    ],
)  # fmt: skip
def test_each_limit(limits: Limits, good: list[object], bad: list[object], text: str) -> None:
    assert refusal(limits, *good) == ""
    assert refusal(limits, *bad) == text


def test_closings_use_nothing_up() -> None:
    limits = Limits(orders_per_minute=1, lots_per_day=0.1, lots_per_symbol=0.1)
    assert refusal(limits, *CLOSINGS, signal(1)) == ""


def test_a_minute_and_a_day_pass() -> None:
    guard = Guard(Limits(orders_per_minute=1))
    guard.sent(signal(1), ["one"], NOON_MSC)
    assert guard.refusal(signal(2), 1, [], NOON_MSC + 59_999)
    assert guard.refusal(signal(2), 1, [], NOON_MSC + 60_000) is None
    guard = Guard(Limits(lots_per_day=0.1, day_begins_minutes=13 * 60))
    guard.sent(signal(1), ["one"], NOON_MSC)
    assert guard.refusal(signal(2), 1, [], NOON_MSC + 3_599_999)
    assert guard.refusal(signal(2), 1, [], NOON_MSC + 3_600_000) is None


def test_several_terminals_count_several_times() -> None:
    guard = Guard(Limits(lots_per_symbol=0.25, orders_per_minute=2))
    assert guard.refusal(signal(1), 2, [], NOON_MSC) is None
    assert "lots_per_symbol" in (guard.refusal(signal(1), 3, [], NOON_MSC) or "")


def test_what_was_not_executed_is_given_back() -> None:
    guard = Guard(Limits(lots_per_symbol=0.3, lots_per_day=0.3))
    request = signal(1, lots=0.3)
    guard.sent(request, ["one"], NOON_MSC)
    assert guard.lots_of("EURUSD") == pytest.approx(0.3)
    part = result(1, SignalStatus.PARTIAL, lots=0.1, deal=71)
    guard.told(request, "one", part, False)
    assert guard.lots_of("EURUSD") == pytest.approx(0.3)
    guard.told(request, "one", result(1, SignalStatus.CANCELLED), True)
    assert guard.lots_of("EURUSD") == guard.lots_today(NOON_MSC) == pytest.approx(0.1)
    assert guard.refusal(signal(2, lots=0.2), 1, [], NOON_MSC) is None
    assert guard.refusal(signal(2, lots=0.21), 1, [], NOON_MSC)


def deal(**values: object) -> Records:
    """A buy of 0.1 lots that opens position 7 at noon."""
    usual = {"ticket": 71, "position_id": 7, "volume": 0.1, "time_msc": NOON_MSC, "type": 0,
             "symbol": b"EURUSD"}  # fmt: skip
    made = np.zeros(1, DEAL)
    for name, value in {**usual, **values}.items():
        made[name] = value
    return made


def hear(guard: Guard, *deals: Records, utc_offset_ms: int = 0) -> None:
    for records in deals:
        for found in dealt("me", records, utc_offset_ms):
            guard.dealt(found)


OUT = {"entry": DealEntry.OUT, "type": DealType.SELL}


def test_positions_are_those_of_the_deals() -> None:
    guard = Guard(Limits())
    hear(guard, deal(), deal(ticket=72, volume=0.2, position_id=8, type=DealType.SELL))
    assert guard.lots_of("EURUSD") == pytest.approx(0.3)
    hear(guard, deal(ticket=73, volume=0.04, **OUT))
    assert guard.lots_of("EURUSD") == pytest.approx(0.26)
    reversal = deal(ticket=74, volume=0.16, type=DealType.SELL, entry=DealEntry.INOUT)
    hear(guard, reversal)
    assert guard.lots_of("EURUSD") == pytest.approx(0.3)
    assert guard.lots_of("GBPUSD") == 0


def test_a_fill_and_its_deal_count_once_in_either_order() -> None:
    for order_of_news in ("fill first", "deal first"):
        guard = Guard(Limits())
        request = signal(1)
        guard.sent(request, ["one"], NOON_MSC)
        news = [
            lambda guard=guard, request=request: guard.told(  # type: ignore[misc]
                request, "one", result(1, SignalStatus.EXECUTED, lots=0.1, deal=71), True
            ),
            lambda guard=guard: hear(guard, deal(type=DealType.SELL)),  # type: ignore[misc]
        ]
        for tell in news if order_of_news == "fill first" else reversed(news):
            tell()
        assert guard.lots_of("EURUSD") == pytest.approx(0.1), order_of_news


@pytest.mark.parametrize("side", [Side.BUY, Side.SELL])
def test_fills_without_deals_are_closed_by_fills(side: Side) -> None:
    guard = Guard(Limits())
    steps = ((side, 0.1, 0.1), (side, 0.1, 0.2), (Side.CLOSE, 0.05, 0.15), (Side.CLOSE, 0.5, 0))
    for number, (asked, lots, left) in enumerate(steps):
        request = signal(number, side=asked)
        guard.sent(request, ["one"], NOON_MSC)
        found = result(number, SignalStatus.EXECUTED, lots=lots, deal=70 + number)
        guard.told(request, "one", found, True)
        assert guard.lots_of("EURUSD") == pytest.approx(left)


def test_closing_what_was_opened_before_anybody_looked_opens_nothing() -> None:
    guard = Guard(Limits())
    hear(guard, deal(ticket=72, **OUT))
    assert guard.lots_of("EURUSD") == 0
    hear(guard, deal(ticket=72, revision=1, kind=DealKind.UPDATE, swap=-2.0, **OUT))
    assert guard.lots_of("EURUSD") == 0
    assert guard.loss_today("me", NOON_MSC) == pytest.approx(2.0)


def test_revisions_replace_and_deletions_undo() -> None:
    guard = Guard(Limits())
    hear(guard, deal(profit=-5.0), deal(revision=1, kind=DealKind.UPDATE, volume=0.3, profit=-7.0))
    assert guard.lots_of("EURUSD") == pytest.approx(0.3)
    assert guard.loss_today("me", NOON_MSC) == pytest.approx(7.0)
    hear(guard, deal(profit=-5.0))  # told again after a lost connection
    assert guard.loss_today("me", NOON_MSC) == pytest.approx(7.0)
    hear(guard, deal(revision=2, kind=DealKind.DELETE))
    assert guard.lots_of("EURUSD") == 0 and guard.loss_today("me", NOON_MSC) == 0


def test_loss_of_the_day() -> None:
    """Profits, costs and what floats, by account; deposits and other days do not count."""
    guard = Guard(Limits(loss_per_day=10.0))
    costs = deal(ticket=71, profit=-3.0, commission=-1.0, swap=-0.5, fee=-0.25)
    deposit = deal(ticket=72, type=DealType.BALANCE, profit=-1_000.0)
    yesterday = deal(ticket=73, time_msc=NOON_MSC - DAY_MS, profit=-100.0)
    hear(guard, costs, deposit, yesterday)
    assert guard.loss_today("me", NOON_MSC) == pytest.approx(4.75)
    assert guard.refusal(signal(1), 1, ["me"], NOON_MSC) is None
    guard.funds("me", account(-5.25))
    refused = guard.refusal(signal(1), 1, ["you", "me"], NOON_MSC)
    assert refused == "loss_per_day 10: me has lost 10.00 today"
    assert guard.refusal(signal(1), 1, ["you"], NOON_MSC) is None
    guard.funds("me", account(0.0))
    assert guard.refusal(signal(1), 1, ["me"], NOON_MSC + DAY_MS) is None


def test_a_deal_of_server_time_belongs_to_its_day_in_utc() -> None:
    guard = Guard(Limits())
    past_midnight = NOON_MSC + 12 * 3_600_000 + 60_000
    hear(guard, deal(time_msc=past_midnight, profit=-5.0), utc_offset_ms=7_200_000)
    assert guard.loss_today("me", NOON_MSC) == pytest.approx(5.0)
    assert guard.loss_today("me", NOON_MSC + DAY_MS) == 0


def test_a_restart_finds_what_was_used_up(tmp_path: Path) -> None:
    limits = Limits(lots_per_day=0.4, loss_per_day=8.0, orders_per_minute=9, lots_per_symbol=9.0)
    office = Office(tmp_path / "o", limits)
    office.ask(signal(1, lots=0.3))
    office.fill(1, 0.3, 71)
    deals = deal(profit=-6.0, volume=0.3, type=DealType.SELL)
    batch = Batch("one", DEALS, 1, deals, np.zeros(1, np.uint8), 0, NOON_MSC)
    office.desk.on_deals(batch, "account of one")
    office.desk.on_deals(batch, "account of one")
    office.journal.close()
    for found in (office, office.again()):
        guard = found.desk.guard
        assert guard.lots_today(NOON_MSC) == pytest.approx(0.3)
        assert guard.lots_of("EURUSD") == pytest.approx(0.3)
        assert guard.loss_today("account of one", NOON_MSC) == pytest.approx(6.0)
        assert "lots_per_day" in (guard.refusal(signal(2, lots=0.2), 1, [], NOON_MSC) or "")
