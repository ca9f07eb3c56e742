"""Whether all of the flags in the window are true, or one."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from cep.interpreter.aggregators.base import OfOne
from cep.interpreter.rows import Evaluator


class Truth(OfOne):
    """Counts true and false."""

    def __init__(self, argument: Evaluator) -> None:
        super().__init__(argument)
        self._counts = [0, 0]

    @property
    @abstractmethod
    def value(self) -> bool: ...

    @property
    def is_empty(self) -> bool:
        return self._counts == [0, 0]

    def add(self, value: bool) -> None:
        self._counts[value] += 1

    def remove(self, value: bool) -> None:
        self._counts[value] -= 1

    def clear(self) -> None:
        self._counts = [0, 0]

    def state(self) -> Any:
        return self._counts

    def restore(self, state: Any) -> None:
        self._counts = list(state)


class All(Truth):
    """`and`: false of nothing."""

    @property
    def value(self) -> bool:
        falses, trues = self._counts
        return trues > 0 and not falses


class One(Truth):
    """`or`: false of nothing."""

    @property
    def value(self) -> bool:
        return self._counts[True] > 0
