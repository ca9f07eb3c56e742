"""What an archive should hold, straight from the groups that went into the spool."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from cep.archive import Archive
from mt5bridge.records import text_of
from mt5bridge.spool import Group, RecordKind

Row = tuple[Any, ...]
NAMES = ("ingest", "source", "seq", "time_msc", "raw_time_msc", "utc_offset_ms", "bid", "ask",
         "last", "volume", "volume_real", "flags", "quality", "symbol")  # fmt: skip


def expected(groups: list[Group], base: int = 0) -> list[Row]:
    """Tick rows of `groups` in order, one Python loop."""
    rows = []
    for group in groups:
        if group.kind is not RecordKind.TICKS:
            continue
        for i, tick in enumerate(group.records):
            raw = int(tick["time_msc"])
            rows.append((
                base + group.ingest + i, group.source, group.sequence + i,
                raw - group.utc_offset_ms, raw, group.utc_offset_ms, float(tick["bid"]),
                float(tick["ask"]), float(tick["last"]), int(tick["volume"]),
                float(tick["volume_real"]), int(tick["flags"]),
                int(group.quality[i]) if len(group.quality) else 0, group.stream[1],
            ))  # fmt: skip
    return rows


def stored(archive: Archive, **selection: Any) -> list[Row]:
    """Rows of the archive as `read_batches` gives them."""
    rows: list[Row] = []
    for batch in archive.read_batches(**selection):
        rows += tuples(batch)
    return rows


def tuples(batch: pa.RecordBatch) -> list[Row]:
    names = NAMES if "bid" in batch.schema.names else tuple(batch.schema.names)
    return list(zip(*(batch[name].to_pylist() for name in names), strict=True))


def deal_symbols(group: Group) -> list[str]:
    return [text_of(bytes(deal["symbol"])) for deal in group.records]
