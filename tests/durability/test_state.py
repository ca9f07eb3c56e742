"""The rules' state, whatever fails: snapshots, rows and what a database made fit together."""

from __future__ import annotations

import errno
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cep.live.checkpoints import Checkpoints, parted
from cep.live.journal import Journal, set_aside
from cep.live.journal_files import parts_of
from cep.live.outbox import Outbox
from cep.live.rules_log import RulesLog, Since
from mt5bridge.spool import Disk
from mt5bridge.troubles import Effect, Troubles
from tests.durability.recording import Fault, RecordingDisk, recording
from tests.durability.trials import play_all

OLD_ROWS = b'{"row":"of other rules"}\n' * 40


def rows(count: int) -> bytes:
    return b"".join(b'{"row":%d}\n' % number for number in range(count))


def test_no_loss_of_power_brings_back_rows_that_a_start_cut_off(tmp_path: Path) -> None:
    """What they tell of may never have been stored, and nobody looks at them again where their
    rules are stopped.
    """
    path = tmp_path / "rows.jsonl"
    with recording(tmp_path) as disk:
        with closing(Journal(path)) as journal:
            journal.add({"row": number} for number in range(9))
            journal.sync()
        kept = len(rows(4))
        Journal(path, kept).close()
        assert bytes(disk.known(path).durable) == rows(4) == path.read_bytes()


class Keeper:
    """Rows of other rules are set aside; then rows, a snapshot for each ten, and the rules."""

    file_bytes = 0

    def __init__(self) -> None:
        self.snapshot = -1
        self.noted = 0

    def play(self, folder: Path, disk: RecordingDisk) -> None:
        self.disk, self.folder = disk, folder
        (folder / "state").mkdir()
        (folder / "state" / "rows.jsonl").write_bytes(OLD_ROWS)
        disk.known(folder / "state" / "rows.jsonl")
        for _ in range(2):
            try:
                self._run(folder)
            except OSError:
                continue  # the process has ended, and is started again

    def _run(self, folder: Path) -> None:
        troubles = Troubles()
        log = RulesLog(folder / "state" / "spool.rules")
        checkpoints = Checkpoints(folder / "state", "spool", troubles)
        newest = next(Checkpoints(folder / "state", "spool")._files(), None)
        if newest is None:
            set_aside(folder / "state" / "rows.jsonl")
            log.begin(Since(0, "the rules"))
            self._promise_rules(1)
            checkpoints.hold(0, 0, b"state 0")
            checkpoints.save(0, lambda: None)
        at, kept_bytes = newest[:2] if newest else (0, 0)
        path = folder / "state" / "rows.jsonl"
        journal = Journal(path, kept_bytes, file_bytes=self.file_bytes, files_max=3)
        try:
            for number in range(at, at + 20):
                journal.add([{"row": number}])
                if number % 10 == 9:
                    checkpoints.hold(number + 1, journal.size_bytes, b"state %d" % (number + 1))
                    checkpoints.save(number + 1, journal.sync)
                    self._saved(number + 1, troubles)
            log.add(Since(at + 20, "other rules"))
            self._promise_rules(len(log.entries))
        finally:
            if journal._file is not None:
                Disk().close(journal._file)

    def _promise_rules(self, count: int) -> None:
        self.noted = max(self.noted, count)

    def _saved(self, ingest: int, troubles: Troubles) -> None:
        if troubles.end is not None:
            raise OSError(errno.EIO, troubles.end.text)  # the daemon ends
        if not list(troubles):
            self.disk.acknowledged(f"snapshot {ingest}")
            self.snapshot = ingest

    def check(self, folder: Path) -> None:
        newest = -1
        for ingest, size, path in Checkpoints(folder / "state", "spool")._files():
            assert parted(path.read_bytes()) == (b"state %d" % ingest, b"")
            text, start = written(folder / "state" / "rows.jsonl") if size else (b"", 0)
            text = text[: max(size - start, 0)]  # its rows may be gone with the oldest files
            assert rows(ingest)[start:] == text, "the journal is as long as the snapshot says"
            newest = max(newest, ingest)
        assert newest >= self.snapshot
        assert len(RulesLog(folder / "state" / "spool.rules").entries) >= self.noted
        if newest >= 0 and not self.file_bytes:  # else it may be among the oldest files, which go
            assert (folder / "state" / "rows-1.jsonl").read_bytes() == OLD_ROWS


def written(path: Path) -> tuple[bytes, int]:
    """All bytes of a journal's files, and where they begin."""
    parts = parts_of(path)
    files = [part.path for part in parts] + [path] * path.exists()
    return b"".join(file.read_bytes() for file in files), parts[0].start if parts else 0


class RotatingKeeper(Keeper):
    """The same with small files, the oldest of which go."""

    file_bytes = 60


@pytest.mark.parametrize("keeper", [Keeper, RotatingKeeper])
def test_whatever_step_fails_snapshots_rows_and_rules_fit_together(
    tmp_path: Path, keeper: type[Keeper]
) -> None:
    assert play_all(keeper, tmp_path) > 40


