"""Partitions as nodes: rows go to the home of their key, where the queries have their state."""

from __future__ import annotations

from dataclasses import dataclass, field

from cep.engine.machine.arrivals import with_arrival
from cep.engine.machine.expressions import Unsupported
from cep.engine.machine.homes import Home
from cep.engine.machine.kernels.keys import REAL_KEY, TEXT_KEY, TRUTH_KEY, WHOLE_KEY
from cep.engine.machine.kernels.partitions import (
    HOME_KEY,
    HOME_OWNER,
    PARTITION_STATE,
    ROUTE_HOME,
)
from cep.engine.machine.kernels.purge import PURGE_HOME
from cep.engine.machine.kernels.steps import PURGE, ROUTE, TO_ALL
from cep.engine.machine.program import Builder, StreamNode, names_of
from cep.interpreter.partitions import PURGE_EVERY_MS
from cep.plan.nodes import Partition, RangeKeys, ValueKey
from cep.plan.query import Query
from cep.plan.types import Type

TAGS = {Type.STRING: TEXT_KEY, Type.BOOL: TRUTH_KEY, Type.INT: WHOLE_KEY, Type.LONG: WHOLE_KEY,
        Type.FLOAT: REAL_KEY, Type.DOUBLE: REAL_KEY}  # fmt: skip
ROUTED_STARTS = 2
"""Behind the first argument of a node stand how many starts there are, and where."""


@dataclass(slots=True)
class PartitionNode:
    """A partition: its homes, the streams in them, and what routes rows to them."""

    builder: Builder
    plan: Partition
    home: Home = field(init=False)
    starts: list[int] = field(default_factory=list)
    streams: dict[str, StreamNode] = field(default_factory=dict)
    _routes: list[int] = field(default_factory=list)
    _state: int = 0
    _purge: int = 0

    def __post_init__(self) -> None:
        builder, name = self.builder, self.plan.name
        first = HOME_KEY + 1 if self.plan.idle_ms is None else HOME_OWNER + 1
        self.home = builder.homes[name] = builder.owners.home(name, first)
        with builder.writing(("partition", name)):
            self._state = builder.home.take(PARTITION_STATE)
            if self.plan.idle_ms is not None:  # first of its nodes, which changes of rules go by
                self._purge = self._lower_purge(self.plan.idle_ms)
        self._tag()

    def _lower_purge(self, idle_ms: int) -> int:
        """What forgets idle keys; how long a home is is not known yet."""
        builder, part = self.builder, ("partition", self.plan.name)
        every_ms = self.plan.purge_every_ms or PURGE_EVERY_MS
        return builder.node(
            PURGE, 0, 0, 0, self._state, builder.ranks[part],
            builder.cell(idle_ms), builder.cell(every_ms), 0,
        )  # fmt: skip

    def _tag(self) -> int:
        """What the keys are, which all are of one kind."""
        tags = {
            TAGS.get(key.expression.type, -1) if isinstance(key, ValueKey) else TEXT_KEY
            for key in self.plan.keys
        }
        if len(tags) > 1 or -1 in tags:
            raise Unsupported("keys of a partition that are of several types")
        return tags.pop() if tags else TEXT_KEY

    def source(self, query: Query, name: str) -> StreamNode:
        """The stream of that name inside; rows of the outer one are routed to it from here on."""
        if self.is_inner(name):
            return self.builder.streams[name]
        if name not in self.streams:
            outer = self.builder.streams[name]
            with self.builder.writing(("partition", self.plan.name)):
                inside = self.streams[name] = self.builder.inner_stream(
                    outer.schema, has_arrival=outer.has_arrival
                )
                outer.readers.append(self._route(name, outer, inside))
        return self.streams[name]

    def is_inner(self, stream: str) -> bool:
        """Whether a stream exists once per key."""
        return stream.startswith(f"{self.plan.name}#")

    def _route(self, name: str, outer: StreamNode, inside: StreamNode) -> int:
        key = next((one for one in self.plan.keys if one.stream == name), None)
        builder, width = self.builder, outer.width
        if key is None:
            return builder.node(TO_ALL, inside.node, width, width, self._state, 0)
        names = names_of(outer.schema)
        writer = builder.writer(with_arrival(names, width - 1) if outer.has_arrival else names)
        codes: list[int] = []
        if isinstance(key, RangeKeys):
            for condition, text in key.ranges:
                codes += builder.code(writer.condition(condition)), builder.code_of(text)
        else:
            codes.append(builder.value(writer.value(key.expression)))
        ranges = len(key.ranges) if isinstance(key, RangeKeys) else 0
        route = builder.node(
            ROUTE, inside.node, width, width, self._state, 0,
            self._tag(), 0, 0, 0, int(self._purge != 0), ranges, *codes,
        )  # fmt: skip
        self._routes.append(route)
        return route

    def finish(self) -> None:
        """All of its queries are written: say how long a home is, and what begins with it."""
        starts = self.builder.block(self.starts)
        for route in self._routes:
            self.builder.patch(route + ROUTE_HOME, self.home.words, len(self.starts), starts)
        if self._purge:
            self.builder.patch(self._purge + PURGE_HOME, self.home.words)
            self.builder.starts.append(self._purge)
