"""What only makes risk smaller is tried again after a refusal that passes; what opens is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mt5bridge.clock import now
from mt5bridge.emulator.broker_log import Request
from mt5bridge.emulator.script import Script
from mt5bridge.wire import Order, OrderKind, OrderSide, Side, Signal, SignalResult, SignalStatus
from tests.mql5.order_journal import LEG, SENT, STATE_AT, WAITING, journal_of, records
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
# The codes that docs/orders.md calls passing.
PASSING = (10004, 10018, 10020, 10021, 10023, 10024, 10028, 10029, 10038, 10039)
ACCEPTED = (10008, 10009)
CLOSED = 10018
Asked = Signal | Order


def _act(floor: Floor, settings: str) -> None:
    """Let the broker be like this before anything that is asked of the trader from now on."""
    floor.terminal.act(f"broker='{settings}'")
    floor.terminal.wait_journal(f"script: broker {settings}", LONG_S)


def _requests(floor: Floor) -> list[Request]:
    return list(floor.broker().requests.values())


def _refused(floor: Floor) -> int:
    """How many requests the broker has refused."""
    return sum(each.retcode in PASSING for each in _requests(floor))


def _bought(floor: Floor, lots: float = 0.1) -> int:
    """The ticket of a new position."""
    return floor.ask(signal(Side.BUY, lots)).order


def _placed(floor: Floor) -> int:
    """The ticket of a new pending order."""
    limit = order(OrderKind.LIMIT, OrderSide.SELL, 0.1, ASK + 0.01)
    return floor.ask_until(limit, SignalStatus.PLACED).order


def _close(floor: Floor) -> Asked:
    _bought(floor)
    return signal(Side.CLOSE)


def _part(floor: Floor) -> Asked:
    return order(OrderKind.CLOSE, ticket=_bought(floor), lots=0.04)


def _nearer(floor: Floor) -> Asked:
    return order(OrderKind.MODIFY, ticket=_bought(floor), sl=BID - 300 * POINT)


def _cancel(floor: Floor) -> Asked:
    return order(OrderKind.CANCEL, ticket=_placed(floor))


@pytest.mark.parametrize("make", [_close, _part, _nearer, _cancel])
def test_each_passing_code(tmp_path: Path, make: Callable[[Floor], Asked]) -> None:
    """ "of *passing*, nothing was done": the second attempt goes well, and there is no third."""
    with trading(tmp_path) as floor:
        for code in PASSING:
            request = make(floor)
            before = len(_requests(floor))
            _act(floor, f"reject={code}:1:1")
            assert floor.ask(request).status is EXECUTED
            first, second = (each.retcode for each in _requests(floor)[before:])
            assert first == code and second in ACCEPTED
            if make in (_close, _part):
                assert floor.lots(request.id) == (0.1 if make is _close else 0.04)
            if make is _part:
                floor.ask(signal(Side.CLOSE))


def _wider(floor: Floor) -> Asked:
    bought = floor.ask(signal(Side.BUY, 0.1, stop_points=300))
    return order(OrderKind.MODIFY, ticket=bought.order, sl=BID - 900 * POINT)


def _market(_floor: Floor) -> Asked:
    return signal(Side.BUY, 0.1)


def _limit(_floor: Floor) -> Asked:
    return order(OrderKind.LIMIT, OrderSide.BUY, 0.1, BID - 0.01)


def _moved(floor: Floor) -> Asked:
    return order(OrderKind.MODIFY, ticket=_placed(floor), price=ASK + 0.02)


@pytest.mark.parametrize("make", [_market, _limit, _wider, _moved])
def test_what_may_make_risk_larger_is_never_tried_again(
    tmp_path: Path, make: Callable[[Floor], Asked]
) -> None:
    with trading(tmp_path) as floor:
        for code in PASSING:
            request = make(floor)
            before = len(_requests(floor))
            _act(floor, f"reject={code}:1:1")
            final = floor.ask(request)
            assert (final.status, final.retcode) == (REJECTED, code)
            _act(floor, f"slippage_points=0..{code}")  # and what comes after it has been done
            floor.ask(_close(floor))
            assert [each.retcode for each in _requests(floor)[before:]].count(code) == 1
            assert floor.lots(request.id) == 0


def _wait_tries(floor: Floor, more: int) -> None:
    """Wait until the trader has said so many times in this life that it tries again."""
    wait_until(lambda: sum("tried again" in line for line in floor.terminal.journal) >= more)


def _is_under_way(floor: Floor) -> bool:
    """Whether the journal ends with an order that was sent and not answered."""
    legs = [payload for payload, _ in records(journal_of(floor).read_bytes()) if payload[0] == LEG]
    assert legs[-1][STATE_AT] in (WAITING, SENT)
    return legs[-1][STATE_AT] == SENT


@pytest.mark.parametrize(
    ("carrier", "comments"),
    [("ID_IN_COMMENT", "keep"), ("ID_IN_COMMENT", "cut:20"), ("ID_IN_MAGIC", "drop")],
)
@pytest.mark.parametrize("mode", ["netting", "hedging"])
def test_restarts_between_attempts(tmp_path: Path, mode: str, carrier: str, comments: str) -> None:
    """However often it is tried, it is executed once, and told as it was."""
    setting = f"broker comments={comments}"
    with trading(tmp_path, mode=mode, broker=setting, inputs={"CarryId": carrier}) as floor:
        ticket = _bought(floor, 0.5)
        patient = floor.terminal.script
        floor.terminal.script = patient.plus("broker reject=10004:1")
        floor.restart()
        part = order(OrderKind.CLOSE, ticket=ticket, lots=0.3)
        floor.server.send(IDENTITY, part)
        in_doubt = False
        for script in (floor.terminal.script, patient):
            _wait_tries(floor, 2)
            floor.terminal.kill()
            in_doubt = in_doubt or _is_under_way(floor)
            floor.terminal.script = script
            floor.terminal.start()
            floor.wait_online()
            if in_doubt:
                break
        final = floor.final(part.id)
        assert final.status is (REJECTED if in_doubt else EXECUTED)
        if in_doubt:  # a slow machine: the pause was over before the terminal's end
            assert final.text == "not found at the broker" and floor.lots(part.id) == 0
            return
        told = fills_and_final(floor, part.id)
        floor.restart()
        floor.outcomes.clear()
        assert floor.ask(part).status is EXECUTED
        assert fills_and_final(floor, part.id) == told
        accepted = [each for each in _requests(floor) if each.retcode in ACCEPTED]
        assert [each.volume for each in accepted] == pytest.approx([0.5, 0.3])
        [position] = floor.broker().positions.values()
        assert position.volume == pytest.approx(0.2)


def _tried_in_vain(floor: Floor, request: Asked) -> None:
    """Ask for something while the market is closed; return once it was refused."""
    _act(floor, "closed=EURUSD")
    floor.server.send(IDENTITY, request)
    wait_until(lambda: _refused(floor) >= 2)


def _ended(floor: Floor, request: Asked) -> SignalResult:
    """What comes of it when its time is over; nothing comes behind it."""
    floor.terminal.pass_time(LONG_S)
    final = floor.final(request.id)
    _act(floor, "open=EURUSD")
    floor.ask(signal(Side.BUY, 0.2))
    assert floor.lots(request.id) == 0
    return final


def test_tried_until_retry_seconds(tmp_path: Path) -> None:
    """RetrySeconds: "without an end of their own are tried so long"."""
    with trading(tmp_path) as floor:
        _bought(floor)
        _tried_in_vain(floor, request := signal(Side.CLOSE))
        final = _ended(floor, request)
        assert (final.status, final.retcode) == (REJECTED, CLOSED)
        assert final.text.startswith("market is closed (attempts: ")


def test_tried_until_its_end(tmp_path: Path) -> None:
    """Its end is `valid_until`, however long `RetrySeconds` is."""
    with trading(tmp_path, inputs={"RetrySeconds": "36000"}) as floor:
        _bought(floor)
        until_msc = now().utc_msc + LONG_MS - 60_000
        _tried_in_vain(floor, request := signal(Side.CLOSE, valid_until_msc=until_msc))
        final = _ended(floor, request)
        assert (final.status, final.retcode) == (EXPIRED, CLOSED)
        assert "before that market is closed (attempts: " in final.text


def test_not_tried_again_with_retry_seconds_0(tmp_path: Path) -> None:
    with trading(tmp_path, inputs={"RetrySeconds": "0"}) as floor:
        _bought(floor)
        _act(floor, "reject=10004:1:1")
        final = floor.ask(signal(Side.CLOSE))
        assert (final.status, final.retcode, final.text) == (
            REJECTED,
            10004,
            "requote (attempts: 1)",
        )


def test_executed_as_soon_as_the_market_opens(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        _bought(floor)
        _tried_in_vain(floor, request := signal(Side.CLOSE))
        _act(floor, "open=EURUSD")
        assert floor.final(request.id).status is EXECUTED
        assert floor.lots(request.id) == 0.1


def test_a_later_change_of_the_stops_counts(tmp_path: Path) -> None:
    """The earlier one must not undo it."""
    with trading(tmp_path) as floor:
        ticket = _bought(floor)
        earlier = order(OrderKind.MODIFY, ticket=ticket, sl=BID - 300 * POINT)
        _tried_in_vain(floor, earlier)
        later = order(OrderKind.MODIFY, ticket=ticket, sl=BID - 500 * POINT)
        floor.server.send(IDENTITY, later)
        final = floor.final(earlier.id)
        assert final.status is REJECTED and "the stops were changed since then" in final.text
        _act(floor, "open=EURUSD")
        assert floor.final(later.id).status is EXECUTED
        assert floor.broker().positions[ticket].sl == pytest.approx(BID - 500 * POINT)


@pytest.mark.parametrize("mode", ["netting", "hedging"])
def test_a_close_waits_for_one_that_is_tried_again(tmp_path: Path, mode: str) -> None:
    """Nothing is closed twice."""
    with trading(tmp_path, mode=mode) as floor:
        ticket = _bought(floor, 0.5)
        floor.ask(signal(Side.BUY, 0.4, magic=8))
        _tried_in_vain(floor, part := order(OrderKind.CLOSE, ticket=ticket, lots=0.2))
        floor.server.send(IDENTITY, rest := signal(Side.CLOSE))
        floor.wait_status(rest.id, SignalStatus.RECEIVED)
        _act(floor, "open=EURUSD")
        assert floor.final(part.id).status is floor.final(rest.id).status is EXECUTED
        lots = {request.id: floor.lots(request.id) for request in (part, rest)}
        assert lots[part.id] == 0.2
        assert lots[rest.id] == pytest.approx(0.3)


def test_what_waits_until_its_end_says_what_for(tmp_path: Path) -> None:
    """And what opens does not come before a close that waits: it would be closed, too."""
    with trading(tmp_path, inputs={"RetrySeconds": "36000"}) as floor:
        ticket = _bought(floor, 0.5)
        _tried_in_vain(floor, order(OrderKind.CLOSE, ticket=ticket, lots=0.2))
        rest = signal(Side.CLOSE, valid_until_msc=now().utc_msc + LONG_MS - 60_000)
        bought = signal(Side.BUY, 0.1)
        for request in (rest, bought):
            floor.server.send(IDENTITY, request)
            floor.wait_status(request.id, SignalStatus.RECEIVED)
        final = _ended(floor, rest)
        assert final.status is EXPIRED
        assert final.text.endswith("before that earlier requests of its symbol came first")
        assert floor.final(bought.id).retcode == CLOSED
        ends = [result.id for result in floor.outcomes if result.status.final]
        assert ends.index(rest.id) < ends.index(bought.id)


def test_only_what_is_left_of_a_strategy_is_closed(tmp_path: Path) -> None:
    """On a netting account a later attempt must not take what others hold."""
    with trading(tmp_path, mode="netting") as floor:
        for magic in (7, 8):
            floor.ask(signal(Side.BUY, 0.5, magic=magic))
        _act(floor, "reject=10004:1:4")
        floor.server.send(IDENTITY, close := signal(Side.CLOSE))
        wait_until(lambda: _refused(floor) == 4)
        floor.ask(sold := signal(Side.SELL, 0.3))  # in the two seconds before the fifth
        assert floor.final(close.id).status is EXECUTED
        orders = [deal.order for deal in floor.trades()]
        [first] = {deal.order for deal in floor.deals(sold.id)}
        [then] = {deal.order for deal in floor.deals(close.id)}
        assert floor.lots(close.id) == (0.2 if orders.index(first) < orders.index(then) else 0.5)


@pytest.mark.parametrize(
    ("hindrance", "help_", "reason"),
    [
        ("trade_allowed=0", "trade_allowed=1", "algo trading is off in the terminal"),
        ("files='write=1 name=*.journal'", "files='write=0'", "the order journal cannot be"),
    ],
)
def test_what_cannot_be_sent_waits_until_it_can(
    tmp_path: Path, hindrance: str, help_: str, reason: str
) -> None:
    """Closing does; what opens is refused with the reason."""
    with trading(tmp_path) as floor:
        _bought(floor)
        floor.terminal.act(hindrance)
        floor.terminal.wait_journal(f"script: {hindrance.partition('=')[0]}", LONG_S)
        floor.server.send(IDENTITY, close := signal(Side.CLOSE))
        floor.wait_status(close.id, SignalStatus.RECEIVED)
        refused = floor.ask(signal(Side.BUY, 0.2))
        assert refused.status is REJECTED and refused.text.startswith(reason)
        assert not floor.deals(close.id)
        floor.terminal.act(help_)
        assert floor.final(close.id).status is EXECUTED
        assert len(floor.trades()) == 2


def _unpriced(folder: Path) -> Path:
    """A market whose newest tick has neither bid nor ask."""
    ticks = still(60_000)
    ticks["bid"], ticks["ask"] = 0.0, 0.0
    path = folder / "unpriced.bin"
    path.write_bytes(ticks.tobytes())
    return path


def test_no_price_yet(tmp_path: Path) -> None:
    """Closing waits for it, cancelling needs none, and nothing is opened."""
    with trading(tmp_path) as floor:
        cancel = _cancel(floor)
        _bought(floor)
        script = floor.terminal.script
        others = Script(tuple(line for line in script.lines if line.name != "ticks"))
        floor.terminal.script = others.plus(f"ticks EURUSD path={_unpriced(tmp_path)}")
        floor.restart()
        floor.server.send(IDENTITY, close := signal(Side.CLOSE))
        floor.wait_status(close.id, SignalStatus.RECEIVED)
        assert floor.ask(cancel).status is EXECUTED
        refused = floor.ask(signal(Side.BUY, 0.2))
        assert (refused.status, refused.text) == (REJECTED, "no price for EURUSD")
        floor.terminal.script = script
        floor.restart()
        assert floor.final(close.id).status is EXECUTED
        assert len(floor.trades()) == 2
