"""Aggregators of a plan at work on rows: their arguments evaluated, nulls left out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from cep.interpreter.context import Context
from cep.interpreter.expressions import evaluator
from cep.interpreter.fed import Fed
from cep.interpreter.rows import Evaluator, Row
from cep.plan.expressions import Aggregate
from cep.plan.functions import aggregator_of
from cep.plan.functions.running import Running


class RowAggregator(ABC):
    """A running value over the rows that have entered and not left."""

    def __init__(self, running: Running) -> None:
        self._running = running

    @property
    def value(self) -> Any:
        """The value now."""
        return self._running.value

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left in it; see `Running.is_empty`."""
        return self._running.is_empty

    @abstractmethod
    def enter(self, row: Row) -> Any:
        """The value after a row has come."""

    @abstractmethod
    def leave(self, row: Row) -> Any:
        """The value after a row that had come has gone."""

    def reset(self) -> Any:
        """The value after all have gone at once."""
        self._running.clear()
        return self._running.value

    def state(self) -> Any:
        """Plain data for a snapshot."""
        return self._running.state()

    def restore(self, state: Any) -> None:
        """Take over what `state` gave."""
        self._running.restore(state)


class OfOne(RowAggregator):
    """Of one argument; nulls (and NaN) are skipped."""

    def __init__(self, running: Running, arguments: list[Evaluator]) -> None:
        super().__init__(running)
        [self._argument] = arguments

    def enter(self, row: Row) -> Any:
        value = self._argument(row)
        if value is not None and value == value:
            self._running.add(value)
        return self._running.value

    def leave(self, row: Row) -> Any:
        value = self._argument(row)
        if value is not None and value == value:
            self._running.remove(value)
        return self._running.value


class OfSeveral(RowAggregator):
    """Of any number of arguments; rows with a null (or NaN) among them are skipped, if they are."""

    def __init__(self, running: Running, arguments: list[Evaluator], skips: bool) -> None:
        super().__init__(running)
        self._arguments = arguments
        self._skips = skips

    def enter(self, row: Row) -> Any:
        values = [argument(row) for argument in self._arguments]
        if not self._skips or all(value is not None and value == value for value in values):
            self._running.add(*values)
        return self._running.value

    def leave(self, row: Row) -> Any:
        values = [argument(row) for argument in self._arguments]
        if not self._skips or all(value is not None and value == value for value in values):
            self._running.remove(*values)
        return self._running.value


class Following(OfSeveral):
    """It follows arrivals: rows that leave a window change nothing."""

    def leave(self, row: Row) -> Any:
        return self._running.value


class Ever(OfSeveral):
    """Nothing makes it forget; what a reset does is its own affair."""

    def leave(self, row: Row) -> Any:
        """A row that leaves counts as well: in Siddhi too, where it may not have come before."""
        return self.enter(row)


class OwnAggregator(RowAggregator):
    """An indicator of the user: it follows what comes; rows that leave a window change nothing."""

    def __init__(self, aggregate: Aggregate, read: Sequence[Evaluator]) -> None:
        self._fed = Fed(aggregate.function, aggregate.digest, aggregate.arguments, read)

    @property
    def value(self) -> Any:
        return self._fed.given[0]

    def enter(self, row: Row) -> Any:
        return self._fed.take(row)[0]

    def leave(self, row: Row) -> Any:
        return self.value

    def reset(self) -> Any:
        self._fed.reset()
        return self.value

    def state(self) -> Any:
        return self._fed.state()

    def restore(self, state: Any) -> None:
        self._fed.restore(state)


def make_aggregator(
    aggregate: Aggregate, context: Context, *, rows_leave: bool = True
) -> RowAggregator:
    """A running aggregator, empty; KeyError when there is none of that name.

    `rows_leave`: whether rows may leave again, one by one or all at once.
    """
    if aggregate.digest:
        return OwnAggregator(aggregate, [evaluator(one, context) for one in aggregate.arguments])
    definition = aggregator_of(aggregate.function)
    plain = definition.plain
    if context.compat and definition.plain_siddhi is not None:
        plain = definition.plain_siddhi
    if not rows_leave and definition.plain_ever is not None:
        plain = definition.plain_ever
    running = plain(aggregate)
    values = () if definition.of_rows else definition.values(aggregate)
    arguments = [evaluator(argument, context) for argument in values]
    skips = definition.nulls == "skipped" and not running.takes_nulls
    match definition.remembers:
        case "arrivals":
            return Following(running, arguments, skips)
        case "ever":
            return Ever(running, arguments, skips)
    if skips and len(arguments) == 1:
        return OfOne(running, arguments)
    return OfSeveral(running, arguments, skips)
