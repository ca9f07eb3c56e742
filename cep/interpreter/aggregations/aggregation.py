"""An aggregation while it runs: each row is counted in at once, in every calendar unit.

So late rows find their bucket, and the bucket that is still filling is seen like the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from cep.interpreter.aggregations.buckets import Bucket, Buckets, Key
from cep.interpreter.aggregations.calendar import parse_span, parse_time, start_of
from cep.interpreter.context import Context
from cep.interpreter.expressions import evaluator
from cep.interpreter.inputs import make_input
from cep.interpreter.rows import Chunk, Evaluator, Row
from cep.interpreter.tables.hash_order import in_hash_order, joined_key, slots_for
from cep.interpreter.tables.search import Find
from cep.plan.expressions import Expression
from cep.plan.groups import group_of
from cep.plan.joins import unit_named
from cep.plan.nodes import Aggregation


class AggregationPart:
    """The buckets of a `define aggregation`."""

    def __init__(self, plan: Aggregation, context: Context) -> None:
        self.plan = plan
        self._context = context
        self._by = None if plan.by is None else evaluator(plan.by, context)
        self._group = [evaluator(column, context) for column in plan.group_by]
        self._project = [evaluator(expression, context) for _, expression in plan.projection]
        self._units = {unit: Buckets(plan.aggregates, context) for unit in plan.durations}
        self._purging = False
        self._purge = context.timer(f"{plan.name}.purge", self._purge_due)
        self.receive = make_input(plan.input, context.within(plan.name), self._enter).receive
        context.keep(self, plan.name)

    def view(
        self, within: tuple[Expression, ...], per: Expression | None, context: Context
    ) -> View:
        """What a join or an on-demand query sees of it."""
        return View(self, within, per, context)

    def rows(self, unit: str, start_ms: int, end_ms: int) -> list[Row]:
        """A row per bucket of a unit that starts in that range, in the order Siddhi lists them."""
        found = self._units[unit].between(start_ms, end_ms)
        return [self._row(key, found[key]) for key in listed(found)]

    def _row(self, key: Key, bucket: Bucket) -> Row:
        row = bucket.row()
        return Row(key[0], [key[0], *(project(row) for project in self._project)])

    def _enter(self, chunk: Chunk) -> None:
        for row in chunk:
            time_ms = row.time if self._by is None else as_ms(self._by(row))
            group = group_of([column(row) for column in self._group])
            for unit, buckets in self._units.items():
                buckets.enter((start_of(unit, time_ms), group), row, time_ms)
        if self.plan.purge_every_ms and not self._purging:
            self._purging = True
            self._purge.at(self._context.now_ms + self.plan.purge_every_ms)

    def _purge_due(self, due_ms: int) -> None:
        for unit, retention_ms in self.plan.retention_ms:
            if unit in self._units:
                self._units[unit].drop_before(due_ms - retention_ms)
        if self.plan.purge_every_ms:
            self._purge.at(due_ms + self.plan.purge_every_ms)

    def state(self) -> Any:
        units = {unit: buckets.state() for unit, buckets in self._units.items()}
        return {"units": units, "purging": self._purging}

    def restore(self, state: Any) -> None:
        for unit, buckets in self._units.items():
            buckets.restore(state["units"][unit])
        self._purging = state["purging"]


class Read(Protocol):
    """An aggregation of which rows can be read."""

    @property
    def plan(self) -> Aggregation:
        """What it is."""
        ...

    def rows(self, unit: str, start_ms: int, end_ms: int) -> list[Row]:
        """A row per bucket of a unit that starts in a range of time."""
        ...


class View:
    """An aggregation `within` a range of time, `per` a unit; both may depend on the asking row."""

    def __init__(
        self,
        part: Read,
        within: tuple[Expression, ...],
        per: Expression | None,
        context: Context,
    ) -> None:
        if per is None or not within:
            raise ValueError(f"{part.plan.name} is read `within` a range of time, `per` a unit")
        self._part = part
        self._within = [evaluator(expression, context) for expression in within]
        self._per: Evaluator = evaluator(per, context)

    def rows(self, asking: Row) -> Iterable[Row]:
        """The rows the asking row sees; ValueError when its times or its unit are none."""
        bounds = [bound(asking) for bound in self._within]
        return self._part.rows(*asked(self._part.plan, bounds, str(self._per(asking))))

    def index(self, key: Expression) -> Find | None:
        """No index: the rows are made anew each time."""
        return None


def asked(plan: Aggregation, bounds: list[Any], word: str) -> tuple[str, int, int]:
    """The unit that a word names, start and end (not in) in ms UTC; ValueError if there is none."""
    unit = unit_named(word)
    if unit is None:
        raise ValueError(f"`per {word!r}`: no such unit; for example 'hours'")
    start, end = range_of(bounds)
    if unit not in plan.durations:
        units = ", ".join(plan.durations)
        raise ValueError(f"aggregation {plan.name} has no {unit}, only {units}")
    return unit, start, end


def listed(keys: Iterable[Key]) -> list[Key]:
    """Starts and groups, given as they came, in the order in which Siddhi lists them."""
    by_text = {joined_key((start, *group)): (start, group) for start, group in keys}
    return [by_text[text] for text in in_hash_order(by_text, slots_for(len(by_text)))]


def range_of(bounds: list[Any]) -> tuple[int, int]:
    """Start and end (not in) of one time with `**`, or of two, in ms UTC; ValueError if none."""
    if len(bounds) == 1:
        return parse_span(str(bounds[0]))
    start, end = as_ms(bounds[0]), as_ms(bounds[1])
    if start >= end:
        raise ValueError(f"`within` starts at {start} and ends at {end}: the start comes first")
    return start, end


def as_ms(value: Any) -> int:
    """A time in ms UTC, given so or as text; ValueError for anything else, null among it."""
    if isinstance(value, str):
        return parse_time(value)
    if isinstance(value, int):
        return value
    raise ValueError(f"{value!r} is no time")


def make_aggregation(plan: Aggregation, context: Context) -> AggregationPart:
    """An aggregation, kept for snapshots; its `receive` reads the input stream."""
    return AggregationPart(plan, context)
