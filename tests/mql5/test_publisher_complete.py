"""What the publisher's heartbeats promise (PROTOCOL 8.6, 8.7) holds, and goes on in silence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from mt5bridge.clock import now
from mt5bridge.emulator.terminal import PASSING_MS
from mt5bridge.records import Records
from mt5bridge.server import Batch, Watermark
from mt5bridge.simulator import Walk, random_walk
from mt5bridge.validate import Quality, each
from tests.bridge.live import wait_until
from tests.mql5.publishing import Stage, market, publishing
from tests.waiting import LONG_S

OFFSET_MS = 7_200_000
SECOND_MS = 1_000
PACE = "pace rate=4000"


class Heard:
    """What the daemon is told, in its order."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.all: list[Batch | Watermark] = []
        self._listen()

    @property
    def promises(self) -> list[int]:
        """Server times, in order."""
        return [one.time_msc for one in list(self.all) if isinstance(one, Watermark)]

    @property
    def newest_msc(self) -> int:
        """The last promise; 0 before the first."""
        return max(self.promises, default=0)

    def wait_beats(self, count: int) -> None:
        """Wait until so many more frames have come, most of them heartbeats."""
        until = self.stage.counted("frames") + count
        wait_until(lambda: self.stage.counted("frames") >= until)

    def wait_promise(self, msc: int) -> None:
        wait_until(lambda: self.newest_msc >= msc)

    def restart_daemon(self) -> None:
        self.stage.restart_daemon()
        self._listen()

    def check(self) -> None:
        """No tick came behind a promise of its time, but for late ones."""
        promised_msc = 0
        for one in self.all:
            if isinstance(one, Watermark):
                promised_msc = max(promised_msc, one.time_msc)
                continue
            late = each(one.quality, len(one.records)) & Quality.LATE != 0
            behind = one.records["time_msc"] < promised_msc
            assert not (behind & ~late).any(), one.stream
        assert len(set(self.promises)) > 1

    def _listen(self) -> None:
        self.stage.daemon.on_batch = self.all.append
        self.stage.daemon.server.sink.on_watermark = self.all.append


@contextmanager
def heard(
    folder: Path,
    ticks: Mapping[str, Records],
    statements: str = PACE,
    inputs: Mapping[str, str] | None = None,
) -> Iterator[Heard]:
    """A publisher at work, whose terminal ends with the block; then what was promised held."""
    with publishing(folder, ticks, statements, inputs=inputs) as stage:
        found = Heard(stage)
        yield found
    found.check()


def last_msc(ticks: Mapping[str, Records]) -> int:
    """The time of the last tick of all symbols."""
    return max(int(records["time_msc"][-1]) for records in ticks.values())


def reachable(time_msc: int) -> int:
    """How far the newest quote allows to promise: its second and one more are not over."""
    return time_msc // SECOND_MS * SECOND_MS - SECOND_MS


@pytest.mark.parametrize(
    "oddities",
    [
        "ontick skip=0.33\nticks_odd burst_in_handler=0.5",
        "sockets short=0.3 cut_after=20000..200000 cut_after_read=500..5000",
        "copyticks timeout=0.05 block_ms=1 limit=64 sync_failures=2 no_memory=0.02",
    ],
)
def test_a_promise_holds_whatever_goes_wrong(tmp_path: Path, oddities: str) -> None:
    ticks = market("EURUSD GBPUSD", 4_000)
    with heard(tmp_path, ticks, f"{PACE}\n{oddities}") as found:
        found.stage.wait_ticks()
        found.wait_promise(reachable(last_msc(ticks)))
        assert found.newest_msc <= last_msc(ticks)
    found.stage.check_ticks()


def test_what_waits_to_be_sent_is_not_promised(tmp_path: Path) -> None:
    """A narrow outbox and a daemon that is away for a while."""
    ticks = market("EURUSD GBPUSD", 4_000)
    inputs = {"KeptTicks": "300", "PumpTicksMax": "100", "BatchTicks": "20"}
    with heard(tmp_path, ticks, PACE, inputs) as found:
        found.stage.wait_share(0.2)
        found.restart_daemon()
        found.stage.wait_ticks()
        found.wait_promise(reachable(last_msc(ticks)))
    found.stage.check_ticks()


def test_a_quiet_symbol_is_complete_as_others_go_on(tmp_path: Path) -> None:
    ticks = market("EURUSD GBPUSD", 3_000)
    ticks["GBPUSD"] = ticks["GBPUSD"][:10]
    with heard(tmp_path, ticks) as found:
        found.wait_promise(reachable(last_msc(ticks)))
        assert found.newest_msc > int(ticks["GBPUSD"]["time_msc"][-1]) + 60_000


