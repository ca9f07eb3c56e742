"""Tick files: MetaTrader's export, its look-alikes, plain CSV, JSONL and Parquet."""

from __future__ import annotations

import gzip
import json
import tempfile
import zoneinfo
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mt5bridge.history import UTC, Broken, HistoryError, ServerTime, TickBlock, read_ticks
from mt5bridge.history.delimited import read_csv
from mt5bridge.history.text import line_blocks
from mt5bridge.records import Records
from tests.campaign import examples
from tests.data.real_ticks import FOLDER, needs_real_ticks, ticks
from tests.history.exported import HEADER, export, quotes, read_slowly, tuples

START = 1_700_000_000_000
prices = st.sampled_from([1.1, 1.10001, 1.2, 0.9])
rows = st.lists(
    st.tuples(st.integers(START, START + 10**9), prices, prices), min_size=1, max_size=20
)


def records(blocks: list[TickBlock]) -> Records:
    return np.concatenate([block.ticks for block in blocks])


def stored(tmp_path: Path, text: str | bytes, name: str = "EURUSD.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@settings(deadline=None, max_examples=examples(60))
@given(
    rows,
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le"]),
    st.integers(40, 4000),
)
def test_an_export_is_read_as_it_would_be_line_by_line(
    values: list[tuple[int, float, float]], encoding: str, block_bytes: int
) -> None:
    text = export(quotes(values))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "EURUSD_202311140000_202311150000.csv"
        path.write_bytes(text.encode(encoding))
        found = records(list(read_csv(path, "EURUSD", UTC, Broken(), block_bytes)))
    assert tuples(found) == read_slowly(text)
    assert [row[:3] for row in tuples(found)] == values
    assert (found["time"] == found["time_msc"] // 1000).all()


def test_an_export_without_flags_gets_them_from_what_changed(tmp_path: Path) -> None:
    values = [(START, 1.1, 1.2), (START, 1.1, 1.3), (START + 1, 1.0, 1.3)]
    path = stored(tmp_path, export(quotes(values), flags=False))
    found = records(list(read_ticks(path, symbol="EURUSD", server=UTC)))
    assert found["flags"].tolist() == [6, 4, 2]
    assert [row[:3] for row in tuples(found)] == values


def test_zero_means_unchanged_only_where_the_flags_say_so(tmp_path: Path) -> None:
    lines = [HEADER, "2023.11.14\t00:00:00.000\t1.1\t1.2\t\t\t6",
             "2023.11.14\t00:00:00.001\t0\t1.3\t0\t0.00\t4",
             "2023.11.14\t00:00:00.002\t0\t0\t\t\t6"]  # fmt: skip
    found = records(list(read_ticks(stored(tmp_path, "\n".join(lines)), symbol="A", server=UTC)))
    assert [row[1:3] for row in tuples(found)] == [(1.1, 1.2), (1.1, 1.3), (0.0, 0.0)]


def test_trades_carry_their_last_price_and_volume_forward(tmp_path: Path) -> None:
    lines = [HEADER, "2023.11.14\t00:00:00.000\t1\t2\t1.5\t30\t30",
             "2023.11.14\t00:00:00.001\t1\t2\t\t\t2"]  # fmt: skip
    found = records(list(read_ticks(stored(tmp_path, "\n".join(lines)), symbol="A", server=UTC)))
    assert found["last"].tolist() == [1.5, 1.5]
    assert found["volume"].tolist() == [30, 30]
    assert found["volume_real"].tolist() == [30.0, 30.0]


def test_the_symbol_comes_from_an_exported_files_name(tmp_path: Path) -> None:
    path = stored(tmp_path, export(quotes([(START, 1.0, 1.1)])),
                  "US_500.cash_202311140000_202311150000.csv")  # fmt: skip
    assert [block.symbol for block in read_ticks(path, server=UTC)] == ["US_500.cash"]


# -- server time -------------------------------------------------------------------------------


def test_a_zone_gives_each_stretch_its_offset(tmp_path: Path) -> None:
    lines = [
        HEADER,
        "2024.03.31\t02:59:59.999\t1\t2\t\t\t6",
        "2024.03.31\t04:00:00.000\t1\t2\t\t\t6",
    ]
    path = stored(tmp_path, "\n".join(lines))
    blocks = list(read_ticks(path, symbol="A", server=ServerTime.parse("Europe/Athens")))
    assert [block.utc_offset_ms for block in blocks] == [7_200_000, 10_800_000]
    assert np.diff(np.concatenate([block.utc_msc for block in blocks])).tolist() == [1]


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("UTC", 0), ("+2", 120), ("+02:00", 120), ("UTC-0530", -330), ("gmt+3", 180)],
)
def test_offsets_are_understood(text: str, minutes: int) -> None:
    assert ServerTime.parse(text) == ServerTime(minutes * 60_000)


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(HistoryError, match=r"'Mars/Olympus' is unknown; give an offset"):
        ServerTime.parse("Mars/Olympus")


