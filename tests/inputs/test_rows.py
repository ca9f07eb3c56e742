"""Rows from CSV, JSONL and Parquet: equal values in all formats, and errors with a place."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.inputs import InputError, rows
from cep.inputs.rows import column_names
from cep.inputs.types import ARROW

TICK = [("symbol", "string"), ("bid", "double"), ("flags", "int")]
ALL = [("s", "string"), ("i", "int"), ("l", "long"), ("f", "float"), ("d", "double"),
       ("b", "bool")]  # fmt: skip

text = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), min_size=1, max_size=6)
row = st.fixed_dictionaries(
    {
        "time_msc": st.integers(0, 978_307_199) | st.integers(4_102_444_800, 978_307_199_999),
        "s": st.none() | text,
        "i": st.none() | st.integers(-(2**31), 2**31 - 1),
        "l": st.none() | st.integers(-(2**63), 2**63 - 1),
        "f": st.none() | st.floats(width=32, allow_nan=False, allow_infinity=False),
        "d": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "b": st.none() | st.booleans(),
    }
)
NAMES = ["time_msc", *(name for name, _ in ALL)]


def as_csv(values: list[dict[str, Any]]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(NAMES)
    for item in values:
        writer.writerow(["" if item[name] is None else repr(item[name]) if name in "fd"
                         else str(item[name]) for name in NAMES])  # fmt: skip
    return out.getvalue().encode()


def as_jsonl(values: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(item) + "\n" for item in values).encode()


def as_parquet(values: list[dict[str, Any]]) -> bytes:
    schema = pa.schema([("time_msc", pa.int64()), *((name, ARROW[type_]) for name, type_ in ALL)])
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(values, schema), out)
    return out.getvalue()


@settings(deadline=None)
@given(st.lists(row, min_size=1, max_size=6))
def test_all_formats_give_what_was_written(values: list[dict[str, Any]]) -> None:
    writers = {"a.csv": as_csv, "a.jsonl": as_jsonl, "a.parquet": as_parquet}
    with tempfile.TemporaryDirectory() as directory:
        for name, writer in writers.items():
            path = Path(directory) / name
            path.write_bytes(writer(values))
            table = rows(path, ALL)
            assert table.column_names == NAMES
            assert [table.schema.field(n).type for n, _ in ALL] == [ARROW[t] for _, t in ALL]
            assert table.to_pylist() == values, name


def stored(tmp_path: Path, name: str, content: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_columns_may_stand_in_any_order_with_any_delimiter(tmp_path: Path, delimiter: str) -> None:
    lines = ["flags,extra,bid,time_msc,symbol", "6,x,1.5,10,EURUSD"]
    path = stored(tmp_path, "a.csv", "\r\n".join(line.replace(",", delimiter) for line in lines))
    assert rows(path, TICK).to_pylist() == [
        {"time_msc": 10, "symbol": "EURUSD", "bid": 1.5, "flags": 6}
    ]


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("time_msc", "1700000000123", 1_700_000_000_123),
        ("timestamp", "1700000000123", 1_700_000_000_123),
        ("time", "1700000000", 1_700_000_000_000),
        ("time", "2023-11-14T22:13:20.123Z", 1_700_000_000_123),
        ("timestamp", "2023-11-14 22:13:20.123", 1_700_000_000_123),
        ("timestamp", "2023-11-15T00:13:20.123+02:00", 1_700_000_000_123),
    ],
)
def test_times_in_all_their_forms(tmp_path: Path, column: str, value: str, expected: int) -> None:
    written = stored(tmp_path, "a.csv", f"{column}\n{value}\n")
    assert rows(written, []).to_pylist() == [{"time_msc": expected}]
    json_value = value if "-" in value else int(value)
    written = stored(tmp_path, "a.jsonl", json.dumps({column: json_value}) + "\n")
    assert rows(written, []).to_pylist() == [{"time_msc": expected}]


def test_a_time_column_may_be_an_attribute_too(tmp_path: Path) -> None:
    path = stored(tmp_path, "a.jsonl", '{"timestamp": 5}\n')
    assert rows(path, [("timestamp", "long")]).to_pylist() == [{"time_msc": 5, "timestamp": 5}]


def test_parquet_timestamps(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"time": pa.array([1_500_000], pa.timestamp("us", "UTC"))}), path)
    assert rows(path, []).to_pylist() == [{"time_msc": 1500}]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_utf_16_is_read_as_windows_writes_it(tmp_path: Path, name: str, encoding: str) -> None:
    lines = {
        "a.csv": "time_msc,symbol,bid,flags\r\n7,Ü,1.5,6\r\n8,A,x,6\r\n",
        "a.jsonl": '{"time_msc":7,"symbol":"Ü","bid":1.5,"flags":6}\n{"time_msc":8,"bid":"x"}\n',
    }[name]
    path = stored(tmp_path, name, lines.encode(encoding))
    assert column_names(path) == ["time_msc", "symbol", "bid", "flags"]
    with pytest.raises(InputError, match=rf"{name}:\d: column bid: 'x' is no double"):
        rows(path, TICK)
    first = lines.splitlines(keepends=True)[:2] if name == "a.csv" else lines.splitlines()[:1]
    [row] = rows(stored(tmp_path, name, "".join(first).encode(encoding)), TICK).to_pylist()
    assert row == {"time_msc": 7, "symbol": "Ü", "bid": 1.5, "flags": 6}
    cut = stored(tmp_path, name, lines.encode(encoding)[:-1])
    with pytest.raises(
        InputError, match=rf"{name}:\d: not text .* in utf-16.*; save the file as UTF-8"
    ):
        rows(cut, TICK)


def test_gzip_is_read(tmp_path: Path) -> None:
    path = stored(tmp_path, "a.csv.gz", gzip.compress(b"time_msc\n7\n"))
    assert rows(path, []).to_pylist() == [{"time_msc": 7}]


def test_an_empty_jsonl_file_has_no_rows(tmp_path: Path) -> None:
    table = rows(stored(tmp_path, "a.jsonl", ""), TICK)
    assert table.num_rows == 0
    assert table.column_names == ["time_msc", "symbol", "bid", "flags"]


def test_csv_tells_empty_text_from_no_text(tmp_path: Path) -> None:
    path = stored(tmp_path, "a.csv", 'time_msc,symbol\n1,\n2,""\n')
    assert rows(path, [("symbol", "string")])["symbol"].to_pylist() == [None, ""]


def test_not_a_number_is_kept(tmp_path: Path) -> None:
    path = stored(tmp_path, "a.csv", "time_msc,bid\n1,nan\n2,-inf\n")
    first, second = rows(path, [("bid", "double")])["bid"].to_pylist()
    assert math.isnan(first)
    assert second == -math.inf


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "time_msc,symbol,bid,flags\n1,A,1.0,6\n2,A,oops,6\n",
         "a.csv:3: column bid: 'oops' is no double"),
        ("a.csv", "time_msc,symbol,bid,flags\n1,A,1.0,9999999999\n",
         "a.csv:2: column flags: '9999999999' is no int"),
        ("a.csv", "time_msc,symbol,bid,flags\n1,A,1.0\n",
         "a.csv:2: 3 fields where the header has 4"),
        ("a.csv", "time_msc,symbol,flags\n1,A,6\n", "a.csv:1: no column 'bid' among"),
        ("a.csv", "time_msc,symbol,bid,bid,flags\n1,A,1,2,6\n",
         "a.csv:1: more than one column 'bid'"),
        ("a.csv", "time_msc,symbol,bid,time_msc,flags\n1,A,1,2,6\n",
         "a.csv:1: more than one column 'time_msc'"),
        ("a.csv", "symbol,bid,flags\nA,1,6\n", "a.csv:1: no time column among symbol, bid, flags"),
        ("a.csv", "time_msc,symbol,bid,flags\n1,A,1,6\nx,A,1,6\n",
         "a.csv:3: column time_msc: 'x' is no time"),
        ("a.csv", "time_msc,symbol,bid,flags\n1,A,1,6\n,A,1,6\n",
         "a.csv:3: column time_msc: the time is missing"),
        ("a.csv", "", "a.csv:1: no time column"),
        ("a.csv", b"time_msc,symbol,bid,flags\n1,\xff,1,6\n", "a.csv:2: not UTF-8"),
        ("a.jsonl", '{"time_msc":1,"symbol":"A","bid":1}\n{"time_msc":2,"bid":1,"bid":2}\n',
         ":2: bid is there more than once; leave one of them"),
        ("a.jsonl", '{"time_msc":1,"symbol":"A","bid":1,"flags":6}\n{"time_msc":2,"bid":"x"}\n',
         "a.jsonl:2: column bid: 'x' is no double"),
        ("a.jsonl", '{"time_msc":1,"flags":1.5}\n', "a.jsonl:1: column flags: 1.5 is no int"),
        ("a.jsonl", '{"time_msc":1,"symbol":7}\n', "a.jsonl:1: column symbol: 7 is no string"),
        ("a.jsonl", '{"time_msc":1}\n{"time_msc":\n', "a.jsonl:2: not a JSON object"),
        ("a.jsonl", '{"symbol":"A"}\n', "a.jsonl:1: no time column among symbol"),
        ("a.jsonl", '[1]\n', "a.jsonl:1: not a JSON object"),
        ("a.parquet", b"PAR1", "a.parquet: not a Parquet file"),
        ("a.xlsx", b"", "a.xlsx: unknown format '.xlsx'"),
    ],
)  # fmt: skip
def test_errors_name_the_place(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        rows(stored(tmp_path, name, content), TICK)
    assert message in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize("value", ["1_000.5", "1_000", "\uff11.5", "1,5", "1 000", "1.5d"])
@pytest.mark.parametrize("column", ["bid", "flags"])
def test_numbers_in_other_forms_are_named(tmp_path: Path, column: str, value: str) -> None:
    """Also those that Python takes for numbers. A value that is taken is never called wrong."""
    cells = {"bid": "1.5", "flags": "6"} | {column: value}
    line = f'2,A,"{cells["bid"]}","{cells["flags"]}"\n'
    content = f"time_msc,symbol,bid,flags\n1,A, 1.5,6\n1,A,1e3,6\n1,A,-inf,-6\n{line}"
    with pytest.raises(InputError) as caught:
        rows(stored(tmp_path, "a.csv", content), TICK)
    assert f"a.csv:5: column {column}: {value!r} is no " in str(caught.value)
    assert "digits 0 to 9" in caught.value.remedy


def test_a_json_number_in_quotes_is_told_so(tmp_path: Path) -> None:
    path = stored(tmp_path, "a.jsonl", '{"time_msc":1,"symbol":"A","bid":"1.5","flags":6}\n')
    with pytest.raises(InputError, match="without quotes"):
        rows(path, TICK)


def test_a_header_alone_has_no_rows_with_and_without_a_line_end(tmp_path: Path) -> None:
    for end in ("", "\n", "\r\n"):
        path = stored(tmp_path, "a.csv", "time_msc,symbol,bid,flags" + end)
        assert rows(path, TICK).num_rows == 0


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder, not a file; name a file in it"):
        rows(tmp_path, TICK)
    damaged = stored(tmp_path, "a.csv.gz", b"no gzip")
    assert column_names(damaged) == []
    with pytest.raises(InputError, match=r"a\.csv\.gz: cannot be read"):
        rows(damaged, TICK)


def test_parquet_errors_name_the_column(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"time_msc": [1], "bid": ["x"]}), path)
    with pytest.raises(InputError, match="column bid: string cannot be read as double"):
        rows(path, [("bid", "double")])
    with pytest.raises(InputError, match="no column 'ask' among time_msc, bid"):
        rows(path, [("ask", "double")])
    twice = pa.table([[1], [1.0], [2.0]], names=["time_msc", "bid", "bid"])
    pq.write_table(twice, path)
    with pytest.raises(InputError, match="more than one column 'bid'"):
        rows(path, [("bid", "double")])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        rows(tmp_path / "a.csv", TICK)


# -- times of another unit -------------------------------------------------------------------------

NOW = 1_709_280_000_000


def in_all_formats(tmp_path: Path, column: str, times: list[Any]) -> list[tuple[Path, int]]:
    """Files with these times, and the line or row of the second one; blank lines are no rows."""
    lines = [str(time) for time in times]
    objects = [json.dumps({column: time}) for time in times]
    frame = tmp_path / "a.parquet"
    pq.write_table(pa.table({column: times}), frame)
    return [
        (stored(tmp_path, "a.csv", "\n".join([column, lines[0], *lines[1:]]) + "\n"), 3),
        (stored(tmp_path, "a.jsonl", "\n".join([objects[0], "", *objects[1:]]) + "\n"), 3),
        (frame, 2),
    ]


@pytest.mark.parametrize(
    ("column", "good", "bad", "remedy"),
    [
        ("time", 1, NOW, "call the column time_msc"),
        ("time", NOW // 1000, NOW, "call the column time_msc"),
        ("time", 1, NOW * 1000, "divide it by 1,000 and"),
        ("time_msc", NOW, NOW * 1000, "divide it by 1,000 and"),
        ("timestamp", 0, NOW * 10**6, "divide it by 1,000,000 and"),
        ("time_msc", 0, 2**63 - 1, "correct it"),
        ("time_msc", 0, -(2**63), "correct it"),
        ("time", 0, -(2**60), "correct it"),
        ("time_msc", 0, -1, "correct it"),
        ("time", 0, -1, "correct it"),
    ],
)
def test_numbers_of_another_unit_are_refused(
    tmp_path: Path, column: str, good: int, bad: int, remedy: str
) -> None:
    for path, line in in_all_formats(tmp_path, column, [good, bad, good]):
        with pytest.raises(InputError) as caught:
            rows(path, [])
        assert f"{path}:{line}: column {column}: {bad} is not in the years" in str(caught.value)
        assert remedy in str(caught.value)


def test_seconds_as_milliseconds_are_refused_where_all_are(tmp_path: Path) -> None:
    seconds = NOW // 1000
    for path, line in in_all_formats(tmp_path, "time_msc", [seconds, seconds + 1]):
        with pytest.raises(InputError, match="call the column time,") as caught:
            rows(path, [])
        assert f"{path}:{line - 1 - (path.suffix == '.jsonl')}: " in str(caught.value)
    for path, _ in in_all_formats(tmp_path, "time_msc", [0, seconds]):
        assert rows(path, [])["time_msc"].to_pylist() == [0, seconds]


@pytest.mark.parametrize("times", [[0, 1000], [5, 86_400_000], [NOW, NOW + 1], [0, NOW]])
def test_small_and_mixed_times_of_streams_are_times(tmp_path: Path, times: list[int]) -> None:
    for path, _ in in_all_formats(tmp_path, "time_msc", times):
        assert rows(path, [])["time_msc"].to_pylist() == times


@pytest.mark.parametrize(
    "text", ["2024-03-01T08:00:00.0001Z", "2024-03-01T08:00:00.123456", "2024-02-30", "1.7e12"]
)
def test_texts_that_are_finer_or_no_times_are_refused(tmp_path: Path, text: str) -> None:
    first = "2024-03-01T08:00:00" + ("Z" if text.endswith("Z") else "")
    for path, line in in_all_formats(tmp_path, "time", [first, text]):
        with pytest.raises(InputError) as caught:
            rows(path, [])
        assert f"{path}:{line}: column time: " in str(caught.value), path


@pytest.mark.parametrize("value", [True, [1], {"a": 1}, 1.5])
def test_values_that_are_no_times_are_refused(tmp_path: Path, value: object) -> None:
    path = stored(tmp_path, "a.jsonl", json.dumps({"time_msc": value}) + "\n")
    with pytest.raises(InputError, match=r"a\.jsonl:1: column time_msc: "):
        rows(path, [])


def test_offsets_of_any_form_are_zones(tmp_path: Path) -> None:
    texts = ["2024-03-01T10:00:00+02:00", "2024-03-01 10:00:00.000+0200", "2024-03-01T08:00:00Z",
             "2024-03-01T03:00:00-05", "2024-03-01 08:00:00 UTC"]  # fmt: skip
    for path, _ in in_all_formats(tmp_path, "time", texts):
        assert rows(path, [])["time_msc"].to_pylist() == [NOW] * len(texts)


def test_lines_of_quoted_fields_are_counted(tmp_path: Path) -> None:
    path = stored(tmp_path, "a.csv", 'time,s\n1,"a\nb"\n\n1709280000000,c\n')
    with pytest.raises(InputError, match=r"a\.csv:5: column time: "):
        rows(path, [("s", "string")])
