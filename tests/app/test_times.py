"""Times in a program: what is taken, what it becomes, what is refused and with which words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from cep.app import App
from cep.engine.encode import InputError

RULES = """
define stream Tick (symbol string, bid double);
from Tick select symbol, bid insert into Out;
"""
MSC = 1_704_164_645_006
STAMP = "2024-01-02T03:04:05.006"
UTC_TIME = datetime(2024, 1, 2, 3, 4, 5, 6_000, tzinfo=UTC)
EAST = timezone(timedelta(hours=2))
TAKEN: dict[str, Any] = {
    "int": MSC,
    "numpy int": np.int64(MSC),
    "whole float": float(MSC),
    "naive datetime": UTC_TIME.replace(tzinfo=None),
    "datetime in UTC": UTC_TIME,
    "datetime elsewhere": UTC_TIME.astimezone(EAST),
    "Timestamp": pd.Timestamp(STAMP),
    "Timestamp elsewhere": pd.Timestamp(UTC_TIME.astimezone(EAST)),
    "datetime64[ms]": np.datetime64(STAMP),
    "datetime64[ns]": np.datetime64(STAMP, "ns"),
}
NONE, NO_TIME, FINER = "no time; give", "is no time", "finer than a millisecond"
BEFORE, AFTER = "before 1970", "after the year 9999"
REFUSED: dict[str, tuple[Any, str]] = {
    "None": (None, NONE),
    "NaT": (pd.NaT, NONE),
    "NaN": (float("nan"), NONE),
    "datetime64 NaT": (np.datetime64("NaT"), NONE),
    "NA": (pd.NA, NO_TIME),
    "half": (1.5, NO_TIME),
    "infinite": (float("inf"), NO_TIME),
    "bool": (True, NO_TIME),
    "text": (STAMP, NO_TIME),
    "date": (date(2024, 1, 2), NO_TIME),
    "finer datetime": (UTC_TIME.replace(microsecond=6_001), FINER),
    "finer Timestamp": (pd.Timestamp(STAMP + "000001"), FINER),
    "finer datetime64": (np.datetime64(STAMP + "001"), FINER),
    "microseconds": (MSC * 1_000, AFTER),
    "negative": (-1, BEFORE),
    "before 1970": (datetime(1969, 1, 1), BEFORE),  # noqa: DTZ001 -- it has no zone
    "far datetime64": (np.datetime64(10**15, "s"), "outside the years 1970 to 9999"),
    "beyond 64 bits": (2**70, AFTER),
}
WAYS: dict[str, Callable[[App, Any], list[Any]]] = {
    "send": lambda app, time: app.send("Tick", ("A", 1.0), time),
    "send a row with it": lambda app, time: app.send(
        "Tick", {"symbol": "A", "bid": 1.0, "time_msc": time}
    ),
    "send_all": lambda app, time: app.send_all("Tick", [(time, "A", 1.0)]),
    "push a list": lambda app, time: app.push("Tick", columns(1), [time]),
    "push an object array": lambda app, time: app.push(
        "Tick", columns(1), np.array([time], dtype=object)
    ),
}


def columns(rows: int) -> dict[str, list[Any]]:
    return {"symbol": ["A"] * rows, "bid": [1.0] * rows}


@pytest.fixture(scope="module")
def app() -> App:
    return App(RULES, jit=False)


@pytest.mark.parametrize("way", WAYS)
def test_a_time_is_taken_or_refused_with_its_stream(app: App, way: str) -> None:
    for name, time in TAKEN.items():
        assert [row["time_msc"] for row in WAYS[way](app, time)] == [MSC], name
    for name, (time, said) in REFUSED.items():
        with pytest.raises(InputError) as caught:
            WAYS[way](app, time)
        message = str(caught.value)
        if name == "None" and way.startswith("send") and way != "send_all":
            assert message == "Tick: a row without `time_msc`, its time in ms UTC"
            continue
        assert message.startswith("Tick.time_msc: "), name
        if name not in ("beyond 64 bits", "NA"):
            assert said in message, (name, message)


FRAMES: dict[str, Callable[[list[Any]], Any]] = {
    "list": lambda times: times,
    "tuple": tuple,
    "pandas": lambda times: pd.Series(pd.to_datetime(times, utc=True)),
    "pandas elsewhere": lambda times: pd.Series(
        pd.to_datetime(times, utc=True).tz_convert("Asia/Tokyo")
    ),
    "pandas naive": lambda times: pd.Series(pd.to_datetime(times, utc=True).tz_localize(None)),
    "index": lambda times: pd.to_datetime(times, utc=True),
    "arrow us": lambda times: pa.array(times, pa.timestamp("us", "UTC")),
    "arrow chunks": lambda times: pa.chunked_array(
        [pa.array([one], pa.timestamp("ns", "UTC")) for one in times]
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_column_of_times_is_taken_or_refused_with_its_row(app: App, kind: str) -> None:
    made = FRAMES[kind]
    later = UTC_TIME + timedelta(milliseconds=1)
    rows = app.push("Tick", columns(2), made([UTC_TIME, later]))
    assert [row["time_msc"] for row in rows] == [MSC, MSC + 1]
    with pytest.raises(InputError, match=r"Tick\.time_msc: row 1: no time; give ms UTC"):
        app.push("Tick", columns(2), made([UTC_TIME, None]))
    finer = UTC_TIME + timedelta(microseconds=1)
    with pytest.raises(InputError, match=r"Tick\.time_msc: row 1: .* finer than a millisecond"):
        app.push("Tick", columns(2), made([UTC_TIME, finer]))


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (np.array([1.0, np.nan]), "row 1: no time"),
        (np.array([1.0, 2.5]), "row 1: 2.5 is no time"),
        (pd.Series([1, None]), "row 1: no time"),
        (pd.Series([1, None], dtype="Int64"), "row 1: no time"),
        (pa.array([1, None]), "row 1: no time"),
        (pa.array(["1", "2"]), "row 0: '1' is no time"),
        (np.array([1, 2**62]), "row 1: 4611686018427387904 ms is after"),
        (np.array([2**63, 1], np.uint64), "row 0: .* is before 1970"),
        (np.array([[1, 2]]), "a column of 2 dimensions"),
    ],
    ids=str,
)
def test_other_columns_are_refused_with_their_row(app: App, times: Any, said: str) -> None:
    with pytest.raises(InputError, match=rf"Tick\.time_msc: {said}"):
        app.push("Tick", columns(2), times)


def test_a_frame_names_its_own_column(app: App) -> None:
    frame = pd.DataFrame({"when": [pd.Timestamp(STAMP), pd.NaT], **columns(2)})
    with pytest.raises(InputError, match=r"Tick\.when: row 1: no time"):
        app.push("Tick", frame, "when")
    with pytest.raises(InputError, match="Tick: no column 'wen'"):
        app.push("Tick", frame, "wen")


@pytest.mark.parametrize("name", ["start", "advance", "wall"])
def test_time_that_passes_is_told_in_the_same_ways(app: App, name: str) -> None:
    getattr(app, name)(UTC_TIME)
    for time in (UTC_TIME.replace(microsecond=1), None if name != "start" else "now"):
        with pytest.raises(InputError, match=name):
            getattr(app, name)(time)


def test_timestamps_as_attributes_are_ms_or_refused() -> None:
    own = App("define stream S (at long, n int); from S select at, n insert into Out;", jit=False)
    stamps = pd.Series([pd.Timestamp(STAMP)])
    (row,) = own.push("S", {"at": stamps.dt.as_unit("ms"), "n": [1]}, [MSC])
    assert row["at"] == MSC
    with pytest.raises(
        InputError, match=r"S\.at: .* a column of timestamp\[ns\]; give times as ms"
    ):
        own.push("S", {"at": stamps, "n": [1]}, [MSC])
    for many in (np.array([2**31]), pa.array([2**31]), [2**31]):
        with pytest.raises(InputError, match=r"S\.n: not int: a value beyond 32 bits"):
            own.push("S", {"at": [1], "n": many}, [MSC])
