"""Recounts of closed intervals, and what a daemon tells of its terminals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mt5bridge.position import Position
from mt5bridge.records import TICK
from mt5bridge.server import Settings, ticks_of
from mt5bridge.server.recount import _TICKS_MAX, Agreement, Ledger
from mt5bridge.server.server import Server
from mt5bridge.server.sink import Sink
from mt5bridge.server.status import (
    STALE_MS,
    RecountStatus,
    TerminalStatus,
    read_status,
    running_status,
    write_status,
)
from mt5bridge.simulator import parse_script, simulated_terminal
from mt5bridge.wire import (
    Account,
    Error,
    ErrorCode,
    Halt,
    Heartbeat,
    Lost,
    LostReason,
    Mark,
    Recount,
    Ticks,
)
from tests.bridge.dialog import Dialog
from tests.bridge.live import Daemon as LiveDaemon
from tests.bridge.live import run, walks
from tests.credentials import PASSWORDS

AGREED, DIFFERING, NOT_CHECKED = Agreement


def at(first: int, *times: int) -> Ticks:
    ticks = np.zeros(len(times), TICK)
    ticks["time_msc"] = times
    ticks["bid"] = ticks["ask"] = 1.0
    return Ticks(1, 0, first, ticks)


def counts(dialog: Dialog) -> tuple[int, int, int]:
    names = ("recounts_agreed", "recounts_differing", "recounts_not_checked")
    agreed, differing, not_checked = (dialog.counters.get(name, 0) for name in names)
    return agreed, differing, not_checked


def test_intervals_that_agree_and_one_that_does_not() -> None:
    """7.7: late ticks count where their time is, ticks behind `sequence` do not."""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.say(at(1, 100, 150, 150, 199, 200, 260, 120))
    dialog.say(at(8, 130))
    assert dialog.say(Recount(1, 7, 100, 200, 5)) == []
    dialog.say(Recount(1, 8, 100, 200, 6))
    dialog.say(Recount(1, 8, 200, 300, 2))
    dialog.say(Recount(1, 8, 300, 400, 0))
    assert counts(dialog) == (4, 0, 0)
    dialog.say(Recount(1, 8, 200, 300, 3))
    assert counts(dialog) == (4, 1, 0)
    stream = dialog.terminals.sessions["demo"].streams[ticks_of("EURUSD")]
    assert stream.last_difference == (
        "200..300 ms of server time: ticks in the tick base 3, received 2"
    )
    assert (
        dialog.sink.complaints[-1] == f"recounts_differing: demo EURUSD: {stream.last_difference}"
    )


def test_a_recount_waits_for_its_ticks() -> None:
    """7.7: once it has received `sequence`."""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.say(Recount(1, 3, 100, 200, 3))
    dialog.say(at(1, 100, 150))
    assert counts(dialog) == (0, 0, 0)
    dialog.say(at(3, 199))
    assert counts(dialog) == (1, 0, 0)


def test_what_began_before_this_run_is_not_checked() -> None:
    """7.8"""
    dialog = Dialog(resumes={("demo", ticks_of("EURUSD")): Position(40, 1_050, 2)})
    dialog.begin("EURUSD")
    dialog.say(at(41, 1_060, 1_130))
    dialog.say(Recount(1, 42, 1_000, 1_100, 9))
    dialog.say(Recount(1, 42, 1_050, 1_100, 9))
    dialog.say(Recount(1, 42, 1_051, 1_100, 1))
    dialog.say(Recount(1, 42, 1_100, 1_200, 1))
    assert counts(dialog) == (2, 0, 2)


def test_what_is_lost_is_not_checked() -> None:
    """7.8"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.say(at(1, 100, 150))
    dialog.say(Recount(1, 5, 100, 200, 4))
    dialog.say(Lost(1, 3, 5, LostReason.OTHER, ""))
    assert counts(dialog) == (0, 0, 1), "nothing else will come for it"
    dialog.say(Recount(1, 5, 100, 200, 4))
    dialog.say(at(6, 250, 310))
    dialog.say(Recount(1, 7, 200, 300, 1))
    dialog.say(Recount(1, 7, 250, 300, 1))
    assert counts(dialog) == (0, 0, 4), "other ticks of that millisecond may be lost"
    dialog.say(Recount(1, 7, 251, 300, 0))
    dialog.say(Recount(1, 7, 300, 400, 1))
    assert counts(dialog) == (2, 0, 4)


def test_what_is_no_longer_remembered_is_not_checked() -> None:
    """7.8"""
    ledger, step = Ledger(Position()), 10_000
    total = 0
    while total < 3 * _TICKS_MAX:
        ledger.take(np.arange(total, total + step))
        total += step
    assert ledger.known_from_msc <= total - _TICKS_MAX // 2
    for from_msc in (0, ledger.known_from_msc - 1, ledger.known_from_msc, total - 10):
        ledger.recounted(Recount(1, total, from_msc, from_msc + 5, 5))
    found = [checked.agreement for checked in ledger.checked()]
    assert found == [NOT_CHECKED, NOT_CHECKED, AGREED, AGREED]
    assert len(ledger._times) <= 2 * _TICKS_MAX