def test_in_silence_the_server_s_clock_goes_on(tmp_path: Path) -> None:
    start_msc = now().utc_msc + OFFSET_MS - 600_000
    walks = {"EURUSD": random_walk(Walk(ticks=300, seed=1, start_msc=start_msc, gap_ms=400))}
    statements = f"{PACE}\nclock mode=real offset_ms={OFFSET_MS}"
    with heard(tmp_path, walks, statements) as found:
        found.stage.wait_ticks()
        found.wait_promise(last_msc(walks) + 1)
        before_msc = found.newest_msc
        found.stage.terminal.pass_time(LONG_S)
        found.wait_promise(before_msc + PASSING_MS - 2 * SECOND_MS)
        assert found.newest_msc <= now().utc_msc + OFFSET_MS + PASSING_MS
        told = [line for line in found.stage.terminal.journal if BY_COMPUTER in line]
    assert len(told) == 1


BY_COMPUTER = "follows this computer's clock"
AHEAD = f"clock mode=recorded offset_ms={OFFSET_MS} ahead_ms={3 * 3_600_000}"


def test_a_clock_that_is_hours_ahead_promises_nothing(tmp_path: Path) -> None:
    """TimeTradeServer counts by the computer's clock; quotes tell better."""
    ticks = market("EURUSD GBPUSD", 8_000)
    with heard(tmp_path, ticks, f"{PACE}\n{AHEAD}") as found:
        found.stage.wait_ticks()
    found.stage.check_ticks()


def test_in_silence_the_time_of_the_quotes_goes_on(tmp_path: Path) -> None:
    """Quotes came as they were made: "the time of its quotes, counted on"."""
    ticks = {"EURUSD": random_walk(Walk(ticks=180, seed=1, gap_ms=50))}
    with heard(tmp_path, ticks, f"pace speed=1\n{AHEAD}") as found:
        found.stage.wait_ticks()
        found.wait_promise(reachable(last_msc(ticks)))
        before_msc = found.newest_msc
        found.stage.terminal.pass_time(LONG_S)
        found.wait_promise(before_msc + PASSING_MS - 2 * SECOND_MS)
        assert found.newest_msc <= last_msc(ticks) + 2 * PASSING_MS
        assert not [line for line in found.stage.terminal.journal if BY_COMPUTER in line]


def test_nothing_moves_without_the_trade_server(tmp_path: Path) -> None:
    """Its clock, and quotes that this terminal does not see, say nothing of what it holds."""
    ticks = market("EURUSD GBPUSD", 3_000)
    times = np.sort(np.concatenate([records["time_msc"] for records in ticks.values()]))
    with heard(tmp_path, ticks, f"{PACE}\nat tick=5000 disconnect=1000000") as found:
        found.stage.terminal.wait(lambda stats: not stats.data["connected"], LONG_S)
        wait_until(lambda: sum(map(found.stage.received, ticks)) >= 4_999)
        found.wait_beats(5)
        count = len(found.all)
        found.stage.terminal.pass_time(LONG_S)
        found.wait_beats(5)
        assert found.newest_msc <= int(times[5_000])
        assert found.all[count:] == []


def test_what_was_missed_comes_before_the_promise_goes_on(tmp_path: Path) -> None:
    ticks = market("EURUSD GBPUSD", 4_000)
    with heard(tmp_path, ticks, f"{PACE}\nat tick=3000 disconnect=2000") as found:
        found.stage.wait_ticks()
        found.wait_promise(reachable(last_msc(ticks)))
    found.stage.check_ticks()


def test_late_ticks_come_behind_it_and_are_late(tmp_path: Path) -> None:
    ticks = market("EURUSD", 4_000)
    odd = "ticks_odd late=0.02 late_by=1..50 burst_in_handler=0.2"
    with heard(tmp_path, ticks, f"{PACE}\n{odd}") as found:
        found.stage.wait_ticks()
        found.stage.wait_agreed()
    assert found.stage.counted("quality_late") > 20


def test_a_restarted_program_promises_no_more_than_its_streams_hold(tmp_path: Path) -> None:
    ticks = market("EURUSD GBPUSD", 4_000)
    restarts = "at tick=2500 restart=Publisher\nat tick=5000 restart=Publisher"
    with heard(tmp_path, ticks, f"{PACE}\n{restarts}") as found:
        found.stage.wait_ticks()
        found.wait_promise(reachable(last_msc(ticks)))
    found.stage.check_ticks()
