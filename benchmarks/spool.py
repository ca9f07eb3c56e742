"""How many ticks a second the durable spool takes, by group size; argument: directory to use."""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from mt5bridge.records import TICK
from mt5bridge.spool import CommitThread, Group, RecordKind, Spool

TICKS = 4_000_000
MEBIBYTE = 1 << 20


def run(directory: Path, group_ticks: int, ticks: int = TICKS) -> tuple[float, int]:
    """Ticks a second from the first append to the last fdatasync, and the number of commits."""
    spool = Spool(directory, pending_bytes_max=64 * MEBIBYTE)
    spool.recover()
    records = np.zeros(group_ticks, TICK)
    records["bid"] = np.random.default_rng(1).normal(1.1, 1e-3, group_ticks)
    group = Group(1, RecordKind.TICKS, "terminal", ("ticks", "EURUSD"), 1, records, 0)
    thread = CommitThread(spool, clock_ms=lambda: 0)
    idle = threading.Event()
    begin = time.perf_counter()
    thread.start()
    for _ in range(ticks // group_ticks):
        at = spool.next_ingest
        while not spool.append(replace(group, ingest=at, sequence=at)):
            idle.wait(0.0005)
    thread.stop()
    seconds = time.perf_counter() - begin
    spool.close()
    return spool.counters.records / seconds, spool.counters.commits


def main() -> None:
    parent = sys.argv[1] if len(sys.argv) > 1 else None
    print("| ticks a group | ticks/s | commits |\n|---|---|---|")
    for group_ticks in (50, 500, 5000):
        with tempfile.TemporaryDirectory(dir=parent) as directory:
            rate, commits = run(Path(directory), group_ticks)
        print(f"| {group_ticks} | {rate:,.0f} | {commits} |")


if __name__ == "__main__":
    main()
