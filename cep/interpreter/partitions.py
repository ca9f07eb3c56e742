"""Partitions: each key has instances of the partition's queries, made when the key first comes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import groupby
from typing import Any

from cep.interpreter.context import Context
from cep.interpreter.expressions import evaluator
from cep.interpreter.outputs import QueryCallback
from cep.interpreter.queries import RunningQuery
from cep.interpreter.rows import Chunk, Emit, Evaluator, Row
from cep.interpreter.streams import Junction
from cep.plan.change import PartId
from cep.plan.nodes import Partition, RangeKeys, ValueKey
from cep.plan.query import Query

KeysOf = Callable[[Row], list[str]]
PURGE_EVERY_MS = 5 * 60_000
"""How often idle keys are looked for where the rules do not say."""


class Instance:
    """The queries of one key, with junctions of their own for what they read."""

    def __init__(self, partition: RunningPartition, context: Context) -> None:
        self.context = context
        self.seen_ms = 0
        self._partition = partition
        self._streams: dict[str, Junction] = {}
        self._queries = [self._make(query) for query in partition.queries]

    def _make(self, query: Query) -> RunningQuery:
        callbacks = self._partition.callbacks(query.name)
        running = RunningQuery(query, self.context.within(query.name), self._target, callbacks)
        for name, receiver in running.receivers:
            self.stream(name).subscribe(receiver)
        return running

    def stream(self, name: str) -> Junction:
        """This key's junction of a stream that its queries read."""
        if name not in self._streams:
            outer = self._partition.context.shared.streams.get(name)
            fault = None if outer is None else outer.fault
            self._streams[name] = Junction(name, fault, self.context.compat)
        return self._streams[name]

    def _target(self, name: str) -> Junction:
        inner = self._partition.is_inner(name)
        return self.stream(name) if inner else self.context.shared.streams[name]

    def start(self, time_ms: int, going_on: Collection[PartId] = ()) -> None:
        for query in self._queries:
            if ("query", query.name) not in going_on:
                query.start(time_ms)


class RunningPartition:
    """Routes the rows of each stream to the instances of their keys."""

    def __init__(
        self,
        partition: Partition,
        queries: tuple[Query, ...],
        context: Context,
        callbacks: Callable[[str], list[QueryCallback]],
    ) -> None:
        self.queries = queries
        self.context = context
        self.callbacks = callbacks
        self._partition = partition
        self._instances: dict[str, Instance] = {}
        self._keys = {key.stream: keys_of(key, context) for key in partition.keys}
        if partition.idle_ms is not None:
            self._purge = context.timer("purge", self._purge_idle)

    def is_inner(self, stream: str) -> bool:
        """Whether a stream exists once per key."""
        return stream.startswith(f"{self._partition.name}#")

    def receivers(self, query: Query) -> list[tuple[str, Emit]]:
        """What the partition has to hear of for the sake of a query: its outer streams."""
        names = dict.fromkeys(source.stream for source in query.inputs)
        held = {*self.context.shared.tables, *self.context.shared.aggregations}
        outer = [name for name in names if not self.is_inner(name) and name not in held]
        return [(name, self._router(name)) for name in outer]

    def start(self, time_ms: int) -> None:
        """Begin to look for idle keys."""
        if self._partition.idle_ms is not None:
            self._purge.at(time_ms + (self._partition.purge_every_ms or PURGE_EVERY_MS))

    def begin(self, time_ms: int, going_on: Collection[PartId]) -> None:
        """Start, for the keys there are, the queries that are not going on from other rules."""
        for instance in self._instances.values():
            instance.start(time_ms, going_on)

    def _router(self, name: str) -> Emit:
        keys_of_row = self._keys.get(name)
        if keys_of_row is None:
            return lambda chunk: self._to_all(name, chunk)
        return lambda chunk: self._to_keys(name, chunk, keys_of_row)

    def _to_all(self, name: str, chunk: Chunk) -> None:
        for instance in list(self._instances.values()):
            instance.stream(name).send(chunk)

    def _to_keys(self, name: str, chunk: Chunk, keys_of_row: KeysOf) -> None:
        """Each run of rows with one key goes on as one chunk."""
        keyed = [(key, row) for row in chunk for key in keys_of_row(row)]
        if len(keyed) == 1:
            [(key, row)] = keyed
            self._instance(key).stream(name).send([row])
            return
        for key, run in groupby(keyed, lambda pair: pair[0]):
            self._instance(key).stream(name).send([row for _, row in run])

    def _instance(self, key: str) -> Instance:
        instance = self._instances.get(key)
        if instance is None:
            instance = self._make(key)
            instance.start(instance.context.now_ms)
        instance.seen_ms = self.context.now_ms
        return instance

    def _make(self, key: str) -> Instance:
        instance = self._instances[key] = Instance(self, self.context.of_key(key))
        return instance

    def _purge_idle(self, due_ms: int) -> None:
        idle_ms = self._partition.idle_ms or 0
        now_ms = self.context.now_ms
        for key, instance in list(self._instances.items()):
            if instance.seen_ms + idle_ms < now_ms:
                instance.context.drop()
                del self._instances[key]
        self.start(max(due_ms, now_ms))

    def keys(self) -> list[list[Any]]:
        """The keys there are, each with when it was last seen, for a snapshot."""
        return [[key, instance.seen_ms] for key, instance in self._instances.items()]

    def make_keys(self, keys: Iterable[list[Any]]) -> None:
        """Instances for the keys of a snapshot, not started: their state is restored next."""
        for key, seen_ms in keys:
            self._make(key).seen_ms = seen_ms


def keys_of(key: ValueKey | RangeKeys, context: Context) -> KeysOf:
    """The keys a row belongs to: one at most by value, as many as are true by ranges."""
    if isinstance(key, ValueKey):
        return _value_keys(evaluator(key.expression, context))
    ranges = [(evaluator(condition, context), name) for condition, name in key.ranges]
    return lambda row: [name for holds, name in ranges if holds(row) is True]


def _value_keys(value_of: Evaluator) -> KeysOf:
    def keys(row: Row) -> list[str]:
        value = value_of(row)
        return [] if value is None else [str(value)]

    return keys
