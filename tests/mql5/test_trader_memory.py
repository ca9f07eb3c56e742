"""At most once: asked twice, after crashes, when answers are lost and comments are rewritten."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from mt5bridge.wire import OrderKind, OrderSide, Side, SignalStatus
from tests.bridge.live import wait_until
from tests.mql5.order_journal import records
from tests.mql5.trading import (
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
from tests.waiting import LONG_S

EXECUTED, REJECTED = SignalStatus.EXECUTED, SignalStatus.REJECTED
_LEG = 2  # ORDER_RECORD_LEG


def _journal(floor: Floor) -> Path:
    return next(floor.terminal.folder.rglob("orders.journal"))


def test_asked_twice_executed_once(tmp_path: Path) -> None:
    with trading(tmp_path, broker="broker fills=3..3", symbol="execution=3") as floor:
        request = signal(Side.BUY, 0.3)
        floor.ask(request)
        told = fills_and_final(floor, request.id)
        for restart in (False, True):
            if restart:
                floor.restart()
            floor.outcomes.clear()
            floor.ask(request)
            assert fills_and_final(floor, request.id) == told
            floor.outcomes.clear()
            floor.question(request.id)
            floor.final(request.id)
            assert fills_and_final(floor, request.id) == told
        assert len(floor.broker().orders) == 1


def test_unknown_id(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        floor.question(99)
        floor.wait_status(99, SignalStatus.UNKNOWN)
        assert len(floor.broker().orders) == 0


def test_timeout_that_was_executed(tmp_path: Path) -> None:
    with trading(tmp_path, broker="broker timeout=1") as floor:
        final = floor.ask(request := signal(Side.BUY, 0.1))
        assert final.status is EXECUTED
        assert [deal.ticket for deal in floor.deals(request.id)] == [final.deal]


def test_timeout_that_was_not_executed(tmp_path: Path) -> None:
    with trading(tmp_path, broker="broker lost=1") as floor:
        final = floor.ask(signal(Side.BUY, 0.1))
        assert (final.status, final.text) == (REJECTED, "not found at the broker")
        assert len(floor.trades()) == 0


@pytest.mark.parametrize("mode", ["netting", "hedging"])
def test_changes_that_were_made_without_an_answer(tmp_path: Path, mode: str) -> None:
    """Asked for beside the symbol's steps: what stands is the nearest price that it can have."""
    with trading(tmp_path, mode=mode) as floor:
        ticket = floor.ask(signal(Side.BUY, 0.1)).order
        waiting = order(OrderKind.LIMIT, OrderSide.BUY, 0.1, BID - 900 * POINT)
        pending = floor.ask_until(waiting, SignalStatus.PLACED).order
        _broker(floor, "timeout=1")
        stops = {"sl": BID - 500.3 * POINT, "tp": BID + 500.4 * POINT}
        assert floor.ask(order(OrderKind.MODIFY, ticket=ticket, **stops)).status is EXECUTED
        moved = order(OrderKind.MODIFY, ticket=pending, price=BID - 800.4 * POINT)
        assert floor.ask(moved).status is EXECUTED
        [position] = floor.broker().positions.values()
        assert (position.sl, position.tp) == pytest.approx((BID - 500 * POINT, BID + 500 * POINT))
        assert floor.broker().orders[pending].price_open == pytest.approx(BID - 800 * POINT)


def test_a_change_that_was_lost_is_not_taken_for_a_level_beside_it(tmp_path: Path) -> None:
    """Nor where prices are large, so that a step is a small share of them."""
    dear = still(60_000)
    dear["bid"], dear["ask"] = 100_000.0, 100_001.0
    with trading(tmp_path, prices=dear, symbol="contract_size=1") as floor:
        ticket = floor.ask(signal(Side.BUY, 0.01)).order
        stop = 99_000.0
        assert floor.ask(order(OrderKind.MODIFY, ticket=ticket, sl=stop)).status is EXECUTED
        _broker(floor, "lost=1")
        final = floor.ask(order(OrderKind.MODIFY, ticket=ticket, sl=stop + POINT))
        assert (final.status, final.text) == (REJECTED, "not found at the broker")


@pytest.mark.parametrize("comments", ["drop", "replace:broker", "cut:16"])
@pytest.mark.parametrize("carrier", ["ID_IN_COMMENT", "ID_IN_MAGIC"])
def test_comments_rewritten(tmp_path: Path, comments: str, carrier: str) -> None:
    broker = f"broker timeout=1 comments={comments}"
    with trading(tmp_path, broker=broker, inputs={"CarryId": carrier}) as floor:
        first, second = signal(Side.BUY, 0.1), signal(Side.BUY, 0.1)
        finals = [floor.ask(first), floor.ask(second)]
        assert [final.status for final in finals] == [EXECUTED, EXECUTED]
        assert finals[0].deal != finals[1].deal
        closed = signal(Side.CLOSE)  # found by the strategy's magic number in either case
        assert floor.ask(closed).status is EXECUTED
        assert floor.lots(closed.id) == pytest.approx(0.2)


