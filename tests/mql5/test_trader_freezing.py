"""The freeze level: what the trade server would refuse waits, or is refused before it is sent."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from mt5bridge.clock import now
from mt5bridge.records import Records
from mt5bridge.wire import Order, OrderKind, OrderSide, Side, Signal, SignalStatus
from tests.mql5.order_journal import LEG, SENT, STATE_AT, journal_of, records
from tests.mql5.trading import (
    ASK,
    BID,
    IDENTITY,
    POINT,
    Floor,
    fills_and_final,
    order,
    signal,
    still,
    trading,
)
from tests.waiting import LONG_MS, LONG_S, wait_until

EXECUTED, REJECTED, EXPIRED = SignalStatus.EXECUTED, SignalStatus.REJECTED, SignalStatus.EXPIRED
FREEZE = "freeze_level=200"
NEAR, FAR = 100, 500
"""Points from the market: within the freeze level, and not."""
RISE_AT = 50_000
"""The tick from which on the price is 1,000 points higher: minutes from the start, see `_rise`."""
Asked = Signal | Order


def _market() -> Records:
    ticks = still(60_000)
    for side in ("bid", "ask"):
        ticks[side][RISE_AT:] += 1_000 * POINT
    return ticks


def _floor(
    folder: Path, mode: str = "hedging", symbol: str = FREEZE
) -> AbstractContextManager[Floor]:
    return trading(folder, mode=mode, symbol=symbol, prices=_market())


def _rise(floor: Floor) -> None:
    """Let the price leave what is below it."""
    floor.terminal.act(f"offline_ticks={RISE_AT}")


def _bought(floor: Floor, stop_points: float = NEAR, magic: int = 7) -> int:
    """The ticket of a new position whose stop is so far away."""
    return floor.ask(signal(Side.BUY, 0.1, magic, stop_points=stop_points)).order


def _placed(floor: Floor) -> int:
    """The ticket of a pending order that the market is near to."""
    limit = order(OrderKind.LIMIT, OrderSide.BUY, 0.1, ASK - NEAR * POINT)
    return floor.ask_until(limit, SignalStatus.PLACED).order


def _close(floor: Floor) -> Asked:
    _bought(floor)
    return signal(Side.CLOSE)


def _part(floor: Floor) -> Asked:
    return order(OrderKind.CLOSE, ticket=_bought(floor), lots=0.04)


def _nearer(floor: Floor) -> Asked:
    return order(OrderKind.MODIFY, ticket=_bought(floor), sl=BID - (NEAR - 30) * POINT)


def _cancel(floor: Floor) -> Asked:
    return order(OrderKind.CANCEL, ticket=_placed(floor))


def _wider(floor: Floor) -> Asked:
    return order(OrderKind.MODIFY, ticket=_bought(floor), sl=BID - FAR * POINT)


def _target(floor: Floor) -> Asked:
    bought = floor.ask(signal(Side.BUY, 0.1, target_points=NEAR)).order
    return order(OrderKind.MODIFY, ticket=bought, tp=BID + FAR * POINT)


def _moved(floor: Floor) -> Asked:
    return order(OrderKind.MODIFY, ticket=_placed(floor), price=ASK - FAR * POINT)


def _tried(floor: Floor) -> int:
    """How many requests the broker was sent, once the trader has had one behind all others."""
    floor.ask(order(OrderKind.CANCEL, ticket=1))
    return len(floor.broker().requests)


@pytest.mark.parametrize("mode", ["netting", "hedging"])
@pytest.mark.parametrize("make", [_close, _part, _nearer, _cancel])
def test_what_makes_risk_smaller_waits(
    tmp_path: Path, make: Callable[[Floor], Asked], mode: str
) -> None:
    """ "Frozen" is waited for: nothing is sent, and then it is sent once."""
    with _floor(tmp_path, mode) as floor:
        request = make(floor)
        floor.server.send(IDENTITY, request)
        floor.wait_status(request.id, SignalStatus.RECEIVED)
        before = _tried(floor)
        assert before == 1
        [said] = [line for line in floor.terminal.journal if line.endswith("; it waits")]
        assert f"{request.id:016x} EURUSD: " in said and " is frozen: its " in said
        _rise(floor)
        final = floor.final(request.id)
        assert (final.status, final.text) == (EXECUTED, "")
        assert _tried(floor) == before + 1


@pytest.mark.parametrize("mode", ["netting", "hedging"])
@pytest.mark.parametrize("make", [_wider, _target, _moved])
def test_what_may_make_risk_larger_is_refused(
    tmp_path: Path, make: Callable[[Floor], Asked], mode: str
) -> None:
    """ "... is never tried again": the trade server is not asked, and the text says why."""
    with _floor(tmp_path, mode) as floor:
        final = floor.ask(make(floor))
        assert (final.status, final.retcode) == (REJECTED, 0)
        assert "is frozen: its " in final.text
        assert "within 200 points (the freeze level of EURUSD) of 1.100" in final.text
        assert _tried(floor) == 1


def test_one_that_is_frozen_holds_up_no_other(tmp_path: Path) -> None:
    """Closing all of a strategy closes at once what can be closed."""
    with _floor(tmp_path) as floor:
        frozen, free = _bought(floor), _bought(floor, FAR)
        floor.server.send(IDENTITY, close := signal(Side.CLOSE))
        floor.wait_status(close.id, SignalStatus.PARTIAL)
        assert list(floor.broker().positions) == [frozen] != [free]
        _rise(floor)
        assert floor.final(close.id).status is EXECUTED
        assert floor.lots(close.id) == 0.2


def _before_the_first_leg(journal: bytes) -> bytes:
    """A journal up to where the leg of index 0 of its last request was sent."""
    end = 0
    kept = 8
    for payload, behind in records(journal):
        is_first = payload[0] == LEG and payload[STATE_AT - 2 : STATE_AT] == b"\0\0"
        if is_first and payload[STATE_AT] == SENT:
            end = kept
        kept = behind
    return journal[:end]


def test_a_leg_that_was_sent_behind_others_is_found(tmp_path: Path) -> None:
    """Also after a power failure that has taken what the journal knew of it."""
    with _floor(tmp_path) as floor:
        for points in (NEAR, FAR):
            _bought(floor, points)
        floor.server.send(IDENTITY, close := signal(Side.CLOSE))
        floor.wait_status(close.id, SignalStatus.PARTIAL)
        _rise(floor)
        assert floor.final(close.id).status is EXECUTED
        floor.terminal.kill()
        journal = journal_of(floor)
        journal.write_bytes(_before_the_first_leg(journal.read_bytes()))
        floor.terminal.start()
        floor.wait_online()
        floor.outcomes.clear()
        assert floor.ask(close).status is EXECUTED
        assert [result.lots for result in fills_and_final(floor, close.id)] == [0.1, 0.1]
        assert len(floor.trades()) == 4


@pytest.mark.parametrize("mode", ["netting", "hedging"])
def test_a_pending_order_is_taken_back_when_it_can_be(tmp_path: Path, mode: str) -> None:
    """The kill switch takes it back as soon as it is not frozen."""
    with _floor(tmp_path, mode) as floor:
        limit = order(OrderKind.LIMIT, OrderSide.BUY, 0.1, ASK - NEAR * POINT)
        floor.ask_until(limit, SignalStatus.PLACED)
        floor.halt(True, "test")
        wait_until(lambda: any("halted: test" in line for line in floor.terminal.journal))
        assert _tried(floor) == 1
        _rise(floor)
        assert floor.final(limit.id).status is SignalStatus.CANCELLED


def test_a_later_change_counts_where_none_was_sent(tmp_path: Path) -> None:
    with _floor(tmp_path) as floor:
        ticket = _bought(floor)
        earlier, later = (
            order(OrderKind.MODIFY, ticket=ticket, sl=BID - points * POINT) for points in (70, 80)
        )
        floor.server.send(IDENTITY, earlier)
        floor.wait_status(earlier.id, SignalStatus.RECEIVED)
        floor.server.send(IDENTITY, later)
        final = floor.final(earlier.id)
        assert (final.status, final.text) == (REJECTED, "the stops were changed since then")
        _rise(floor)
        assert floor.final(later.id).status is EXECUTED
        assert floor.broker().positions[ticket].sl == pytest.approx(BID - 80 * POINT)


def test_it_ends_with_the_reason(tmp_path: Path) -> None:
    """It ends with "the request's `valid_until`, as `expired`", or `RetrySeconds`."""
    with trading(tmp_path, symbol=FREEZE) as floor:
        ticket = _bought(floor)
        until_msc = now().utc_msc + LONG_MS - 60_000
        timed = order(OrderKind.CLOSE, ticket=ticket, lots=0.04, valid_until_msc=until_msc)
        floor.server.send(IDENTITY, timed)
        floor.wait_status(timed.id, SignalStatus.RECEIVED)
        floor.server.send(IDENTITY, cancel := order(OrderKind.CANCEL, ticket=_placed(floor)))
        floor.wait_status(cancel.id, SignalStatus.RECEIVED)
        floor.terminal.pass_time(LONG_S)
        ends = {one.id: floor.final(one.id) for one in (timed, cancel)}
        assert ends[timed.id].status is EXPIRED
        assert f", before that position {ticket} is frozen: its stop" in ends[timed.id].text
        assert ends[cancel.id].status is REJECTED and "is frozen: its price" in ends[cancel.id].text


def test_a_change_that_is_too_near_is_not_sent(tmp_path: Path) -> None:
    """The stops level holds for changes of pending orders and their stops, too."""
    with _floor(tmp_path, symbol="stops_level=50") as floor:
        ticket = _placed(floor)
        for change in ({"price": ASK - 40 * POINT}, {"sl": ASK - (NEAR + 40) * POINT}):
            final = floor.ask(order(OrderKind.MODIFY, ticket=ticket, **change))
            assert (final.status, final.retcode) == (REJECTED, 0)
            assert "(the stops level of EURUSD)" in final.text
        assert _tried(floor) == 1
        far = order(OrderKind.MODIFY, ticket=ticket, price=ASK - FAR * POINT)
        assert floor.ask(far).status is EXECUTED
