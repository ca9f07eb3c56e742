"""Running means of plain numbers, a step a value; null until they have seen enough."""

from __future__ import annotations

from typing import Any


class ExponentialMean:
    """Moves to each value by the share `alpha` of the distance, from the first value on.

    Null until `least` values have come.
    """

    __slots__ = ("_alpha", "_count", "_least", "_mean")

    def __init__(self, alpha: float, least: int) -> None:
        self._alpha = alpha
        self._least = least
        self.clear()

    def clear(self) -> None:
        """Start again."""
        self._mean = 0.0
        self._count = 0

    @property
    def value(self) -> float | None:
        """The mean."""
        return self._mean if self._count >= self._least else None

    def add(self, value: float) -> float | None:
        """The mean after a value has come."""
        if self._count:
            self._mean += self._alpha * (value - self._mean)
        else:
            self._mean = float(value)
        self._count += 1
        return self.value

    def state(self) -> Any:
        """Plain data."""
        return [self._mean, self._count]

    def restore(self, state: Any) -> None:
        """Take over what `state` gave."""
        self._mean, self._count = state


def span(n: int) -> float:
    """The share of an exponential mean over `n` values."""
    return 2.0 / (n + 1)


def smoothed(mean: float, value: float, alpha: float, count: int) -> float:
    """The exponential mean of `count` values after one more."""
    return mean + alpha * (value - mean) if count > 0 else value
