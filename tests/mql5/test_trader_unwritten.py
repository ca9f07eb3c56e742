"""Told as rejected since the journal could not be written: never executed, whenever all ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.wire import Side, SignalResult, SignalStatus
from tests.mql5.order_journal import ENTRY, MARK_LENGTH, MARK_SUM, journal_of, records
from tests.mql5.trading import Floor, fills_and_final, signal, trading
from tests.waiting import LONG_S

EXECUTED, REJECTED = SignalStatus.EXECUTED, SignalStatus.REJECTED
UNWRITTEN = "the order journal cannot be written"
_FAULT = "files write={} name=*.journal"


def _let(floor: Floor, share: float) -> None:
    """This share of writes fails before anything that is asked from now on."""
    floor.terminal.act(f"files='{_FAULT.format(share)[6:]}'")
    floor.terminal.wait_journal(f"script: {_FAULT.format(share)}", LONG_S)


@pytest.mark.parametrize("refusals", [1, 2, 5])
def test_the_trader_starts_after_writes_that_failed(tmp_path: Path, refusals: int) -> None:
    with trading(tmp_path) as floor:
        bought = floor.ask(signal(Side.BUY, 0.3))
        _let(floor, 1)
        refused = [floor.ask(signal(Side.BUY, 0.1)) for _ in range(refusals)]
        assert {result.status for result in refused} == {REJECTED}
        floor.restart()
        assert floor.ask(signal(Side.BUY, 0.2)).status is EXECUTED
        assert [floor.lots(result.id) for result in refused] == [0.0] * refusals
        assert len(floor.broker().orders) == 2
        assert floor.lots(bought.id) == 0.3


@pytest.mark.parametrize("seed", [1, 2])
def test_what_was_told_holds_after_a_crash(tmp_path: Path, seed: int) -> None:
    """Some writes fail half-way; an order that is told later comes behind what was planned anew."""
    with trading(tmp_path, seed=seed) as floor:
        _let(floor, 0.4)
        told = [floor.ask(signal(Side.BUY, 0.1)) for _ in range(6)]
        floor.restart()
        assert floor.ask(signal(Side.BUY, 0.2)).status is EXECUTED
        for result in told:
            assert (floor.lots(result.id) > 0) == (result.status is EXECUTED), result


def _accepted_only(floor: Floor) -> SignalResult:
    """An order that the journal has accepted, and of which it knows nothing else."""
    floor.terminal.act("broker='lost=1'")
    floor.terminal.wait_journal("script: broker lost=1", LONG_S)
    result = floor.ask(signal(Side.BUY, 0.1))
    floor.terminal.kill()
    journal = journal_of(floor)
    content = journal.read_bytes()
    ends = [end for payload, end in records(content) if payload[0] == ENTRY]
    journal.write_bytes(content[: ends[-1]])
    floor.outcomes.clear()
    return result


def _refused_and_unwritten(floor: Floor) -> int:
    """The id of an order that is on the disk, and its refusal is not."""
    result, script = _accepted_only(floor), floor.terminal.script
    floor.terminal.script = script.plus(_FAULT.format(1))
    floor.terminal.start()
    floor.wait_online()
    floor.terminal.wait_journal(UNWRITTEN, LONG_S)
    floor.terminal.script = script
    floor.question(result.id)
    floor.question(99)
    floor.wait_status(99, SignalStatus.UNKNOWN)
    return result.id


def test_a_refusal_is_told_when_nothing_can_undo_it(tmp_path: Path) -> None:
    """The order is on the disk: a restart judges it anew, so it must not be told as rejected."""
    with trading(tmp_path) as floor:
        number = _refused_and_unwritten(floor)
        assert not any(result.status.final for result in floor.results(number))
        floor.restart()
        assert floor.final(number).status is EXECUTED
        assert floor.lots(number) == 0.1


def test_a_refusal_is_told_as_soon_as_it_is_written(tmp_path: Path) -> None:
    with trading(tmp_path) as floor:
        number = _refused_and_unwritten(floor)
        _let(floor, 0)
        told = floor.final(number)
        assert told.status is REJECTED and told.text.startswith(UNWRITTEN)
        floor.restart()
        floor.outcomes.clear()
        floor.question(number)
        assert floor.final(number) == told
        assert len(fills_and_final(floor, number)) == 1 and floor.lots(number) == 0.0


_MARK = MARK_LENGTH + MARK_SUM
_BEHIND = 300 * b"torn"


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(_MARK, id="whole"),
        pytest.param(_MARK[:4], id="half"),
        pytest.param(_MARK + _BEHIND, id="behind"),
        pytest.param(b"\x70\0\0\0" + MARK_SUM + _BEHIND, id="half_committed"),
        pytest.param(MARK_LENGTH + b"abcd" + _BEHIND, id="half_marked"),
    ],
)
@pytest.mark.parametrize("anew", [True, False], ids=["written_anew", "as_it_is"])
def test_a_mark_is_the_end(tmp_path: Path, end: bytes, anew: bool) -> None:
    """Whatever lies behind it, also where the journal cannot be written anew."""
    with trading(tmp_path, broker="" if anew else "files move=1 name=*.journal") as floor:
        told = [floor.ask(signal(Side.BUY, 0.1))]
        for _ in range(2):
            floor.terminal.kill()
            content = journal_of(floor).read_bytes()
            journal_of(floor).write_bytes(content[: records(content)[-1][1]] + end)
            floor.terminal.start()
            floor.wait_online()
            told.append(floor.ask(signal(Side.BUY, 0.1)))
        floor.outcomes.clear()
        for result in told:
            floor.question(result.id)
            assert floor.final(result.id) == result
        assert len(floor.broker().orders) == 3


@pytest.mark.parametrize("content", [_MARK + _BEHIND, b"MT5O" + MARK_SUM + _BEHIND])
def test_a_first_write_that_failed_leaves_an_empty_journal(tmp_path: Path, content: bytes) -> None:
    with trading(tmp_path) as floor:
        floor.terminal.kill()
        journal_of(floor).write_bytes(content)
        floor.terminal.start()
        floor.wait_online()
        assert floor.ask(signal(Side.BUY, 0.1)).status is EXECUTED
