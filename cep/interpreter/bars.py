"""Bars: one row for a stretch of rows, by number, volume or time."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from cep.interpreter.indicators import Constants, Indicator
from cep.interpreter.rows import Chunk, Evaluator, Row, RowKind
from cep.plan.functions.exact_sums import ExactSum


class Bar:
    """Prices and volume of the rows of one bar, and the last of these rows."""

    __slots__ = ("_volume", "prices", "row", "start_ms", "ticks")

    def __init__(self, row: Row, price: float, start_ms: int) -> None:
        self.prices = [price, price, price, price]
        self.ticks = 0
        self.start_ms = start_ms
        self.row = row
        self._volume = ExactSum()

    @property
    def volume(self) -> float:
        """The sum of the rows' volumes."""
        return self._volume.over(1) or 0.0

    def add(self, row: Row, price: float, volume: float | None) -> None:
        """A row becomes part of the bar."""
        opened, high, low, _ = self.prices
        self.prices = [opened, max(high, price), min(low, price), price]
        self.ticks += 1
        self.row = row
        if volume is not None and volume == volume:
            self._volume.add(volume)

    def finished(self, time_ms: int) -> Row:
        """The bar as a row: the last row's values, then those of the bar."""
        prices = [float(price) for price in self.prices]
        added = [*prices, self.volume, self.ticks, self.start_ms]
        return Row(time_ms, [*self.row.values, *added])

    def state(self) -> Any:
        """Plain data."""
        return [self.row, self.start_ms, self.prices, self.ticks, self._volume.state()]

    @classmethod
    def restored(cls, state: Any) -> Bar:
        """A bar from what `state` gave."""
        row, start_ms, prices, ticks, volume = state
        bar = cls(row, prices[0], start_ms)
        bar.prices, bar.ticks = prices, ticks
        bar._volume.restore(volume)
        return bar


class Bars(Indicator):
    """One row for each finished bar; rows without a price, and rows that leave, are skipped."""

    def __init__(self, arguments: list[Evaluator], constants: Constants) -> None:
        self._price, self._volume = arguments[:2]
        self._size: float = constants[2]
        self._bar: Bar | None = None

    def take(self, row: Row) -> Chunk:
        price = self._price(row) if row.kind is RowKind.CURRENT else None
        if price is None or price != price:
            return []
        return self._take(row, price, self._volume(row))

    def _take(self, row: Row, price: float, volume: float | None) -> Chunk:
        """The row ends its bar, if that is full then."""
        bar = self._bar or Bar(row, price, row.time)
        bar.add(row, price, volume)
        is_full = self.is_full(bar)
        self._bar = None if is_full else bar
        return [bar.finished(row.time)] if is_full else []

    @abstractmethod
    def is_full(self, bar: Bar) -> bool:
        """Whether the bar ends with the row it has just got."""

    def state(self) -> Any:
        return None if self._bar is None else self._bar.state()

    def restore(self, state: Any) -> None:
        self._bar = None if state is None else Bar.restored(state)


class TickBars(Bars):
    """Bars of n rows."""

    def is_full(self, bar: Bar) -> bool:
        return bar.ticks >= self._size


class VolumeBars(Bars):
    """Bars that end with the row by which their volume reaches the size."""

    def is_full(self, bar: Bar) -> bool:
        return bar.volume >= self._size


class TimeBars(Bars):
    """Bars of a fixed time, aligned to its multiples since 1970.

    A bar ends when its time has come, or else when the first row of a later one comes.
    """

    @property
    def due_ms(self) -> int | None:
        return None if self._bar is None else self._bar.start_ms + int(self._size)

    def ends_ms(self, row: Row) -> int:
        size = int(self._size)
        return row.time - row.time % size + size

    def end(self) -> Chunk:
        assert self._bar is not None
        finished, self._bar = self._bar.finished(self._bar.start_ms + int(self._size)), None
        return [finished]

    def _take(self, row: Row, price: float, volume: float | None) -> Chunk:
        size = int(self._size)
        out: Chunk = []
        if self._bar is not None and row.time >= self._bar.start_ms + size:
            out.append(self._bar.finished(self._bar.start_ms + size))
            self._bar = None
        if self._bar is None:
            self._bar = Bar(row, price, row.time - row.time % size)
        self._bar.add(row, price, volume)
        return out

    def is_full(self, bar: Bar) -> bool:
        """A bar never ends with its own row."""
        return False
