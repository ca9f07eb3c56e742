"""The example that trades on complex events: each event once, whatever is sent again."""

from __future__ import annotations

import re
from pathlib import Path

from mt5bridge.emulator.broker_log import read_broker_log
from mt5bridge.emulator.terminal import EmulatedTerminal
from mt5bridge.records import DealType, Records
from mt5bridge.server import Server
from mt5bridge.simulator import Walk, random_walk
from mt5bridge.wire import Event, Standing
from tests.bridge.live import Daemon
from tests.live.service import Service, address, play, terminal
from tests.mql5.examples import printed, shown
from tests.mql5.reinit import INPUTS, begin_again
from tests.mql5.test_complex_events import emulated, is_subscribed, settings_of
from tests.waiting import LONG_S, wait_until

PROGRAM = "EventTrader"
IDENTITY = f"5001@Demo/{PROGRAM}"
LIVE = ("Trading=TRADING_LIVE", "MaxLotsPerSymbol=0", "ValidSeconds=2000000000")
ID = re.compile(r"^[0-9a-f]{16} ")
NUMBERING = 77
SOLD = "RESULT_EXECUTED 0.01 lots"


def ticks(count: int = 400) -> dict[str, Records]:
    return {"EURUSD": random_walk(Walk(ticks=count, gap_ms=500))}


def sales(found: EmulatedTerminal) -> int:
    """How many trades the broker has made."""
    deals = read_broker_log(found.folder / "broker.log").deals.values()
    return sum(deal.type <= DealType.SELL for deal in deals)


def wait_subscribed(server: Server) -> None:
    wait_until(lambda: is_subscribed(server, IDENTITY))


def count_of(found: EmulatedTerminal, text: str) -> int:
    """How often it was printed since the terminal's start."""
    return sum(text in line for line in found.journal)


def begin_numbers(server: Server) -> None:
    """Let who subscribes from now on get any number."""
    standings = [Standing(0, "Turn", "Tactical")]
    server._command(lambda _terminals: server.tell_rules(NUMBERING, standings))


def publish(server: Server, number: int) -> None:
    event = Event(number, 1_750_000_000_000, 0, "Turn", "Tactical", "EURUSD", ())
    server._command(lambda _terminals: server.publish([event]))


def subscribed_again(server: Server, found: EmulatedTerminal, how: str) -> None:
    """Let the program forget what it had, and subscribe."""
    begin_numbers(server)
    before = server.terminals.sessions[IDENTITY].subscription
    if how == "kill":
        found.kill()
        found.start()
    else:
        found.act(f"restart={PROGRAM}")
    wait_until(lambda: server.terminals.sessions[IDENTITY].subscription not in (None, before))


def test_a_dry_run_as_shown(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    where = address(settings)
    with Service(settings) as service, emulated(tmp_path, where, PROGRAM, LIVE[2]) as found:
        wait_subscribed(service.server)
        play(terminal(ticks()), where)
        results = sum("RESULT_" in line for line in shown(PROGRAM))
        wait_until(lambda: count_of(found, "RESULT_") == results)
        result = found.stop()
    # Each run has other ids.
    assert [ID.sub("", line) for line in printed(result, PROGRAM)] == [
        ID.sub("", line) for line in shown(PROGRAM)
    ]
    assert sales(found) == 0


def test_an_event_that_is_too_old_is_not_traded(tmp_path: Path) -> None:
    with Daemon() as daemon:
        begin_numbers(daemon.server)
        with emulated(tmp_path, daemon.server.address, PROGRAM, LIVE[0]) as found:
            wait_subscribed(daemon.server)
            publish(daemon.server, 1)
            found.wait_journal("RESULT_EXPIRED too late by", LONG_S)
            assert sales(found) == 0


def test_the_kill_switch_of_the_daemon_holds_over_restarts(tmp_path: Path) -> None:
    with Daemon() as daemon:
        server = daemon.server
        begin_numbers(server)
        with emulated(tmp_path, server.address, PROGRAM, *LIVE) as found:
            wait_subscribed(server)
            server._command(lambda _terminals: server.halt(True, "enough"))
            found.wait_journal("halted: enough", LONG_S)
            publish(server, 1)
            found.wait_journal("RESULT_REJECTED halted: enough", LONG_S)
            subscribed_again(server, found, "restart")
            publish(server, 2)
            wait_until(lambda: count_of(found, "RESULT_REJECTED halted: enough") == 2)
            assert sales(found) == 0


def test_an_event_that_comes_again_is_one_order(tmp_path: Path) -> None:
    """To a program that has forgotten it: attached anew, and in a terminal that was killed."""
    with Daemon() as daemon:
        server = daemon.server
        begin_numbers(server)
        with emulated(tmp_path, server.address, PROGRAM, *LIVE) as found:
            wait_subscribed(server)
            publish(server, 1)
            found.wait_journal(SOLD, LONG_S)
            subscribed_again(server, found, "restart")
            publish(server, 1)
            wait_until(lambda: count_of(found, SOLD) == 2)
            subscribed_again(server, found, "kill")
            publish(server, 1)
            found.wait_journal(SOLD, LONG_S)
            assert sales(found) == 1
            publish(server, 2)
            wait_until(lambda: sales(found) == 2)


def test_a_daemon_that_restarts_trades_each_event_once(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    where, all_ticks, newest = address(settings), ticks(1_200)["EURUSD"], 0
    with emulated(tmp_path, where, PROGRAM, *LIVE) as found:
        for count in (500, 900, 1_200):
            with Service(settings) as service:
                wait_subscribed(service.server)
                play(terminal({"EURUSD": all_ticks[:count]}), where)
                newest = service.server.terminals.events.standings["Turn"].number
                found.wait_journal(f"Turn {newest} of EURUSD", LONG_S)
            begin_again(found, PROGRAM, INPUTS)
        wait_until(lambda: sales(found) >= newest)
        result = found.stop()
    turns = [line for line in printed(result, PROGRAM) if line.startswith("Turn")]
    assert turns == [f"Turn {number} of EURUSD" for number in range(1, newest + 1)]
    assert newest > 2
    assert sales(found) == newest
