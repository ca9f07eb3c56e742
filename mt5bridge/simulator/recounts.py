"""Counts the ticks of closed minutes in a tape, as a terminal does in its tick base."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mt5bridge.client import Outbox
from mt5bridge.simulator.tape import Tape
from mt5bridge.wire import Recount

_INTERVAL_MS = 60_000


class Recounts:
    """Recounts each minute of each symbol once, when a tick of a later one was taken."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._from_msc: dict[str, int] = {}

    def due(self, symbol: str, outbox: Outbox) -> Iterator[Recount]:
        """The intervals that are closed by now; `outbox` says what numbers were given."""
        times = self._tape.released(symbol)["time_msc"]
        to_msc = _minute(int(times[-1]))
        from_msc = self._from_msc.setdefault(symbol, int(times[0]))
        if from_msc < to_msc:
            self._from_msc[symbol] = to_msc
            inside = (times >= from_msc) & (times < to_msc)
            count = int(np.count_nonzero(inside))
            yield Recount(outbox.stream, outbox.end - 1, from_msc, to_msc, count)


def _minute(time_msc: int) -> int:
    return time_msc // _INTERVAL_MS * _INTERVAL_MS
