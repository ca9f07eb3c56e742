"""Clock times that come twice or never, where a zone's clocks are moved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mt5bridge.history.block import HistoryError
from mt5bridge.history.epochs import BadRow
from mt5bridge.history.zones import MINUTE_MS, Ints, ServerTime, Shift, wall_text

LATE_MS = MINUTE_MS
"""A step back in time of less is a late tick; one of more, within an hour that comes twice, is
where that hour begins again."""

Place = Callable[[int], str]
"""Where a row is, for messages: file and line."""


def through(place: Place, rows: npt.NDArray[np.integer[Any]]) -> Place:
    """Places of some rows of a table."""
    return lambda row: place(int(rows[row]))


def check_gaps(server: ServerTime, walls: Ints) -> None:
    """BadRow for a clock time that never came."""
    for shift in server.shifts(walls):
        first, past = shift.walls
        if shift.is_gap and (never := (walls >= first) & (walls < past)).any():
            row = int(np.argmax(never))
            raise BadRow(
                row, f"{wall_text(int(walls[row]))} never came in {server}, where clocks went "
                f"forward from {wall_text(first)}",
                "correct the time, or the zone of the server's clock",
            )  # fmt: skip


@dataclass(slots=True)
class _Pass:
    """Where a symbol stands in an hour that comes twice."""

    place: str
    first_wall: int
    latest: int
    is_second: bool = False


@dataclass(slots=True)
class DoubleHours:
    """Tells the first from the second passing of an hour, by the order of a symbol's ticks.

    Ticks in the order in which they came jump back once, where the hour begins again. Ticks
    without such a jump, or with several, could be of either; they are refused.
    """

    server: ServerTime
    _passes: dict[tuple[str, Shift], _Pass] = field(default_factory=dict)

    def resolve(self, symbol: str, walls: Ints, offsets: Ints, place: Place) -> Ints:
        """`offsets` corrected where `walls`, the next ones of `symbol`, are second passings."""
        for shift in self.server.shifts(walls):
            first, past = shift.walls
            rows = np.empty(0, np.int64)
            if not shift.is_gap:
                rows = np.flatnonzero((walls >= first) & (walls < past))
            if len(rows):
                second = self._second(symbol, shift, walls[rows], through(place, rows))
                offsets = offsets.copy()
                offsets[rows[second:]] = shift.after_ms
        return offsets

    def _second(self, symbol: str, shift: Shift, walls: Ints, place: Place) -> int:
        """Index of the first of `walls`, all within the shift, that is of the second passing."""
        known = self._passes.get((symbol, shift))
        if known is None:
            wall = int(walls[0])
            known = self._passes[symbol, shift] = _Pass(place(0), wall, wall)
        jumps = np.flatnonzero(np.diff(walls, prepend=known.latest) <= -LATE_MS)
        if len(jumps) + known.is_second > 1:
            again = int(jumps[-1])
            raise self._doubtful(place(again), int(walls[again]), "jumps back more than once")
        known.latest = int(walls[-1])
        if known.is_second:
            return 0
        known.is_second = bool(len(jumps))
        return int(jumps[0]) if len(jumps) else len(walls)

    def finish(self) -> None:
        """HistoryError for an hour that came to its end without having begun again."""
        for known in self._passes.values():
            if not known.is_second:
                raise self._doubtful(known.place, known.first_wall, "never jumps back")

    def _doubtful(self, place: str, wall: int, why: str) -> HistoryError:
        return HistoryError(
            f"{place}: {wall_text(wall)} came twice in {self.server}, where clocks went back, "
            f"and the time of the ticks {why} there, so it does not tell which is meant; write "
            "these times in UTC or with their offset, such as 2024-10-27T03:10:00+03:00"
        )
