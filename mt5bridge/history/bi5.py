"""Dukascopy's hourly files: LZMA over records of 20 bytes, big-endian.

A record is: milliseconds of the hour, ask, bid (whole numbers of points), ask and bid volume. The
hour is in the path alone, `EURUSD/2024/00/15/09h_ticks.bi5`, where months count from 00; times are
UTC. An hour without ticks is an empty file. Source of the format: the recorded files themselves.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mt5bridge.history.block import HistoryError, TickBlock
from mt5bridge.history.zones import HOUR_MS
from mt5bridge.records import TICK, TickFlag

BI5 = ".bi5"
CONTENT_BYTES_MAX = 1 << 28
"""More than any hour has: 13 million ticks."""

_RECORD = np.dtype(
    [("ms", ">u4"), ("ask", ">u4"), ("bid", ">u4"), ("ask_volume", ">f4"), ("bid_volume", ">f4")]
)
_HOUR = re.compile(r"(\d{4})/(\d\d)/(\d\d)/(\d\d)h_ticks\.bi5$")
_PAIR = re.compile(r"(EUR|GBP|AUD|NZD|USD|CAD|CHF)(EUR|GBP|AUD|NZD|USD|CAD|CHF|JPY)")


def read_bi5(path: Path, symbol: str | None, points: Mapping[str, float]) -> Iterator[TickBlock]:
    """Ticks of an hour. `points` are prices of one point, for symbols that do not tell it."""
    begin_msc = _begin_msc(path)
    name = symbol or (path.parts[-5] if len(path.parts) >= 5 else None)
    if not name:
        raise HistoryError(f"{path}: no symbol in its path; give it, for example --symbol EURUSD")
    records = _records(path)
    if not len(records):
        return
    if records["ms"].max() >= HOUR_MS:
        raise HistoryError(f"{path}: times beyond its hour; these are no ticks, or it is damaged")
    ticks = np.zeros(len(records), TICK)
    ticks["time_msc"] = begin_msc + records["ms"].astype(np.int64)
    ticks["time"] = ticks["time_msc"] // 1000
    per_price = _points_per_price(path, name, points.get(name))
    for side in ("bid", "ask"):
        ticks[side] = records[side] / per_price
    ticks["flags"] = TickFlag.BID | TickFlag.ASK
    yield TickBlock(name, ticks)


def _begin_msc(path: Path) -> int:
    match = _HOUR.search(path.as_posix())
    try:
        if match is None:
            raise ValueError
        year, month, day, hour = map(int, match.groups())
        return int(datetime(year, month + 1, day, hour, tzinfo=UTC).timestamp()) * 1000
    except ValueError:
        raise HistoryError(
            f"{path}: the path does not tell its hour; name it as Dukascopy does, "
            "EURUSD/2024/00/15/09h_ticks.bi5, where month 00 is January"
        ) from None


def _records(path: Path) -> npt.NDArray[np.void]:
    data = path.read_bytes()
    if not data:
        return np.empty(0, _RECORD)
    unpacker = lzma.LZMADecompressor()
    try:
        content = unpacker.decompress(data, CONTENT_BYTES_MAX)
    except lzma.LZMAError as error:
        raise HistoryError(f"{path}: damaged ({error}); download it again") from error
    if unpacker.unused_data:
        what = f"{len(unpacker.unused_data)} bytes behind its ticks"
        raise HistoryError(f"{path}: damaged ({what}); download it again")
    if not unpacker.eof or len(content) % _RECORD.itemsize:
        raise HistoryError(f"{path}: not whole records of ticks; download it again")
    return np.frombuffer(content, _RECORD)


def _points_per_price(path: Path, symbol: str, point: float | None) -> float:
    if point is None:
        match = _PAIR.fullmatch(symbol)
        if match is None:
            raise HistoryError(
                f"{path}: its prices are whole numbers of points, and the point of {symbol} is not "
                f"known; give its price, for example --point {symbol}=0.001"
            )
        return 1e3 if match[2] == "JPY" else 1e5
    per_price = 1 / point
    whole = round(per_price)
    # A division by a whole number gives the nearest double to the decimal price.
    return float(whole) if whole and abs(per_price - whole) < 1e-6 * whole else per_price
