"""Measures the way from a tick's sending to the arrival of the signal it caused."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mt5bridge import clock as clocks
from mt5bridge.wire import Frame, Signal, Symbols, Ticks, decode


class LatencyProbe:
    """An observer of a Runner; a signal belongs to the tick with its symbol and `time_msc`.

    `utc_offset_ms` is the simulated server's, since signals carry UTC and ticks server time.
    """

    def __init__(
        self, utc_offset_ms: int = 0, clock_ns: Callable[[], int] = clocks.monotonic_ns
    ) -> None:
        self._utc_offset_ms = utc_offset_ms
        self._clock_ns = clock_ns
        self._names: dict[int, str] = {}
        self._sent: dict[str, tuple[list[int], list[int]]] = {}  # first time_msc, ns of sending
        self._latencies_ns: list[int] = []

    def sent(self, data: bytes) -> None:
        """Remember when a frame of ticks went out."""
        at_ns = self._clock_ns()
        frame = decode(data)
        if isinstance(frame, Symbols):
            self._names.update({symbol.stream: symbol.name for symbol in frame.symbols})
        elif isinstance(frame, Ticks):
            times, ns = self._sent.setdefault(self._names[frame.stream], ([], []))
            times.append(int(frame.records["time_msc"][0]))
            ns.append(at_ns)

    def received(self, frame: Frame) -> None:
        """Take the time of a signal."""
        if not isinstance(frame, Signal) or frame.symbol not in self._sent:
            return
        times, ns = self._sent[frame.symbol]
        index = bisect_right(times, frame.time_msc + self._utc_offset_ms) - 1
        if index >= 0:
            self._latencies_ns.append(self._clock_ns() - ns[index])

    def latencies_us(self) -> NDArray[np.float64]:
        """Microseconds from sending to signal, in order of arrival."""
        return np.array(self._latencies_ns, np.float64) / 1_000