@given(
    st.lists(st.integers(0, 2**41), max_size=20),
    st.sampled_from(["Europe/Athens", "America/New_York", "Australia/Lord_Howe"]),
)
def test_offsets_of_many_ticks_are_those_of_each(wall_msc: list[int], name: str) -> None:
    zone = zoneinfo.ZoneInfo(name)
    found = ServerTime.parse(name).offsets_ms(np.array(wall_msc, np.int64))
    for time, offset_ms in zip(wall_msc, found.tolist(), strict=True):
        wall = datetime(1970, 1, 1, tzinfo=zone) + timedelta(milliseconds=time)
        assert wall.utcoffset() == timedelta(milliseconds=offset_ms)


def test_wall_time_without_a_zone_is_refused(tmp_path: Path) -> None:
    path = stored(tmp_path, export(quotes([(START, 1.0, 1.1)])))
    with pytest.raises(HistoryError, match="say what the server's clock shows"):
        list(read_ticks(path, symbol="A"))


# -- other files -------------------------------------------------------------------------------

PLAIN = [
    ("a.csv", "time_msc,bid,ask,symbol\n1700000000001,1.5,1.6,B\n1700000000000,2.5,2.6,A\n"),
    ("a.csv", "Symbol;Ask;Bid;Timestamp\nB;1.6;1.5;1700000000001\nA;2.6;2.5;1700000000000\n"),
    ("a.tsv", "symbol\ttime\tbid\task\nB\t2023-11-14 22:13:20.001Z\t1.5\t1.6\n"
              "A\t2023-11-14 22:13:20.000Z\t2.5\t2.6\n"),
    ("a.csv", "DATE,TIME,BID,ASK,SYMBOL\n20231114,221320.001,1.5,1.6,B\n"
              "20231114,221320,2.5,2.6,A\n"),
    ("a.jsonl", '{"time_msc":1700000000001,"bid":1.5,"ask":1.6,"symbol":"B"}\n'
                '{"time_msc":1700000000000,"bid":2.5,"ask":2.6,"symbol":"A"}\n'),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), PLAIN)
def test_plain_files_in_any_form_give_the_same_ticks(tmp_path: Path, name: str, text: str) -> None:
    blocks = list(read_ticks(stored(tmp_path, text, name), server=UTC))
    assert [(block.symbol, tuples(block.ticks)) for block in blocks] == [
        ("B", [(START + 1, 1.5, 1.6, 6)]),
        ("A", [(START, 2.5, 2.6, 6)]),
    ]


@pytest.mark.parametrize(
    "times", [pa.array([START, START + 5]), pa.array([START, START + 5], pa.timestamp("ms", "UTC"))]
)
def test_parquet_is_read(tmp_path: Path, times: pa.Array) -> None:
    path = tmp_path / "a.parquet"
    columns = {"time_msc": times, "bid": [1.0, 2.0], "ask": [1.5, 2.5], "extra": ["x", "y"]}
    pq.write_table(pa.table(columns), path)
    found = records(list(read_ticks(path, symbol="A")))
    assert tuples(found) == [(START, 1.0, 1.5, 6), (START + 5, 2.0, 2.5, 6)]


def test_gzip_is_read(tmp_path: Path) -> None:
    path = stored(tmp_path, gzip.compress(b"time_msc,bid,ask\n1700000000000,2,3\n"), "A.csv.gz")
    assert tuples(records(list(read_ticks(path, symbol="A")))) == [(START, 2.0, 3.0, 6)]


