"""Imported history: order, sequence, overlap, and what an interrupted import leaves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.archive import Archive, ArchiveError, import_history, verify
from cep.archive.history import ingest_numbers
from cep.archive.ingest import INGEST_BITS
from cep.archive.paths import DAY_MS, MANIFEST
from mt5bridge.history.block import TickBlock
from tests.archive.rows import stored
from tests.spool.groups import ticks

HOUR_MS = 3_600_000


def block(symbol: str, times: list[int], utc_offset_ms: int = 0) -> TickBlock:
    return TickBlock(symbol, ticks(np.array(times) + utc_offset_ms), utc_offset_ms)


def times_of(archive: Archive) -> list[tuple[str, int]]:
    return [(row[-1], row[3]) for row in stored(archive)]


def test_ticks_are_sorted_by_time_and_then_by_their_place(archive: Archive) -> None:
    done = import_history(archive, [block("B", [5, 9, 7]), block("A", [7, 7]), block("B", [7])])
    assert (done.rows, done.symbols, done.source) == (6, ("A", "B"), "history/1")
    assert times_of(archive) == [("B", 5), ("A", 7), ("B", 7), ("A", 7), ("B", 7), ("B", 9)]
    bids = [row[6] for row in stored(archive, symbols={"B"})]
    assert bids == pytest.approx([1.1, 1.10002, 1.1, 1.10001])
    assert verify(archive).ok


def test_server_time_is_kept_beside_utc(archive: Archive) -> None:
    import_history(archive, [block("A", [DAY_MS + 5], 2 * HOUR_MS)])
    assert stored(archive)[0][3:6] == (DAY_MS + 5, DAY_MS + 5 + 2 * HOUR_MS, 2 * HOUR_MS)
    assert archive.files()[0].date == "1970-01-02"


def test_overlap_is_refused_unless_asked_for(archive: Archive) -> None:
    import_history(archive, [block("A", [1000, 2000])])
    with pytest.raises(
        ArchiveError,
        match=r"A: the archive already has ticks between \d{4}-\d\d-\d\dT.* UTC .*--overlap",
    ):
        import_history(archive, [block("A", [1500])])
    import_history(archive, [block("B", [1500]), block("A", [2001])])
    done = import_history(archive, [block("A", [1000, 1000, 1500])], overlap="keep")
    assert done.source == "history/3"
    rows = stored(archive, symbols={"A"})
    assert [(row[3], row[1]) for row in rows] == [
        (1000, "history/1"), (1000, "history/3"), (1000, "history/3"), (1500, "history/3"),
        (2000, "history/1"), (2001, "history/2"),
    ]  # fmt: skip
    assert len({row[0] for row in rows}) == 6
    assert verify(archive).ok


def test_one_shared_millisecond_is_an_overlap(archive: Archive) -> None:
    import_history(archive, [block("A", [2000, 3000])])
    for times in ([1000, 2000], [3000, 4000], [2000], [1000, 4000]):
        with pytest.raises(ArchiveError, match="A: the archive already has ticks"):
            import_history(archive, [block("A", times)])
    import_history(archive, [block("A", [1000, 1999])])
    import_history(archive, [block("A", [3001])])
    assert [time for _, time in times_of(archive)] == [1000, 1999, 2000, 3000, 3001]


def test_many_ticks_of_a_millisecond_keep_their_order(archive: Archive) -> None:
    times = (np.arange(3000) * 7 % 3).tolist()
    many = block("A", times)
    many.ticks["bid"] = np.arange(3000)
    import_history(archive, [many])
    expected = sorted(range(3000), key=lambda i: times[i])
    assert [row[6] for row in stored(archive)] == expected


def test_symbols_imported_one_after_the_other_are_merged_by_time(archive: Archive) -> None:
    import_history(archive, [block("B", [1000, 3000])])
    import_history(archive, [block("A", [2000, 4000])])
    assert [time for _, time in times_of(archive)] == [1000, 2000, 3000, 4000]


def test_an_import_that_fails_leaves_nothing(archive: Archive) -> None:
    def broken() -> Iterator[TickBlock]:
        yield block("A", [0, 5 * DAY_MS])
        raise OSError("unplugged")

    with pytest.raises(OSError, match="unplugged"):
        import_history(archive, broken())
    assert stored(Archive(archive.directory)) == []


def test_ticks_out_of_order_by_more_than_a_day_are_refused(archive: Archive) -> None:
    with pytest.raises(ArchiveError, match="1970-01-01 come more than a day after later ones"):
        import_history(archive, [block("A", [1]), block("A", [4 * DAY_MS]), block("A", [2])])
    with pytest.raises(ArchiveError, match="1970-01-01 come more than a day after later ones"):
        import_history(archive, [block("A", [1, 2 * DAY_MS]), block("A", [2])])


def test_ticks_may_be_a_day_late(archive: Archive) -> None:
    times = [DAY_MS - 9, DAY_MS + 5, DAY_MS - 5, DAY_MS + 9, 2 * DAY_MS]
    import_history(archive, [block("A", [time]) for time in times])
    assert [time for _, time in times_of(archive)] == sorted(times)
    assert [row[2] for row in stored(archive)] == [1, 2, 3, 4, 5]
    assert verify(archive).ok


def test_an_import_of_nothing_makes_no_archive(archive: Archive) -> None:
    assert import_history(archive, []).rows == 0
    assert not (archive.directory / MANIFEST).exists()


def test_crossed_and_zero_prices_are_marked(archive: Archive) -> None:
    bad = block("A", [1, 2, 3])
    bad.ticks["ask"][0] = 0
    bad.ticks["ask"][1] = 0.5
    import_history(archive, [bad])
    marks = [row[-2] for row in stored(archive)]
    assert marks[2] == 0
    assert all(marks[:2])


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=8).map(sorted),
    st.lists(st.integers(0, 4), max_size=6).map(sorted),
)
def test_ingest_numbers_are_the_first_free_ones_of_their_millisecond(
    times: list[int], earlier: list[int]
) -> None:
    there = ingest_numbers(np.array(earlier, np.int64), np.empty(0, np.int64), -1)
    taken = set(there.tolist())
    expected = []
    for time in times:
        number = time << INGEST_BITS
        while number in taken or number < max((n + 1 for n in taken if n >> 20 == time), default=0):
            number += 1
        taken.add(number)
        expected.append(number)
    assert ingest_numbers(np.array(times, np.int64), there, -1).tolist() == expected


def test_ingest_numbers_go_on_above_those_of_the_day_before() -> None:
    """Even when a day's last millisecond had more ticks than it has numbers."""
    times, nothing = np.array([5, 6]), np.empty(0, np.int64)
    full = 7 << INGEST_BITS
    assert ingest_numbers(times, nothing, full).tolist() == [full + 1, full + 2]
