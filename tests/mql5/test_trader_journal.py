"""The order journal where files cannot be moved, opened or written for a while: nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.wire import Side, SignalStatus
from tests.mql5.order_journal import LEG, STATE_AT, WAITING, journal_of, records
from tests.mql5.trading import Floor, fills_and_final, signal, trading
from tests.waiting import LONG_S

EXECUTED, REJECTED = SignalStatus.EXECUTED, SignalStatus.REJECTED
_UNFINISHED = b"\0\x10\0\0abcd" + 600 * b"torn"


def _tear(journal: Path) -> None:
    """Leave a record unfinished behind the last one."""
    _, end = records(journal.read_bytes())[-1]
    with journal.open("r+b") as file:
        file.seek(end)
        file.write(_UNFINISHED)


def _act(floor: Floor, what: str, settings: str) -> None:
    """Let it happen before anything that is asked of the trader from now on."""
    floor.terminal.act(f"{what}='{settings}'")
    floor.terminal.wait_journal(f"script: {what} {settings}", LONG_S)


@pytest.mark.parametrize("fault", ["move=1 name=*.journal", "open=1 name=*.journal.new"])
def test_a_compaction_that_fails_stops_nothing(tmp_path: Path, fault: str) -> None:
    with trading(tmp_path, broker=f"files {fault}") as floor:
        bought = [signal(Side.BUY, 0.1), signal(Side.BUY, 0.2)]
        for request in bought:
            floor.ask(request)
            floor.terminal.kill()
            _tear(journal_of(floor))
            floor.terminal.start()
            floor.wait_online()
        close = signal(Side.CLOSE)
        assert floor.ask(close).status is EXECUTED
        told = [fills_and_final(floor, request.id) for request in (*bought, close)]
        floor.restart()
        floor.outcomes.clear()
        for request in (*bought, close):
            floor.ask(request)
        assert [fills_and_final(floor, request.id) for request in (*bought, close)] == told
        assert len(floor.broker().orders) == 4
        assert any("is tried again later" in line for line in floor.terminal.journal)
        assert not journal_of(floor).with_name("orders.journal.new").exists() or "move" in fault


def test_what_cannot_be_written_is_written_later(tmp_path: Path) -> None:
    """No order leaves that is not on the disk; a torn record is cut before the next one."""
    with trading(tmp_path) as floor:
        floor.ask(bought := signal(Side.BUY, 0.1))
        _act(floor, "files", "write=1 name=*.journal")
        refused = floor.ask(signal(Side.BUY, 0.2))
        assert (refused.status, refused.text[:17]) == (REJECTED, "the order journal")
        _act(floor, "files", "write=0")
        close = signal(Side.CLOSE)
        assert floor.ask(close).status is EXECUTED
        told = [fills_and_final(floor, number) for number in (bought.id, refused.id, close.id)]
        floor.restart()
        floor.outcomes.clear()
        for number in (bought.id, refused.id, close.id):
            floor.question(number)
            floor.final(number)
        again = [fills_and_final(floor, number) for number in (bought.id, refused.id, close.id)]
        assert again == told
        assert len(floor.broker().orders) == 2


def _planned(journal: bytes) -> bytes:
    """A journal up to where its last legs were planned and none of them sent."""
    ends = [
        end
        for payload, end in records(journal)
        if payload[0] == LEG and payload[STATE_AT] == WAITING
    ]
    return journal[: ends[-1]]


def test_a_plan_that_was_not_sent_is_void(tmp_path: Path) -> None:
    """Also where the journal could not be written anew, so that it still has the old plan."""
    with trading(tmp_path, broker="files move=1 name=*.journal") as floor:
        for _ in range(2):
            floor.ask(signal(Side.BUY, 0.1))
        _act(floor, "broker", "lost=1")
        floor.ask(close := signal(Side.CLOSE))
        floor.terminal.kill()
        journal = journal_of(floor)
        journal.write_bytes(_planned(journal.read_bytes()))
        for _ in range(2):
            floor.terminal.start()
            floor.wait_online()
            floor.outcomes.clear()
            assert floor.ask(close).status is EXECUTED
            assert len(fills_and_final(floor, close.id)) == 2
            floor.terminal.kill()
