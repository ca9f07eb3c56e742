"""Every program, every reason for OnDeinit, much or nothing to lose: nothing lost, doubled or left.

In `make test` a program goes through all reasons in one run, in `make test-all` through each alone
and through all in the other order, too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from mt5bridge.emulator.terminal import EmulatedTerminal
from mt5bridge.server import Server
from mt5bridge.terminal.assumptions import ASSUMPTIONS
from mt5bridge.wire import OrderKind, OrderSide, Side, SignalStatus
from tests.bridge.live import Daemon
from tests.mql5.examples import SPY, example
from tests.mql5.matrix import CHAINS, change, lines, nothing_left
from tests.mql5.platform import life_probed
from tests.mql5.publishing import EXAMPLE, IDENTITY, market, publishing, script, terminal_of
from tests.mql5.running import Scripts
from tests.mql5.test_complex_events import emulated
from tests.mql5.test_event_trader import LIVE, begin_numbers, publish, sales
from tests.mql5.test_publisher_reinit import LATE, LIVELY, TRADES, _finish, _signal
from tests.mql5.trading import Floor, fills_and_final, order, signal, still, trading
from tests.waiting import LONG_S, wait_until

chained = pytest.mark.parametrize("reasons", CHAINS)
NO_SYMBOL = "Symbols='NOPE'"
NO_TIMER = "TimerMs='0'"
TICKS = 2_000


def _apart(reasons: Sequence[str], first: int, step: int) -> list[str]:
    return [f"tick={first + step * at}" for at in range(len(reasons))]


def _unknown(program: str, reasons: Sequence[str]) -> list[str]:
    """Lines of a script: the reasons before the terminal knows its account.

    OnInit waits then and cannot fail. Moments are those of each run of a terminal, so that one that
    closes it would close it for ever: `_close` does so.
    """
    chosen = [reason for reason in reasons if reason not in ("INITFAILED", "CLOSE")]
    when = [f"ms={50 + 60 * at}" for at in range(len(chosen))]
    return ["account login_ms=900", *lines(program, chosen, "", when)]


def _close(terminal: EmulatedTerminal, program: str, reasons: Sequence[str]) -> None:
    if "CLOSE" in reasons:
        terminal.act(change(program, "CLOSE", ""))


@chained
@pytest.mark.parametrize("state", ["unknown", "empty", "full"])
def test_the_publisher(tmp_path: Path, reasons: Sequence[str], state: str) -> None:
    """Each tick and deal once and in order; the ledger agrees with the daemon."""
    when = _apart(reasons, 1, 1) if state == "empty" else _apart(reasons, 500, TICKS // 8)
    changes = lines("Publisher", reasons, NO_SYMBOL, when)
    if state == "unknown":
        changes = _unknown("Publisher", reasons)
    ticks = market("EURUSD GBPUSD", TICKS)
    with publishing(tmp_path, ticks, "\n".join([LIVELY, LATE, TRADES, *changes])) as stage:
        if state == "unknown":
            _close(stage.terminal, "Publisher", reasons)
        _finish(stage)
        nothing_left(stage.terminal, "Publisher", reasons)
    stage.check_ticks()
    assert stage.deals()["ticket"].tolist() == stage.broker_deals()["ticket"].tolist()


def _again(floor: Floor, reason: str) -> None:
    """The trader ends for a reason and is there again."""
    connected = floor._connections()
    floor.terminal.act(change("Trader", reason, NO_SYMBOL))
    wait_until(lambda: floor._connections() > connected)
    floor.wait_online()


@chained
def test_a_trader_with_orders(tmp_path: Path, reasons: Sequence[str]) -> None:
    """Executed, waiting and being filled: each once, and the journal answers for all of them."""
    with trading(tmp_path, broker="broker fills=8..8 fill_delay_ms=100..150") as floor:
        filling, pending = signal(Side.BUY, 0.8), order(OrderKind.LIMIT, OrderSide.BUY, 0.1, 1.0)
        placed = floor.ask_until(pending, SignalStatus.PLACED)
        floor.ask_until(filling, SignalStatus.PARTIAL)
        for reason in reasons:
            _again(floor, reason)
        assert floor.final(filling.id).status is SignalStatus.EXECUTED
        fills = fills_and_final(floor, filling.id)
        assert len(fills) == len(floor.deals(filling.id)) == 8
        cancel = order(OrderKind.CANCEL, ticket=placed.order)
        assert floor.ask(cancel).status is SignalStatus.EXECUTED
        answers = {one.id: floor.final(one.id) for one in (filling, pending, cancel)}
        assert answers[pending.id].status is SignalStatus.CANCELLED
        _again(floor, "RECOMPILE")
        floor.outcomes.clear()
        assert {one.id: floor.ask(one) for one in (filling, pending, cancel)} == answers
        assert len(floor.broker().orders) == 2
        nothing_left(floor.terminal, "Trader", [*reasons, "RECOMPILE"])


@chained
@pytest.mark.parametrize("state", ["unknown", "empty"])
def test_a_trader_without_orders(tmp_path: Path, reasons: Sequence[str], state: str) -> None:
    """What comes afterwards is executed once."""
    changes = _unknown("Trader", reasons) if state == "unknown" else []
    with trading(tmp_path, broker="\n".join(changes), trades=False) as floor:
        if state == "unknown":
            _close(floor.terminal, "Trader", reasons)
        floor.wait_online()
        for reason in () if changes else reasons:
            _again(floor, reason)
        answer = floor.ask(request := signal(Side.BUY, 0.1))
        assert answer.status is SignalStatus.EXECUTED
        floor.outcomes.clear()
        assert floor.ask(request) == answer
        assert len(floor.broker().orders) == 1
        nothing_left(floor.terminal, "Trader", reasons)


@chained
def test_a_program_with_signals_and_deals(tmp_path: Path, reasons: Sequence[str]) -> None:
    """SignalPrinter answers each signal once and tells each deal once."""
    identity = f"{IDENTITY}/SignalPrinter"
    with Daemon() as daemon:
        port = daemon.server.address.rpartition(":")[2]
        inputs = {"TimerMs": "5", "Symbols": ""}
        ticks = market("EURUSD", 200)
        session = script(tmp_path, ticks, port, LIVELY, inputs, program="SignalPrinter")
        with terminal_of([EXAMPLE], session, tmp_path / "terminal") as terminal:
            for number, reason in enumerate(["", *reasons], 1):
                if reason:
                    _connected_again(
                        daemon.server, terminal, change("SignalPrinter", reason, NO_SYMBOL)
                    )
                wait_until(lambda: identity in daemon.server.traders("EURUSD"))
                daemon.server.send(identity, _signal(number, "EURUSD"))
                _wait_said(terminal, "signal ", number)
                terminal.act("broker='trade buy EURUSD 0.1'")
                _wait_said(terminal, "deal ", number)
            wait_until(lambda: len(daemon.outcomes) == len(reasons) + 1)
            nothing_left(terminal, "SignalPrinter", reasons)
        assert len(_said(terminal, "signal ")) == len(_said(terminal, "deal ")) == len(reasons) + 1
    told = [outcome.result.id for outcome in daemon.outcomes]
    assert told == list(range(1, len(reasons) + 2))


@chained
@pytest.mark.parametrize("program", ["EventTrader", "EventPrinter"])
def test_a_program_with_complex_events(
    tmp_path: Path, reasons: Sequence[str], program: str
) -> None:
    """EventTrader trades each event once, though all come again; EventPrinter prints each once."""
    trades = program == "EventTrader"
    inputs, failing = (LIVE, NO_SYMBOL) if trades else ((), NO_TIMER)
    with Daemon() as daemon:
        server = daemon.server
        begin_numbers(server)
        with emulated(tmp_path, server.address, program, *inputs) as terminal:

            def done() -> int:
                return sales(terminal) if trades else len(_said(terminal, "Turn "))

            before = None
            for number, reason in enumerate(["", *reasons], 1):
                if reason:
                    terminal.act(change(program, reason, failing))
                before = _subscribed(server, f"{IDENTITY}/{program}", before)
                publish(server, number)
                _wait_said(terminal, "Turn ", number)
            for number in range(1, len(reasons) + 3) if trades else ():
                publish(server, number)
            count = len(reasons) + 1 + trades
            wait_until(lambda: done() == count)
            nothing_left(terminal, program, reasons)
            assert done() == count


@chained
def test_the_spy(tmp_path: Path, reasons: Sequence[str]) -> None:
    """TickSpy on a chart wakes its receiver again after each reason."""
    spy = "attach TickSpy on GBPUSD Receiver=128000000000000001 Event=5656 Index=1"
    statements = ("pace rate=200", "attach SpyListener on EURUSD", spy)
    ticks = {"EURUSD": still(1), "GBPUSD": still(60_000)}
    with example(tmp_path, "SpyListener", ticks, *statements, more=(SPY,)) as terminal:
        _wait_said(terminal, "wake ", 1)
        for reason in reasons:
            gone = _gone(terminal)
            terminal.act(change("TickSpy", reason, "Receiver=0"))
            wait_until(lambda gone=gone: _gone(terminal) > gone)
            _wait_said(terminal, "wake ", len(_said(terminal, "wake ")) + 2)
        nothing_left(terminal, "TickSpy", reasons)
    assert all(line.endswith(": number 5656, index 1") for line in _said(terminal, "wake "))


def _gone(terminal: EmulatedTerminal) -> int:
    """How often the spy has gone from its chart."""
    return sum("TickSpy (GBPUSD) removed" in line for line in terminal.journal)


@chained
@pytest.mark.parametrize("program", ["DealPrinter", "TickPrinter"])
def test_a_program_without_a_daemon(tmp_path: Path, reasons: Sequence[str], program: str) -> None:
    """What is told is told once and in order, deals that were made while it ran all of them."""
    deals = program == "DealPrinter"
    changes = lines(program, reasons, NO_TIMER, _apart(reasons, 100, 100))
    buys = [f"at tick={50 + 100 * at} broker='trade buy EURUSD 0.1'" for at in range(11)]
    symbols = "" if deals else "Symbols=EURUSD"
    attached = f"attach {program} on EURUSD TimerMs=10 {symbols}"
    statements = ("pace rate=1000", attached, *changes, *buys)
    ticks = {"EURUSD": still(1_200)}
    with example(tmp_path, program, ticks, *statements, more=(SPY,)) as terminal:
        terminal.wait(lambda stats: stats.ticks_delivered == 1_200 and stats.broker_idle, LONG_S)
        if deals:
            _wait_said(terminal, "deal ", len(buys))
        nothing_left(terminal, program, reasons)
    told = _said(terminal, "deal " if deals else "EURUSD ")
    assert told == sorted(set(told))
    assert len(told) == len(buys) if deals else told


@chained
def test_the_probe_of_an_experts_life(
    tmp_path: Path, scripts: Scripts, reasons: Sequence[str]
) -> None:
    """Whatever ends it, and it has no inputs to fail with: attached again it measures all."""
    assert scripts.programs
    moments = [reason for reason in reasons if reason not in ("INITFAILED", "CLOSE")]
    when = [f"ms={20 + 60 * at}" for at in range(len(moments))]
    ended = lines("SelfTestLife", moments, "", when)
    life_probed(tmp_path, 1, *ended, closes="CLOSE" in reasons)
    path = life_probed(tmp_path, 1)
    facts = json.loads(path.read_text(encoding="utf-8"))["facts"]
    wanted = {name for name in ASSUMPTIONS if name.startswith(("life.", "event."))}
    assert facts.keys() == wanted
    assert facts["life.globals_kept"] is True
    assert not path.with_name("probe-life.tmp").exists()


def _connected_again(server: Server, terminal: EmulatedTerminal, command: str) -> None:
    """Let a program end for a reason, and wait until it has a new connection."""
    connected = server.counters()["connections"]
    terminal.act(command)
    wait_until(lambda: server.counters()["connections"] > connected)


def _wait_said(terminal: EmulatedTerminal, word: str, count: int) -> None:
    wait_until(lambda: len(_said(terminal, word)) >= count)


def _said(terminal: EmulatedTerminal, word: str) -> list[str]:
    """What its program has printed that begins with a word."""
    found = [line.split("\t") for line in terminal.journal]
    return [text for *_, program, text in found if program and text.startswith(word)]


def _subscribed(server: Server, identity: str, before: object) -> object:
    """Wait until a subscription other than `before` is there; it."""

    def found() -> object:
        session = server.terminals.sessions.get(identity)
        return session.subscription if session else None

    wait_until(lambda: found() not in (None, before))
    return found()
