"""Aggregates of two values a row: volume-weighted price, correlation. Exact like sums."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

from cep.interpreter.aggregators.base import Aggregator
from cep.interpreter.aggregators.exact import ExactSum, divided
from cep.interpreter.aggregators.sums import scattered
from cep.interpreter.rows import Evaluator, Row


class OfTwo(Aggregator):
    """Counts pairs and sums `parts` of them; a row with a null in it is skipped."""

    def __init__(self, left: Evaluator, right: Evaluator, parts: int) -> None:
        self._left = left
        self._right = right
        self._count = 0
        self._sums = [ExactSum() for _ in range(parts)]

    def enter(self, row: Row) -> Any:
        self._pass(row, 1)
        return self.value

    def leave(self, row: Row) -> Any:
        self._pass(row, -1)
        return self.value

    def reset(self) -> Any:
        self._count = 0
        for total in self._sums:
            total.clear()
        return self.value

    def _pass(self, row: Row, sign: int) -> None:
        left, right = self._left(row), self._right(row)
        if left is None or right is None or left != left or right != right:
            return
        self._count += sign
        self.add(left, right, sign)

    @abstractmethod
    def add(self, left: float, right: float, sign: int) -> None:
        """A pair comes, or with sign -1 goes."""

    def state(self) -> Any:
        return [self._count, *[total.state() for total in self._sums]]

    def restore(self, state: Any) -> None:
        self._count = state[0]
        for total, saved in zip(self._sums, state[1:], strict=True):
            total.restore(saved)


class WeightedPrice(OfTwo):
    """`vwap`: the sum of price * volume by that of volume; null of nothing, and of no volume."""

    def __init__(self, price: Evaluator, volume: Evaluator) -> None:
        super().__init__(price, volume, 2)

    def add(self, left: float, right: float, sign: int) -> None:
        self._sums[0].add_product(left, right, sign)
        self._sums[1].add(right, sign)

    @property
    def value(self) -> float | None:
        turnover, volume = self._sums
        if turnover.infinite or volume.infinite or not volume.whole:
            return None
        return divided(turnover.whole << volume.bits, volume.whole << turnover.bits)


class Correlation(OfTwo):
    """Pearson's; null of fewer than two pairs, and where one side does not change."""

    def __init__(self, left: Evaluator, right: Evaluator) -> None:
        super().__init__(left, right, 5)

    def add(self, left: float, right: float, sign: int) -> None:
        x, y, xx, yy, xy = self._sums
        x.add(left, sign)
        y.add(right, sign)
        xx.add_product(left, left, sign)
        yy.add_product(right, right, sign)
        xy.add_product(left, right, sign)

    @property
    def value(self) -> float | None:
        x, y, xx, yy, xy = self._sums
        if x.infinite or y.infinite:
            return None
        along, along_bits = scattered(self._count, xy, x, y)
        across, across_bits = scattered(self._count, xx, x, x)
        upward, upward_bits = scattered(self._count, yy, y, y)
        if not across * upward:
            return None
        # squared, so that there is one root: along ** 2 / (across * upward), scaled alike
        scale = 2 * (across_bits + upward_bits) - 4 * along_bits
        share = along * along << max(scale, 0), across * upward << max(-scale, 0)
        found = math.sqrt(divided(*share))
        return found if along > 0 else -found
