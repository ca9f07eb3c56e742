"""What every aggregator is: values enter, leave and start again; its value after each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from cep.interpreter.rows import Evaluator, Row


class Aggregator(ABC):
    """A running value over the rows that have entered and not left."""

    @property
    @abstractmethod
    def value(self) -> Any:
        """The value now."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left in it once as many rows have gone as have come.

        In joins other rows may go than came, since a row that leaves meets what is held then.
        """
        return True

    @abstractmethod
    def enter(self, row: Row) -> Any:
        """The value after a row has come."""

    @abstractmethod
    def leave(self, row: Row) -> Any:
        """The value after a row that had come has gone."""

    @abstractmethod
    def reset(self) -> Any:
        """The value after all have gone at once."""

    @abstractmethod
    def state(self) -> Any:
        """Plain data for a snapshot."""

    @abstractmethod
    def restore(self, state: Any) -> None:
        """Take over what `state` gave."""


class OfOne(Aggregator):
    """An aggregator of one argument, which it computes itself; nulls (and NaN) are skipped."""

    def __init__(self, argument: Evaluator) -> None:
        self._argument = argument

    def enter(self, row: Row) -> Any:
        value = self._argument(row)
        if value is not None and value == value:
            self.add(value)
        return self.value

    def leave(self, row: Row) -> Any:
        value = self._argument(row)
        if value is not None and value == value:
            self.remove(value)
        return self.value

    def reset(self) -> Any:
        self.clear()
        return self.value

    @abstractmethod
    def add(self, value: Any) -> None:
        """A value has come."""

    @abstractmethod
    def remove(self, value: Any) -> None:
        """A value that had come has gone."""

    @abstractmethod
    def clear(self) -> None:
        """All have gone."""


class Following(OfOne):
    """An indicator: it follows what comes; rows that leave a window change nothing."""

    def leave(self, row: Row) -> Any:
        return self.value

    def remove(self, value: Any) -> None:
        """Nothing goes."""
