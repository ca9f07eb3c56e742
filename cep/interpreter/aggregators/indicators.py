"""Indicators over what arrives: exponential and weighted means, RSI, ATR, and values before.

All are null until `n` values have come. Sources: J. W. Wilder, "New Concepts in Technical Trading
Systems" (1978), for RSI and ATR.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from cep.interpreter.aggregators.base import Aggregator, Following
from cep.interpreter.aggregators.exact import ExactSum
from cep.interpreter.aggregators.smoothing import ExponentialMean, span
from cep.interpreter.rows import Evaluator, Row


class Ema(Following):
    """The exponential mean with the share 2 / (n + 1)."""

    def __init__(self, argument: Evaluator, n: int) -> None:
        super().__init__(argument)
        self._mean = ExponentialMean(span(n), n)

    @property
    def value(self) -> float | None:
        return self._mean.value

    def add(self, value: float) -> None:
        self._mean.add(value)

    def clear(self) -> None:
        self._mean.clear()

    def state(self) -> Any:
        return self._mean.state()

    def restore(self, state: Any) -> None:
        self._mean.restore(state)


class Wma(Following):
    """The mean of the last `n` values weighted n for the newest, n - 1, .., 1; exact, O(1)."""

    def __init__(self, argument: Evaluator, n: int) -> None:
        super().__init__(argument)
        self._n = n
        self._recent: deque[float] = deque()
        self._total = ExactSum()
        self._weighted = ExactSum()

    @property
    def value(self) -> float | None:
        full = len(self._recent) == self._n
        return self._weighted.over(self._n * (self._n + 1) // 2) if full else None

    def add(self, value: float) -> None:
        if len(self._recent) == self._n:
            self._weighted.add_sum(self._total, -1)  # every weight one less
            self._total.add(self._recent.popleft(), -1)
        self._recent.append(value)
        self._total.add(value)
        self._weighted.add_product(value, len(self._recent))

    def clear(self) -> None:
        self._recent.clear()
        self._total.clear()
        self._weighted.clear()

    def state(self) -> Any:
        return list(self._recent)

    def restore(self, state: Any) -> None:
        self.clear()
        for value in state:
            self.add(value)


class Rsi(Following):
    """100 - 100 / (1 + rises / falls), each an exponential mean with the share 1 / n.

    The first value counts as a step of nothing; without falls it is 100.
    """

    def __init__(self, argument: Evaluator, n: int) -> None:
        super().__init__(argument)
        self._last: float | None = None
        self._rise = ExponentialMean(1.0 / n, n)
        self._fall = ExponentialMean(1.0 / n, n)

    @property
    def value(self) -> float | None:
        rise, fall = self._rise.value, self._fall.value
        if rise is None or fall is None:
            return None
        return 100.0 if fall == 0.0 else 100.0 - 100.0 / (1.0 + rise / fall)

    def add(self, value: float) -> None:
        step = 0.0 if self._last is None else value - self._last
        self._rise.add(max(step, 0.0))
        self._fall.add(max(-step, 0.0))
        self._last = value

    def clear(self) -> None:
        self._last = None
        self._rise.clear()
        self._fall.clear()

    def state(self) -> Any:
        return [self._last, self._rise.state(), self._fall.state()]

    def restore(self, state: Any) -> None:
        self._last = state[0]
        self._rise.restore(state[1])
        self._fall.restore(state[2])


class Atr(Aggregator):
    """The mean of the first `n` true ranges; from then each range moves it by 1 / n."""

    def __init__(self, high: Evaluator, low: Evaluator, close: Evaluator, n: int) -> None:
        self._arguments = (high, low, close)
        self._n = n
        self.reset()

    def reset(self) -> None:
        self._close: float | None = None
        self._count = 0
        self._mean = 0.0
        self._first = ExactSum()

    @property
    def value(self) -> float | None:
        return self._mean if self._count >= self._n else None

    def enter(self, row: Row) -> float | None:
        high, low, close = [argument(row) for argument in self._arguments]
        if high is not None and low is not None and close is not None:
            self._add(self._true_range(high, low))
            self._close = close
        return self.value

    def leave(self, row: Row) -> float | None:
        return self.value

    def _true_range(self, high: float, low: float) -> float:
        if self._close is None:
            return high - low
        return max(high - low, abs(high - self._close), abs(low - self._close))

    def _add(self, true_range: float) -> None:
        self._count += 1
        if self._count > self._n:
            self._mean = (self._mean * (self._n - 1) + true_range) / self._n
            return
        self._first.add(true_range)
        self._mean = self._first.over(self._n) or 0.0

    def state(self) -> Any:
        return [self._close, self._count, self._mean, self._first.state()]

    def restore(self, state: Any) -> None:
        self._close, self._count, self._mean = state[:3]
        self._first.restore(state[3])


class Lag(Aggregator):
    """The value `n` rows earlier, null before; nulls are values here."""

    def __init__(self, argument: Evaluator, n: int) -> None:
        self._argument = argument
        self._recent: deque[Any] = deque(maxlen=n + 1)

    @property
    def value(self) -> Any:
        full = len(self._recent) == self._recent.maxlen
        return self._recent[0] if full else None

    def enter(self, row: Row) -> Any:
        self._recent.append(self._argument(row))
        return self.value

    def leave(self, row: Row) -> Any:
        return self.value

    def reset(self) -> None:
        self._recent.clear()

    def state(self) -> Any:
        return list(self._recent)

    def restore(self, state: Any) -> None:
        self._recent.extend(state)