@given(st.lists(st.text(st.sampled_from("ab\n"), max_size=5), max_size=8), st.integers(1, 9))
def test_blocks_are_whole_lines_with_their_numbers(parts: list[str], block_bytes: int) -> None:
    text = "".join(parts)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "a.csv"
        path.write_text(text)
        blocks = list(line_blocks(path, block_bytes))
    assert b"".join(block.data for block in blocks).decode() == text
    number = 1
    for block in blocks[:-1]:
        assert block.data.endswith(b"\n")
    for block in blocks:
        assert block.first == number
        number += block.data.count(b"\n")


# -- broken lines ------------------------------------------------------------------------------

GOOD = "2023.11.14\t00:00:00.000\t1\t2\t\t\t6"
BAD = [
    ("2023.11.14\t00:00:00.000\tx\t2\t\t\t6", "bid 'x' is no number"),
    ("2023.11.14\t00:00:00.000\t1\t2", "4 fields where the header has 7"),
    ("2023.13.14\t00:00:00.000\t1\t2\t\t\t6", "time '2023.13.14 00:00:00.000' cannot be used"),
    ("\t00:00:00.000\t1\t2\t\t\t6", "cannot be used"),
]


@pytest.mark.parametrize(("line", "what"), BAD)
def test_a_broken_line_is_named_or_left_out(tmp_path: Path, line: str, what: str) -> None:
    path = stored(tmp_path, "\r\n".join([HEADER, GOOD, "", line, GOOD, ""]))
    with pytest.raises(HistoryError) as caught:
        list(read_ticks(path, symbol="A", server=UTC))
    assert f"{path}:4: " in str(caught.value)
    assert what in str(caught.value)
    broken = Broken("skip")
    assert len(records(list(read_ticks(path, symbol="A", server=UTC, broken=broken)))) == 2
    assert broken.count == 1
    assert broken.examples[0].startswith(f"{path}:4: ")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("A,1700000000000,1,2,6", None),
        (",1700000000000,1,2,6", "the symbol is missing; every tick needs one"),
        ("  ,1700000000000,1,2,6", "the symbol is missing"),
        ('"A","1700000000000","1","x","6"', "ask 'x' is no number"),
        ('"A",x,"1",2,6', "time 'x' cannot be used"),
        ('A,1700000000000,"1,1",2,6', "bid '1,1' is no number"),
        ('A,1700000000000,1,2,"6",7', "6 fields where the header has 5"),
    ],
)
def test_the_column_at_fault_is_named(tmp_path: Path, line: str, what: str | None) -> None:
    path = stored(tmp_path, f"symbol,time_msc,bid,ask,flags\nA,{START},1,2,6\n{line}\n")
    if what is None:
        assert len(records(list(read_ticks(path)))) == 2
        return
    with pytest.raises(HistoryError) as caught:
        list(read_ticks(path))
    assert f"{path}:3: {what}" in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ('"symbol": null', "the symbol is missing"),
        ('"symbol": ""', "the symbol is missing"),
        ('"symbol": 5', "symbol 5 is no text"),
        ('"bid": "x"', 'bid "x" is no number'),
        ('"time_msc": true', "time_msc true is no time"),
        ('"bid": 1, "bid": 2', "bid is there more than once; leave one of them"),
        ('"bid": 1, "b\\u0069d": null', "bid is there more than once"),
        ('"own": {"x": 1, "x": 1}', "x is there more than once"),
    ],
)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_value_at_fault_is_named(tmp_path: Path, wrong: str, what: str, number: int) -> None:
    good = {"symbol": '"symbol": "A"', "time_msc": f'"time_msc": {START}', "bid": '"bid": 1',
            "ask": '"ask": 2'}  # fmt: skip
    lines = ["{" + ", ".join(good.values()) + "}"] * 3
    bad = {**good, wrong.split('"')[1]: wrong}
    lines[number - 1] = "{" + ", ".join(bad.values()) + "}"
    path = stored(tmp_path, "\n".join([*lines, ""]), "a.jsonl")
    with pytest.raises(HistoryError) as caught:
        list(read_ticks(path))
    assert f"{path}:{number}: {what}" in str(caught.value)


