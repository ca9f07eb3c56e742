"""Times that are not what their column says are refused with line and remedy, in any file."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC as UTC_ZONE
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mt5bridge.history import UTC, Broken, HistoryError, ServerTime, read_ticks
from mt5bridge.history.epochs import FIRST_SECOND, PAST_SECOND, UNITS, unit_of
from tests.history.test_files import START, records, stored

SECONDS = START // 1000


def as_csv(folder: Path, column: str, times: list[Any]) -> Path:
    lines = [f"{'' if time is None else time},1.1,1.2" for time in times]
    return stored(folder, "\n".join([f"{column},bid,ask", *lines]) + "\n", "A.csv")


def as_jsonl(folder: Path, column: str, times: list[Any]) -> Path:
    lines = [json.dumps({column: time, "bid": 1.1, "ask": 1.2}) for time in times]
    return stored(folder, "\n".join(lines) + "\n", "A.jsonl")


def as_parquet_file(folder: Path, column: str, times: list[Any]) -> Path:
    path, prices = folder / "A.parquet", [1.1] * len(times)
    pq.write_table(pa.table({column: times, "bid": prices, "ask": prices}), path)
    return path


Writer = Callable[[Path, str, list[Any]], Path]
WRITERS = [(as_csv, ":3: "), (as_jsonl, ":2: "), (as_parquet_file, ": row 2: ")]


def refusal(path: Path, server: ServerTime | None = UTC) -> str:
    with pytest.raises(HistoryError) as caught:
        list(read_ticks(path, symbol="A", server=server))
    return str(caught.value)


@pytest.mark.parametrize(("writer", "place"), WRITERS)
@pytest.mark.parametrize(
    ("column", "good", "bad", "remedy"),
    [
        ("time", SECONDS, START, "call the column time_msc"),
        ("time", SECONDS, START * 1000, "divide it by 1,000 and"),
        ("time", SECONDS, START * 10**6, "divide it by 1,000,000 and"),
        ("time_msc", START, SECONDS, "call the column time,"),
        ("timestamp", START, SECONDS, "call the column time,"),
        ("timestamp", START, START * 1000, "divide it by 1,000 and"),
        ("time_msc", START, START * 10**6, "divide it by 1,000,000 and"),
        ("time_msc", START, 0, "give 2024-03-01 09:30:00.250 as text"),
        ("time_msc", START, -START, "give 2024"),
        ("time", SECONDS, -1, "give 2024"),
        ("time_msc", START, PAST_SECOND * 1000, "give 2024"),
        ("time_msc", START, 2**63 - 1, "give 2024"),
        ("time", SECONDS, 2**63 - 1, "give 2024"),
    ],
)
def test_numbers_of_another_unit_are_refused(
    tmp_path: Path, writer: Writer, place: str, column: str, good: int, bad: int, remedy: str
) -> None:
    path = writer(tmp_path, column, [good, bad, good])
    text = refusal(path)
    assert f"{path}{place}" in text and "1971 to 2099" in text and remedy in text, text
    assert len(list(read_ticks(writer(tmp_path, column, [good, good]), symbol="A"))) == 1


@pytest.mark.parametrize(("writer", "place"), WRITERS)
def test_a_whole_file_of_another_unit_is_refused_at_its_first_line(
    tmp_path: Path, writer: Writer, place: str
) -> None:
    text = refusal(writer(tmp_path, "time", [START, START + 1]))
    assert "is as milliseconds" in text


@pytest.mark.parametrize(("writer", "place"), WRITERS)
def test_whole_floats_are_times_and_fractions_are_not(
    tmp_path: Path, writer: Writer, place: str
) -> None:
    text = refusal(writer(tmp_path, "time_msc", [float(START), START + 0.5]))
    assert ("no whole number" in text and place in text) or "cannot be used" in text
    if writer is not as_csv:
        found = records(list(read_ticks(writer(tmp_path, "time_msc", [1.7e12]), symbol="A")))
        assert found["time_msc"].tolist() == [1_700_000_000_000]


@pytest.mark.parametrize("value", ["1.7e12", "1700000000000.5", "nan", "x", "12:30", "0x18b", " "])
def test_text_that_is_no_time_is_refused(tmp_path: Path, value: str) -> None:
    for column in ("time_msc", "time"):
        path = as_csv(tmp_path, column, [START if column == "time_msc" else SECONDS])
        path.write_text(path.read_text() + f"{value},1.1,1.2\n")
        text = refusal(path)
        assert f"{path}:3: " in text and "--skip-broken" in text


@pytest.mark.parametrize("value", [True, [1], {"a": 1}, None, "soon"])
def test_json_values_that_are_no_times_are_refused(tmp_path: Path, value: object) -> None:
    for times, line in (([START, value], 2), ([value, START], 1)):
        assert f"A.jsonl:{line}: " in refusal(as_jsonl(tmp_path, "time_msc", times))


@pytest.mark.parametrize(
    "column",
    [
        pa.array([True]), pa.array([19_000], pa.date32()), pa.array([[1]]),
        pa.array([1], pa.time64("us")), pa.array([START], pa.duration("ms")),
        pa.array([None], pa.int64()), pa.array([None], pa.timestamp("ms", "UTC")),
        pa.array([float("nan")]), pa.array([START], pa.timestamp("ns", "UTC")),
        pa.array([START * 1000 + 1], pa.timestamp("us", "UTC")),
        pa.array([2**62], pa.timestamp("us")),
    ],
)  # fmt: skip
def test_parquet_columns_that_are_no_times_are_refused(tmp_path: Path, column: pa.Array) -> None:
    assert ": row 1: " in refusal(as_parquet_file(tmp_path, "time_msc", column))


def test_parquet_clock_times_need_a_zone_like_any_others(tmp_path: Path) -> None:
    path = as_parquet_file(tmp_path, "time", pa.array([START], pa.timestamp("ms")))
    assert "say what the server's clock shows" in refusal(path, None)
    [block] = read_ticks(path, symbol="A", server=ServerTime.parse("+02:00"))
    assert block.utc_msc.tolist() == [START - 7_200_000]
    path = as_jsonl(tmp_path, "time", ["2023-11-14 22:13:20"])
    assert "A.jsonl:1: its times have no zone; say" in refusal(path, None)


# -- offsets -----------------------------------------------------------------------------------

OFFSETS = [
    "2023-11-14T22:13:20Z", "2023-11-14 22:13:20.000Z", "2023-11-15T00:13:20+02:00",
    "2023-11-15T00:13:20+0200", "2023-11-15 00:13:20.000 +02:00", "2023-11-14T16:43:20-0530",
    "2023-11-15T00:13:20+02", "2023.11.15 00:13:20.000+02:00", "2023-11-14 22:13:20 UTC",
    "20231115 001320+0200", "2023-11-14T22:13:20.000000Z",
]  # fmt: skip


@pytest.mark.parametrize("text", OFFSETS)
@pytest.mark.parametrize("server", [None, ServerTime.parse("Asia/Tokyo")])
def test_an_offset_is_a_zone(tmp_path: Path, text: str, server: ServerTime | None) -> None:
    for writer in (as_csv, as_jsonl, as_parquet_file):
        path = writer(tmp_path, "time", [text, text])
        [block] = read_ticks(path, symbol="A", server=server)
        assert block.utc_msc.tolist() == [START, START], writer


def test_offsets_may_differ_from_line_to_line(tmp_path: Path) -> None:
    path = as_csv(tmp_path, "time", OFFSETS)
    [block] = read_ticks(path, symbol="A")
    assert block.utc_msc.tolist() == [START] * len(OFFSETS)


def test_some_with_a_zone_and_some_without_are_refused(tmp_path: Path) -> None:
    path = as_csv(tmp_path, "time", ["2023-11-14T22:13:20Z", "2023-11-14T22:13:20"])
    assert f"{path}:3: some times have a zone and others have none" in refusal(path)


def test_an_export_with_an_offset_in_its_time_column(tmp_path: Path) -> None:
    text = "<DATE>\t<TIME>\t<BID>\t<ASK>\n2023.11.15\t00:13:20.000+02:00\t1.1\t1.2\n"
    [block] = read_ticks(stored(tmp_path, text), symbol="A")
    assert block.utc_msc.tolist() == [START]


@pytest.mark.parametrize(
    "text", ["2023-11-14T22:13:20.0001Z", "2023-11-14T22:13:20.123456", "1969-12-31T23:59:59Z",
             "2100-01-01T00:00:00Z", "0024-03-01 00:00:00", "2023-02-30 00:00:00",
             "2023-11-14T25:00:00Z", "2023-11-14T22:13:20+25:00", "9999-01-01T00:00:00Z"]
)  # fmt: skip
def test_texts_that_are_no_times_of_a_tick(tmp_path: Path, text: str) -> None:
    for writer, place in WRITERS[:2]:
        good = "2023-11-14T22:13:20" + ("Z" if text.endswith(("Z", "25:00")) else "")
        path = writer(tmp_path, "time", [good, text, good])
        assert place in refusal(path)
        broken = Broken("skip")
        found = records(list(read_ticks(path, symbol="A", server=UTC, broken=broken)))
        assert (len(found), broken.count) == (2, 1)


def test_numbers_and_texts_together_are_refused_at_the_line_that_differs(tmp_path: Path) -> None:
    path = as_csv(tmp_path, "time", [SECONDS, SECONDS, "2023-11-14T22:13:20Z", SECONDS])
    assert f"{path}:4: cannot be read as the lines before it" in refusal(path)


def test_every_number_is_a_market_time_in_one_unit_at_most() -> None:
    for unit, per_second in UNITS.items():
        assert unit_of(FIRST_SECOND * per_second) == unit_of(PAST_SECOND * per_second - 1) == unit
        assert unit_of(FIRST_SECOND * per_second - 1) is None
        assert unit_of(PAST_SECOND * per_second) is None


@pytest.mark.parametrize("text", ["+15:00", "-14:30", "UTC+99", "+02:60", "", "+2:"])
def test_server_times_that_no_clock_shows_are_refused(text: str) -> None:
    with pytest.raises(HistoryError, match="server time"):
        ServerTime.parse(text)


def test_blank_lines_do_not_move_the_place(tmp_path: Path) -> None:
    path = stored(tmp_path, f"time_msc,bid,ask\n\n{START},1,2\n\n\n{SECONDS},1,2\n", "A.csv")
    assert f"{path}:6: " in refusal(path)


@pytest.mark.parametrize("writer", [as_csv, as_jsonl])
def test_a_column_of_another_unit_is_no_broken_line(tmp_path: Path, writer: Writer) -> None:
    path = writer(tmp_path, "time", [START, START + 1])
    with pytest.raises(HistoryError, match="call the column time_msc"):
        list(read_ticks(path, symbol="A", broken=Broken("skip")))


def test_a_broken_line_says_how_often(tmp_path: Path) -> None:
    path, broken = as_csv(tmp_path, "time", [START] * 3 + [SECONDS]), Broken("skip")
    found = records(list(read_ticks(path, symbol="A", broken=broken)))
    assert (len(found), broken.count) == (1, 3)
    assert np.all(found["time_msc"] == START)


@pytest.mark.parametrize("text", ["ny+7", "NY+07:00", "America/New_York+7"])
def test_a_clock_hours_from_a_zone_follows_its_daylight_saving(text: str) -> None:
    """Most brokers: midnight is New York's close at 17:00, all year."""
    server = ServerTime.parse(text)
    walls = np.array([msc(2024, 1, 16), msc(2024, 3, 21), msc(2024, 7, 16)])
    closes = [msc(2024, 1, 15, 22), msc(2024, 3, 20, 21), msc(2024, 7, 15, 21)]
    assert (walls - server.offsets_ms(walls)).tolist() == closes
    assert server.offsets_ms(walls[:1]).tolist() == [2 * 3_600_000]
    assert not server.shifts(walls[:1])
    (gap,) = server.shifts(np.array([msc(2024, 3, 10)]))
    assert gap.is_gap and gap.walls == (msc(2024, 3, 10, 9), msc(2024, 3, 10, 10))
    assert str(server) == "America/New_York+7 h"


@pytest.mark.parametrize(("text", "hours"), [("Etc/GMT-2", 2), ("Etc/GMT+5", -5), ("Etc/GMT", 0)])
def test_an_iana_zone_is_what_iana_says_also_with_a_sign(text: str, hours: int) -> None:
    """The names of `Etc` have the sign that POSIX gives them: `Etc/GMT-2` is ahead of UTC."""
    walls = np.array([msc(2024, 3, 10)])
    assert ServerTime.parse(text).offsets_ms(walls).tolist() == [hours * 3_600_000]


@pytest.mark.parametrize(
    "text",
    [
        "Etc/GMT-02:00",
        "Etc/GMT+15",
        "Etc/UTC+2",
        "ny-15",
        "ny+7+1",
        "Nowhere/City+2",
        "ny+",
        "ny+7:99",
    ],
)
def test_clocks_that_are_none(text: str) -> None:
    with pytest.raises(HistoryError, match="server time"):
        ServerTime.parse(text)


def msc(*moment: int) -> int:
    """A date, and an hour, in ms."""
    year, month, day, *hour = moment
    return round(datetime(year, month, day, *hour, tzinfo=UTC_ZONE).timestamp() * 1000)
