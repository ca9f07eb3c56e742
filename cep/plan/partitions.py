"""Partitions of the syntax tree to partitions of the plan."""

from __future__ import annotations

from cep.lang import ast
from cep.plan import notes
from cep.plan.check import Checker
from cep.plan.nodes import Aggregation, Partition, RangeKeys, Table, ValueKey
from cep.plan.problems import Problems, with_article
from cep.plan.scope import one_row
from cep.plan.streams import Streams, holder_of
from cep.plan.types import Type


class PartitionBuilder:
    """Builds one partition without its queries."""

    def __init__(self, problems: Problems, streams: Streams) -> None:
        self.problems = problems
        self.streams = streams

    def build(self, node: ast.Partition, name: str) -> Partition:
        """The partition: its keys and how long they stay."""
        keys = tuple(self._key(key) for key in node.keys)
        for position, (key, one) in enumerate(zip(keys, node.keys, strict=True)):
            if any(other.stream == key.stream for other in keys[:position]):
                message = f"`{key.stream}` has two keys"
                raise self.problems.error(one.stream.span, message, "one expression is the key")
        idle_ms, purge_every_ms = self._purge(node)
        return Partition(name, keys, idle_ms, purge_every_ms)

    def _key(self, node: ast.ValuePartition | ast.RangePartition) -> ValueKey | RangeKeys:
        known = self.streams.find(node.stream)
        if isinstance(known, Table | Aggregation):
            message = f"`{node.stream.text}` is {with_article(holder_of(known))}, not a stream"
            hint = "its rows are shared by all keys; name the streams that are read"
            raise self.problems.error(node.stream.span, message, hint)
        scope = one_row(self.problems, node.stream.text, known.schema)
        checker = Checker(scope, None, self.streams.tables)
        if isinstance(node, ast.ValuePartition):
            key = checker.check(node.expression)
            if key.type in (Type.OBJECT, Type.LIST):
                message = f"a key is a single value, {checker.described_as(node.expression, key)}"
                raise self.problems.error(node.expression.span, message)
            return ValueKey(known.name, key)
        ranges = tuple((checker.condition(one), str(name.value)) for one, name in node.ranges)
        return RangeKeys(known.name, ranges)

    def _purge(self, node: ast.Partition) -> tuple[int | None, int | None]:
        """How long a key may be idle, and how often that is looked at."""
        purge = notes.find(node.annotations, "purge")
        if purge is None or not notes.enabled(purge):
            return None, None
        idle = notes.keyed(purge, "idle.period")
        if idle is None:
            hint = "write `@purge(enable='true', interval='1 min', idle.period='1 hour')`"
            raise self.problems.error(purge.span, "`@purge` needs `idle.period`", hint)
        idle_ms = notes.duration(self.problems, purge, "idle.period", idle)
        interval = notes.keyed(purge, "interval")
        if interval is None:
            return idle_ms, idle_ms
        return idle_ms, notes.duration(self.problems, purge, "interval", interval)
