"""What a database has made is found again, whatever a restart finds of snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from errno import EIO, EMFILE
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from cep.database.errors import DatabaseError
from cep.engine.snapshot import restore
from cep.live import on_database
from cep.live.config import OnDatabase
from cep.live.follower import Follower, Waiting
from cep.live.on_database import DatabaseRules, Done, batches
from cep.live.outbox import Outbox
from cep.plan import compile_rules
from mt5bridge.spool import CLOCK, Disk, Group, RecordKind, Spool, gap, read
from mt5bridge.troubles import Effect, Troubles
from tests.durability.recording import Fault, recording
from tests.live.service import RULES, wait_until, walks

SPOOL = "s"


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    """600 ticks, 20 a group, and a clock record among them."""
    ticks = walks("A", 600)["A"]
    spool = Spool(tmp_path / "spool")
    spool.recover()
    for start in range(0, len(ticks), 20):
        some = ticks[start : start + 20]
        spool.append(
            Group(spool.next_ingest, RecordKind.TICKS, "t", ("ticks", "A"), start + 1, some)
        )
        if start == 560:
            time = np.array([(int(some["time_msc"][-1]),)], CLOCK)
            spool.append(
                Group(spool.next_ingest, RecordKind.CLOCK, "c", ("clock",), start + 1, time)
            )
    spool.close()
    return tmp_path / "spool"


@contextmanager
def rules(folder: Path) -> Iterator[DatabaseRules]:
    folder.mkdir(exist_ok=True)
    settings = OnDatabase(url=f"sqlite:///{folder / 'events.db'}", durable=False)
    made = DatabaseRules(
        settings, compile_rules(RULES, "rules"), None, folder / "state", SPOOL, jit=False,
        snapshot_records=1_000, pause=lambda attempt: None,
    )  # fmt: skip
    with closing(made):
        yield made


def begun(found: DatabaseRules) -> None:
    found.empty()
    found.begin(found.compiled.start(), 0)


def taken(found: DatabaseRules, spool: Path, steps: int | None = None) -> Iterator[Done]:
    """What the database has, and so many batches more, or all that is stored."""
    yield from found.catch_up(spool)
    for groups in islice(batches(read(spool, found.position + 1), 70), steps):
        yield found.take(groups)


def lines(done: Done) -> list[tuple[Any, ...]]:
    return [(*place, row) for place, row in done.lines]


@pytest.mark.parametrize("is_saved", [True, False])
def test_restarts_between_snapshots_lose_nothing(
    is_saved: bool, tmp_path: Path, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_database, "SNAPSHOT_RECORDS", 130)
    with rules(tmp_path / "once") as found:
        begun(found)
        whole = [line for done in taken(found, spool) for line in lines(done)]
    told: list[tuple[Any, ...]] = []
    saved, state = 0, b""
    with rules(tmp_path) as found:
        begun(found)
        state = found.snapshot()
    for steps in (5, 1, 1, 2, 1, None):
        with rules(tmp_path) as found:
            found.go_on(restore(found.compiled, state), saved, spool)
            told = [line for line in told if line[0] <= saved]
            for done in taken(found, spool, steps):
                told += lines(done)
                if is_saved and done.state is not None:
                    saved, state = done.ingest, done.state
                    (tmp_path / "state" / f"{SPOOL}-{saved}-0.state").write_bytes(state)
    assert len(whole) > 20
    assert told == whole


def test_a_database_that_lost_everything_is_told_it_once_more(tmp_path: Path, spool: Path) -> None:
    with rules(tmp_path / "once") as found:
        begun(found)
        whole = [line for done in taken(found, spool) for line in lines(done)]
    with rules(tmp_path) as found:
        begun(found)
        told = [line for done in taken(found, spool, 5) for line in lines(done)]
        saved, state = found.position, found.snapshot()
    for lost in tmp_path.glob("events.db*"):
        lost.unlink()
    with rules(tmp_path) as found:
        found.go_on(restore(found.compiled, state), saved, spool)
        told += [line for done in taken(found, spool) for line in lines(done)]
    assert told == whole


def test_an_empty_file_behind_others_is_no_hindrance(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path, SPOOL, False)
    with closing(outbox):
        outbox.begin(0)
        outbox.add(10, [])
        outbox.begin(10)
        outbox.add(20, [])
        outbox.close()
        assert [one.last for one in outbox.read(10)] == [10]
        outbox.begin(10)
        outbox.add(15, [])
        assert [one.last for one in outbox.read(15)] == [10, 15]


def test_a_file_goes_when_not_even_the_oldest_snapshot_needs_it(tmp_path: Path) -> None:
    for name in (f"{SPOOL}-7-0.state", f"{SPOOL}-20-0.state", "other-900-0.state"):
        (tmp_path / name).touch()
    with closing(Outbox(tmp_path, SPOOL, False)) as outbox:
        for ingest in (0, 5, 10, 20, 30):
            outbox.begin(ingest)
        assert [path.name for path in outbox._paths()] == [
            f"{SPOOL}-{ingest}.made" for ingest in (5, 10, 20, 30)
        ]
        outbox.close()  # once more does no harm, whosever file has its number by now


def test_a_damaged_batch_ends_what_is_read(tmp_path: Path) -> None:
    with closing(Outbox(tmp_path, SPOOL, False)) as outbox:
        outbox.begin(0)
        for last in (1, 2, 3):
            outbox.add(last, [("A", last, 5, (1.5,))])
        (path,) = outbox._paths()
        whole = path.read_bytes()
        path.write_bytes(whole.replace(bytes([2, 5]), bytes([2, 6])))
        assert [batch.last for batch in outbox.read(9)] == [1]
        path.write_bytes(whole[:-1])
        assert [batch.last for batch in outbox.read(9)] == [1, 2]


def test_batches_are_whole_groups_without_gaps_and_time_comes_alone(spool: Path) -> None:
    groups = list(read(spool))
    groups[1:1] = [gap(21, groups[0].key, 21, 30, "lost")]
    found = list(batches(groups, 50))
    assert [sum(group.width for group in batch) for batch in found] == [*[60] * 9, 40, 1, 20]
    assert [batch[0].kind for batch in found[-2:]] == [RecordKind.CLOCK, RecordKind.TICKS]
    assert [group for batch in found for group in batch] == [*groups[:1], *groups[2:]]


def test_no_more_than_so_many_records_wait_in_memory(
    spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is more is read from the spool; without one, only what waits in memory is there."""
    monkeypatch.setattr("cep.live.follower.QUEUE_RECORDS", 40)
    groups = list(read(spool))[:5]
    waiting = Waiting(spool.with_name("none"), 0)
    waiting.commit(1_000)
    for group in groups[:2]:
        waiting.add(group)
    assert list(waiting.after(0)) == groups[:2]
    for group in groups[2:]:
        waiting.add(group)
    assert list(waiting.after(60)) == groups[3:]
    assert list(waiting.after(80)) == groups[4:]
    waiting.add(groups[0])
    assert list(waiting.after(80)) == [groups[4], groups[0]], "there is room again"