def test_journal_with_a_torn_end(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        floor.ask(request := signal(Side.BUY, 0.1))
        told = fills_and_final(floor, request.id)
        floor.terminal.kill()
        journal = _journal(floor).read_bytes()
        _, end = records(journal)[-1]
        _journal(floor).write_bytes(journal[:end] + b"\x40\0\0\0abcdtorn")
        floor.terminal.start()
        floor.wait_online()
        floor.outcomes.clear()
        floor.ask(request)
        assert fills_and_final(floor, request.id) == told
        assert len(floor.broker().orders) == 1


def test_damaged_journal_is_refused(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        floor.ask(signal(Side.BUY, 0.1))
        floor.terminal.kill()
        content = bytearray(_journal(floor).read_bytes())
        content[20] ^= 0xFF
        _journal(floor).write_bytes(content)
        floor.terminal.start()
        line = floor.terminal.wait_journal("is damaged at byte 8", LONG_S)
        assert "restore this file from a backup" in line
        assert not any(word in line for word in ("move", "delete", "remove", "rename"))


def test_without_a_journal_the_broker_is_asked(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        floor.ask(request := signal(Side.BUY, 0.1))
        [deal] = floor.deals(request.id)
        floor.terminal.kill()
        _journal(floor).unlink()
        floor.terminal.start()
        floor.wait_online()
        floor.outcomes.clear()
        final = floor.ask(request)
        assert (final.status, final.deal) == (EXECUTED, deal.ticket)
        assert len(floor.broker().orders) == 1


def test_a_journal_that_lost_its_end_with_the_power(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        floor.ask(signal(Side.BUY, 0.1))
        older = _journal(floor).read_bytes()
        floor.ask(request := signal(Side.BUY, 0.2))
        [deal] = floor.deals(request.id)
        floor.terminal.kill()
        _journal(floor).write_bytes(older)
        floor.terminal.start()
        floor.wait_online()
        floor.outcomes.clear()
        final = floor.ask(request)
        assert (final.status, final.deal) == (EXECUTED, deal.ticket)
        assert len(floor.broker().orders) == 2


def _before_sending(journal: bytes) -> bytes:
    """A journal up to where the first leg was planned and not yet sent."""
    at = 8
    while at < len(journal):
        (size,) = struct.unpack_from("<I", journal, at)
        kind, at = journal[at + 8], at + 8 + size
        if kind == _LEG:
            return journal[:at]
    raise AssertionError("no leg in the journal")


def test_a_plan_that_was_not_sent_is_made_anew(tmp_path: Path) -> None:
    """The kill switch was turned while the terminal was down: the order must not leave."""
    with trading(tmp_path, broker="broker lost=1") as floor:
        floor.ask(request := signal(Side.BUY, 0.1))
        floor.terminal.kill()
        journal = _journal(floor)
        journal.write_bytes(_before_sending(journal.read_bytes()))
        (journal.parents[1] / "HALT").touch()
        floor.terminal.start()
        floor.wait_online()
        floor.outcomes.clear()
        final = floor.ask(request)
        assert final.status is REJECTED and final.text.startswith("halted: by the file")


def test_results_of_a_time_offline(tmp_path: Path) -> None:
    with trading(tmp_path, broker="broker fills=3..3 fill_delay_ms=200..300") as floor:
        request = signal(Side.BUY, 0.3)
        floor.server.send(IDENTITY, request)
        floor.wait_status(request.id, SignalStatus.RECEIVED)
        floor.restart()
        final = floor.final(request.id)
        wait_until(lambda: len(fills_and_final(floor, request.id)) == len(floor.deals(request.id)))
        assert final.status in (EXECUTED, REJECTED)
        assert (final.status is EXECUTED) == (len(floor.deals(request.id)) > 0)


def test_transactions_that_never_come(tmp_path: Path) -> None:
    broker = "broker missing=1 fills=2..2 latency_ms=5..10"
    with trading(tmp_path, broker=broker) as floor:
        final = floor.ask(request := signal(Side.BUY, 0.2))
        assert final.status is EXECUTED
        assert len(fills_and_final(floor, request.id)) == len(floor.deals(request.id)) == 2


def test_what_is_never_answered_ends(tmp_path: Path) -> None:
    """Not even refused, as far as the terminal tells: after 200 s it is over."""
    with trading(tmp_path) as floor:
        ticket = floor.ask(signal(Side.BUY, 0.1)).order
        _broker(floor, "missing=1 lost=1")
        stops = order(OrderKind.MODIFY, ticket=ticket, sl=BID - 500 * POINT)
        for request in (signal(Side.BUY, 0.1), stops, order(OrderKind.CLOSE, ticket=ticket)):
            floor.server.send(IDENTITY, request)
            floor.wait_status(request.id, SignalStatus.RECEIVED)
            floor.terminal.pass_time(LONG_S)
            final = floor.final(request.id)
            assert (final.status, final.text) == (REJECTED, "not found at the broker")
        assert len(floor.trades()) == 1
        _broker(floor, "missing=0 lost=0")
        assert floor.ask(signal(Side.CLOSE)).status is EXECUTED


def test_executed_while_cut_off_from_the_trade_server(tmp_path: Path) -> None:
    broker = "broker latency_ms=600..600 fills=2..2\nat ms=900 disconnect=1500"
    with trading(tmp_path, broker=broker) as floor:
        requests = [signal(Side.BUY, 0.2) for _ in range(8)]
        for request in requests:
            floor.server.send(IDENTITY, request)
            floor.wait_status(request.id)  # some before, some during, some after
        for request in requests:
            final = floor.final(request.id)
            assert (final.status is EXECUTED) == (floor.lots(request.id) > 0)
            assert len(fills_and_final(floor, request.id)) == max(1, len(floor.deals(request.id)))


def _broker(floor: Floor, setting: str) -> None:
    """Change a setting of the broker; wait until it holds."""
    floor.terminal.act(f"broker='{setting}'")
    floor.terminal.wait_journal(f"script: broker {setting}", LONG_S)
