"""Clock times that came twice or never: told apart by the order of ticks, or refused by line."""

from __future__ import annotations

import tempfile
import zoneinfo
from datetime import UTC as UTC_ZONE
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt5bridge.history import Broken, HistoryError, ServerTime, copy_ticks, read_ticks
from mt5bridge.history.delimited import read_csv
from mt5bridge.history.zones import wall_text
from tests.campaign import examples
from tests.history.test_terminal import StandIn

EPOCH = datetime(1970, 1, 1, tzinfo=UTC_ZONE)
AUTUMNS = {
    "Europe/Athens": datetime(2024, 10, 27, 1, tzinfo=UTC_ZONE),
    "America/New_York": datetime(2023, 11, 5, 6, tzinfo=UTC_ZONE),
    "Australia/Lord_Howe": datetime(2024, 4, 6, 15, tzinfo=UTC_ZONE),
    "America/Caracas": datetime(2007, 12, 9, 7, tzinfo=UTC_ZONE),
    "Asia/Pyongyang": datetime(2015, 8, 14, 15, tzinfo=UTC_ZONE),
}
"""Moments at which clocks went back: by an hour, by half an hour, for good."""

SPRINGS = {
    "Europe/Athens": datetime(2024, 3, 31, 1, tzinfo=UTC_ZONE),
    "America/New_York": datetime(2024, 3, 10, 7, tzinfo=UTC_ZONE),
    "Australia/Lord_Howe": datetime(2024, 10, 5, 15, 30, tzinfo=UTC_ZONE),
    "Pacific/Apia": datetime(2011, 12, 30, 10, tzinfo=UTC_ZONE),
}
"""Moments at which clocks went forward: by an hour, half an hour, a day."""


