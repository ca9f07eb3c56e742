"""What a database has made is found again, whatever a restart finds of snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cep.database.errors import DatabaseError
from cep.engine.snapshot import restore
from cep.live import on_database
from cep.live.config import OnDatabase
from cep.live.on_database import DatabaseRules, Done, batches
from cep.live.outbox import Outbox
from cep.plan import compile_rules
from mt5bridge.spool import CLOCK, Group, Kind, Spool, read
from tests.live.service import RULES, walks

SPOOL = "s"


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    """600 ticks, 20 a group, and a clock record among them."""
    ticks = walks("A", 600)["A"]
    spool = Spool(tmp_path / "spool")
    spool.recover()
    for start in range(0, len(ticks), 20):
        some = ticks[start : start + 20]
        spool.append(Group(spool.next_ingest, Kind.TICKS, "t", ("ticks", "A"), start + 1, some))
        if start == 560:
            time = np.array([(int(some["time_msc"][-1]),)], CLOCK)
            spool.append(Group(spool.next_ingest, Kind.CLOCK, "c", ("clock",), start + 1, time))
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


def test_a_record_that_does_not_fit_leaves_no_part(tmp_path: Path) -> None:
    box = Outbox(tmp_path, SPOOL, is_durable=False)
    box.begin(0)
    box.add(1, [("A", 1, 5, (1.5,))])
    assert box._file is not None
    whole, file = box._file.write, box._file

    class Short:
        def __getattr__(self, name: str) -> Any:
            return getattr(file, name)

        def write(self, data: bytes) -> int:
            return whole(data[:7])

    box._file = Short()  # type: ignore[assignment]
    with pytest.raises(OSError, match="No space"):
        box.add(2, [])
    box._file = file
    box.add(3, [])
    assert [batch.last for batch in box.read(9)] == [1, 3]
    box.close()
