"""Archives for backtests: recorded and imported, with everything that parity must survive."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cep.account.specifications import Version
from cep.archive import Archive, import_history, ingest_spool, specify
from cep.archive.schema import TICKS
from mt5bridge.history import TickBlock
from mt5bridge.records import DEAL, TICK, DealEntry, DealKind, DealType, Records
from mt5bridge.spool import Group, RecordKind, Spool
from mt5bridge.validate import tick_quality

START_MSC = 1_700_006_400_000
DAY_MS = 86_400_000
SYMBOLS = ("EURUSD", "GBPUSD", "^GSPC")
POINTS = dict.fromkeys(SYMBOLS, 1e-5)
DEAL_ROWS = (("EURUSD", 77, "leg"), ("GBPUSD", 1, "other"), ("", 0, "balance"), ("^GSPC", 77, "x"))


def walk(random: np.random.Generator, start_msc: int, span_ms: int, rows: int) -> Records:
    """Quotes in points; some late, some with equal times, a few that rules do not see."""
    ticks = np.zeros(rows, TICK)
    times = start_msc + np.sort(random.integers(0, span_ms, rows))
    times -= np.where(random.random(rows) < 0.02, random.integers(0, 20_000, rows), 0)
    ticks["time_msc"] = np.maximum(times, start_msc)
    ticks["time"] = ticks["time_msc"] // 1000
    ticks["bid"] = np.round(1.1 + np.cumsum(random.integers(-3, 4, rows)) * 1e-5, 5)
    ticks["ask"] = np.round(ticks["bid"] + random.integers(1, 4, rows) * 1e-5, 5)
    ticks["ask"][random.random(rows) < 0.01] = 0.0
    ticks["bid"][random.random(rows) < 0.01] = np.nan
    ticks["flags"] = 6
    ticks["volume_real"] = 1.5
    return ticks


def recorded(folder: Path, *, seed: int = 1, groups: int = 120, rows: int = 40) -> Archive:
    """Ticks and deals of two days and two terminals, in turn, in many files."""
    random = np.random.default_rng(seed)
    spool = Spool(folder / "spool", segment_bytes=60_000)
    spool.recover()
    sequences: dict[tuple[str, str], int] = {}
    span_ms = 2 * DAY_MS // groups
    for number in range(groups):
        source = ("one", "two")[number % 2]
        symbol = SYMBOLS[int(random.integers(len(SYMBOLS)))]
        ticks = walk(random, START_MSC + number * span_ms, span_ms, rows)
        append(spool, sequences, source, ("ticks", symbol), ticks)
        if number % 5 == 0:
            at_msc = START_MSC + number * span_ms + span_ms // 2
            append(spool, sequences, source, ("deals",), deals(number, at_msc))
        spool.commit()
    spool.close()
    archive = Archive(folder / "archive")
    ingest_spool(folder / "spool", archive, include_open=True)
    return with_points(archive)


def with_points(archive: Archive, **sizes: float) -> Archive:
    """The same, told the sizes of points of its symbols: 0.00001, if no other is given."""
    names = sorted({file.symbol for file in archive.files(TICKS)})
    told = [Version(symbol=name, told={"point": sizes.get(name, 1e-5)}) for name in names]
    specify(archive, told)
    return archive


def append(
    spool: Spool,
    sequences: dict[tuple[str, str], int],
    source: str,
    stream: tuple[str, ...],
    records: Records,
) -> None:
    key = (source, "/".join(stream))
    sequence = sequences.get(key, 1)
    sequences[key] = sequence + len(records)
    is_tick = stream[0] == "ticks"
    quality = tick_quality(records, 0)[0] if is_tick else np.empty(0, np.uint8)
    kind = RecordKind.TICKS if is_tick else RecordKind.DEALS
    group = Group(spool.next_ingest, kind, source, stream, sequence, records, 0, quality)
    assert spool.append(group)


def deals(number: int, time_msc: int) -> Records:
    """A few deals; one of them is a correction, which rules do not see."""
    records = np.zeros(len(DEAL_ROWS) + 1, DEAL)
    for i, (symbol, magic, comment) in enumerate(DEAL_ROWS):
        records[i]["symbol"], records[i]["magic"] = symbol.encode(), magic
        records[i]["comment"] = f"{comment} {number % 3}".encode()
        records[i]["type"] = (DealType.BUY, DealType.SELL, DealType.BALANCE, DealType.SELL)[i]
        records[i]["entry"] = DealEntry.IN
    records[-1] = records[0]
    records[-1]["kind"], records[-1]["revision"] = DealKind.UPDATE, 2
    records["ticket"] = 100 * number + np.arange(len(records))
    records["time_msc"] = time_msc + np.arange(len(records))
    records["volume"], records["price"] = 0.1, 1.1
    return records


def imported(folder: Path, *, seed: int = 2, rows: int = 1500) -> Archive:
    """History of three symbols in which many ticks share their ingest number with others."""
    random = np.random.default_rng(seed)
    blocks = []
    for symbol in SYMBOLS:
        ticks = walk(random, START_MSC, 2 * DAY_MS, rows)
        ticks["time_msc"] = START_MSC + 60_000 * (np.arange(rows) // 2)
        blocks.append(TickBlock(symbol, ticks))
    archive = Archive(folder / "archive")
    import_history(archive, blocks)
    return with_points(archive)


def exported(archive: Archive, folder: Path) -> list[tuple[str, Path]]:
    """What rules see of an archive as `replay` inputs, filtered by a plain loop."""
    ticks = [
        {**row, "volume": row["volume_real"]}
        for batch in archive.read_batches("ticks")
        for row in batch.to_pylist()
        if row["quality"] & 7 == 0
    ]
    sides, entries = {0: "buy", 1: "sell"}, {0: "in", 1: "out", 2: "inout", 3: "out_by"}
    filled = [
        {**row, "side": sides.get(row["type"]), "entry": entries.get(row["entry"]),
         "lots": row["volume"]}
        for batch in archive.read_batches("deals")
        for row in batch.to_pylist()
        if row["kind"] == 0 and row["revision"] <= 1
    ]  # fmt: skip
    inputs = []
    for name, rows in (("Tick", ticks), ("Deal", filled)):
        path = folder / f"{name}.parquet"
        if rows:
            pq.write_table(pa.Table.from_pylist(rows), path)
            inputs.append((name, path))
    return inputs
