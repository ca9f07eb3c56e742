"""Clock records: who says up to when its ticks are complete, and what is done without it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from cep.archive import Archive
from cep.engine.snapshot import restore, take
from cep.live.intake import Intake
from cep.live.pipeline import Pipeline
from cep.live.timekeeper import DAEMON, Timekeeper
from mt5bridge.clock import Now
from mt5bridge.server import Batch, Watermark, ticks_of
from mt5bridge.simulator import Walk, random_walk
from mt5bridge.spool import Condition, RecordKind, Spool, StreamKey, Told, read, told
from tests.live.timed import START_MSC, Life, archived, backtested, compiled

EVERY_MS, AWAY_MS = 1_000, 5_000


class Keeping:
    """A timekeeper whose clock is told the time."""

    def __init__(self, folder: Path, every_ms: int = EVERY_MS) -> None:
        self.folder = folder
        self.spool = Spool(folder)
        self.spool.recover()
        self.pipeline = Pipeline(compiled().start(), lambda _caused: None)
        self.pipeline.catch_up(read(folder), lambda _caused: None)
        self.intake = Intake(self.spool, [self.pipeline])
        self.keeper = Timekeeper(self.intake, every_ms, AWAY_MS)
        self.keeper.know(self.pipeline.run.watermarks)
        self.sequence = 0

    def tell(self, time_msc: int, identity: str = "one", offset_ms: int = 0) -> None:
        self.keeper.on_watermark(Watermark(identity, time_msc, offset_ms))

    def tick(self, msc: int) -> None:
        ticks = random_walk(Walk(ticks=1, seed=msc, start_msc=msc))
        first, self.sequence = self.sequence + 1, self.sequence + 1
        none = np.zeros(1, np.uint8)
        assert self.intake.on_batch(Batch("one", ticks_of("A"), first, ticks, none, 0, 0))

    def pass_time(self, from_ms: int, to_ms: int) -> None:
        for ms in range(from_ms, to_ms, 50):
            self.keeper.look(Now(ms, 1_000_000 + ms))

    def recorded(self) -> list[tuple[str, Told, int]]:
        """(source, what, UTC) of the clock records, in order."""
        clock = [group for group in read(self.folder) if group.kind is RecordKind.CLOCK]
        return [(group.source, told(group), int(group.utc_msc[0])) for group in clock]

    def close(self) -> list[tuple[str, Told, int]]:
        self.spool.close()
        return self.recorded()


def test_a_watermark_is_recorded_once_a_period_also_in_a_busy_market(tmp_path: Path) -> None:
    keeping = Keeping(tmp_path)
    for ms in range(0, 3_001, 100):
        keeping.tick(ms)
        keeping.tell(ms + 7_200_000, offset_ms=7_200_000)
        keeping.pass_time(ms, ms + 100)
    found = keeping.close()
    assert found == [("one", Told.COMPLETE, ms) for ms in (0, 1_000, 2_000, 3_000)]
    groups = list(read(tmp_path))
    for group in (one for one in groups if one.kind is RecordKind.CLOCK):
        ticks = [
            one for one in groups if one.ingest < group.ingest and one.kind is RecordKind.TICKS
        ]
        assert len(ticks) == group.utc_msc[0] // 100 + 1, "it stands behind what it speaks of"


def test_nothing_is_recorded_of_a_terminal_that_tells_nothing_new(tmp_path: Path) -> None:
    keeping = Keeping(tmp_path)
    keeping.tell(500)
    keeping.pass_time(0, AWAY_MS)
    assert keeping.close() == [("one", Told.COMPLETE, 500)]


def test_who_is_away_is_waited_for_and_then_is_not(tmp_path: Path) -> None:
    keeping = Keeping(tmp_path)
    keeping.tell(500)
    keeping.tell(400, "two")
    keeping.pass_time(0, 3_000)
    keeping.tell(3_400, "two")
    keeping.pass_time(3_000, 7_000)
    keeping.tell(4_000)
    keeping.tell(7_400, "two")
    keeping.pass_time(7_000, 8_500)
    assert keeping.close() == [
        ("one", Told.COMPLETE, 500),
        ("two", Told.COMPLETE, 400),
        ("two", Told.COMPLETE, 3_400),
        ("one", Told.AWAY, 1_005_000),
        (DAEMON, Told.OWN, 1_000_950),
        (DAEMON, Told.OWN, 1_001_950),
        ("one", Told.COMPLETE, 4_000),
        ("two", Told.COMPLETE, 7_400),
    ]


def test_a_restarted_daemon_waits_anew_for_those_it_waited_for(tmp_path: Path) -> None:
    keeping = Keeping(tmp_path)
    keeping.tell(500)
    keeping.tell(400, "two")
    keeping.pass_time(0, 4_000)
    keeping.tell(4_000)
    keeping.pass_time(4_000, 5_050)
    before = keeping.close()
    assert before[-1] == ("two", Told.AWAY, 1_005_000)
    again = Keeping(tmp_path)
    again.pass_time(100_000, 100_000 + AWAY_MS)
    assert {(source, what) for source, what, _ in again.recorded()[len(before) :]} <= {
        (DAEMON, Told.OWN)
    }, "two is away still, and one is not yet"
    again.pass_time(100_000 + AWAY_MS, 100_100 + AWAY_MS)
    found = again.close()[len(before) :]
    assert ("one", Told.AWAY, 1_000_000 + 100_000 + AWAY_MS) in found
    numbers: dict[str, list[int]] = {}
    for group in read(tmp_path):
        numbers.setdefault(group.source, []).append(group.sequence)
    assert all(own == list(range(1, len(own) + 1)) for own in numbers.values())


@pytest.mark.parametrize(("every_ms", "is_full"), [(0, False), (EVERY_MS, True)])
def test_no_record_when_unwanted_or_without_room(
    tmp_path: Path, every_ms: int, is_full: bool
) -> None:
    keeping = Keeping(tmp_path, every_ms)
    if is_full:
        keeping.spool.condition = Condition.FULL
    keeping.tell(500)
    keeping.pass_time(0, 3 * AWAY_MS)
    assert keeping.recorded() == []
    keeping.spool.condition = Condition.READY
    keeping.pass_time(3 * AWAY_MS, 3 * AWAY_MS + 100)
    found = keeping.close()
    assert found[:1] == ([("one", Told.COMPLETE, 500)] if is_full else [])


def test_a_terminal_called_daemon_is_a_terminal(tmp_path: Path) -> None:
    keeping = Keeping(tmp_path)
    keeping.tell(500, DAEMON)
    keeping.pass_time(0, 2_000)
    assert keeping.pipeline.run.watermarks.holding == [DAEMON]
    keeping.pass_time(2_000, 8_000)
    assert keeping.pipeline.run.watermarks.away == [DAEMON]
    assert {what for _, what, _ in keeping.close()} == set(Told)


class Lives(Life):
    """A life of two terminals that publish A and B, of which they share B."""

    def __init__(self, folder: Path, *args: object) -> None:
        super().__init__(folder, *args)  # type: ignore[arg-type]
        self.silence = self.keeper(500, AWAY_MS)

    def lead(self, seed: int, steps: range) -> None:
        for step in steps:
            self._step(np.random.default_rng([seed, step]))
        self.pipeline.flush()

    def _step(self, random: np.random.Generator) -> None:
        source, symbol = [("left", "A"), ("left", "B"), ("right", "B")][int(random.integers(3))]
        until_msc = self.now_msc + int(random.choice([50, 300, 2_000, 11_000]))
        what = int(random.integers(10))
        if what < 6:
            count = int(random.integers(1, 20))
            start_msc = self.now_msc - int(random.integers(0, 200))
            ticks = random_walk(Walk(ticks=count, seed=what + count, start_msc=start_msc))
            first = self.sequences.get(source + symbol, 1)
            marks = np.zeros(count, np.uint8)
            batch = Batch(source, ticks_of(symbol), first, ticks, marks, 0, 0)
            assert self.intake.on_batch(batch)
            self.sequences[source + symbol] = first + count
            self.now_msc = max(self.now_msc, int(ticks["time_msc"][-1]))
        elif what < 9:
            lag = int(random.integers(0, 3_000))
            self.silence.on_watermark(Watermark(source, self.now_msc - lag, 0))
            self.silence.look(Now(self.now_msc, self.now_msc))
        else:
            self._be_silent(until_msc)


@pytest.mark.parametrize("seed", range(8))
def test_any_life_of_two_terminals_is_its_backtest_and_goes_on_after_a_restart(
    tmp_path: Path, seed: int
) -> None:
    rules, steps = compiled(), 160
    saved, crash = sorted(np.random.default_rng(seed).integers(1, steps, 2).tolist())
    first = Lives(tmp_path, rules.start())
    first.lead(seed, range(saved))
    snapshot, ingest, kept = take(first.pipeline.run), first.spool.next_ingest - 1, len(first.rows)
    first.lead(seed, range(saved, crash))
    first.spool.close()
    second = Lives(tmp_path, restore(rules, snapshot), first.sequences)
    second.catch_up(ingest)
    assert second.rows == first.rows[kept:]
    assert second.pipeline.run.watermarks.state() == first.pipeline.run.watermarks.state()
    second.now_msc = first.now_msc
    second.silence = second.keeper(500, AWAY_MS)
    second.lead(seed, range(crash, steps))
    second.spool.close()
    found = first.lines[:kept] + second.lines
    archive = archived(tmp_path)
    assert list(backtested(archive, rules)) == found
    clock = [group for group in read(tmp_path / "spool") if group.kind is RecordKind.CLOCK]
    assert {told(group) for group in clock} == set(Told)
    assert {cause for cause, _ in second.rows + first.rows} == {"CLOCK", "TICKS"}


def test_the_archive_keeps_who_said_what(tmp_path: Path) -> None:
    life = Lives(tmp_path, compiled().start())
    life.silence.on_watermark(Watermark("left", START_MSC + 7_200_000, 7_200_000))
    life.silence.look(Now(START_MSC, START_MSC))
    life.spool.close()
    (file,) = archived(tmp_path).files("clock")
    (row,) = _rows(archived(tmp_path), file.path)
    assert (row["source"], row["quality"]) == ("left", Told.COMPLETE)
    assert (row["time_msc"], row["raw_time_msc"]) == (START_MSC, START_MSC + 7_200_000)


def _rows(archive: Archive, path: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = pq.read_table(archive.directory / path).to_pylist()
    return rows


@pytest.mark.parametrize("seed", range(4))
def test_what_a_crash_takes_back_is_stored_anew_behind_what_is_sent_again(
    tmp_path: Path, seed: int
) -> None:
    """Killed between a watermark and its commit: neither is a promise left without its ticks."""
    rules = compiled()
    first = Lives(tmp_path / "killed", rules.start())
    first.lead(seed, range(60))
    first.spool.commit()
    then_msc, sequences = first.now_msc, dict(first.sequences)
    first.lead(seed, range(60, 90))
    shutil.copytree(tmp_path / "killed", tmp_path / "left")
    first.spool.close()
    second = Lives(tmp_path / "left", rules.start(), sequences)
    second.catch_up(0)
    second.silence = second.keeper(500, AWAY_MS)
    second.now_msc = then_msc
    second.lead(seed, range(60, 120))
    second.spool.close()
    assert second.spool.next_ingest > first.spool.next_ingest
    assert list(backtested(archived(tmp_path / "left"), rules)) == second.lines
    expected: dict[StreamKey, int] = {}
    for group in read(tmp_path / "left" / "spool"):
        assert group.sequence == expected.get(group.key, 1)
        expected[group.key] = group.last_sequence + 1
