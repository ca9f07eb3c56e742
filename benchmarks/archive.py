"""Rates of archiving, compacting, verifying and reading; argument: directory to use."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cep.archive import Archive, compact, import_history, ingest_spool, verify
from mt5bridge.history import TickBlock
from mt5bridge.records import TICK, Records
from mt5bridge.spool import Group, RecordKind, Spool

SYMBOLS = ("EURUSD", "GBPUSD", "USDJPY", "XAUUSD")
TICKS, GROUP_TICKS = 1_000_000, 500
START_MSC, DAY_MS = 1_700_006_400_000, 86_400_000


def walk(seed: int) -> Records:
    """Two days of quotes in points, as brokers send them."""
    random = np.random.default_rng(seed)
    records = np.zeros(TICKS, TICK)
    records["time_msc"] = START_MSC + np.sort(random.integers(0, 2 * DAY_MS, TICKS))
    records["time"] = records["time_msc"] // 1000
    records["bid"] = np.round(1.1 + np.cumsum(random.integers(-2, 3, TICKS)) * 1e-5, 5)
    records["ask"] = records["bid"] + random.integers(1, 4, TICKS) * 1e-5
    records["flags"] = 6
    return records


def fill(directory: Path, ticks: dict[str, Records]) -> Path:
    """A spool with the ticks of all symbols in groups, symbols in turn."""
    spool = Spool(directory, segment_bytes=32 << 20)
    spool.recover()
    for begin in range(0, TICKS, GROUP_TICKS):
        for symbol, records in ticks.items():
            part = records[begin : begin + GROUP_TICKS]
            stream = ("ticks", symbol)
            spool.append(
                Group(spool.next_ingest, RecordKind.TICKS, "terminal", stream, begin + 1, part)
            )
        spool.commit()
    spool.close()
    return directory


def timed(name: str, rows: int, action: Callable[[], object]) -> None:
    begin = time.perf_counter()
    action()
    seconds = time.perf_counter() - begin
    print(f"| {name} | {rows / seconds:,.0f} | {seconds:.2f} |")


def main() -> None:
    parent = sys.argv[1] if len(sys.argv) > 1 else None
    ticks = {symbol: walk(seed) for seed, symbol in enumerate(SYMBOLS)}
    rows = TICKS * len(SYMBOLS)
    print(f"{rows:,} ticks, {len(SYMBOLS)} symbols\n\n| step | rows/s | s |\n|---|---|---|")
    with tempfile.TemporaryDirectory(dir=parent) as directory:
        spool = fill(Path(directory) / "spool", ticks)
        archive = Archive(Path(directory) / "archive")
        timed("ingest spool", rows, lambda: ingest_spool(spool, archive))
        timed("compact", rows, lambda: compact(archive))
        timed("verify", rows, lambda: verify(archive))
        timed("read, merged", rows, lambda: sum(b.num_rows for b in archive.read_batches()))
        size = sum(file.bytes for file in archive.manifest.files)
        other = Archive(Path(directory) / "other")
        blocks = [TickBlock(symbol, records) for symbol, records in ticks.items()]
        timed("import history", rows, lambda: import_history(other, blocks))
    print(f"\n{size / rows:.1f} bytes a tick after compaction")


if __name__ == "__main__":
    main()
