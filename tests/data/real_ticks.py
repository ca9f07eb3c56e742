"""Recorded ticks of real brokers, when they lie beside the repository (`../shared/data/ticks`)."""

from __future__ import annotations

import functools
import lzma
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.csv as pc
import pytest

from mt5bridge.records import TICK, Records

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "ticks"
HOUR_MS = 3_600_000
needs_real_ticks = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"recorded ticks are not at {FOLDER}"
)
BI5 = np.dtype([("ms", ">u4"), ("ask", ">u4"), ("bid", ">u4"), ("ask_volume", ">f4"),
                ("bid_volume", ">f4")])  # fmt: skip
SYMBOLS = {
    "fxcm_eurusd": "EURUSD",
    "oanda_eurusd": "EURUSD",
    "oanda_xauusd": "XAUUSD",
    "dukascopy_eurusd": "EURUSD",
    "dukascopy_btcusd": "BTCUSD",
    "mt5_xauusd": "XAUUSD",
}


@functools.cache
def ticks(source: str, days: int | None = None) -> Records:
    """All ticks of `source`, a key of SYMBOLS, or those of its first `days` files; UTC times."""
    if source.startswith("dukascopy"):
        records = _dukascopy(SYMBOLS[source], days)
    elif source == "mt5_xauusd":
        records = _mt5(FOLDER / "mt5_sum3api" / "History_XAUUSDc_TICKS_20260126.csv")
    else:
        records = _lean(FOLDER / f"lean_{source}", 5 * HOUR_MS if "fxcm" in source else 0, days)
    records.flags.writeable = False
    return records


def table(sources: Iterable[str], days: int | None = None) -> pa.Table:
    """Ticks of several sources by time: symbol, time_msc, bid, ask, last, volume, flags."""
    tables = []
    for source in sources:
        records = ticks(source, days)
        columns = {"symbol": pa.array([SYMBOLS[source]] * len(records))}
        for name in ("time_msc", "bid", "ask", "last"):
            columns[name] = pa.array(np.ascontiguousarray(records[name]))
        columns["volume"] = pa.array(records["volume_real"].copy())
        columns["flags"] = pa.array(records["flags"].astype(np.int32))
        tables.append(pa.table(columns))
    whole = pa.concat_tables(tables)
    return whole.take(pa.array(np.argsort(whole["time_msc"].to_numpy(), kind="stable")))


def records_of(times_msc: np.ndarray, bid: np.ndarray, ask: np.ndarray) -> Records:
    """Quotes as TICK records."""
    records = np.zeros(len(times_msc), TICK)
    records["time_msc"] = times_msc
    records["time"] = times_msc // 1000
    records["bid"], records["ask"] = bid, ask
    records["flags"] = 6
    return records


def _lean(folder: Path, to_utc_ms: int, days: int | None) -> Records:
    parts = []
    for path in sorted(folder.glob("*.zip"))[:days]:
        day = datetime.strptime(path.name[:8], "%Y%m%d").replace(tzinfo=UTC)
        with zipfile.ZipFile(path) as archive:
            data = archive.read(archive.namelist()[0])
        read = pc.ReadOptions(column_names=["ms", "bid", "ask"])
        types = pc.ConvertOptions(column_types=dict.fromkeys(("ms", "bid", "ask"), pa.float64()))
        quotes = pc.read_csv(pa.BufferReader(data), read, convert_options=types)
        times = np.floor(quotes["ms"].to_numpy()).astype(np.int64)
        start_msc = int(day.timestamp() * 1000) + to_utc_ms
        parts.append(records_of(start_msc + times, quotes["bid"].to_numpy(),
                                quotes["ask"].to_numpy()))  # fmt: skip
    return np.concatenate(parts)


def _dukascopy(symbol: str, hours: int | None) -> Records:
    """Hourly files; the month in their path counts from zero."""
    parts = []
    root = FOLDER / "dukascopy_node" / symbol
    for path in sorted(root.rglob("*.bi5"))[:hours]:
        year, month, day = (int(part) for part in path.relative_to(root).parts[:3])
        hour = datetime(year, month + 1, day, int(path.name[:2]), tzinfo=UTC)
        data = path.read_bytes()
        if not data:
            continue
        rows = np.frombuffer(lzma.decompress(data), BI5)
        points = 10 if symbol == "BTCUSD" else 100_000
        parts.append(records_of(int(hour.timestamp() * 1000) + rows["ms"].astype(np.int64),
                                rows["bid"] / points, rows["ask"] / points))  # fmt: skip
    return np.concatenate(parts)


def _mt5(path: Path) -> Records:
    types = {"Time": pa.string(), "Bid": pa.float64(), "Ask": pa.float64()}
    quotes = pc.read_csv(path, convert_options=pc.ConvertOptions(column_types=types))
    times = compute.strptime(quotes["Time"], format="%Y.%m.%d %H:%M:%S", unit="ms")
    return records_of(times.cast(pa.int64()).to_numpy(), quotes["Bid"].to_numpy(),
                      quotes["Ask"].to_numpy())  # fmt: skip