def msc(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(milliseconds=1)


def walls(times_msc: list[int], zone: str) -> list[int]:
    """What a clock showed at these UTC times."""
    offsets = [(EPOCH + timedelta(milliseconds=t)).astimezone(zoneinfo.ZoneInfo(zone)).utcoffset()
               for t in times_msc]  # fmt: skip
    return [t + round((o or timedelta()).total_seconds() * 1000)
            for t, o in zip(times_msc, offsets, strict=True)]  # fmt: skip


def written(
    folder: Path, clock: list[int], symbols: str | None = None, name: str = "A.csv"
) -> Path:
    """A file of ticks with these clock times, and symbols of one letter each."""
    path = folder / name
    if name.endswith(".parquet"):
        times = pa.array(clock, pa.timestamp("ms"))
        pq.write_table(pa.table({"time": times, "bid": [1.0] * len(clock),
                                 "ask": [1.1] * len(clock)}), path)  # fmt: skip
        return path
    lines = [
        f"{wall_text(t)},1.1,1.2,{s}"
        for t, s in zip(clock, symbols or "A" * len(clock), strict=True)
    ]
    path.write_text("\n".join(["time,bid,ask,symbol", *lines]) + "\n")
    return path


def utc_times(path: Path, zone: str, block_bytes: int = 1 << 20) -> list[int]:
    if path.suffix == ".parquet":
        blocks = list(read_ticks(path, symbol="A", server=ServerTime.parse(zone)))
    else:
        blocks = list(read_csv(path, "A", ServerTime.parse(zone), Broken(), block_bytes))
    return [int(t) for block in blocks for t in block.utc_msc]


def refusal(path: Path, zone: str) -> str:
    with pytest.raises(HistoryError) as caught:
        utc_times(path, zone)
    return str(caught.value)


def around(moment: datetime, minutes: list[float]) -> list[int]:
    return [msc(moment) + round(60_000 * minute) for minute in minutes]


# -- autumn ------------------------------------------------------------------------------------


@pytest.mark.parametrize("zone", AUTUMNS)
@pytest.mark.parametrize("name", ["A.csv", "A.parquet"])
@pytest.mark.parametrize("block_bytes", [40, 1 << 20])
def test_an_hour_that_comes_twice_is_told_by_the_jump(
    tmp_path: Path, zone: str, name: str, block_bytes: int
) -> None:
    """Each minute of two hours on both sides of the moment at which the clocks went back."""
    times = around(AUTUMNS[zone], [*range(-120, 120)])
    clock = walls(times, zone)
    assert min(np.diff(clock)) < 0, "the clocks did go back"
    assert utc_times(written(tmp_path, clock, name=name), zone, block_bytes) == times


def test_numbers_may_be_a_clocks_reading_too(tmp_path: Path) -> None:
    zone = "Europe/Athens"
    times = around(AUTUMNS[zone], [-61, -30, 10, 61])
    lines = [f"{t},1.1,1.2,A" for t in walls(times, zone)]
    path = tmp_path / "A.csv"
    path.write_text("\n".join(["time_msc,bid,ask,symbol", *lines]) + "\n")
    assert utc_times(path, zone) == times
    path.write_text("\n".join(["time_msc,bid,ask,symbol", *lines[:2]]) + "\n")
    assert "A.csv:3: " in refusal(path, zone)


@pytest.mark.parametrize("zone", AUTUMNS)
@pytest.mark.parametrize("minutes", [[-20, -5], [5, 20], [-20, -5, 61], [-200, 5, 20, 100]])
@pytest.mark.parametrize("name", ["A.csv", "A.parquet"])
def test_one_passing_alone_could_be_either(
    tmp_path: Path, zone: str, minutes: list[float], name: str
) -> None:
    path = written(tmp_path, walls(around(AUTUMNS[zone], minutes), zone), name=name)
    text = refusal(path, zone)
    row = 1 + next(i for i, minute in enumerate(minutes) if -30 < minute < 30)
    place = f"row {row}: " if name.endswith("parquet") else f"A.csv:{row + 1}: "
    assert place in text and f"came twice in {zone}" in text and "with their offset" in text


def test_ticks_sorted_by_the_clock_are_refused(tmp_path: Path) -> None:
    zone = "Europe/Athens"
    clock = sorted(walls(around(AUTUMNS[zone], [*range(-90, 90, 7)]), zone))
    assert "never jumps back" in refusal(written(tmp_path, clock), zone)


def test_two_jumps_are_refused_at_the_second(tmp_path: Path) -> None:
    zone = "Europe/Athens"
    clock = walls(around(AUTUMNS[zone], [-50, -10, 5, 50]), zone)
    text = refusal(written(tmp_path, clock[:3] + clock[1:]), zone)
    assert "A.csv:6: " in text and "jumps back more than once" in text


def test_a_late_tick_is_no_jump(tmp_path: Path) -> None:
    zone = "Europe/Athens"
    times = around(AUTUMNS[zone], [-50, -49.9, -49.95, -1, 0, 0.5, 0.4, 59, 61])
    assert utc_times(written(tmp_path, walls(times, zone)), zone) == times


def test_each_symbol_has_its_own_jump(tmp_path: Path) -> None:
    zone = "America/New_York"
    a, b = (around(AUTUMNS[zone], [shift - 20, shift + 10, shift + 70]) for shift in (0, 3))
    path = written(tmp_path, walls(a + b, zone), "AAABBB")
    assert sorted(utc_times(path, zone)) == sorted(a + b)
    mixed = [t for pair in zip(a, b, strict=True) for t in pair]
    assert sorted(utc_times(written(tmp_path, walls(mixed, zone), "ABABAB"), zone)) == sorted(a + b)
    lone = written(tmp_path, walls([*a, b[0]], zone), "AAAB")
    assert "A.csv:5: " in refusal(lone, zone)


@pytest.mark.parametrize("zone", ["UTC", "+02:00", "Europe/Athens"])
def test_times_with_an_offset_need_no_jump(tmp_path: Path, zone: str) -> None:
    path = tmp_path / "A.csv"
    path.write_text("time,bid,ask\n2024-10-27T03:30:00+02:00,1,2\n2024-10-27T03:40:00+03:00,1,2\n")
    assert utc_times(path, zone) == around(AUTUMNS["Europe/Athens"], [30, -20])


def test_other_days_need_no_jump(tmp_path: Path) -> None:
    zone = "Europe/Athens"
    times = around(AUTUMNS[zone] + timedelta(days=1), [-30, 30])
    assert utc_times(written(tmp_path, walls(times, zone)), zone) == times


@settings(deadline=None, max_examples=examples(50))
@given(
    st.sampled_from(sorted(AUTUMNS)),
    st.lists(st.integers(-7200, 7200), min_size=1, max_size=12),
    st.integers(40, 400),
)
def test_any_ticks_are_told_right_or_refused(zone: str, seconds: list[int], block: int) -> None:
    times = around(AUTUMNS[zone], [second / 60 for second in sorted(seconds)])
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), walls(times, zone))
        try:
            found = utc_times(path, zone, block)
        except HistoryError:
            clock = walls(times, zone)
            step = min(np.diff(clock), default=0)
            assert step > -60_000, "only where nothing jumps back"
            return
    assert found == times