class Maker:
    """What a database makes, batch by batch, in a new file after each third."""

    def __init__(self) -> None:
        self.promised = 0

    def play(self, folder: Path, disk: RecordingDisk) -> None:
        for _ in range(3):
            outbox = Outbox(folder / "state", "spool", is_durable=True)
            try:
                known = outbox.read(10_000)
                last = known[-1].last if known else 0
                assert last >= self.promised
                if last:
                    disk.acknowledged(f"batch {last} after a start")
                self.promised = last
                self._make(outbox, last, disk)
            except OSError as problem:
                if problem.errno != errno.ENOSPC:
                    continue  # the process has ended, and is started again
                self._make(outbox, self.promised, disk)
            finally:
                if outbox._file is not None:
                    outbox.close()

    def _make(self, outbox: Outbox, last: int, disk: RecordingDisk) -> None:
        outbox.begin(last)
        for number in range(last + 1, last + 4):
            outbox.add(number, [("A", number, 5, (1.5,))])
            disk.acknowledged(f"batch {number}")
            self.promised = number

    def check(self, folder: Path) -> None:
        found = [batch.last for batch in Outbox(folder / "state", "spool", True).read(10_000)]
        assert found == list(range(1, len(found) + 1))
        assert len(found) >= self.promised


def test_whatever_step_fails_what_a_database_made_is_kept(tmp_path: Path) -> None:
    assert play_all(Maker, tmp_path) > 15


@pytest.mark.parametrize("step", [1, 2])
def test_rows_stay_until_they_are_written(tmp_path: Path, step: int) -> None:
    with recording(tmp_path, Fault(step, errno.ENOSPC, "write_at")):
        journal = Journal(tmp_path / "rows.jsonl")
        for number in range(2):
            journal.add([{"row": number}])
            try:
                journal.write()
            except OSError as problem:
                assert problem.filename == str(tmp_path / "rows.jsonl")
        journal.close()
    assert (tmp_path / "rows.jsonl").read_bytes() == rows(2)


def test_what_comes_before_rows_comes_before_each_attempt(tmp_path: Path) -> None:
    """The journal of orders is written first; while it cannot be, no row is."""
    attempts: list[int] = []

    def before() -> None:
        attempts.append(len((tmp_path / "rows.jsonl").read_bytes()))
        if len(attempts) == 1:
            raise OSError(errno.ENOSPC, "No space left on device", "orders.journal")

    journal = Journal(tmp_path / "rows.jsonl", before=before)
    journal.add([{"row": 0}])
    with pytest.raises(OSError, match=r"orders\.journal"):
        journal.write()
    journal.close()
    assert attempts == [0, 0]
    assert (tmp_path / "rows.jsonl").read_bytes() == rows(1)


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
def test_a_sync_of_rows_that_fails_is_for_good(tmp_path: Path, error: int) -> None:
    """What it has dropped is not here any more; a restart writes it again."""
    troubles = Troubles()
    with recording(tmp_path, Fault(1, error, "sync", "rows")):
        journal = Journal(tmp_path / "rows.jsonl")
        checkpoints = Checkpoints(tmp_path / "state", "spool", troubles)
        journal.add([{"row": 0}])
        checkpoints.hold(1, journal.size_bytes, b"state")
        checkpoints.save(1, journal.sync)
        journal.close()
    assert troubles.end is not None and "rows.jsonl" in troubles.end.text
    assert not list((tmp_path).rglob("*.state"))


@pytest.mark.parametrize(
    ("error", "effect"), [(errno.ENOSPC, Effect.GOES_ON), (errno.EROFS, Effect.ENDS)]
)
def test_a_snapshot_without_room_is_told_until_one_fits(
    tmp_path: Path, error: int, effect: Effect
) -> None:
    troubles = Troubles()
    checkpoints = Checkpoints(tmp_path, "spool", troubles)
    with recording(tmp_path, Fault(1, error, "write_at", ".state")):
        checkpoints.hold(1, 0, b"state 1")
        checkpoints.save(1, lambda: None)
        (found,) = troubles
        assert (found.name, found.effect) == ("snapshot", effect)
        assert not list(tmp_path.iterdir()), "a full disk gets its room back"
        checkpoints.hold(2, 0, b"state 2")
        checkpoints.save(2, lambda: None)
    assert [one.effect for one in troubles] == [Effect.ENDS] * (effect is Effect.ENDS)
    assert [path.name for path in tmp_path.iterdir()] == ["spool-2-0.state"]


def test_a_snapshot_ahead_of_the_spool_stays_away(tmp_path: Path) -> None:
    """Its records' numbers are given to others: it must not come back with the power."""
    unused: Any = None
    with recording(tmp_path) as disk:
        checkpoints = Checkpoints(tmp_path, "spool")
        checkpoints.hold(9, 0, b"state")
        checkpoints.save(9, lambda: None)
        assert checkpoints.load(unused, 8) is None
    assert not list(disk.lose_power(tmp_path.with_name("image")).rglob("*.state"))
