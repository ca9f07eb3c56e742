"""What is odd about records and recounts, and what is said of it."""

from __future__ import annotations

from mt5bridge.records import Records
from mt5bridge.server.recount import Checked
from mt5bridge.validate import QualityArray, Span, deal_quality, tick_quality
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
