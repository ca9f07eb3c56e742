"""A terminal that does not know its account yet: programs wait, and are nobody but who they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from mt5bridge.emulator.terminal import EmulatedTerminal
from mt5bridge.server import Server
from mt5bridge.wire import Event, Side, SignalStatus, Standing
from tests.bridge.live import Daemon
from tests.mql5.examples import example, printed
from tests.mql5.publishing import IDENTITY, market, publishing
from tests.mql5.test_complex_events import is_subscribed
from tests.mql5.trading import signal, still, trading
from tests.waiting import LONG_S, wait_until

LATE = "account login_ms=300"
WAITS = "waiting until the terminal knows its account"


def waited_before(terminal: EmulatedTerminal, text: str) -> bool:
    """Whether it was written that the program waits, then that the terminal is logged in."""
    lines = [line.split("\t")[-1] for line in terminal.journal]
    return next(at for at, line in enumerate(lines) if line.startswith(WAITS)) < lines.index(text)


def known(server: Server) -> set[str]:
    return set(server.terminals.sessions)


def test_a_publisher_waits_for_account_and_time(tmp_path: Path) -> None:
    """History from before its span is not told as new."""
    old = "at tick=20 broker='trade buy EURUSD 0.1 7 old'"
    statements = f"pace step=1\n{LATE}\n{old}\noffline_ticks first=100"
    with publishing(tmp_path, market("EURUSD", 800), statements) as stage:
        stage.wait_ticks()
        stage.wait_agreed()
        assert known(stage.daemon.server) == {IDENTITY}
        assert waited_before(stage.terminal, "logged in")
        result = stage.terminal.stop()
    assert result.exit_code == 0
    stage.check_ticks()


@pytest.mark.parametrize("identity", ["", "desk"])
def test_a_trader_waits_for_its_account(tmp_path: Path, identity: str) -> None:
    """With a name of its own, too: what it says of the account would be wrong."""
    inputs = {"Identity": identity} if identity else {}
    with trading(tmp_path, broker=LATE, inputs=inputs, trades=not identity) as floor:
        name = identity or "5001@Floor/trader"
        floor.wait_online(identity=name)
        assert floor.server.terminals.sessions[name].hello.account == 5001
        assert known(floor.server) == {name}
        assert waited_before(floor.terminal, "logged in")
        if not identity:
            assert floor.ask(signal(Side.BUY, 0.1)).status is SignalStatus.EXECUTED


@pytest.mark.parametrize("program", ["EventPrinter", "EventTrader", "SignalPrinter"])
def test_examples_subscribe_once_they_know_their_account(tmp_path: Path, program: str) -> None:
    identity = f"5001@Demo/{program}"
    with Daemon() as daemon:
        server = daemon.server
        server._command(lambda _all: server.tell_rules(7, [Standing(0, "Turn", "Tactical")]))
        port = server.address.rpartition(":")[2]
        statements = (LATE, "pace rate=200", f"attach {program} on EURUSD Port={port} TimerMs=10")
        with example(tmp_path, program, {"EURUSD": still(60_000)}, *statements) as found:
            wait_until(lambda: identity in known(server))
            if program != "SignalPrinter":
                wait_until(lambda: is_subscribed(server, identity))
                event = Event(1, 1_750_000_000_000, 0, "Turn", "Tactical", "EURUSD", ())
                server._command(lambda _all: server.publish([event]))
                found.wait_journal("Turn 1 ", LONG_S)
            assert known(server) == {identity}
            assert waited_before(found, "logged in")
            result = found.stop()
    assert printed(result, program)[0].startswith(WAITS)
