"""Columns of the archive's tables; unsigned MetaTrader fields are widened to what Spark reads."""

from __future__ import annotations

import pyarrow as pa

TICKS, DEALS, CLOCK = "ticks", "deals", "clock"

_NAME = pa.dictionary(pa.int32(), pa.string())

_COMMON = [
    ("ingest", pa.int64()),
    ("source", _NAME),
    ("seq", pa.int64()),
    ("time_msc", pa.int64()),
    ("raw_time_msc", pa.int64()),
    ("utc_offset_ms", pa.int64()),
]
_TICK_FIELDS = [
    ("bid", pa.float64()),
    ("ask", pa.float64()),
    ("last", pa.float64()),
    ("volume", pa.int64()),
    ("volume_real", pa.float64()),
    ("flags", pa.int64()),
]
_DEAL_FIELDS = [
    ("ticket", pa.int64()),
    ("order", pa.int64()),
    ("magic", pa.int64()),
    ("position_id", pa.int64()),
    ("volume", pa.float64()),
    ("price", pa.float64()),
    ("commission", pa.float64()),
    ("swap", pa.float64()),
    ("profit", pa.float64()),
    ("fee", pa.float64()),
    ("sl", pa.float64()),
    ("tp", pa.float64()),
    ("type", pa.int64()),
    ("entry", pa.int64()),
    ("reason", pa.int64()),
    ("revision", pa.int64()),
    ("kind", pa.int64()),
    ("comment", pa.string()),
    ("external_id", pa.string()),
]
_LABELS = [("quality", pa.int16()), ("symbol", _NAME)]

FIELDS = {
    TICKS: tuple(name for name, _ in _TICK_FIELDS),
    DEALS: tuple(name for name, _ in _DEAL_FIELDS),
    CLOCK: (),
}
SCHEMAS = {
    TICKS: pa.schema(_COMMON + _TICK_FIELDS + _LABELS),
    DEALS: pa.schema(_COMMON + _DEAL_FIELDS + _LABELS),
    CLOCK: pa.schema(_COMMON + _LABELS),
}
DELTA_ENCODED = ("ingest", "seq", "time_msc", "raw_time_msc")