def test_a_parquet_column_at_fault_is_named(tmp_path: Path) -> None:
    table = {"symbol": ["A"], "time_msc": [START], "bid": ["x"], "ask": [2.0]}
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    with pytest.raises(HistoryError, match=r"cannot be read \(column bid: "):
        list(read_ticks(tmp_path / "a.parquet"))
    pq.write_table(pa.table({**table, "bid": [1.0], "symbol": [""]}), tmp_path / "a.parquet")
    with pytest.raises(HistoryError, match=r"a\.parquet: row 1: the symbol is missing"):
        list(read_ticks(tmp_path / "a.parquet"))


@pytest.mark.parametrize(
    "line", ["{", '{"time_msc": "x", "bid": 1, "ask": 2}', '{"bid": 1, "ask": 2}',
             '{"time_msc": 1700000000000, "bid": "b", "ask": 2}']
)  # fmt: skip
def test_a_broken_object_is_named_or_left_out(tmp_path: Path, line: str) -> None:
    good = json.dumps({"time_msc": START, "bid": 1, "ask": 2})
    path = stored(tmp_path, f"{good}\n{line}\n{good}\n", "a.jsonl")
    with pytest.raises(HistoryError, match=r"a\.jsonl:2: "):
        list(read_ticks(path, symbol="A"))
    broken = Broken("skip")
    assert len(records(list(read_ticks(path, symbol="A", broken=broken)))) == 2
    assert broken.count == 1


@settings(deadline=None, max_examples=examples(40))
@given(st.lists(st.sampled_from([GOOD, *(line for line, _ in BAD)]), min_size=1, max_size=12),
       st.integers(60, 400))  # fmt: skip
def test_skipping_keeps_exactly_the_good_lines(lines: list[str], block_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "a.csv"
        path.write_text("\n".join([HEADER, *lines]) + "\n")
        broken = Broken("skip")
        blocks = list(read_csv(path, "A", UTC, broken, block_bytes))
    assert sum(len(block.ticks) for block in blocks) == lines.count(GOOD)
    assert broken.count == len(lines) - lines.count(GOOD)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "time_msc,bid\n", r"a\.csv:1: no column ask among time_msc, bid"),
        ("a.csv", "bid,ask\n1,2\n", "no time column"),
        ("a.csv", "time_msc,bid,BID,ask\n", r"a\.csv:1: more than one column bid among"),
        ("a.csv", "<DATE>,time,<DATE>,bid,ask\n", r"more than one column date among"),
        ("a.csv", "", r"a\.csv:1: no time column among no columns"),
        ("a.csv", "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\n", "these are bars, not ticks"),
        ("a.csv", "time_msc,bid,ask\n1700000000000,2,3\n", "give the symbol"),
        ("a.csv", b"time_msc,bid,ask\n1,\xff\xfe,3\n", "not text"),
        ("a.parquet", "PAR1", "cannot be read"),
        ("a.jsonl", "[1]\n", r"a\.jsonl:1: not a JSON object"),
        ("a.doc", "", "unknown format '.doc'"),
    ],
)
def test_files_that_hold_no_ticks_are_refused(
    tmp_path: Path, name: str, text: str | bytes, message: str
) -> None:
    with pytest.raises(HistoryError, match=message):
        list(read_ticks(stored(tmp_path, text, name)))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="no such file"):
        read_ticks(tmp_path / "a.csv")


# -- real ticks --------------------------------------------------------------------------------


@needs_real_ticks
def test_a_real_export_look_alike() -> None:
    path = FOLDER / "mt5_sum3api" / "History_XAUUSDc_TICKS_20260126.csv"
    found = records(list(read_ticks(path, symbol="XAUUSDc", server=UTC)))
    expected = ticks("mt5_xauusd")
    for name in ("time_msc", "bid", "ask"):
        np.testing.assert_array_equal(found[name], expected[name])


@needs_real_ticks
def test_real_ticks_survive_export_and_import(tmp_path: Path) -> None:
    expected = ticks("oanda_eurusd", 1)
    path = stored(tmp_path, export(expected))
    found = records(list(read_ticks(path, symbol="EURUSD", server=UTC)))
    for name in ("time", "time_msc", "bid", "ask"):
        np.testing.assert_array_equal(found[name], expected[name])
