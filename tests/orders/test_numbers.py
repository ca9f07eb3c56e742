"""What is not a number, or infinite, never gets past the guard and never switches a limit off."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mt5bridge.orders import Defaults, Limits, OrderError, OrderRequest, as_order, read_book
from mt5bridge.orders.deals import dealt
from mt5bridge.orders.guard import Guard
from mt5bridge.records import DealKind, DealType
from mt5bridge.server import DEALS, Batch, Request
from mt5bridge.wire import OrderKind, OrderSide, Side, SignalStatus, WireError
from tests.orders.desk import DAY_MS, NOON_MSC, Office, order, result, signal, warnings
from tests.orders.test_guard import deal, hear

ODD = [math.nan, math.inf, -math.inf, -0.01]
SIZES = ["lots_per_order", "lots_per_symbol", "lots_per_day", "orders_per_minute", "loss_per_day"]


@pytest.mark.parametrize("value", ODD, ids=str)
@pytest.mark.parametrize("name", [*SIZES, "lots_assumed"])
def test_a_limit_that_would_hold_nothing_back_is_none(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} = {value}: use a number"):
        Limits(**{name: value})


@pytest.mark.parametrize("keys", [{"lots_assumed": 0.0}, {"day_begins_minutes": 1_440},
                                  {"day_begins_minutes": -1}])  # fmt: skip
def test_other_limits_that_mean_nothing(keys: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(keys))):
        Limits(**keys)
    assert Limits(day_begins_minutes=1_439, lots_assumed=0.001)


def odd_requests() -> list[tuple[Request, str]]:
    """Requests as no frame would let them in."""
    close = order(1, kind=OrderKind.CLOSE, side=OrderSide.NONE, ticket=5)
    places = [
        (made, name)
        for made, names in (
            (signal(1), ("lots", "stop_points", "target_points")),
            (signal(1, side=Side.CLOSE), ("lots",)),
            (order(1), ("lots", "price", "sl", "tp", "deviation_points")),
            (close, ("lots", "sl")),
        )
        for name in names
    ]
    found: list[tuple[Request, str]] = []
    for made, name in places:
        for value in ODD:
            odd = replace(made)
            object.__setattr__(odd, name, value)
            found.append((odd, f"{name} {value} is no size"))
    return found


@pytest.mark.parametrize(("request_", "text"), odd_requests(), ids=lambda found: str(found)[:60])
def test_the_guard_refuses_what_is_no_number(request_: Request, text: str) -> None:
    assert Guard(Limits()).refusal(request_, 1, ["me"], NOON_MSC) == text


@pytest.mark.parametrize("value", [*ODD, 10**400, "0.1", None], ids=lambda value: str(value)[:9])
@pytest.mark.parametrize("name", ["lots", "price", "sl", "tp"])
def test_an_order_of_what_is_no_number_is_not_made(name: str, value: Any) -> None:
    usual = {"client_id": "a", "kind": "limit", "symbol": "EURUSD", "side": "buy", "lots": 0.1,
             "price": 1.5}  # fmt: skip
    request = OrderRequest(**{**usual, name: value})
    with pytest.raises(OrderError, match="order 'a': "):
        as_order(request, Defaults(), NOON_MSC)


@pytest.mark.parametrize("name", ["deviation_points", "ticket", "valid_seconds", "magic"])
@pytest.mark.parametrize("value", [math.nan, math.inf, 0.5])
def test_nor_one_of_what_is_no_whole_number(name: str, value: float) -> None:
    usual = {"client_id": "a", "symbol": "EURUSD", "side": "buy", "lots": 0.1}
    with pytest.raises(OrderError, match="order 'a': "):
        as_order(OrderRequest(**{**usual, name: value}), Defaults(), NOON_MSC)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf], ids=str)
@pytest.mark.parametrize("name", ["profit", "commission", "swap", "fee"])
def test_a_loss_that_is_not_known_is_too_much(name: str, value: float) -> None:
    guard = Guard(Limits(loss_per_day=10.0))
    hear(guard, deal(ticket=70, profit=50.0), deal(**{name: value}))
    unknown = "loss_per_day 10: me has lost an unknown sum today"
    assert guard.refusal(signal(1), 1, ["you", "me"], NOON_MSC) == unknown
    assert guard.refusal(signal(1), 1, ["you"], NOON_MSC) is None
    assert guard.refusal(signal(1), 1, ["me"], NOON_MSC + DAY_MS) is None
    assert guard.refusal(signal(1, side=Side.CLOSE), 1, ["me"], NOON_MSC) is None
    hear(guard, deal(revision=1, kind=DealKind.UPDATE, profit=-3.0))
    assert guard.refusal(signal(1), 1, ["me"], NOON_MSC) is None
    assert guard.loss_today("me", NOON_MSC) == pytest.approx(-47.0)


@pytest.mark.parametrize("value", ODD, ids=str)
def test_open_lots_that_are_not_known_are_too_many(value: float) -> None:
    guard = Guard(Limits(lots_per_symbol=10.0))
    hear(guard, deal(volume=value))
    text = "lots_per_symbol 10: asked for sell 0.1 lots EURUSD with an unknown number open or on"
    assert (guard.refusal(signal(1), 1, ["me"], NOON_MSC) or "").startswith(text)
    assert guard.refusal(signal(1, symbol="GBPUSD"), 1, ["me"], NOON_MSC) is None
    hear(guard, deal(revision=1, kind=DealKind.UPDATE, volume=0.2))
    assert guard.refusal(signal(1), 1, ["me"], NOON_MSC) is None
    assert guard.lots_of("EURUSD") == pytest.approx(0.2)


def test_what_is_not_known_stays_so_after_a_restart_and_tidying(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JSON has no NaN: a deal must not become a damaged line, nor a 0."""
    monkeypatch.setattr("mt5bridge.orders.desk._TIDY_AT", 0)
    office = Office(tmp_path / "o", Limits(loss_per_day=10.0, lots_per_symbol=5.0))
    odd = deal(profit=math.nan, volume=math.inf, type=DealType.SELL)
    batch = Batch("one", DEALS, 1, odd, np.zeros(1, np.uint8), 0, NOON_MSC)
    office.desk.on_deals(batch, "account of one")
    office.journal.close()
    for _ in range(2):
        office = office.again()
        office.desk.tidy(NOON_MSC, keep_days=1)
        office.ask(signal(1))
        assert "an unknown number" in office.text(1)
        guard = office.desk.guard
        assert math.isnan(guard.loss_today("account of one", NOON_MSC))
    assert read_book(office.path).halted is None


