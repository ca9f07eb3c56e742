"""What the publisher says of itself, whom it obeys, and what it never waits for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mt5bridge.credential import write_credential
from mt5bridge.emulator.terminal import EmulatedTerminal
from mt5bridge.server import Funds
from mt5bridge.wire import Allowed, Side, Signal, SignalStatus
from tests.bridge.live import SETTINGS, Daemon, wait_until
from tests.credentials import CREDENTIAL
from tests.mql5.publishing import (
    EXAMPLE,
    IDENTITY,
    PROGRAMS,
    TRADER,
    comment,
    market,
    publishing,
    script,
    terminal_of,
)
from tests.waiting import LONG_MS, LONG_S

LIVELY = "pace rate=2000"


def test_account_and_symbol_properties(tmp_path: Path) -> None:
    funds: list[Funds] = []
    daemon = Daemon()
    statements = f"{LIVELY}\nat tick=500 broker='balance 250 deposit'"
    with publishing(tmp_path, market("EURUSD", 1_000), statements, daemon=daemon) as stage:
        daemon.server.sink.on_funds = funds.append
        wait_until(lambda: bool(funds) and funds[-1].account.balance == 100_250)
        stage.wait_ticks()
        (terminal,) = daemon.server.status().terminals
    state = funds[-1].account
    assert state.equity == 100_250
    assert state.allowed & Allowed.CONNECTED
    assert terminal.identity == IDENTITY
    assert terminal.program.startswith("Mt5Bridge Publisher ")
    assert (terminal.account, terminal.currency, terminal.account_mode) == (5001, "EUR", "hedging")
    assert terminal.trades == "none"
    assert terminal.utc_offset_ms == 7_200_000
    assert "EURUSD" in terminal.symbols
    assert 0 < terminal.round_trip_us < 1_000 * LONG_MS


def test_user_and_password(tmp_path: Path) -> None:
    daemon = Daemon(replace(SETTINGS, passwords={"mt5": "s3cret"}))
    inputs = {"User": "mt5", "Password": "s3cret"}
    ticks = market("EURUSD", 500)
    with publishing(tmp_path, ticks, LIVELY, inputs=inputs, daemon=daemon) as stage:
        stage.wait_ticks()
    stage.check_ticks()


def test_a_second_terminal_with_the_same_identity_waits_for_the_first(tmp_path: Path) -> None:
    ticks = market("EURUSD", 2_000)
    with publishing(tmp_path, ticks, LIVELY) as stage:
        stage.wait_share(0.1)
        port = stage.daemon.server.address.rpartition(":")[2]
        other = script(tmp_path / "other", ticks, port, LIVELY)
        with terminal_of(PROGRAMS, other, tmp_path / "second") as second:
            second.wait_journal("refused: 5001@Demo is connected already", LONG_S)
            stage.wait_ticks()
    stage.check_ticks()


def test_nothing_blocks_longer_than_the_bound(tmp_path: Path) -> None:
    """Stalled peers, silent lines and slow connects hold up no event for long."""
    statements = (
        f"{LIVELY}\nsockets stall=0.05 silence=0.02 silence_ms=300 slow_connect=0.5 slow_ms=200"
        " short=0.3 dummy=0.5 send_buffer=4096"
    )
    with publishing(tmp_path, market("EURUSD", 2_000), statements) as stage:
        stage.wait_ticks()
        stats = stage.terminal.wait(lambda found: "connected" in comment(found), LONG_S)
    stage.check_ticks()
    handlers = stats.data["programs"][0]["handlers"]
    longest_ms = max(usage["longest_us"] for usage in handlers.values()) / 1_000
    assert longest_ms < 50 + 50 + 100  # sockets, taking ticks, and a busy machine


def test_example_receives_a_signal_and_answers_once(tmp_path: Path) -> None:
    signal = Signal(
        id=77,
        time_msc=0,
        valid_until_msc=0,
        magic=7,
        lots=0.1,
        stop_points=100.0,
        target_points=0.0,
        side=Side.BUY,
        name="cross",
        symbol="EURUSD",
    )
    identity = f"{IDENTITY}/SignalPrinter"
    with Daemon() as daemon:
        port = daemon.server.address.rpartition(":")[2]
        session = script(
            tmp_path, market("EURUSD", 500), port, LIVELY, {"TimerMs": "5"}, program="SignalPrinter"
        )
        with terminal_of([EXAMPLE], session, tmp_path / "terminal") as terminal:
            wait_until(lambda: identity in daemon.server.terminals.connected())
            daemon.server.send(identity, signal)
            wait_until(lambda: bool(daemon.outcomes))
            terminal.wait_journal("signal 77 cross: EURUSD 0.10 lots", LONG_S)
    (outcome,) = daemon.outcomes
    assert outcome.result.status is SignalStatus.DRY_RUN
    assert outcome.result.text == "printed"


def test_what_keeps_the_daemon_away_is_told_once(tmp_path: Path) -> None:
    """On the chart and, until it is mended, in one line of the journal."""
    trouble = "offline: nobody accepts connections at this address"
    with publishing(tmp_path, market("EURUSD", 2_000), LIVELY) as stage:
        stage.wait_share(0.1)
        stage.daemon.stop()
        stage.terminal.wait(lambda stats: trouble in comment(stats), LONG_S)
        stage.terminal.wait(lambda stats: stats.ticks_delivered == 2_000, LONG_S)
        stage.daemon.start()
        stage.wait_ticks()
        journal = stage.terminal.journal
    stage.check_ticks()
    assert sum(trouble in line for line in journal) == 1


def test_a_daemon_that_was_never_there_is_told_of(tmp_path: Path) -> None:
    session = script(tmp_path, market("EURUSD", 200), "1", LIVELY)
    with terminal_of(PROGRAMS, session, tmp_path / "terminal") as terminal:
        terminal.wait_journal("offline: nobody accepts", LONG_S)
        terminal.wait(lambda stats: "offline: nobody accepts" in comment(stats), LONG_S)
        told = [line for line in terminal.journal if "offline: nobody accepts" in line]
    assert len(told) == 1


@pytest.mark.parametrize("program", ["Publisher", "Trader", "SignalPrinter"])
def test_a_missing_credential_is_told_once_and_taken_when_it_comes(
    tmp_path: Path, program: str
) -> None:
    """In the journal and on the chart; nothing need be attached anew."""
    trouble = "offline: no credential: run `mt5cep terminal install --config FILE`"
    programs = {"Publisher": PROGRAMS, "Trader": [TRADER], "SignalPrinter": [EXAMPLE]}[program]
    with Daemon() as daemon:
        port = daemon.server.address.rpartition(":")[2]
        inputs = {"TimerMs": "5"}
        session = script(tmp_path, market("EURUSD", 200), port, LIVELY, inputs, program=program)
        with EmulatedTerminal(programs, session, tmp_path / "terminal") as terminal:
            terminal.wait_journal(trouble, LONG_S)
            if program != "SignalPrinter":  # whose chart is its author's
                terminal.wait(lambda stats: trouble in comment(stats), LONG_S)
            assert not daemon.server.terminals.sessions
            write_credential(terminal.file("Mt5Bridge/credential.txt"), CREDENTIAL)
            wait_until(lambda: bool(daemon.server.terminals.connected()))
            told = [line for line in terminal.journal if trouble in line]
    assert len(told) == 1


@pytest.mark.parametrize("program", ["Publisher", "Trader"])
def test_an_identity_that_the_wire_does_not_allow_is_refused_at_once(
    tmp_path: Path, program: str
) -> None:
    inputs = {"Identity": "x" * 129}
    session = script(tmp_path, market("EURUSD", 200), "1", LIVELY, inputs, program=program)
    with terminal_of([*PROGRAMS, TRADER], session, tmp_path / "terminal") as terminal:
        line = terminal.wait_journal("the identity must have 1 to 128 bytes", LONG_S)
    assert "Alert" in line


@pytest.mark.parametrize(
    ("name", "told"),
    [("NOSUCH", "this broker has no symbol NOSUCH"), ("S" * 33, "is longer than 32 bytes")],
)
def test_a_symbol_that_cannot_be_published_is_named(tmp_path: Path, name: str, told: str) -> None:
    session = script(tmp_path, market("EURUSD", 200), "1", LIVELY, {"Symbols": name})
    with terminal_of(PROGRAMS, session, tmp_path / "terminal") as terminal:
        assert "Alert" in terminal.wait_journal(told, LONG_S)
