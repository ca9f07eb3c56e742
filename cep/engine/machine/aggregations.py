"""Aggregations as nodes: rows are counted in natively, and read by Python, for those who join."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from cep.engine.jit import plain
from cep.engine.machine.aggregates import group_arguments
from cep.engine.machine.expressions import HostCall, Unsupported, can_fail
from cep.engine.machine.host import Host, reading, writing
from cep.engine.machine.kernels.buckets import (
    BUCKETS_STATE,
    LATEST,
    MONTH,
    NUMBER,
    ROW,
    WEEK,
    YEAR,
)
from cep.engine.machine.kernels.groups import KEY, group_read
from cep.engine.machine.kernels.steps import BUCKET, DROP, TIMES
from cep.engine.machine.kernels.words import (
    CURRENT,
    HOME,
    INDEX_AT,
    INDEX_ROOM,
    KIND,
    RING,
    TIME,
    VALUES,
)
from cep.engine.machine.program import Builder, Held, names_of
from cep.engine.machine.queries import Place, Selecting, lower_input
from cep.engine.machine.views import cells_for, ring_for
from cep.interpreter.aggregations.aggregation import as_ms, asked, listed
from cep.interpreter.aggregations.buckets import Key
from cep.interpreter.aggregations.calendar import FIXED_MS, start_of
from cep.interpreter.context import Context, Shared
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Row
from cep.plan.expressions import Call, EventTime, walk
from cep.plan.functions.scalars.records import UUID
from cep.plan.nodes import Aggregation
from cep.plan.query import Join, Query
from cep.plan.steps import GroupBy, Return
from cep.plan.types import Type

CALENDAR = {"week": WEEK, "month": MONTH, "year": YEAR}


@dataclass(frozen=True, slots=True)
class Lowered:
    """Where the buckets of an aggregation are: the node of each unit and its state, in the home of
    what is in no partition; where a bucket has its last row, and the words of that.
    """

    plan: Aggregation
    selecting: Selecting
    units: dict[str, tuple[int, int]]
    tail: int


def lower_aggregation(builder: Builder, plan: Aggregation) -> None:
    """Write an aggregation, and have it read its stream; `builder.aggregations` has it then."""
    if plan.purge_every_ms is not None:
        raise Unsupported("`@purge`")
    for _, value in plan.projection:
        for node in walk(value):
            if isinstance(node, Call) and (node.function == UUID.name or can_fail(node)):
                raise Unsupported(f"`{node.function}` in an aggregation")
    part = ("aggregation", plan.name)
    place = Place(builder, builder.ranks[part], None, part)
    query = Query(plan.name, plan.input, plan.steps, Return("current"))
    words = VALUES + len(plan.input.schema)
    selecting = Selecting.of(builder, query, names_of(plan.input.schema), words)
    time_word, start_word = selecting.width, selecting.width + 1
    selecting = replace(selecting, width=selecting.width + 2)
    step = query.step(GroupBy)
    assert step is not None
    width = selecting.width
    following = builder.node(DROP, 0, width, width, 0, place.rank)
    units, tail = dict[str, tuple[int, int]](), 0
    for unit in reversed(plan.durations):
        columns = [start_word, *selecting.names.group(step.columns)]
        kept = selecting.words + len(query.aggregates)
        arguments, tail = group_arguments(place, selecting, step, columns, ROW + kept)
        state = builder.home.take(BUCKETS_STATE)
        size = FIXED_MS.get(unit) or CALENDAR[unit]
        following = builder.node(
            BUCKET, following, width, width, state, place.rank,
            *arguments, size, time_word, start_word, tail, selecting.words,
        )  # fmt: skip
        units[unit] = following, state
    following = _times(place, plan, selecting, following, time_word)
    entry, _ = lower_input(place, plan.input, selecting, following)
    builder.streams[plan.input.stream].readers.append(entry)
    builder.aggregations[plan.name] = Lowered(plan, selecting, units, tail)


def _times(place: Place, plan: Aggregation, selecting: Selecting, following: int, word: int) -> int:
    builder, by = place.builder, plan.by
    writer = builder.writer(selecting.names)
    looked = Call(f"aggregate {plan.name}", (by or EventTime(None),), Type.LONG)
    is_text = by is not None and by.type is Type.STRING
    check = partial(_looked_at, plan.durations)
    look = writer.computed(HostCall(looked, "", lambda host: check, only_fails=not is_text))
    return builder.node(
        TIMES, following, selecting.width, selecting.width, 0, place.rank,
        0 if by is None else builder.code(writer.value(by)),
        int(is_text), builder.code(look), word,
        int(any(unit in CALENDAR for unit in plan.durations)),
    )  # fmt: skip


def _looked_at(units: tuple[str, ...], value: Any) -> int:
    """The time that a value says; ValueError or OverflowError where there is none."""
    time_ms = as_ms(value)
    for unit in units:
        start_of(unit, time_ms)
    return time_ms


def view_of(place: Place, join: Join, name: str) -> tuple[Held, HostCall]:
    """Where a join finds the rows of an aggregation, and the call that puts them there."""
    lowered: Lowered = place.builder.aggregations[name]
    width = VALUES + len(lowered.plan.schema)
    held = ring_for(width, place.home.take(RING))
    assert join.per is not None
    call = Call(f"aggregation {name}", (*join.within, join.per), Type.LONG)
    texts = any(
        isinstance(node, Call) and node.type is Type.STRING
        for _, value in lowered.plan.projection
        for node in walk(value)
    )
    return held, HostCall(call, "", partial(View, lowered, held), makes_texts=texts)


class View:
    """Puts the rows of an aggregation that somebody asks for into a ring; O(buckets of the unit).

    As `cep.interpreter.aggregations` has them: of the buckets that start in a range of time, in the
    order in which Siddhi lists them.
    """

    def __init__(self, lowered: Lowered, held: Held | None, host: Host) -> None:
        self._lowered, self._held = lowered, held
        self._host, self._memory, self._words = host, host.memory, host.words
        plan = self.plan = lowered.plan
        context = Context(Shared(compat=False))
        self._project = [evaluator(value, context) for _, value in plan.projection]

        def read(type_: Type) -> Callable[[int], Any]:
            return reading(type_, host.memory, host.strings)

        self._group = [read(one.type) for one in plan.group_by]
        self._values = [read(one.type) for one in plan.input.schema.attributes]
        self._aggregates = [read(one.type) for one in plan.aggregates]
        self._write = [
            writing(one.type, host.memory, host.strings) for one in plan.schema.attributes
        ]
        self._group_read = plain(group_read)

    def __call__(self, *values: Any) -> int:
        """Given bounds and unit: 1, or 0 where there is no room; ValueError when they are none."""
        assert self._held is not None
        *bounds, word = values
        rows = self.rows(*asked(self.plan, bounds, str(word)))
        cells = cells_for(self._host, self._held, len(rows))
        if cells is None:
            return 0
        i = self._memory.i
        for row, at in zip(rows, cells, strict=True):
            i[0, at + TIME], i[0, at + KIND] = row.time, CURRENT
            for place, (write, value) in enumerate(zip(self._write, row.values, strict=True)):
                write(at + VALUES + place, value)
        return 1

    def rows(self, unit: str, start_ms: int, end_ms: int) -> list[Row]:
        """A row per bucket of a unit that starts in that range."""
        found = {key: at for _, key, at in sorted(self._buckets(unit, start_ms, end_ms))}
        return [self._row(unit, key[0], found[key]) for key in listed(found)]

    def _buckets(self, unit: str, start_ms: int, end_ms: int) -> Iterator[tuple[int, Key, int]]:
        """Number, key and address of the buckets that start in a range."""
        i = self._memory.i
        state = int(i[0, HOME]) + self._lowered.units[unit][1]
        first, room = int(i[0, state + INDEX_AT]), int(i[0, state + INDEX_ROOM])
        for bucket in i[0, first : first + room].tolist():
            if bucket and start_ms <= i[0, bucket + KEY] < end_ms:
                tail = bucket + self._lowered.tail
                group = tuple(read(bucket + KEY + 1 + n) for n, read in enumerate(self._group))
                yield int(i[0, tail + NUMBER]), (int(i[0, bucket + KEY]), group), bucket

    def _row(self, unit: str, start: int, bucket: int) -> Row:
        memory, lowered = self._memory, self._lowered
        tail = bucket + lowered.tail
        kept, words = tail + ROW, lowered.selecting.words
        node = lowered.units[unit][0]
        self._group_read(memory.i, memory.f, self._words, node, bucket, kept)
        row = Row(int(memory.i[0, tail + LATEST]), [])
        row.values = [read(kept + VALUES + n) for n, read in enumerate(self._values)]
        row.aggregates = [read(kept + words + n) for n, read in enumerate(self._aggregates)]
        return Row(start, [start, *(project(row) for project in self._project)])