# -- spring ------------------------------------------------------------------------------------


@pytest.mark.parametrize("zone", SPRINGS)
@pytest.mark.parametrize("name", ["A.csv", "A.parquet"])
def test_a_time_that_never_came_is_refused(tmp_path: Path, zone: str, name: str) -> None:
    before, after = around(SPRINGS[zone], [-1, 1])
    first, last = walls([before], zone)[0], walls([after], zone)[0]
    assert utc_times(written(tmp_path, [first, last], name=name), zone) == [before, after]
    never = first + 15 * 60_000
    text = refusal(written(tmp_path, [first, never, last], name=name), zone)
    assert ("row 2: " if name.endswith("parquet") else "A.csv:3: ") in text
    assert f"never came in {zone}" in text and "correct the time, or the zone" in text


def test_times_that_never_came_can_be_left_out(tmp_path: Path) -> None:
    zone = "Europe/Athens"
    first = walls(around(SPRINGS[zone], [-1]), zone)[0]
    path, broken = written(tmp_path, [first, first + 120_000, first + 180_000]), Broken("skip")
    assert len(list(read_ticks(path, server=ServerTime.parse(zone), broken=broken))) == 1
    assert broken.count == 2


@pytest.mark.parametrize("zone", sorted(SPRINGS | AUTUMNS))
def test_shifts_are_found_to_the_second(zone: str) -> None:
    moment = (SPRINGS | AUTUMNS)[zone]
    server = ServerTime.parse(zone)
    [shift] = server.shifts(np.array([msc(moment) + 3_600_000]))
    assert shift.at_msc == msc(moment)
    before, after = walls([shift.at_msc - 1, shift.at_msc], zone)
    assert (shift.before_ms, shift.after_ms) == (before - shift.at_msc + 1, after - shift.at_msc)
    assert shift.is_gap == (zone in SPRINGS and moment == SPRINGS[zone])


# -- from a terminal ---------------------------------------------------------------------------


def test_a_terminals_clock_is_treated_alike() -> None:
    zone = "Europe/Athens"
    times = around(AUTUMNS[zone], [-30, -10, 5, 40, 70])
    clock = walls(times, zone)
    server, module = ServerTime.parse(zone), StandIn(clock)
    blocks = list(copy_ticks(module, "EURUSD", clock[0] - 10**7, clock[-1] + 10**7, server, 10**9))
    assert [int(t) for block in blocks for t in block.utc_msc] == times
    with pytest.raises(HistoryError, match=r"EURUSD in the terminal: .* came twice"):
        list(copy_ticks(StandIn(clock[:2]), "EURUSD", clock[0], clock[0] + 10**7, server))
    never = walls(around(SPRINGS[zone], [-1]), zone)[0] + 120_000
    with pytest.raises(HistoryError, match=r"EURUSD in the terminal: .* never came"):
        list(copy_ticks(StandIn([never]), "EURUSD", never, never + 1000, server))
