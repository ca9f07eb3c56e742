"""What is odd about records and recounts, and what is said of it."""

from __future__ import annotations

from mt5bridge.records import Records
from mt5bridge.server.batch import DEALS, Batch, wire_name
from mt5bridge.server.recount import Checked
from mt5bridge.server.sink import Sink
from mt5bridge.validate import (
    Quality,
    QualityArray,
    Span,
    deal_quality,
    quality_counts,
    tick_quality,
)
from mt5bridge.wire import Deals, Ticks


def difference_text(found: Checked) -> str:
    """What a terminal has counted in its tick base, and what has come."""
    recount = found.recount
    interval = f"{recount.from_msc}..{recount.to_msc} ms of server time"
    return f"{interval}: ticks in the tick base {recount.count}, received {found.received}"


def far_text(place: str, far: Records) -> str:
    """Records of a time that cannot be."""
    times = f"records: {len(far)}, the first of time_msc {int(far['time_msc'][0])}"
    return f"{place}: {times}; hidden from rules. Are the clocks of both machines right?"


def quality_of(
    frame: Ticks | Deals, records: Records, latest_msc: int, until_msc: int
) -> tuple[QualityArray, int]:
    """The marks of a frame's records, and the newest time of the stream behind them.

    Times after `until_msc`, UTC, are far.
    """
    span = Span.of(frame.utc_offset_ms, until_msc)
    if isinstance(frame, Ticks):
        return tick_quality(records, latest_msc, span)
    return deal_quality(records, span), latest_msc


def count_batch(sink: Sink, batch: Batch) -> None:
    """Count the records of a batch and their marks, and complain of those of a far time."""
    sink.count("deals" if batch.stream == DEALS else "ticks", len(batch.records))
    if not len(batch.quality):
        return
    for mark, number in quality_counts(batch.quality).items():
        sink.count(f"quality_{mark}", number)
    far = batch.records[(batch.quality & int(Quality.FAR)) != 0]
    if len(far):
        name = wire_name(batch.stream) or "deals"
        sink.complain("far_times", far_text(f"{batch.identity} {name}", far))