def test_ticks_of_many_small_frames_are_counted_as_those_of_one() -> None:
    """7.7, with a loss between them, whose interval cannot be checked."""
    times = np.arange(700) // 3
    asked = [Recount(1, 1_450, at, at + 10, 30) for at in range(0, 460, 7)]
    found = []
    for cut in (1, 3, 700):
        ledger = Ledger(Position())
        for at in range(0, 700, cut):
            ledger.take(times[at : at + cut])
        ledger.skip_to(750)
        for at in range(0, 700, cut):
            ledger.take(times[at : at + cut] + 240)
        for recount in asked:
            ledger.recounted(recount)
        found.append(ledger.checked())
    assert found[0] == found[1] == found[2]
    assert {checked.agreement for checked in found[0]} == {NOT_CHECKED, AGREED}


def test_recounts_that_never_come_due_are_given_up() -> None:
    ledger = Ledger(Position())
    for number in range(70):
        ledger.recounted(Recount(1, 1_000, number, number + 1, 0))
    assert [checked.agreement for checked in ledger.checked()] == [NOT_CHECKED] * 6


def test_a_recount_of_an_unknown_stream_is_refused() -> None:
    """5.6"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    (error,) = dialog.say(Recount(2, 1, 0, 1, 0))
    assert isinstance(error, Error) and error.code is ErrorCode.UNKNOWN_STREAM


@pytest.mark.parametrize("seed", range(2))
def test_simulated_terminals_agree_whatever_the_line_does(seed: int) -> None:
    """7.7: late ticks, several in one millisecond, lost connections, frames sent twice."""
    faults = "".join(
        f'[[fault]]\naction = "{action}"\nat_record = {first}\nevery_records = 9000\n'
        for action, first in [("disconnect", 3_000), ("duplicate", 1_500), ("skip", 5_200)]
    )
    script = parse_script(f"seed = {seed}\nlate = 0.02\nsame_ms = 0.2\n{faults}")
    with LiveDaemon() as daemon:
        run(simulated_terminal(walks("AB", 10_000), script=script, speed=1_500.0), daemon)
        counters = daemon.server.counters()
    assert counters["recounts_agreed"] > 5
    assert "recounts_differing" not in counters


def test_the_status_tells_what_is_known() -> None:
    """5.9, 8.5"""
    dialog = Dialog()
    dialog.begin("EURUSD")
    dialog.say(at(1, 100, 150))
    dialog.say(Recount(1, 2, 100, 200, 2))
    account = Account(5, 100.0, 0.0, -1.0, 99.0, 0.0, 99.0, 1, 0, 31)
    dialog.say(account)
    beat = Heartbeat(1, dialog.now.utc_msc + 250, 7_200_000, 800_000, 0, (Mark(1, 9, 4),))
    dialog.say(beat)
    dialog.terminals.acknowledge("demo", ticks_of("EURUSD"), 1)
    dialog.ms += 30
    with Server(
        Settings(bind="tcp://127.0.0.1:*", passwords=PASSWORDS), Sink(), clock=lambda: dialog.now
    ) as server:
        server.terminals = dialog.terminals
        dialog.terminals.set_halt(Halt(1, "news"))
        status = server.status()
    (found,) = status.terminals
    assert (status.halted, status.halt_reason) == (True, "news")
    assert (found.identity, found.connected, found.trades) == ("demo", True, "live")
    assert (found.account_mode, found.demo, found.symbols) == ("netting", True, ["EURUSD"])
    assert (found.utc_offset_ms, found.round_trip_us) == (7_200_000, 800_000)
    assert found.clock_difference_ms == 250 + 400
    assert found.heard_ms_ago == 30
    assert found.account_state is not None and found.account_state.profit == -1.0
    deals, ticks = found.streams
    assert (deals.symbol, ticks.symbol) == ("", "EURUSD")
    assert (ticks.taken, ticks.sent, ticks.received, ticks.durable) == (9, 4, 2, 1)
    assert (ticks.newest_msc, ticks.gaps, ticks.lost) == (150, 0, 0)
    assert ticks.recounts == RecountStatus(agreed=1)
    assert [funds.account for funds in dialog.funds] == [account]


def test_a_status_is_read_as_it_was_written_and_grows_old(tmp_path: Path) -> None:
    dialog = Dialog()
    path = tmp_path / "status.json"
    assert running_status(path, 0) is None
    with Server(
        Settings(bind="tcp://127.0.0.1:*", passwords=PASSWORDS), Sink(), clock=lambda: dialog.now
    ) as server:
        status = server.status()
    write_status(path, status)
    assert read_status(path) == status
    assert running_status(path, status.written_msc + STALE_MS) == status
    assert running_status(path, status.written_msc + STALE_MS + 1) is None
    path.write_text("{")
    assert running_status(path, status.written_msc) is None


def test_a_terminal_known_from_before_has_not_been_heard() -> None:
    dialog = Dialog(resumes={("demo", ticks_of("EURUSD")): Position(40, 1_050, 2)})
    with Server(
        Settings(bind="tcp://127.0.0.1:*", passwords=PASSWORDS), Sink(), clock=lambda: dialog.now
    ) as server:
        server.terminals = dialog.terminals
        (found,) = server.status().terminals
    assert isinstance(found, TerminalStatus)
    assert (found.connected, found.heard_ms_ago, found.clock_difference_ms) == (False, None, None)
    assert {stream.symbol: stream.durable for stream in found.streams} == {"": 0, "EURUSD": 40}
