"""A thread that hangs is noticed."""

from __future__ import annotations

from pathlib import Path
from threading import Event

from cep.live.watchdog import ASLEEP_MS, HANGS_MS, Watchdog
from mt5bridge.clock import Now
from mt5bridge.spool import CommitThread, Spool
from mt5bridge.spool.committer import COMMITS
from mt5bridge.spool.disk import Disk
from mt5bridge.troubles import Effect, Troubles
from tests.spool.groups import START_MSC, tick_group
from tests.waiting import LONG_S, wait_until

STEP_MS = 500


class Hanging(Disk):
    """A disk that answers when it may."""

    def __init__(self) -> None:
        self.is_asked, self.may_answer = Event(), Event()

    def sync(self, file: int) -> None:
        self.is_asked.set()
        assert self.may_answer.wait(LONG_S)
        super().sync(file)


def at(ms: int) -> Now:
    return Now(ms, START_MSC + ms)


def test_a_commit_that_never_ends_is_a_trouble_until_it_does(tmp_path: Path) -> None:
    disk, troubles = Hanging(), Troubles()
    disk.may_answer.set()
    spool = Spool(tmp_path, disk=disk)
    spool.recover()
    disk.may_answer.clear()
    disk.is_asked.clear()
    commits = CommitThread(spool, lambda: 0, troubles)
    watchdog = Watchdog(troubles, {COMMITS: lambda: commits.turns})
    assert spool.append(tick_group(spool, "A", 1, [START_MSC]))
    commits.start()
    assert disk.is_asked.wait(LONG_S)
    for ms in range(0, HANGS_MS, STEP_MS):
        watchdog.look(at(ms))
    assert not list(troubles)
    watchdog.look(at(HANGS_MS))
    (found,) = troubles
    assert found.name == COMMITS and found.effect is Effect.GOES_ON
    assert "10 s" in found.text and not troubles.stops, "records are taken, signals are sent"
    turns = commits.turns
    disk.may_answer.set()
    wait_until(lambda: commits.turns > turns)
    watchdog.look(at(HANGS_MS + STEP_MS))
    assert not list(troubles)
    commits.stop()
    spool.close()


def test_who_slept_with_the_machine_does_not_hang() -> None:
    troubles = Troubles()
    watchdog = Watchdog(troubles, {COMMITS: lambda: 7})
    for ms in (0, STEP_MS, STEP_MS + HANGS_MS, 2 * STEP_MS + HANGS_MS):
        watchdog.look(at(ms))
    assert ASLEEP_MS < HANGS_MS and not list(troubles)
