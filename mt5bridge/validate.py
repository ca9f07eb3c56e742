"""Marks on records that rules may not want; marked ones keep their place in the sequence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import IntFlag
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mt5bridge.records import Records

QualityArray: TypeAlias = NDArray[np.uint8]
ALL_GOOD: QualityArray = np.empty(0, np.uint8)
"""What stands for the marks of records none of which has one; most frames have only such."""
Policy: TypeAlias = Literal["accept", "reject"]


class Quality(IntFlag):
    """What is odd about a record; 0 is a good one. Deals are only ever far."""

    NAN = 1  # bid, ask or last is not finite
    ZERO = 2  # one side of the book is empty
    NEGATIVE = 4
    CROSSED = 8  # ask below bid
    LATE = 16  # older than an earlier tick of its stream
    FAR = 32  # a time that cannot be: before 1970, or far ahead of the daemon's clock, as UTC


_LATE = int(Quality.LATE)
_FAR = int(Quality.FAR)
_FEW = 16
NEVER_MSC = 2**63 - 1

DEFAULT_POLICY: Mapping[str, Policy] = {
    "nan": "reject",
    "zero": "reject",
    "negative": "reject",
    "crossed": "accept",
    "late": "accept",
    "far": "reject",
}


class Span(NamedTuple):
    """The first and the last time that is not far, in ms of the trade server's time."""

    first_msc: int
    last_msc: int

    @classmethod
    def of(cls, utc_offset_ms: int, until_msc: int = NEVER_MSC) -> Span:
        """From 1970 on, also as UTC, to `until_msc`, UTC."""
        return cls(max(0, utc_offset_ms), min(NEVER_MSC, until_msc + utc_offset_ms))


ANY_TIME = Span(0, NEVER_MSC)
"""Of times that are UTC."""


def tick_quality(
    ticks: Records, latest_msc: int, span: Span = ANY_TIME
) -> tuple[QualityArray, int]:
    """Quality marks, and the newest `time_msc` so far; `latest_msc` is that before.

    The marks have shape (n,), or none where all are good: `ALL_GOOD`.

    Times outside the span are far: they make no other tick late.
    """
    if len(ticks) <= _FEW:
        return _few_qualities(ticks, latest_msc, span)
    bid, ask, last = (np.ascontiguousarray(ticks[name]) for name in ("bid", "ask", "last"))
    with np.errstate(invalid="ignore"):
        finite = np.isfinite(bid) & np.isfinite(ask) & np.isfinite(last)
        quality = _mark(~finite, Quality.NAN)
        quality |= _mark((bid == 0) | (ask == 0), Quality.ZERO)
        quality |= _mark((bid < 0) | (ask < 0) | (last < 0), Quality.NEGATIVE)
        quality |= _mark((ask < bid) & (ask != 0), Quality.CROSSED)
    times = np.ascontiguousarray(ticks["time_msc"])
    far = _is_far(times, span)
    newest = np.maximum.accumulate(np.maximum(np.where(far, latest_msc, times), latest_msc))
    quality |= _mark(far, Quality.FAR) | _mark(~far & (times < newest), Quality.LATE)
    return _short(quality), int(newest[-1])


def deal_quality(deals: Records, span: Span) -> QualityArray:
    """Quality marks of deals, as of ticks: times outside the span are far."""
    return _short(_mark(_is_far(deals["time_msc"], span), Quality.FAR))


def each(quality: QualityArray, count: int) -> QualityArray:
    """One mark for each of `count` records, also where all are good."""
    return quality if len(quality) else np.zeros(count, np.uint8)


def near(records: Records, quality: QualityArray) -> Records:
    """The records whose time is not far; `quality` may be empty where all are good."""
    if not len(quality) or not (quality & _FAR).any():
        return records
    found: Records = records[(quality & _FAR) == 0]
    return found


def near_times(records: Records, quality: QualityArray) -> NDArray[np.int64]:
    """`time_msc` of all records, with that of far ones so early that it is in no interval."""
    times: NDArray[np.int64] = records["time_msc"]
    if not len(quality):
        return times
    far = (quality & _FAR) != 0
    return np.where(far, -NEVER_MSC, times) if far.any() else times


def _is_far(times: NDArray[np.int64], span: Span) -> NDArray[np.bool_]:
    far: NDArray[np.bool_] = (times < span.first_msc) | (times > span.last_msc)
    return far


def reject_mask(policy: Mapping[str, Policy]) -> int:
    """The bits a policy rejects; ValueError names an unknown mark or decision."""
    mask = 0
    for name, decision in {**DEFAULT_POLICY, **policy}.items():
        if name not in DEFAULT_POLICY or decision not in ("accept", "reject"):
            known = ", ".join(DEFAULT_POLICY)
            raise ValueError(
                f"tick policy {name} = {decision!r}: use accept or reject for one of {known}"
            )
        if decision == "reject":
            mask |= Quality[name.upper()]
    return mask


def quality_counts(quality: QualityArray) -> dict[str, int]:
    """How many ticks carry each mark, marks that occur only."""
    if not len(quality):
        return {}
    counts = {str(mark.name).lower(): int(np.count_nonzero(quality & mark)) for mark in Quality}
    return {name: count for name, count in counts.items() if count}


def _few_qualities(ticks: Records, latest_msc: int, span: Span) -> tuple[QualityArray, int]:
    """The same without NumPy, whose calls cost more than a few ticks."""
    marks = []
    first_msc, last_msc = span
    for _, bid, ask, last, _, time_msc, _, _ in ticks.tolist():
        is_far = not first_msc <= time_msc <= last_msc
        mark = _FAR if is_far else _LATE if time_msc < latest_msc else 0
        if not (0 < bid <= ask < math.inf and 0 <= last < math.inf):
            mark |= _odd_prices(bid, ask, last)
        marks.append(mark)
        if not is_far:
            latest_msc = max(latest_msc, time_msc)
    return (np.array(marks, np.uint8) if any(marks) else ALL_GOOD), latest_msc


def _odd_prices(bid: float, ask: float, last: float) -> int:
    finite = math.isfinite(bid) and math.isfinite(ask) and math.isfinite(last)
    mark = 0 if finite else Quality.NAN
    if bid == 0 or ask == 0:
        mark |= Quality.ZERO
    if bid < 0 or ask < 0 or last < 0:
        mark |= Quality.NEGATIVE
    if ask < bid and ask != 0:
        mark |= Quality.CROSSED
    return int(mark)


def _short(quality: QualityArray) -> QualityArray:
    return quality if quality.any() else ALL_GOOD


def _mark(condition: NDArray[np.bool_], mark: Quality) -> QualityArray:
    return condition.astype(np.uint8) * np.uint8(mark)