def test_no_room_for_what_was_made_is_tried_again_and_loses_nothing(
    spool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Outbox.add
    full: list[int] = []

    def add(self: Outbox, last: int, made: Any) -> None:
        if len(full) < 3:
            full.append(last)
            raise OSError(28, "No space left on device")
        kept(self, last, made)

    monkeypatch.setattr(Outbox, "add", add)
    with rules(tmp_path / "run") as run:
        run.begin(run.compiled.start(), 0)
        for groups in batches(read(spool), 100):
            before = run.position
            while run.position == before:
                try:
                    run.take(groups)
                except DatabaseError as problem:
                    assert "cannot be kept" in str(problem)
        written = [batch.last for batch in run._outbox.read(10_000)]
    assert len(full) == 3
    assert written == sorted(set(written))
    assert full[0] in written, "what had no room was written later"


class ShortDisk(Disk):
    """Takes a few bytes, then there is no room."""

    is_full = False

    def write_at(self, file: int, data: bytes, offset: int) -> None:
        super().write_at(file, data[:7] if self.is_full else data, offset)
        if self.is_full:
            raise OSError(28, "No space left on device")


def test_a_record_that_does_not_fit_leaves_no_part(tmp_path: Path) -> None:
    disk = ShortDisk()
    box = Outbox(tmp_path, SPOOL, is_durable=False, disk=disk)
    box.begin(0)
    box.add(1, [("A", 1, 5, (1.5,))])
    disk.is_full = True
    with pytest.raises(OSError, match="No space"):
        box.add(2, [])
    disk.is_full = False
    box.add(3, [])
    assert [batch.last for batch in box.read(9)] == [1, 3]
    box.close()


def test_a_disk_that_fails_is_not_tried_again(spool: Path, tmp_path: Path) -> None:
    """A database that is away is tried again; what was not written may be half written."""
    with recording(tmp_path, Fault(1, EIO, "write_at", ".made")), rules(tmp_path / "run") as run:
        begun(run)
        with pytest.raises(OSError, match=r"Input/output error.*\.made"):
            run.take(next(batches(read(spool), 100)))


class Stubborn:
    """Rules whose database is away at first, and that then meet a disk that fails."""

    position, batch_records = 0, 1_000

    def __init__(self) -> None:
        self.problems = [OSError(EIO, "Input/output error"), DatabaseError("away")]
        self.is_back = Event()

    def take(self, groups: Any) -> Any:
        if len(self.problems) == 2 and not self.is_back.is_set():
            raise self.problems[-1]
        raise self.problems[0]


def test_a_follower_tells_of_its_database_and_ends_with_its_disk(spool: Path) -> None:
    found, troubles = Stubborn(), Troubles(lambda: 3)
    follower = Follower(found, Waiting(spool, 601), spool, print, troubles)  # type: ignore[arg-type]
    follower.start()
    wait_until(lambda: bool(list(troubles)))
    (away,) = troubles
    assert (away.name, away.effect) == ("database", Effect.GOES_ON)
    assert "from record 1 on: away" in away.text and not troubles.stops
    found.is_back.set()
    wait_until(lambda: troubles.end is not None)
    assert troubles.end is not None
    assert troubles.end.name == "database thread" and "Input/output" in troubles.end.text
    follower.stop()


def test_a_follower_waits_while_too_many_files_are_open(
    spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads the spool again when it can; nothing else stands still meanwhile."""
    troubles, waiting = Troubles(), Waiting(spool, 601)
    follower = Follower(Stubborn(), waiting, spool, print, troubles)  # type: ignore[arg-type]

    def fails(*_what: object) -> Any:
        raise OSError(EMFILE, "Too many open files")
        yield

    monkeypatch.setattr(Waiting, "after", fails)
    assert not follower._follow()
    (told,) = troubles
    assert told.effect is Effect.GOES_ON and "`ulimit -n`" in told.text
