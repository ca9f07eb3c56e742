"""Indicators that add lines to rows: Bollinger bands, MACD."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import Any

from cep.interpreter.rows import Chunk, Evaluator, Row, RowKind
from cep.plan.functions.exact_sums import ExactMoments
from cep.plan.functions.smoothing import ExponentialMean, span

Constants = list[Any]
"""The arguments that are constants, by position; None for the others."""


class Indicator(ABC):
    """What one group of rows has shown so far."""

    @abstractmethod
    def take(self, row: Row) -> Chunk:
        """The rows that come out of one: its values with those added behind them."""

    @abstractmethod
    def state(self) -> Any:
        """Plain data for a snapshot."""

    @abstractmethod
    def restore(self, state: Any) -> None:
        """Take over what `state` gave."""

    @property
    def due_ms(self) -> int | None:
        """When time alone ends what is under way; None where it does not."""
        return None

    def ends_ms(self, row: Row) -> int | None:
        """When that ends to which a row belongs; None where time ends nothing."""
        return None

    def end(self) -> Chunk:
        """What comes out when that time has come."""
        return []


class Lines(Indicator):
    """An indicator that adds lines to each row; a row without a value gets the lines as they are.

    Rows that leave a window behind it change nothing.
    """

    def __init__(self, arguments: list[Evaluator]) -> None:
        self._argument = arguments[0]

    def take(self, row: Row) -> Chunk:
        value = self._argument(row) if row.kind is RowKind.CURRENT else None
        if value is not None and value == value:
            self.add(value)
        return [row.with_values([*row.values, *self.lines])]

    @abstractmethod
    def add(self, value: float) -> None:
        """A value has come."""

    @property
    @abstractmethod
    def lines(self) -> list[float | None]:
        """The values added; null until enough values have come."""


class Bollinger(Lines):
    """The mean of the last n values, and k standard deviations above and below.

    Source: J. Bollinger, "Bollinger on Bollinger Bands" (2001); deviations of the population.
    """

    def __init__(self, arguments: list[Evaluator], constants: Constants) -> None:
        super().__init__(arguments)
        self._n: int = constants[1]
        self._width: float = constants[2]
        self._recent: deque[float] = deque()
        self._moments = ExactMoments()

    def add(self, value: float) -> None:
        if len(self._recent) == self._n:
            self._moments.add(self._recent.popleft(), -1)
        self._recent.append(value)
        self._moments.add(value)

    @property
    def lines(self) -> list[float | None]:
        mean, deviation = self._moments.mean, self._moments.deviation
        if len(self._recent) < self._n or mean is None or deviation is None:
            return [None, None, None]
        return [mean + self._width * deviation, mean, mean - self._width * deviation]

    def state(self) -> Any:
        return list(self._recent)

    def restore(self, state: Any) -> None:
        for value in state:
            self.add(value)


class Macd(Lines):
    """The fast less the slow exponential mean, the exponential mean of that, and the difference.

    Source: G. Appel, "Technical Analysis: Power Tools for Active Investors" (2005).
    """

    def __init__(self, arguments: list[Evaluator], constants: Constants) -> None:
        super().__init__(arguments)
        self._means = [ExponentialMean(span(n), n) for n in constants[1:4]]

    def add(self, value: float) -> None:
        fast, slow, smooth = self._means
        fast.add(value)
        slow.add(value)
        distance = self._distance
        if distance is not None:
            smooth.add(distance)

    @property
    def _distance(self) -> float | None:
        fast, slow = self._means[0].value, self._means[1].value
        return None if fast is None or slow is None else fast - slow

    @property
    def lines(self) -> list[float | None]:
        distance, signal = self._distance, self._means[2].value
        apart = None if distance is None or signal is None else distance - signal
        return [distance, signal, apart]

    def state(self) -> Any:
        return [mean.state() for mean in self._means]

    def restore(self, state: Any) -> None:
        for mean, saved in zip(self._means, state, strict=True):
            mean.restore(saved)
