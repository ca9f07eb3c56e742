"""What requests make of positions on netting and hedging accounts; stops, targets, pendings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mt5bridge.emulator.broker_log import OrderState
from tests.emulator.broker_session import bids, needs_compiler, run

pytestmark = needs_compiler

IN, OUT, INOUT, OUT_BY = "0", "1", "2", "3"


def entries(session: object) -> list[str]:
    """The entries of all deals but the deposit."""
    return [deal["entry"] for deal in session.facts("deal")[1:]]  # type: ignore[attr-defined]


def test_netting_adds_reduces_and_reverses_one_position(tmp_path: Path) -> None:
    session = run(
        tmp_path,
        [
            "send type=0 volume=0.1 magic=7 sl=1.09",
            "send type=0 volume=0.1",
            "send type=1 volume=0.05",
            "send type=1 volume=0.4 magic=9",
            "show",
        ],
    )
    assert session.retcodes == [10009] * 4
    assert entries(session) == [IN, IN, OUT, INOUT]
    (position,) = session.facts("position")
    first_order, last_order = session.sent[0]["order"], session.sent[3]["order"]
    assert (position["type"], position["volume"]) == ("1", "0.25")
    assert position["id"] == first_order, "the identifier stays"
    assert position["ticket"] == last_order, "the ticket is that of the reversing order"
    assert {deal["position"] for deal in session.facts("deal")[1:]} == {first_order}
    assert [deal["profit"] for deal in session.facts("deal")[3:]] == ["-1.00", "-3.00"]
    assert session.log.balance == 9996.0


def test_hedging_opens_a_position_each_and_closes_by_ticket(tmp_path: Path) -> None:
    session = run(
        tmp_path,
        [
            "send type=0 volume=0.1",
            "send type=1 volume=0.1",  # not a close: a second position
            "send type=1 volume=0.04 position=@0",
            "send type=1 volume=0.5 position=@0",
            "send type=0 volume=0.1 position=@0",
            "send type=0 volume=0.1 position=4711",
            "show",
        ],
        mode="hedging",
    )
    assert session.retcodes == [10009, 10009, 10009, 10038, 10013, 10036]
    assert entries(session) == [IN, IN, OUT]
    volumes = [(each["type"], each["volume"]) for each in session.facts("position")]
    assert volumes == [("0", "0.06"), ("1", "0.1")]
    assert all(each["ticket"] == each["id"] for each in session.facts("position"))


def test_opposite_positions_close_by_each_other(tmp_path: Path) -> None:
    session = run(
        tmp_path,
        [
            "send type=0 volume=0.3",
            "send type=1 volume=0.1",
            "send action=10 position=@0 by=@1 magic=3",
            "send action=10 position=@0 by=@0",
            "show",
        ],
        mode="hedging",
    )
    assert session.retcodes == [10009, 10009, 10009, 10013]
    assert entries(session) == [IN, IN, OUT_BY, OUT_BY]
    (rest,) = session.facts("position")
    assert rest["volume"] == "0.2"
    profits = [float(deal["profit"]) for deal in session.facts("deal")[1:]]
    assert profits == [0, 0, -2.0, 0], "the first leg bears the profit of both"


def test_close_by_is_refused_on_a_netting_account(tmp_path: Path) -> None:
    session = run(tmp_path, ["send type=0", "send action=10 position=@0 by=@0"])
    assert session.retcodes == [10009, 10013]


@pytest.mark.parametrize("mode", ["netting", "hedging"])
@pytest.mark.parametrize(
    ("step", "until", "reason", "profit"),
    [("tp=1.105", "above 1.104", "5", 48.0), ("sl=1.096", "below 1.0971", "4", -52.0)],
)
def test_ticks_set_off_stops_and_targets(
    tmp_path: Path, mode: str, step: str, until: str, reason: str, profit: float
) -> None:
    # A stop is met at the market, here a gap of 10 points behind it; a target at its own price.
    path = [1.1] * 60 + [1.0971, 1.095] if reason == "4" else [1.1] * 60 + [1.1049, 1.1060]
    session = run(
        tmp_path,
        [f"send type=0 volume=0.1 magic=8 {step}", until, "wait 60", "show"],
        prices=bids(*path, *[path[-1]] * 10),
        mode=mode,
        rate=200,
    )
    closing = session.facts("deal")[-1]
    assert (closing["entry"], closing["reason"], closing["magic"]) == (OUT, reason, "8")
    assert closing["comment"].startswith("[tp" if reason == "5" else "[sl")
    assert float(closing["profit"]) == profit
    assert not session.facts("position")


def test_pending_orders_are_placed_changed_filled_removed_and_expire(tmp_path: Path) -> None:
    session = run(
        tmp_path,
        [
            "send action=5 type=2 price=1.09 filling=2",  # buy limit, filled later
            "send action=5 type=5 price=1.08 filling=2",  # sell stop, removed
            "send action=5 type=3 price=1.2 filling=2 time=2 expiration=2",  # sell limit, expires
            "send action=7 order=@1 price=1.085 filling=2",
            "send action=7 order=@1 price=1.085 filling=2",
            "send action=8 order=@1",
            "send action=8 order=@1 order=77",
            "below 1.0897",
            "wait 60",
            "show",
        ],
        prices=bids(*np.round(np.linspace(1.1, 1.0896, 80), 5), *[1.0896] * 20),
        rate=250,
    )
    assert session.retcodes == [10009, 10009, 10009, 10009, 10025, 10009, 10035]
    states = [order.state for order in session.log.orders.values()]
    assert states == [OrderState.FILLED, OrderState.CANCELED, OrderState.EXPIRED]
    deal = session.facts("deal")[-1]
    assert float(deal["price"]) <= 1.09, "a limit is filled at its price or better"
    assert session.facts("position")[0]["volume"] == "0.1"


def test_stops_of_a_position_can_be_changed(tmp_path: Path) -> None:
    session = run(
        tmp_path,
        [
            "send type=0",
            "send action=6 sl=1.09 tp=1.2",
            "send action=6 sl=1.09 tp=1.2",
            "send action=6 sl=1.3",
            "show",
        ],
    )
    assert session.retcodes == [10009, 10009, 10025, 10016]
    assert session.facts("position")[0]["sl"] == "1.09000"
    kinds = [kind for kind, _ in session.transactions()]
    assert kinds.count(9) == 1, "only changes without a deal are POSITION transactions"


def test_the_broker_closes_the_worst_position_when_money_runs_out(tmp_path: Path) -> None:
    session = run(
        tmp_path,
        ["send type=0 volume=3", "send type=0 volume=1", "below 1.079", "wait 40", "show"],
        "account mode=hedging currency=USD balance=5000 leverage=100",
        "broker stop_out=50",
        prices=bids(*[1.1] * 60, *np.round(np.linspace(1.1, 1.0789, 60), 5), *[1.0789] * 20),
        mode="hedging",
        rate=200,
    )
    closing = session.facts("deal")[-1]
    assert (closing["reason"], closing["volume"], closing["comment"]) == ("6", "3", "so")
    assert [position["volume"] for position in session.facts("position")] == ["1"]


def test_profit_and_margin_are_in_the_currency_of_the_account(tmp_path: Path) -> None:
    session = run(
        tmp_path,
        ["send type=0 volume=1", "show", "check type=0 volume=1 price=1.1002"],
        "account currency=EUR leverage=50",
        "symbol EURUSD digits=5 currency_profit=USD",
    )
    (account,) = session.facts("account")
    assert float(account["margin"]) == pytest.approx(100_000 / 50, abs=0.5)
    assert float(account["profit"]) == pytest.approx(-20 / 1.1002, abs=0.01)
    (checked,) = session.facts("checked")
    assert checked["retcode"] == "0"
    assert float(checked["margin"]) == pytest.approx(2 * float(account["margin"]))
