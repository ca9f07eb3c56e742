"""What the broker does beyond a bare server: closing, distances, parts, requests that wait."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from cep.engine.jit import entry
from mt5bridge.broker import REQUEST, Broker, Specification, Table, Terms
from mt5bridge.broker.broker import Run
from mt5bridge.broker.codes import (
    BUY,
    BY_EXPERT,
    BY_STOP,
    CLOSE,
    DEAL,
    DONE,
    FROZEN,
    INVALID_EXPIRATION,
    INVALID_STOPS,
    INVALID_VOLUME,
    POSITION_CLOSED,
    SELL,
    SWAP_PERCENT,
)
from mt5bridge.broker.leap import leap
from mt5bridge.broker.run import run

DAY_MS = 86_400_000
EURUSD = Specification(1e-5, 1e-5, 100_000.0, 0.01, 100.0, 0.01)


def request(action: int = DEAL, kind: int = BUY, lots: float = 0.1, **more: Any) -> Any:
    record = np.zeros(1, REQUEST)[0]
    for name, value in {"tag": 1, "action": action, "type": kind, "lots": lots, **more}.items():
        record[name] = value
    return record


def market(hedging: bool = False, **more: Any) -> Broker:
    """A broker with one symbol at 1.1000 / 1.1002."""
    broker = Broker(Terms(hedging, 10_000.0, money_digits=2, **more), [EURUSD])
    broker.tick(0, 1_000, 1.1, 1.1002)
    return broker


def deals(broker: Broker, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(deal[name].item() for name in names) for deal in broker.take_deals()]


def test_three_sells_are_three_deals_and_one_net_position() -> None:
    broker = market()
    for _ in range(3):
        assert broker.execute(request(kind=SELL))["retcode"] == DONE
    assert deals(broker, "volume", "entry") == [(0.1, 0)] * 3
    assert [(p["side"], p["lots"]) for p in broker.positions] == [(-1, 0.3)]
    hedged = market(hedging=True)
    for _ in range(3):
        hedged.execute(request(kind=SELL))
    assert [(p["side"], p["lots"]) for p in hedged.positions] == [(-1, 0.1)] * 3


def test_distances_become_levels_on_the_side_of_the_order() -> None:
    for kind, levels in ((BUY, (1.0992, 1.1012)), (SELL, (1.101, 1.099))):
        broker = market()
        broker.execute(request(kind=kind, stop_points=100, target_points=100))
        (position,) = broker.positions
        assert (position["sl"], position["tp"]) == levels
    near = market()
    assert near.execute(request(stop_points=20))["retcode"] == INVALID_STOPS  # it is the bid
    assert near.execute(request(stop_points=21))["retcode"] == DONE


def test_lots_are_rounded_down_to_whole_steps() -> None:
    broker = market()
    broker.execute(request(lots=0.129))
    assert deals(broker, "volume") == [(0.12,)]
    assert broker.execute(request(lots=0.009))["retcode"] == INVALID_VOLUME


def test_a_close_takes_what_its_magic_number_holds() -> None:
    broker = market()
    broker.execute(request(magic=7, lots=0.3))
    broker.execute(request(magic=8, lots=0.2))
    assert broker.execute(request(CLOSE, magic=9, lots=0))["retcode"] == POSITION_CLOSED
    broker.execute(request(CLOSE, magic=8, lots=0))
    assert [p["lots"] for p in broker.positions] == [0.3]
    part = broker.execute(request(CLOSE, magic=7, lots=0.5))
    assert (part["retcode"], part["left"]) == (DONE, pytest.approx(0.2))
    assert deals(broker, "magic", "type", "volume") == [
        (7, BUY, 0.3), (8, BUY, 0.2), (8, SELL, 0.2), (7, SELL, 0.3)
    ]  # fmt: skip
    assert len(broker.positions) == broker.state.account[0]["holdings"] == 0


def test_a_hedging_close_takes_positions_oldest_first_or_by_ticket() -> None:
    broker = market(hedging=True)
    for magic in (7, 8, 7):
        broker.execute(request(magic=magic))
    broker.execute(request(CLOSE, magic=7, lots=0.15))
    assert [(p["ticket"], p["lots"]) for p in broker.positions] == [(2, 0.1), (3, 0.05)]
    broker.execute(request(CLOSE, position=2, lots=0))
    assert [p["ticket"] for p in broker.positions] == [3]


@pytest.mark.parametrize("hedging", [False, True])
def test_a_close_leaves_what_is_frozen(hedging: bool) -> None:
    """ "A close of several positions closes those that are not." """
    broker = Broker(Terms(hedging, 10_000.0), [replace(EURUSD, freeze_level_points=50.0)])
    broker.tick(0, 1_000, 1.1, 1.1002)
    broker.execute(request(sl=1.0997))
    assert broker.execute(request(CLOSE, lots=0.0))["retcode"] == FROZEN
    broker.execute(request(sl=1.0 if hedging else 1.0997))
    answer = broker.execute(request(CLOSE, lots=0.2))
    left = (DONE, 0.1, [0.1]) if hedging else (FROZEN, 0.2, [0.2])
    assert (answer["retcode"], answer["left"], [p["lots"] for p in broker.positions]) == left
    broker.tick(0, 2_000, 1.2, 1.2002)
    assert broker.execute(request(CLOSE, lots=0.0))["retcode"] == DONE
    assert len(broker.positions) == 0


def test_an_order_is_filled_in_its_shares() -> None:
    broker = market(fills=(0.5, 0.3, 0.2))
    broker.execute(request(sl=1.0, lots=0.1))
    broker.execute(request(lots=0.01))
    broker.tick(0, 2_000, 0.9, 0.9)
    assert deals(broker, "volume", "reason") == [
        (0.05, BY_EXPERT), (0.03, BY_EXPERT), (0.02, BY_EXPERT), (0.01, BY_EXPERT),
        (0.05, BY_STOP), (0.03, BY_STOP), (0.03, BY_STOP),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="make their sum 1"):
        Terms(fills=(0.5, 0.4))


def test_a_deal_tells_of_the_position_it_closes() -> None:
    broker = market()
    broker.execute(request(tag=5, lots=0.2))
    broker.tick(0, 2_000, 1.2, 1.2002)
    broker.execute(request(tag=6, kind=SELL, lots=0.3))
    closing = broker.take_deals()[1]
    assert closing["closed_lots"] == 0.2 and closing["open_price"] == 1.1002
    assert (closing["opened_msc"], closing["opened_by"], closing["tag"]) == (1_000, 5, 6)
    assert closing["profit"] == 1_996.0 and broker.balance == 11_996.0
    assert broker.floating == pytest.approx(-2.0)


def waiting(*rows: dict[str, Any]) -> Table:
    return np.array([request(**row) for row in rows], REQUEST)


def over(broker: Broker, rows: Table, places: list[int], times: list[int]) -> list[int]:
    """Return codes of requests that wait while ticks of 1.1000 / 1.1002 come."""
    bids, asks = np.full(len(places), 1.1), np.full(len(places), 1.1002)
    found = broker.waiting(rows)
    broker.run(np.zeros(len(places), int), np.array(places), np.array(times), bids, asks, found)
    return [code for code in found.answers["retcode"] if code]


def test_requests_wait_for_a_later_tick_at_their_time() -> None:
    rows = waiting({"after": 10}, {"after": 10, "earliest_msc": 3_000}, {"after": 0})
    broker = market()
    assert over(broker, rows, [10, 11, 12, 13], [1_000, 2_000, 3_000, 4_000]) == [DONE] * 3
    assert deals(broker, "place", "time_msc") == [(11, 2_000), (12, 3_000), (12, 3_000)]
    assert over(market(), rows, [10], [1_000]) == []


def test_a_request_that_comes_too_late_is_refused() -> None:
    rows = waiting({"valid_until_msc": 2_000}, {"valid_until_msc": 1_999})
    assert over(market(), rows, [1], [2_000]) == [DONE, INVALID_EXPIRATION]


def test_tables_grow() -> None:
    rows = waiting(*[{}] * 300, {"action": CLOSE, "lots": 0})
    broker = market(hedging=True)
    assert over(broker, rows, [1], [1]) == [DONE] * 301
    found = deals(broker, "ticket")
    assert found == [(ticket,) for ticket in range(1, 601)]
    one_by_one = market(hedging=True)
    for row in rows:
        one_by_one.execute(row)
    assert deals(one_by_one, "ticket") == found


def busy(loop: Run, *, hedging: bool, is_ranged: bool, symbols: int, many: int) -> list[bytes]:
    """Everything that a long session of so many orders leaves behind, its ticks in batches."""
    random = np.random.default_rng(3)
    count = 4_000
    bids = np.round(1.1 + np.cumsum(random.integers(-3, 4, count)) * 1e-5, 5)
    asks = np.round(bids + random.integers(1, 9, count) * 1e-5, 5)
    rows = np.zeros(many, REQUEST)
    rows["tag"] = np.arange(1, many + 1)
    rows["symbol"] = random.integers(0, symbols, many)
    rows["action"] = random.choice([0, 1, 1, 5, 6, 7, 8], many)
    rows["filling"] = random.integers(0, 4, many)
    rows["type"] = np.where(rows["action"] == DEAL, random.integers(0, 2, many),
                            random.integers(2, 8, many))  # fmt: skip
    for name in ("order", "position"):
        rows[name] = random.integers(0, many, many) * (rows["action"] > DEAL)
    rows["price"] = np.round(1.1 + random.integers(-90, 90, many) * 1e-5, 5)
    rows["limit_price"] = np.round(rows["price"] + random.integers(-9, 9, many) * 1e-5, 5)
    rows["lots"], rows["magic"] = 0.1, random.integers(0, 3, many)
    rows["stop_points"], rows["target_points"] = random.integers(0, 40, (2, many))
    rows["after"] = np.sort(random.integers(0, count, many))
    rows["earliest_msc"] = 100 * (rows["after"] + random.integers(0, 9, many))
    rows["expires_msc"] = np.where(random.random(many) < 0.3, rows["earliest_msc"] + 1_500, 0)
    terms = Terms(
        hedging, 1e3, 100.0, 2, (0.6, 0.4), stop_out_percent=60.0, server_ahead_ms=-100_000
    )
    charged = replace(
        EURUSD,
        commission_per_mille=0.02,
        swap_mode=SWAP_PERCENT,
        swap_long=-900.0,
        swap_short=9.0,
        sessions=((4 * DAY_MS - 100_000, 4 * DAY_MS + 250_000),),
        slippage_spread=0.3,
        impact_points=2.0,
        impact_lots=0.3,
        impact_power=0.6,
        slippage_range=0.05 * is_ranged,
        slippage_range_ms=700 * is_ranged,
        slippage_random_points=4.0,
        slippage_seed=5,
        depth_lots=0.15,
    )
    broker = Broker(terms, [charged, EURUSD][:symbols], loop)
    waiting, places = broker.waiting(rows), np.arange(count)
    quoted = random.integers(0, symbols, count)
    for some in np.array_split(places, 7):
        broker.run(quoted[some], some, 100 * some, bids[some], asks[some], waiting)
    tables = waiting.answers, broker.take_deals(), broker.positions, broker.orders
    return [table.tobytes() for table in (*tables, broker.state.account, broker.state.symbols)]


def tick_by_tick(*arguments: Any) -> bool:
    """The slow, obvious way: no tick is passed over."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(run.__globals__, "pass_over", lambda *_: None)
        return run(*arguments)


@pytest.mark.parametrize("hedging", [False, True])
@pytest.mark.parametrize("is_ranged", [False, True])
@pytest.mark.parametrize("symbols", [1, 2])
def test_however_it_loops_it_is_the_same(hedging: bool, is_ranged: bool, symbols: int) -> None:
    for many in (9, 90, 900):
        drawn = partial(busy, hedging=hedging, is_ranged=is_ranged, symbols=symbols, many=many)
        expected = drawn(tick_by_tick)
        for loop in (run, leap, entry(run)):
            assert drawn(loop) == expected


def test_a_request_waits_for_a_tick_of_its_own_symbol() -> None:
    broker = Broker(Terms(), [EURUSD, EURUSD])
    rows = waiting({"symbol": 1, "after": 1, "tag": 7}, {"symbol": 0, "after": 2, "tag": 8})
    found = broker.waiting(rows)
    symbols, places = np.array([1, 0, 0, 0, 1]), np.arange(1, 6)
    broker.run(symbols, places, places, np.full(5, 1.1), np.full(5, 1.1002), found)
    assert deals(broker, "tag", "place") == [(8, 3), (7, 5)]
