"""Whose ticks, deals and orders: terminals not logged in yet, and that log in elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mt5bridge.emulator.terminal import EmulatedTerminal
from mt5bridge.records import DEAL, DealKind, DealType, Records
from mt5bridge.server import DEALS, Server, ticks_of
from mt5bridge.wire import Event, Side, SignalStatus, Standing
from tests.bridge.live import Daemon
from tests.mql5.examples import example, printed
from tests.mql5.publishing import IDENTITY, Stage, market, publishing
from tests.mql5.reinit import INPUTS
from tests.mql5.test_complex_events import is_subscribed
from tests.mql5.trading import signal, still, trading
from tests.waiting import LONG_S, wait_until

LATE = "account login_ms=300"
WAITS = "waiting until the terminal knows its account"


def waited_before(terminal: EmulatedTerminal, text: str) -> bool:
    """Whether it was written that the program waits, then that the terminal is logged in."""
    lines = [line.split("\t")[-1] for line in terminal.journal]
    return next(at for at, line in enumerate(lines) if line.startswith(WAITS)) < lines.index(text)


def trades(stage: Stage, identity: str) -> Records:
    """What was told of an identity's deals but deposits; nothing may be told twice."""
    if not stage.daemon.stored[identity, DEALS]:
        return np.empty(0, DEAL)
    told = stage.daemon.records(identity, DEALS)
    assert len(set(told["ticket"])) == len(told)
    return told[told["type"] <= DealType.SELL]


def known(server: Server) -> set[str]:
    return set(server.terminals.sessions)


def test_a_publisher_waits_for_its_account(tmp_path: Path) -> None:
    """And takes all ticks, also those that come before it knows its server's time."""
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


OTHER = "5002@Other"
AWAY, BACK = "account='login=5002 server=Other'", "account='login=5001'"


def test_a_chosen_identity_keeps_two_accounts_apart(tmp_path: Path) -> None:
    """Neither's deals are deleted nor doubled, and each has all ticks of its time."""
    broker = "\n".join(
        f"at tick={at} {what}"
        for at, what in {
            100: "broker='trade buy EURUSD 0.1 7 one'", 300: AWAY,
            500: "broker='trade buy EURUSD 0.2 7 two'", 700: BACK,
            900: "broker='trade sell EURUSD 0.1 7 one'", 1100: AWAY,
            1200: "broker='trade sell EURUSD 0.2 7 two'",
        }.items()
    )  # fmt: skip
    name, other = "desk", f"desk/{OTHER}"
    ticks = market("EURUSD", 1_500)
    statements = f"pace rate=1500\n{broker}"
    with publishing(tmp_path, ticks, statements, inputs={"Identity": name}) as stage:
        wait_until(lambda: len(trades(stage, other)) == 2)
        stage.terminal.act(BACK)
        wait_until(lambda: len(trades(stage, name)) == 2)
        wait_until(lambda: len(stage.daemon.records(name, ticks_of("EURUSD"))) == 1_500)
        result = stage.terminal.stop()
    assert result.exit_code == 0
    assert {identity for identity, _ in stage.daemon.stored} == {name, other}
    for identity, comment in ((name, b"one"), (other, b"two")):
        found = trades(stage, identity)
        assert found["comment"].tolist() == [comment, comment]
        assert (found["kind"] == DealKind.ADD).all()
    base = stage.terminal.tick_base("EURUSD")
    assert stage.daemon.records(name, ticks_of("EURUSD")).tobytes() == base.tobytes()
    assert not stage.daemon.gaps


def test_orders_of_another_account_are_not_known(tmp_path: Path) -> None:
    """With the identity of a user's choice, and after the daemon's user has confirmed it."""
    inputs = {"Identity": "desk"}
    with trading(tmp_path, inputs=inputs, trades=False) as floor:
        floor.wait_online(identity="desk")
        floor.server.send("desk", request := signal(Side.BUY, 0.1))
        assert floor.final(request.id).status is SignalStatus.EXECUTED
        floor.terminal.act(AWAY)
        wait_until(lambda: floor.server.terminals.unconfirmed == {"desk": OTHER})
        wait_until(lambda: floor.server.confirm("desk", OTHER) == "")
        floor.reinit(INPUTS, identity="desk")
        floor.outcomes.clear()
        floor.server._command(lambda terminals: terminals.ask("desk", [request.id]))
        floor.wait_status(request.id, SignalStatus.UNKNOWN)
        floor.terminal.act(BACK.replace("5001", "5001 server=Floor"))
        wait_until(lambda: floor.server.terminals.unconfirmed == {"desk": "5001@Floor"})
        wait_until(lambda: floor.server.confirm("desk", "5001@Floor") == "")
        floor.reinit(INPUTS, identity="desk")
        floor.outcomes.clear()
        floor.server._command(lambda terminals: terminals.ask("desk", [request.id]))
        assert floor.final(request.id).status is SignalStatus.EXECUTED


@pytest.mark.parametrize("fault", ["open=1 name=account.txt*", "move=1 name=account.txt*"])
def test_a_folder_that_is_held_is_waited_for(tmp_path: Path, fault: str) -> None:
    """By a virus scanner, say: whose it is must be known before anything is told or traded."""
    with trading(
        tmp_path, broker=f"files {fault}", inputs={"Identity": "desk"}, trades=False
    ) as floor:
        floor.terminal.wait_journal("waiting for Files", LONG_S)
        assert known(floor.server) == set()
        floor.terminal.act(f"files='{fault.replace('=1', '=0')}'")
        floor.wait_online(identity="desk")


def test_a_journal_that_is_held_at_the_start_is_waited_for(tmp_path: Path) -> None:
    with trading(tmp_path, broker="files open=1 name=orders.journal", trades=False) as floor:
        floor.terminal.wait_journal("orders.journal (error", LONG_S)
        floor.terminal.act("files='open=0 name=orders.journal'")
        floor.wait_online()
        assert floor.ask(signal(Side.BUY, 0.1)).status is SignalStatus.EXECUTED
