"""Whether records were lived or are sorted history is kept with them, for good."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest

from cep.archive import Archive, Mode, compact, import_history, ingest_spool, verify
from cep.archive.manifest import File, load
from cep.archive.paths import MANIFEST
from cep.backtest.selection import Selection, Stretch, select
from cep.plan import compile_rules
from mt5bridge.history import TickBlock
from mt5bridge.spool import Spool
from tests.backtest.archives import START_MSC, walk
from tests.spool.groups import clock_group, tick_group

PLAN = compile_rules("define stream Tick (symbol string, bid double);")
LIVED, SORTED = Mode.LIVED, Mode.SORTED


def history(symbol: str, start_msc: int, seed: int = 1) -> TickBlock:
    random = np.random.default_rng(seed)
    return TickBlock(symbol, walk(random, start_msc, 3_600_000, 50), 0)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """A symbol that was lived and imported, several times on one day."""
    spool = Spool(tmp_path / "spool")
    spool.recover()
    archive = Archive(tmp_path / "archive")
    for first in (1, 11):
        times = START_MSC + 100 * np.arange(first, first + 10)
        assert spool.append(tick_group(spool, "EURUSD", first, times, source="demo"))
        spool.commit()
        ingest_spool(tmp_path / "spool", archive, include_open=True)
    assert spool.append(clock_group(spool, START_MSC + 2_000))
    spool.commit()
    spool.close()
    ingest_spool(tmp_path / "spool", archive, include_open=True)
    for hours in (-2, 2, 4):
        import_history(archive, [history("EURUSD", START_MSC + hours * 3_600_000)])
    return archive


def modes(archive: Archive) -> dict[str, set[Mode | None]]:
    """By the first word of a source's name."""
    found: dict[str, set[Mode | None]] = {}
    for file in archive.manifest.files:
        for one in file.sequences:
            found.setdefault(one.source.partition("/")[0], set()).add(file.mode)
    return found


def test_a_spool_was_lived_and_an_import_is_sorted(archive: Archive) -> None:
    assert modes(archive) == {"demo": {LIVED}, "daemon": {LIVED}, "history": {SORTED}}
    assert modes(Archive(archive.directory)) == modes(archive)


def test_files_of_both_modes_are_not_made_one(archive: Archive) -> None:
    before = modes(archive)
    found = compact(archive)
    assert (found.files_before, found.files_after) == (6, 4)
    assert modes(archive) == before
    assert verify(archive).ok
    assert select(archive, PLAN).rows == 170


def test_an_archive_of_before_there_were_modes_is_read_as_what_it_is(archive: Archive) -> None:
    path = archive.directory / MANIFEST
    head, *lines = path.read_bytes().splitlines()
    old = [msgspec.json.decode(line) for line in lines]
    assert any(one.pop("mode", None) for one in old)
    for one in old:
        one.pop("mode", None)
    path.write_bytes(b"\n".join([head, *map(msgspec.json.encode, old)]) + b"\n")
    assert load(archive.store).files == archive.manifest.files


def test_stretches_follow_one_another_in_the_order_of_the_records(archive: Archive) -> None:
    stretches = select(archive, PLAN).stretches
    assert [one.mode for one in stretches] == [SORTED, LIVED, SORTED]
    for before, after in pairwise(stretches):
        assert before.last_ingest < after.first_ingest
    only = select(archive, PLAN, None, START_MSC + 3_600_000)
    assert [one.mode for one in only.stretches] == [SORTED]


def piece(mode: Mode, first: int, last: int) -> File:
    return File("ticks", "A", "2024-03-01", f"{first}", 1, 1, "", first, last, 0, 9, (), mode)


@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        ([(SORTED, 1, 9), (SORTED, 5, 20)], [(SORTED, 1, 20)]),
        ([(SORTED, 1, 9), (LIVED, 4, 5)], [(SORTED, 1, 3), (LIVED, 4, 5), (SORTED, 6, 9)]),
        ([(LIVED, 1, 100), (SORTED, 40, 50)], [(LIVED, 1, 100)]),
        ([(LIVED, 1, 50), (SORTED, 40, 90)], [(LIVED, 1, 50), (SORTED, 51, 90)]),
        ([(SORTED, 1, 60), (LIVED, 40, 90)], [(SORTED, 1, 39), (LIVED, 40, 90)]),
        (
            [(SORTED, 1, 90), (LIVED, 20, 30), (LIVED, 60, 70), (LIVED, 25, 40)],
            [(SORTED, 1, 19), (LIVED, 20, 40), (SORTED, 41, 59), (LIVED, 60, 70), (SORTED, 71, 90)],
        ),
    ],
)  # fmt: skip
def test_beside_what_was_lived_its_watermarks_count(
    pieces: list[tuple[Mode, int, int]], found: list[tuple[Mode, int, int]]
) -> None:
    selection = Selection("", tuple(piece(*one) for one in pieces))
    assert selection.stretches == [Stretch(*one) for one in found]