@pytest.mark.parametrize(
    ("odd", "names"),
    [({"profit": math.nan}, "profit"), ({"volume": math.inf}, "lots"),
     ({"profit": math.nan, "volume": math.inf}, "lots and profit")],
)  # fmt: skip
def test_what_is_not_known_is_logged(tmp_path: Path, odd: dict[str, float], names: str) -> None:
    office = Office(tmp_path / "o")
    batch = Batch("one", DEALS, 1, deal(**odd), np.zeros(1, np.uint8), 0, NOON_MSC)
    with warnings() as lines:
        office.desk.on_deals(batch, "account of one")
    assert len(lines) == 1 and f"of account of one: no number for its {names}: limits" in lines[0]


@pytest.mark.parametrize(
    "keys",
    [{"lots": math.nan}, {"lots": math.inf}, {"lots": -0.1}, {"price": math.nan},
     {"price": -math.inf}],
    ids=str,
)  # fmt: skip
def test_a_result_in_no_numbers_is_no_frame(keys: dict[str, float]) -> None:
    """PROTOCOL.md 11.1: so it settles nothing; the terminal tells again, or is asked."""
    told = {"lots": 0.1, "deal": 71, "price": 1.25, **keys}
    for status in (SignalStatus.PARTIAL, SignalStatus.EXECUTED):
        with pytest.raises(WireError, match="bad_value"):
            result(1, status, **told)


def test_a_negative_price_is_one(tmp_path: Path) -> None:
    """Oil has had one."""
    office = Office(tmp_path / "o")
    office.ask(signal(1))
    office.tell(result(1, SignalStatus.EXECUTED, lots=0.1, deal=71, price=-37.63))
    assert office.state(1) == "executed"


def test_deals_in_numbers_stay_what_they_were() -> None:
    (buy,) = dealt("me", deal(profit=-1.0, fee=-0.5), 0)
    assert (buy.lots, buy.profit) == (pytest.approx(0.1), -1.5)
    (gone,) = dealt("me", deal(revision=1, kind=DealKind.DELETE, volume=math.nan, fee=math.nan), 0)
    assert (gone.lots, gone.profit) == (0.0, 0.0)
