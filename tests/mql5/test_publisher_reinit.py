"""The publisher and the example while inputs, symbol or period change: nothing twice or lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mt5bridge.emulator.stats import Stats
from mt5bridge.emulator.terminal import EmulatedTerminal
from mt5bridge.wire import Side, Signal, SignalStatus
from tests.bridge.live import Daemon, wait_until
from tests.mql5.publishing import EXAMPLE, IDENTITY, Stage, market, publishing, script, terminal_of
from tests.mql5.reinit import INPUTS, PERIOD, begin_again, chart, inputs
from tests.mql5.test_publisher_restarts import SlowDisk
from tests.waiting import LONG_S

LIVELY = "pace rate=2500\nontick skip=0.33"
LATE = "ticks_odd late=0.05 late_by=1..50"
TRADES = "broker activity_ticks=20 activity_lots=0.01 shuffle=1 duplicates=0.2"


def test_each_tick_and_deal_once_over_many_changes(tmp_path: Path) -> None:
    """Late ticks would be sent twice if the ledger did not know of everything."""
    ticks, given = market("EURUSD GBPUSD", 3_000), {"WriteAhead": "true"}
    with publishing(tmp_path, ticks, f"{LIVELY}\n{LATE}\n{TRADES}", inputs=given) as stage:
        port = stage.daemon.server.address.rpartition(":")[2]
        changes = (INPUTS, PERIOD, inputs(KeptTicks="50"), inputs(Port="1"), inputs(Port=port))
        for share, change in zip((0.1, 0.2, 0.3, 0.4, 0.4), changes, strict=True):
            stage.wait_share(share)
            for _ in range(2):
                begin_again(stage.terminal, "Publisher", change)
            if "Port='1'" in change:
                stage.terminal.wait(_is_offline, LONG_S)
        _finish(stage)
    stage.check_ticks()
    assert stage.counted("quality_late") > 20
    told = stage.deals()
    assert told["ticket"].tolist() == stage.broker_deals()["ticket"].tolist()
    assert len(told) > 100


def test_what_the_daemon_has_not_on_its_disk_keeps_its_number(tmp_path: Path) -> None:
    ticks = market("EURUSD", 3_000)
    with publishing(tmp_path, ticks, f"{LIVELY}\n{LATE}\n{TRADES}", daemon=SlowDisk()) as stage:
        disk = stage.daemon
        assert isinstance(disk, SlowDisk)
        for share in (0.1, 0.3):
            stage.wait_share(share)
            for change in (INPUTS, PERIOD, INPUTS):
                begin_again(stage.terminal, "Publisher", change)
            disk.commit()
        disk.is_slow = False
        disk.commit()
        _finish(stage)
    stage.check_ticks()
    assert stage.deals()["ticket"].tolist() == stage.broker_deals()["ticket"].tolist()


def test_other_symbols_and_another_chart(tmp_path: Path) -> None:
    """A symbol that is left out for a while goes on where it was; spies and books follow."""
    ticks = market("EURUSD GBPUSD USDJPY", 2_000)
    given = {"Symbols": "GBPUSD", "UseBookEvents": "true"}
    with publishing(tmp_path, ticks, LIVELY, inputs=given) as stage:
        stage.wait_share(0.1)
        begin_again(stage.terminal, "Publisher", inputs(Symbols="USDJPY,GBPUSD"))
        stage.terminal.wait(lambda stats: _spied(stats) == ["GBPUSD", "USDJPY"], LONG_S)
        stage.wait_share(0.3)
        begin_again(stage.terminal, "Publisher", chart("USDJPY"))  # EURUSD is left out
        stage.terminal.wait(lambda stats: _spied(stats) == ["GBPUSD"], LONG_S)
        wait_until(lambda: stage.received("USDJPY") > 1_000)
        before = stage.received("EURUSD")
        begin_again(stage.terminal, "Publisher", inputs(Symbols="GBPUSD,EURUSD"))
        wait_until(lambda: stage.received("EURUSD") > before)
        begin_again(stage.terminal, "Publisher", inputs(OwnSymbol="false", Symbols=",".join(ticks)))
        _finish(stage)
    stage.check_ticks()


def test_the_example_answers_each_signal_and_tells_each_deal_once(tmp_path: Path) -> None:
    """Its EventsCallback is a global object."""
    identity = f"{IDENTITY}/SignalPrinter"
    with Daemon() as daemon:
        port = daemon.server.address.rpartition(":")[2]
        session = script(
            tmp_path, market("EURUSD GBPUSD", 200), port, LIVELY,
            {"TimerMs": "5", "Symbols": ""}, program="SignalPrinter",
        )  # fmt: skip
        with terminal_of([EXAMPLE], session, tmp_path / "terminal") as terminal:
            _answered(daemon, identity, _signal(1, "EURUSD"))
            changes = {INPUTS: "EURUSD", chart("GBPUSD"): "GBPUSD", PERIOD: "GBPUSD"}
            for number, (change, symbol) in enumerate(changes.items(), 2):
                begin_again(terminal, "SignalPrinter", change)
                terminal.act("broker='trade buy EURUSD 0.1'")
                _answered(daemon, identity, _signal(number, symbol))
            wait_until(lambda: _counts(terminal) == (3, 4))  # what is printed is heard later
    assert {outcome.result.status for outcome in daemon.outcomes} == {SignalStatus.DRY_RUN}
    assert [outcome.result.id for outcome in daemon.outcomes] == [1, 2, 3, 4]


def _finish(stage: Stage) -> None:
    """Wait until the daemon has all ticks and deals."""
    stage.wait_ticks()
    stage.terminal.wait(lambda stats: stats.broker_idle, LONG_S)
    wait_until(lambda: len(stage.deals()) == len(stage.broker_deals()))
    stage.wait_agreed()
    if len(deals := stage.deals()):
        assert (np.diff(deals["time_msc"]) >= 0).all()


def _is_offline(stats: Stats) -> bool:
    return "offline" in stats.program("Publisher").comment


def _spied(stats: Stats) -> list[str]:
    """The symbols on which a TickSpy runs."""
    running = [data for data in stats.data["programs"] if data["running"]]
    return sorted(data["symbol"] for data in running if data["name"] == "TickSpy")


def _printed(terminal: EmulatedTerminal, word: str) -> list[str]:
    """What the example has printed that begins with a word."""
    lines = [line.split("\t") for line in terminal.journal]
    return [text for *_, program, text in lines if program and text.startswith(word)]


def _counts(terminal: EmulatedTerminal) -> tuple[int, int]:
    """How many deals and signals the example has printed."""
    return len(_printed(terminal, "deal ")), len(_printed(terminal, "signal "))


def _answered(daemon: Daemon, identity: str, signal: Signal) -> None:
    """Send a signal and wait for its answer."""
    wait_until(lambda: identity in daemon.server.traders(signal.symbol))
    daemon.server.send(identity, signal)
    wait_until(lambda: len(daemon.outcomes) == signal.id)


def _signal(number: int, symbol: str) -> Signal:
    return Signal(
        id=number,
        time_msc=0,
        valid_until_msc=0,
        magic=7,
        lots=0.1,
        stop_points=100.0,
        target_points=0.0,
        side=Side.BUY,
        name="cross",
        symbol=symbol,
    )
