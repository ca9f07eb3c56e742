"""Killed and restarted at any moment, terminal and daemon lose and double nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from mt5bridge.position import START
from mt5bridge.server import Batch, ticks_of
from mt5bridge.wire import LostReason
from tests.bridge.live import Daemon, wait_until
from tests.mql5.publishing import IDENTITY, Stage, market, publishing
from tests.waiting import LONG_S

LIVELY = "pace rate=6000\nontick skip=0.33\noffline_ticks count=0..200"
LATE = "ticks_odd late=0.05 late_by=1..50"


def test_terminal_killed_again_and_again(tmp_path: Path) -> None:
    with publishing(tmp_path, market("EURUSD GBPUSD", 4_000), LIVELY) as stage:
        for share in (0.1, 0.4, 0.6, 0.8):
            stage.wait_share(share)
            stage.terminal.kill()
            stage.terminal.start()
        stage.wait_ticks()
        stage.wait_agreed()
    stage.check_ticks()


def test_terminal_killed_while_ticks_come_late(tmp_path: Path) -> None:
    """The ledger, written before ticks are sent, tells which of the tick base were sent."""
    ticks, inputs = market("EURUSD GBPUSD", 4_000), {"WriteAhead": "true"}
    with publishing(tmp_path, ticks, f"{LIVELY}\n{LATE}", inputs=inputs) as stage:
        for share in (0.1, 0.4, 0.6, 0.8):
            stage.wait_share(share)
            stage.terminal.kill()
            stage.terminal.start()
        stage.wait_ticks()
        stage.wait_agreed()
    stage.check_ticks()
    assert stage.counted("quality_late") > 20


def test_terminal_killed_and_its_files_lost(tmp_path: Path) -> None:
    """Without memory the tick base and WELCOME tell where to go on."""
    with publishing(tmp_path, market("EURUSD", 5_000), LIVELY) as stage:
        for share in (0.2, 0.5):
            stage.wait_share(share)
            stage.terminal.kill()
            shutil.rmtree(stage.terminal.file("Mt5Bridge"))
            stage.terminal.start()
        stage.wait_ticks()
        stage.wait_agreed()
    stage.check_ticks()


def test_daemon_restarted_again_and_again(tmp_path: Path) -> None:
    with publishing(tmp_path, market("EURUSD GBPUSD", 4_000), LIVELY) as stage:
        for share in (0.2, 0.4, 0.6, 0.8):
            stage.wait_share(share)
            stage.restart_daemon()
        stage.wait_ticks()
    stage.check_ticks()


def test_program_and_terminal_restarted_in_order(tmp_path: Path) -> None:
    statements = f"{LIVELY}\nat tick=1000 restart=Publisher\nat tick=2500 restart=Publisher"
    with publishing(tmp_path, market("EURUSD", 6_000), statements) as stage:
        stage.wait_share(0.7)
        stage.terminal.stop()
        stage.terminal.start()
        stage.wait_ticks()
        stage.wait_agreed()
    stage.check_ticks()


@pytest.mark.parametrize("forgets", [False, True], ids=["with files", "without files"])
def test_records_in_the_daemons_memory_keep_their_numbers(tmp_path: Path, forgets: bool) -> None:
    """A daemon that has received more than is on its disk, and a terminal that starts anew.

    Late ticks make the new run number differently, so numbers given on behind the disk's would
    meet other records under the same numbers.
    """
    statements = LIVELY if forgets else f"{LIVELY}\n{LATE}"
    ticks, inputs = market("EURUSD", 5_000), {"WriteAhead": "true"}
    with publishing(tmp_path, ticks, statements, inputs=inputs, daemon=SlowDisk()) as stage:
        disk = _slow(stage)
        stage.wait_share(0.2)
        disk.commit()
        stage.wait_share(0.5)
        stage.terminal.kill()
        if forgets:
            shutil.rmtree(stage.terminal.file("Mt5Bridge"))
        stage.terminal.start()
        wait_until(lambda: stage.counted("connections") > 1)
        received = stage.received("EURUSD")
        stage.terminal.wait(lambda stats: stats.ticks_delivered >= 4_000, LONG_S)
        assert stage.received("EURUSD") == received
        disk.is_slow = False
        disk.commit()
        stage.wait_ticks()
        stage.wait_agreed()
    stage.check_ticks()


def test_a_daemon_that_lost_its_disk_is_told_what_is_gone(tmp_path: Path) -> None:
    """What was acknowledged is no longer kept; the gap is named, and the stream goes on."""
    ticks, disk = market("EURUSD", 4_000, same_ms=0), SmallDisk()
    inputs = {"KeptTicks": "300", "PumpTicksMax": "100", "BatchTicks": "50"}
    with publishing(tmp_path, ticks, LIVELY, inputs=inputs, daemon=disk) as stage:
        # more than it keeps, so some have been acknowledged and are forgotten
        wait_until(lambda: _taken(stage) > 300)
        stage.daemon.stop()
        disk.is_small = False
        stage.daemon.stored.clear()
        stage.daemon.positions.clear()
        stage.daemon.start()
        wait_until(lambda: stage.received("EURUSD") > 0)
        gap = next(gap for gap in stage.daemon.gaps if gap.stream == ticks_of("EURUSD"))
        wait_until(lambda: gap.last + stage.received("EURUSD") >= 4_000)
        batches = list(stage.daemon.stored[IDENTITY, ticks_of("EURUSD")])
    assert (gap.first, gap.reason) == (1, LostReason.DISCARDED)
    received = np.concatenate([batch.records for batch in batches])
    assert received.tobytes() == stage.terminal.tick_base("EURUSD")[gap.last :].tobytes()


def _taken(stage: Stage) -> int:
    """The last tick of EURUSD that the terminal has taken, as its heartbeats tell."""
    terminals = stage.daemon.server.status().terminals
    return max((one.taken for found in terminals for one in found.streams), default=0)


class SmallDisk(Daemon):
    """Takes few records, so that it stops in the midst of the market however late it is told to."""

    is_small = True
    few = 400

    def _take(self, batch: Batch) -> bool:
        taken = sum(len(one.records) for one in self.stored[batch.identity, batch.stream])
        return not (self.is_small and taken >= self.few) and super()._take(batch)


class SlowDisk(Daemon):
    """Has records in memory until `commit`."""

    is_slow = True

    def commit(self) -> None:
        """Everything received is on disk now."""
        for (identity, stream), batches in list(self.stored.items()):
            if batches:
                self._commit(identity, stream, list(batches))

    def _take(self, batch: Batch) -> bool:
        self.stored[batch.identity, batch.stream].append(batch)
        if not self.is_slow:
            self.commit()
        return True

    def _commit(self, identity: str, stream: tuple[str, ...], batches: list[Batch]) -> None:
        position = START
        for batch in batches:
            position = position.advanced(batch.last, batch.records)
        self.positions[identity, stream] = position
        self.server.acknowledge(identity, stream, position.sequence)


def _slow(stage: Stage) -> SlowDisk:
    assert isinstance(stage.daemon, SlowDisk)
    return stage.daemon
