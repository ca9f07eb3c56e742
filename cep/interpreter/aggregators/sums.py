"""Sum, average and standard deviation, exact: each is the true value, rounded once."""

from __future__ import annotations

from typing import Any

from cep.interpreter.aggregators.base import OfOne
from cep.interpreter.aggregators.exact import ExactSum, root_over
from cep.interpreter.numbers import wrap_long
from cep.interpreter.rows import Evaluator


class WholeSum(OfOne):
    """The sum of ints or longs; it wraps at 64 bits, and is null of nothing."""

    def __init__(self, argument: Evaluator) -> None:
        super().__init__(argument)
        self._count = 0
        self._total = 0

    @property
    def value(self) -> int | None:
        return wrap_long(self._total) if self._count else None

    @property
    def is_empty(self) -> bool:
        return not self._count and not self._total

    def add(self, value: int) -> None:
        self._count += 1
        self._total += value

    def remove(self, value: int) -> None:
        self._count -= 1
        self._total -= value

    def clear(self) -> None:
        self._count = self._total = 0

    def state(self) -> Any:
        return [self._count, str(self._total)]

    def restore(self, state: Any) -> None:
        self._count = state[0]
        self._total = int(state[1])


class Sum(OfOne):
    """The sum of floats or doubles, null of nothing."""

    def __init__(self, argument: Evaluator) -> None:
        super().__init__(argument)
        self._count = 0
        self._total = ExactSum()

    @property
    def value(self) -> float | None:
        return self._total.over(1) if self._count else None

    @property
    def is_empty(self) -> bool:
        return not self._count and self._total.is_zero

    def add(self, value: float) -> None:
        self._count += 1
        self._total.add(value)

    def remove(self, value: float) -> None:
        self._count -= 1
        self._total.add(value, -1)

    def clear(self) -> None:
        self._count = 0
        self._total.clear()

    def state(self) -> Any:
        return [self._count, self._total.state()]

    def restore(self, state: Any) -> None:
        self._count = state[0]
        self._total.restore(state[1])


class Average(Sum):
    """The mean, null of nothing."""

    @property
    def value(self) -> float | None:
        return self._total.over(self._count) if self._count else None


class Moments:
    """How many values, their sum and that of their squares."""

    __slots__ = ("count", "squares", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = ExactSum()
        self.squares = ExactSum()

    def add(self, value: float, sign: int = 1) -> None:
        """A value comes, or with sign -1 goes."""
        self.count += sign
        self.total.add(value, sign)
        self.squares.add_product(value, value, sign)

    @property
    def mean(self) -> float | None:
        """Null of nothing."""
        return self.total.over(self.count) if self.count else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the population.

        Null of nothing, of infinities, and where other values have gone than came.
        """
        if self.count <= 0 or self.total.infinite:
            return None
        scatter, bits = scattered(self.count, self.squares, self.total, self.total)
        return None if scatter < 0 else root_over(scatter, self.count << bits)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left of what came and went."""
        return not self.count and self.total.is_zero and self.squares.is_zero

    def clear(self) -> None:
        """All have gone."""
        self.count = 0
        self.total.clear()
        self.squares.clear()

    def state(self) -> Any:
        """Plain data."""
        return [self.count, self.total.state(), self.squares.state()]

    def restore(self, state: Any) -> None:
        """Take over what `state` gave."""
        self.count = state[0]
        self.total.restore(state[1])
        self.squares.restore(state[2])


def scattered(count: int, products: ExactSum, left: ExactSum, right: ExactSum) -> tuple[int, int]:
    """count * (sum of products) - sum * sum, as a whole number over 4 ** the second."""
    bits = max(left.bits, right.bits, (products.bits + 1) // 2)
    cross = (left.whole << bits - left.bits) * (right.whole << bits - right.bits)
    return count * (products.whole << 2 * bits - products.bits) - cross, bits


class Deviation(OfOne):
    """The standard deviation of the population; 0 of one value, null of nothing."""

    def __init__(self, argument: Evaluator) -> None:
        super().__init__(argument)
        self._moments = Moments()

    @property
    def value(self) -> float | None:
        return self._moments.deviation

    @property
    def is_empty(self) -> bool:
        return self._moments.is_empty

    def add(self, value: float) -> None:
        self._moments.add(value)

    def remove(self, value: float) -> None:
        self._moments.add(value, -1)

    def clear(self) -> None:
        self._moments.clear()

    def state(self) -> Any:
        return self._moments.state()

    def restore(self, state: Any) -> None:
        self._moments.restore(state)
