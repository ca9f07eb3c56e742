"""Server and simulated terminals over real TCP."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
import zmq

from mt5bridge.client import Connection, introduce
from mt5bridge.credential import Credential
from mt5bridge.server import DEALS, Batch, Server, Sink, ticks_of
from mt5bridge.simulator import (
    Account,
    LatencyProbe,
    RefusedError,
    Runner,
    Script,
    parse_script,
    simulated_terminal,
)
from mt5bridge.simulator.script import Action, Fault
from mt5bridge.wire import (
    FRAME_BYTES_MAX,
    Error,
    ErrorCode,
    Frame,
    Halt,
    Signal,
    SignalStatus,
    decode,
)
from tests.bridge.live import (
    SETTINGS,
    Daemon,
    deadline,
    run,
    running,
    wait_until,
    walks,
)
from tests.credentials import CREDENTIAL
from tests.waiting import LONG_MS
from tests.wire.samples import FRAMES

_SIGNAL = FRAMES["signal"][1]
assert isinstance(_SIGNAL, Signal)
_UNENDING = replace(_SIGNAL, valid_until_msc=0, stop_points=0, target_points=0)
"""Never too late, and no price closes what it opens: its own deals are all that come of it."""


def _assert_stored(daemon: Daemon, terminal_ticks: dict[str, np.ndarray], identity: str) -> None:
    for name, ticks in terminal_ticks.items():
        assert daemon.records(identity, ticks_of(name)).tobytes() == ticks.tobytes()


def test_two_terminals_at_once() -> None:
    ticks = walks("ABC", 5_000)
    with Daemon() as daemon:
        first = simulated_terminal(ticks, identity="first")
        second = simulated_terminal(ticks, identity="second", speed=1e9)
        with (
            Connection(daemon.server.address, CREDENTIAL) as connection,
            running(Runner(first, connection)),
        ):
            run(second, daemon)
            wait_until(lambda: first.finished)
        counters = daemon.server.counters()
    _assert_stored(daemon, ticks, "first")
    _assert_stored(daemon, ticks, "second")
    assert counters["ticks"] == 30_000
    assert "duplicates" not in counters


_FAULTS = """
seed = 5
same_ms = 0.3
late = 0.01
fault = [
    { action = "disconnect", at_record = 9_000, every_records = 40_000 },
    { action = "duplicate", at_record = 5_000, every_records = 20_000 },
    { action = "skip", at_record = 7_000, every_records = 30_000 },
    { action = "corrupt", at_record = 12_000, every_records = 50_000 },
    { action = "garbage", at_record = 15_000 },
    { action = "silence", at_record = 16_000, for_ms = 30 },
]
"""


def test_scripted_faults_lose_and_repeat_nothing() -> None:
    """9.4"""
    terminal = simulated_terminal(walks("AB", 30_000), script=parse_script(_FAULTS))
    with Daemon() as daemon:
        runner = run(terminal, daemon)
        counters = daemon.server.counters()
    _assert_stored(daemon, terminal.tape.ticks, "demo")
    assert set(terminal.faults.struck) == set(Action) - {Action.LOSE}
    assert runner.drops > 0
    assert counters["duplicates"] > 0
    assert counters["resends"] > 0
    # The one that is not read was still under way when the connection ended because of the other.
    assert any(name.startswith("bad_frames") and n > 0 for name, n in counters.items())
    assert daemon.gaps == []


@pytest.mark.parametrize("action", [Action.CORRUPT, Action.GARBAGE])
def test_what_is_no_frame_is_counted_and_what_it_took_along_comes_again(action: Action) -> None:
    script = Script(fault=(Fault(action, at_record=2_000),))
    terminal = simulated_terminal(walks("A", 5_000), script=script)
    with Daemon() as daemon:
        run(terminal, daemon)
        counters = daemon.server.counters()
    _assert_stored(daemon, terminal.tape.ticks, "demo")
    assert sum(n for name, n in counters.items() if name.startswith("bad_frames")) == 1


def test_a_scripted_loss_is_named() -> None:
    """7.3, 7.4"""
    script = Script(fault=(Fault(Action.LOSE, at_record=2_000),))
    terminal = simulated_terminal(walks("A", 5_000), script=script)
    with Daemon() as daemon:
        run(terminal, daemon)
    (gap,) = daemon.gaps
    batches = daemon.stored["demo", ticks_of("A")]
    stored = {n for batch in batches for n in range(batch.first, batch.last + 1)}
    assert stored | set(range(gap.first, gap.last + 1)) == set(range(1, 5_001))
    assert gap.text == "as scripted"


def test_daemon_restarts_under_load() -> None:
    """9.4: the terminal finds it again and goes on."""
    ticks = walks("AB", 40_000)
    with Daemon() as daemon:
        terminal = simulated_terminal(ticks, speed=4_000.0)
        address = daemon.server.address
        daemon.settings = replace(SETTINGS, bind=address)
        with Connection(address, CREDENTIAL) as connection, running(Runner(terminal, connection)):
            for share in (10_000, 40_000):
                wait_until(lambda share=share: _stored(daemon) > share)
                assert not terminal.finished
                daemon.stop()
                daemon.start()
            wait_until(lambda: terminal.finished)
    _assert_stored(daemon, ticks, "demo")


def _stored(daemon: Daemon) -> int:
    return sum(position.sequence for position in list(daemon.positions.values()))


def test_terminal_restarts_without_memory() -> None:
    """6.7: a new program goes on from the tick base, where the old one was killed."""
    ticks = walks("AB", 20_000)
    script = Script(same_ms=0.5)
    with Daemon() as daemon:
        killed = simulated_terminal(ticks, instance=1, script=script)
        with Connection(daemon.server.address, CREDENTIAL) as connection:
            runner = Runner(killed, connection)
            limit = deadline()
            while _stored(daemon) < 9_000:
                assert not limit()
                runner.step()
        successor = simulated_terminal(ticks, instance=2, script=script)
        run(successor, daemon)
    _assert_stored(daemon, successor.tape.ticks, "demo")


def test_second_terminal_with_the_identity() -> None:
    """5.3"""
    with Daemon() as daemon:
        first = simulated_terminal(walks("A", 20_000), instance=1, speed=1.0)
        second = simulated_terminal(walks("A", 10), instance=2)
        with (
            Connection(daemon.server.address, CREDENTIAL) as connection,
            running(Runner(first, connection)),
            Connection(daemon.server.address, CREDENTIAL) as other,
        ):
            wait_until(lambda: daemon.server.counters().get("connections", 0) == 1)
            runner = Runner(second, other, patience_ms=0)
            with pytest.raises(RefusedError, match="give each terminal its own identity"):
                runner.run(threading.Event(), deadline())
        assert daemon.server.counters()["connections"] == 1


def test_signals_come_back_as_deals() -> None:
    """10.1, 10.4, 10.5: also over a broken connection, each is executed once."""
    script = Script(
        fills=(0.6, 0.4), fault=(Fault(Action.DISCONNECT, at_record=6_000, every_records=9_000),)
    )
    account = Account(script.fills)
    terminal = simulated_terminal(walks("A", 30_000), script=script, account=account)
    sent: list[int] = []
    with Daemon() as daemon:

        def signal_at_every_batch(batch: Batch) -> None:
            if batch.stream == ticks_of("A") and len(sent) < 20:
                sent.append(len(sent) + 1)
                signal = replace(_UNENDING, id=sent[-1], symbol="A")
                daemon.server.send("demo", signal)

        daemon.on_batch = signal_at_every_batch
        with (
            Connection(daemon.server.address, CREDENTIAL) as connection,
            running(Runner(terminal, connection)),
        ):
            wait_until(lambda: terminal.finished and len(account.executed) == 20)
            wait_until(lambda: len(_executed(daemon)) == 20)
            wait_until(lambda: ("demo", DEALS) in daemon.positions and terminal.finished)
            wait_until(lambda: daemon.positions["demo", DEALS].sequence == 40)
    assert _executed(daemon) == set(range(1, 21))
    deals = daemon.records("demo", DEALS)
    assert deals.tobytes() == account.deals.tobytes()
    assert len(set(deals["comment"])) == 20


def _executed(daemon: Daemon) -> set[int]:
    executed = SignalStatus.EXECUTED
    return {
        outcome.result.id for outcome in list(daemon.outcomes) if outcome.result.status is executed
    }


def test_latency_is_measured() -> None:
    terminal = simulated_terminal(walks("A", 200), speed=1_000.0)
    probe = LatencyProbe()
    with Daemon() as daemon:

        def answer(batch: Batch) -> None:
            if batch.stream == ticks_of("A"):
                time_msc = int(batch.records["time_msc"][-1])
                signal = replace(_SIGNAL, id=batch.last, symbol="A", time_msc=time_msc)
                daemon.server.send("demo", signal)

        daemon.on_batch = answer
        with (
            Connection(daemon.server.address, CREDENTIAL) as connection,
            running(Runner(terminal, connection, observer=probe)),
        ):
            wait_until(lambda: terminal.finished and len(terminal.signals) > 0)
    latencies_us = probe.latencies_us()
    assert len(latencies_us) > 0
    assert (latencies_us > 0).all()


def test_plain_authentication() -> None:
    """12.2"""
    ticks = walks("A", 100)
    with Daemon(replace(SETTINGS, passwords={"ea": "secret"})) as daemon:
        run(simulated_terminal(ticks), daemon, Credential("ea", "secret"))
        _assert_stored(daemon, ticks, "demo")
        for user, password in [("ea", "wrong"), ("other", "secret")]:
            with pytest.raises(RefusedError, match="user or password is wrong"):
                run(simulated_terminal(ticks, identity="thief"), daemon, Credential(user, password))
    assert all(identity == "demo" for identity, _ in daemon.stored)


def test_a_peer_that_speaks_nonsense() -> None:
    """3.3: it is answered, and a terminal beside it does not notice."""
    ticks = walks("A", 5_000)
    with Daemon() as daemon, zmq.Context() as context:
        peer = context.socket(zmq.DEALER)
        peer.linger = 0
        peer.rcvtimeo = LONG_MS
        introduce(peer, CREDENTIAL)
        peer.connect(daemon.server.address)
        for data in (b"", b"GET / HTTP/1.1\r\n\r\n", b"MT5B" + bytes(2 * FRAME_BYTES_MAX)):
            peer.send(data)
            answer = decode(peer.recv())
            assert isinstance(answer, Error)
            assert answer.code in (ErrorCode.BAD_FRAME, ErrorCode.WRONG_VERSION)
        peer.send(bytes(5 * FRAME_BYTES_MAX))
        run(simulated_terminal(ticks), daemon)
        peer.close()
        counters = daemon.server.counters()
    _assert_stored(daemon, ticks, "demo")
    assert counters["bad_frames_truncated"] == 1
    assert counters["bad_frames_bad_magic"] == 1


def test_nothing_overtakes_a_frame_that_found_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """10.10: an order behind a halt does not come before it."""

    class Narrow:
        """Has no room for the first message of connection `a`."""

        def __init__(self) -> None:
            self.sent: list[tuple[bytes, Frame]] = []
            self.is_full = True

        def send(self, route: bytes, data: bytes) -> None:
            if route == b"a" and self.is_full:
                self.is_full = False
                raise zmq.Again
            self.sent.append((route, decode(data)))

    halt, signal = Halt(1, "news"), FRAMES["signal"][1]
    unsent: list[tuple[bytes, Frame]] = []
    with Server(SETTINGS, Sink()) as server:
        narrow = Narrow()
        monkeypatch.setattr(server, "network", narrow)
        monkeypatch.setattr(server.terminals, "unsent", lambda *found: unsent.append(found))
        server._send([(b"a", halt), (b"a", signal), (b"b", signal)])
        monkeypatch.undo()
    assert unsent == [(b"a", halt), (b"a", signal)] and narrow.sent == [(b"b", signal)]
