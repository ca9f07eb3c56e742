"""What an aggregator remembers while it runs: values come and go; its value after each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class Running(ABC):
    """A running value over what has come and not gone; told of the arguments of one row at once."""

    takes_nulls = False
    """Whether it is told of nulls where aggregators of its kind are not."""

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
    def add(self, *values: Any, **_: Any) -> None:  # so each may say what it takes
        """Values have come."""

    @abstractmethod
    def remove(self, *values: Any, **_: Any) -> None:
        """Values that had come have gone."""

    @abstractmethod
    def clear(self) -> None:
        """All have gone."""

    @abstractmethod
    def state(self) -> Any:
        """Plain data for a snapshot."""

    @abstractmethod
    def restore(self, state: Any) -> None:
        """Take over what `state` gave, into one just made."""


class Following(Running):
    """One that is never told what goes: it follows arrivals, or forgets nothing."""

    def remove(self, *values: Any, **_: Any) -> None:
        """Nothing goes."""
