"""The demo's market: four symbols that walk at random, from a seed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from mt5bridge.simulator import Walk, random_walk

START_MSC = 1_709_280_000_000  # Friday 1 March 2024, 08:00 UTC
SYMBOLS = {
    "EURUSD": Walk(0, price=1.08, point=0.00001, spread_points=8, step_points=1.5),
    "GBPUSD": Walk(0, price=1.26, point=0.00001, spread_points=12, step_points=2.0),
    "XAUUSD": Walk(0, price=2050.0, point=0.01, spread_points=20, step_points=4.0),
    "MSFT": Walk(0, price=415.0, point=0.01, spread_points=2, step_points=1.2),
}


def write_ticks(folder: Path, ticks: int, seed: int) -> list[Path]:
    """One Parquet file of `ticks` ticks per symbol, about two a second."""
    paths = []
    for index, (symbol, walk) in enumerate(SYMBOLS.items()):
        records = random_walk(
            Walk(
                ticks, seed + index, START_MSC, walk.price, walk.point, walk.spread_points,
                walk.step_points, gap_ms=500.0,
            )
        )  # fmt: skip
        columns = {name: records[name] for name in ("time_msc", "bid", "ask", "last", "flags")}
        table = pa.table({"symbol": pa.repeat(symbol, ticks), **columns})
        path = folder / f"{symbol}.parquet"
        pq.write_table(table, path)
        paths.append(path)
    return paths
