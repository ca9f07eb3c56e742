"""The buckets of an aggregation: one per calendar unit, start and group."""

from __future__ import annotations

from typing import Any

from cep.interpreter.aggregators import RowAggregator, make_aggregator
from cep.interpreter.context import Context
from cep.interpreter.rows import Row, RowKind
from cep.plan.expressions import Aggregate
from cep.plan.groups import group_of

Key = tuple[int, tuple[Any, ...]]
"""Start of the unit in ms UTC, and the group."""


class Bucket:
    """Aggregates of the rows of one unit and group, and the latest of these rows."""

    __slots__ = ("aggregators", "time", "values")

    def __init__(self, aggregators: list[RowAggregator]) -> None:
        self.time = -1
        self.values: list[Any] = []
        self.aggregators = aggregators

    def enter(self, row: Row, time_ms: int) -> None:
        """Count a row in; the last of the latest time gives the plain values."""
        for aggregator in self.aggregators:
            aggregator.enter(row)
        if time_ms >= self.time or not self.values:
            self.time, self.values = time_ms, row.values

    def row(self) -> Row:
        """The latest row with the aggregates as they are now."""
        row = Row(self.time, self.values, RowKind.CURRENT)
        row.aggregates = [aggregator.value for aggregator in self.aggregators]
        return row


class Buckets:
    """All buckets of one calendar unit."""

    def __init__(self, aggregates: tuple[Aggregate, ...], context: Context) -> None:
        self._aggregates = aggregates
        self._context = context
        self._by_key: dict[Key, Bucket] = {}

    def enter(self, key: Key, row: Row, time_ms: int) -> None:
        """Count a row in."""
        bucket = self._by_key.get(key)
        if bucket is None:
            bucket = self._by_key[key] = self._make()
        bucket.enter(row, time_ms)

    def between(self, start_ms: int, end_ms: int) -> dict[Key, Bucket]:
        """The buckets that start at or after `start_ms` and before `end_ms`."""
        return {key: bucket for key, bucket in self._by_key.items() if start_ms <= key[0] < end_ms}

    def drop_before(self, time_ms: int) -> None:
        """Forget the buckets that start before a time."""
        self._by_key = {key: b for key, b in self._by_key.items() if key[0] >= time_ms}

    def _make(self) -> Bucket:
        context = self._context
        return Bucket([make_aggregator(one, context, rows_leave=False) for one in self._aggregates])

    def state(self) -> Any:
        return [
            [
                start,
                list(group),
                bucket.time,
                list(bucket.values),
                [a.state() for a in bucket.aggregators],
            ]
            for (start, group), bucket in self._by_key.items()
        ]

    def restore(self, state: Any) -> None:
        """Take the state back, into buckets just made."""
        self._by_key = {}
        for start, group, time, values, aggregators in state:
            bucket = self._by_key[start, group_of(group)] = self._make()
            bucket.time, bucket.values = time, values
            for aggregator, saved in zip(bucket.aggregators, aggregators, strict=True):
                aggregator.restore(saved)
