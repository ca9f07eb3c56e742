"""The order journal and the inbox, whatever fails: what was called durable is there."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from mt5bridge.orders import Inbox, OrderJournal, Syncer, TurnHalt, read_journal
from mt5bridge.orders.journal import _line
from mt5bridge.orders.records import Halted, Record
from mt5bridge.spool import Disk
from mt5bridge.troubles import Effect, Troubles
from tests.bridge.live import wait_until
from tests.durability.recording import Fault, RecordingDisk, recording
from tests.durability.trials import play_all


def record(number: int) -> Record:
    return Halted(number, True, f"reason {number}")


class Clerk:
    """Adds numbered records, two a sync; starts again when the disk has failed."""

    def __init__(self) -> None:
        self.promised = 0
        self.written = 0

    def play(self, folder: Path, disk: RecordingDisk) -> None:
        self.disk = disk
        for _ in range(3):
            try:
                self._run(folder)
            except OSError:
                continue  # the process has ended, and is started again

    def _run(self, folder: Path) -> None:
        journal = OrderJournal(folder / "state" / "orders.journal")
        try:
            self._found(len(journal.records))
            for _ in range(3):
                journal.add(record(self.written), record(self.written + 1))
                self.written += 2
                journal.write()
                self._sync(journal)
            journal.close()
        finally:
            if journal._file is not None:
                Disk().close(journal._file)

    def _found(self, count: int) -> None:
        """A start goes on with what it has read."""
        assert count >= self.promised
        if count:
            self.disk.acknowledged(f"record {count} after a start")
        self.promised = self.written = self.before = count

    def _sync(self, journal: OrderJournal) -> None:
        try:
            journal.sync()
        except OSError:
            assert journal.added.is_set(), "it has to be tried again"
            journal.sync()
        assert self.before + journal.durable == self.written
        self.disk.acknowledged(f"record {self.written}")
        self.promised = self.written

    def check(self, folder: Path) -> None:
        content = read_journal(folder / "state" / "orders.journal")
        assert not content.damaged_lines
        assert content.records == [record(number) for number in range(len(content.records))]
        assert len(content.records) >= self.promised


def test_whatever_step_of_the_journal_fails_nothing_durable_is_lost(tmp_path: Path) -> None:
    assert play_all(Clerk, tmp_path) > 15


LINES = [_line(record(number), number + 1) for number in range(6)]
DAMAGED = b"".join([*LINES[:2], LINES[2].replace(b"reason", b"season"), *LINES[3:]])
LEFT = [record(number) for number in (0, 1, 3, 4, 5)]


class Tidier:
    """A journal with a damaged line is set aside and written anew; then it is tidied."""

    def play(self, folder: Path, disk: RecordingDisk) -> None:
        (folder / "orders.journal").write_bytes(DAMAGED)
        disk.known(folder / "orders.journal")
        self.is_tidied = False
        for _ in range(2):
            try:
                journal = OrderJournal(folder / "orders.journal")
                assert journal.records[: len(LEFT)] in ([record(0)], LEFT)  # then a halt
                disk.acknowledged("what a start has read")
                journal.rewrite(journal.records[:1])
                self.is_tidied = True
                disk.acknowledged("what was tidied")
            except OSError:
                continue

    def check(self, folder: Path) -> None:
        found = read_journal(folder / "orders.journal").records[: len(LEFT)]
        assert found in ([record(0)], LEFT)
        assert not self.is_tidied or found == [record(0)]
        assert found == LEFT or (folder / "orders-1.journal").read_bytes() == DAMAGED


def test_a_journal_that_is_written_anew_is_there_at_every_step(tmp_path: Path) -> None:
    assert play_all(Tidier, tmp_path) > 15


class Porter:
    """A command is put into the inbox, obeyed, noted, and removed when the note is on disk."""

    def __init__(self) -> None:
        self.is_put = False

    def play(self, folder: Path, disk: RecordingDisk) -> None:
        inbox, journal = Inbox(folder / "inbox"), OrderJournal(folder / "orders.journal")
        for _ in range(2):
            try:
                path = inbox.put(TurnHalt(True, "news"), 5)
                break
            except OSError:
                continue
        self.is_put = True
        disk.acknowledged("the command")
        number = journal.add(record(1))
        for _ in range(2):
            try:
                journal.sync()
                break
            except OSError as problem:
                if problem.errno != errno.ENOSPC:
                    return
        if number <= journal.durable and not inbox.remove(path):
            inbox.remove(path)
        journal.close()

    def check(self, folder: Path) -> None:
        found = len(Inbox(folder / "inbox").take()) + len(
            read_journal(folder / "orders.journal").records
        )
        assert found >= self.is_put


def test_a_command_is_in_the_inbox_until_its_effect_is_on_disk(tmp_path: Path) -> None:
    assert play_all(Porter, tmp_path) > 10


@pytest.mark.parametrize("call", ["write_at", "sync"])
def test_without_room_the_syncer_tells_it_and_tries_again(tmp_path: Path, call: str) -> None:
    troubles = Troubles(lambda: 77)
    fault = Fault(1, errno.ENOSPC, call, "orders.journal")
    with recording(tmp_path, fault) as disk:
        journal = OrderJournal(tmp_path / "orders.journal")
        syncer = Syncer(journal, lambda: disk.acknowledged("all"), troubles)
        journal.add(record(0))
        syncer.sync()
        (found,) = troubles
        assert (found.name, found.effect, found.since_msc) == (str(journal.path), Effect.WAITS, 77)
        assert "No space left" in found.text and journal.durable == 0 and troubles.stops
        syncer.sync()
        assert not list(troubles) and not troubles.stops and journal.durable == 1
        journal.close()
    assert not disk.mistakes
    assert len(read_journal(disk.lose_power(tmp_path / "image") / "orders.journal").records) == 1


@pytest.mark.parametrize("call", ["write_at", "sync", "open", "sync_directory"])
def test_when_the_disk_fails_the_syncer_ends_and_nothing_is_durable(
    tmp_path: Path, call: str
) -> None:
    troubles = Troubles()
    with recording(tmp_path, Fault(1, errno.EIO, call)):
        journal = OrderJournal(tmp_path / "orders.journal")
        if call == "sync_directory":
            (tmp_path / "orders.journal").touch()
        syncer = Syncer(journal, lambda: None, troubles)
        syncer.start()
        journal.add(record(0))
        journal.announce()
        wait_until(lambda: troubles.end is not None)
        for _ in range(2):
            with pytest.raises(OSError, match="Input/output"):
                journal.sync()
        syncer.stop()
        assert journal.durable == 0
        with pytest.raises(OSError, match="Input/output"):
            journal.close()
    assert troubles.end is not None and "Input/output error" in troubles.end.text
    assert os.strerror(errno.EIO) in troubles.end.text
