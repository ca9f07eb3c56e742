"""Aggregations of the syntax tree to aggregations of the plan."""

from __future__ import annotations

from cep.lang import ast
from cep.plan import notes
from cep.plan.check import Checker
from cep.plan.expressions import Expression
from cep.plan.functions import AGGREGATORS, aggregator_of
from cep.plan.inputs import InputBuilder, need_whole
from cep.plan.joins import UNITS, unit_named
from cep.plan.nodes import Aggregation, Stream
from cep.plan.problems import Problems, Skip, with_article
from cep.plan.scope import Place, Scope
from cep.plan.selection import SelectionBuilder
from cep.plan.steps import GroupBy, Project, schema_of
from cep.plan.streams import Streams, holder_of
from cep.plan.types import Attribute, Schema, Type

START = Attribute("AGG_TIMESTAMP", Type.LONG)
MINUTE_MS = 60_000
HOUR_MS, DAY_MS = 60 * MINUTE_MS, 24 * 60 * MINUTE_MS
YEAR_MS = 366 * DAY_MS
PURGE_EVERY_MS = 15 * MINUTE_MS
RETENTION_MS = {"sec": 120_000, "min": DAY_MS, "hour": 30 * DAY_MS, "day": YEAR_MS}
LEAST_RETENTION_MS = {
    "sec": 120_000,
    "min": 120 * MINUTE_MS,
    "hour": 25 * HOUR_MS,
    "day": 32 * DAY_MS,
    "month": 13 * 30 * DAY_MS,
}
"""Of each unit enough must stay to make the next coarser one."""


class AggregationBuilder:
    """Builds one aggregation."""

    def __init__(self, problems: Problems, streams: Streams) -> None:
        self.problems = problems
        self.streams = streams

    def build(self, node: ast.AggregationDefinition) -> Aggregation:
        """The aggregation; skips when a clause was in error, which is reported."""
        known = self.streams.find(node.source.stream, node.source.marker)
        if not isinstance(known, Stream):
            message = (
                f"`{node.source.stream.text}` is {with_article(holder_of(known))}, not a stream"
            )
            raise self.problems.error(node.source.stream.span, message, "aggregate a stream")
        self._refuse_shards(node)
        inputs = InputBuilder(self.problems, self.streams)
        source = inputs.stream(node.source, known)
        need_whole(inputs)
        self._refuse_window(node)
        scope = Scope(self.problems, (Place(node.source.stream.text, source.schema),))
        selection = SelectionBuilder(self.problems, scope, self.streams.tables)
        projection = selection.project(node.items, node)
        group_by = selection.group_by(node.group_by)
        if selection.broken:
            raise Skip
        for aggregate in selection.aggregates:
            if not aggregator_of(aggregate.function).is_calendar:
                message = f"`{aggregate.function}` cannot be aggregated over calendar units"
                hint = "possible are " + ", ".join(
                    one.name for one in AGGREGATORS if one.is_calendar
                )
                raise self.problems.error(node.span, message, hint)
        every_ms, retention_ms = self._purge(node)
        return Aggregation(
            name=node.name.text,
            input=source,
            steps=(GroupBy(group_by, tuple(selection.aggregates)), Project(projection)),
            by=self._by(node, scope),
            durations=node.durations,
            schema=Schema((START, *schema_of(projection).attributes)),
            purge_every_ms=every_ms,
            retention_ms=retention_ms,
        )

    def _refuse_shards(self, node: ast.AggregationDefinition) -> None:
        shards = notes.find(node.annotations, "partitionbyid")
        if shards is not None and notes.enabled(shards):
            hint = "remove it: one process aggregates here"
            message = "`@PartitionById` shares an aggregation between servers"
            raise self.problems.error(shards.span, message, hint)

    def _refuse_window(self, node: ast.AggregationDefinition) -> None:
        for handler in node.source.handlers:
            if isinstance(handler, ast.Handler) and handler.is_window:
                message = "an aggregation takes no window"
                hint = "its rows stay per calendar unit; remove the window"
                raise self.problems.error(handler.span, message, hint)

    def _by(self, node: ast.AggregationDefinition, scope: Scope) -> Expression | None:
        if node.by is None:
            return None
        by = Checker(scope).check(node.by)
        if by.type not in (Type.LONG, Type.STRING):
            message = f"`{node.by.name.text}` is {with_article(by.type)}, which is no time"
            raise self.problems.error(node.by.span, message, "a time is a long in ms, or a string")
        return by

    def _purge(
        self, node: ast.AggregationDefinition
    ) -> tuple[int | None, tuple[tuple[str, int], ...]]:
        """How often old rows go, and how long those of each unit stay; asked for with `@purge`."""
        purge = notes.find(node.annotations, "purge")
        if purge is None or not notes.enabled(purge):
            return None, ()
        interval = notes.keyed(purge, "interval")
        every_ms = PURGE_EVERY_MS
        if interval is not None:
            every_ms = notes.duration(self.problems, purge, "interval", interval)
        retention = dict(RETENTION_MS)
        for inner in purge.annotations:
            if inner.name == "retentionperiod":
                for key, value in inner.elements:
                    self._retain(inner, retention, key, value)
        kept = ((unit, retention[unit]) for unit in node.durations if unit in retention)
        return every_ms, tuple(kept)

    def _retain(
        self, note: ast.Annotation, retention: dict[str, int], key: str, value: str
    ) -> None:
        unit = unit_named(key)
        if unit is None:
            hint = "units are " + ", ".join(UNITS)
            raise self.problems.error(note.span, f"unknown unit `{key}`", hint)
        if value.strip().lower() == "all":
            retention.pop(unit, None)
            return
        kept_ms = notes.duration(self.problems, note, key, value)
        least_ms = LEAST_RETENTION_MS.get(unit, 0)
        if kept_ms < least_ms:
            message = f"rows per {unit} must stay {least_ms // 1000} sec or more"
            hint = "coarser units are made of them"
            raise self.problems.error(note.span, message, hint)
        retention[unit] = kept_ms
