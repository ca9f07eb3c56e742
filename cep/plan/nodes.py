"""The immutable logical plan.

A plan is a list of operators in the order of definition. Rows flow from source streams through
queries into derived streams; event definitions turn rows into numbered simple events in the queue
of an engine; complex events are bound there; signals are made of complex events. The meaning of
queue, repetition, opposites and binding is that of the simple CEP engine (article "Anatomy of a
simple CEP engine").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from cep.plan.expressions import Column, Expression
from cep.plan.types import Schema, Type


class Origin(StrEnum):
    """Who puts rows on a stream."""

    SOURCE = "source"
    QUERY = "query"
    EVENT = "event"
    COMPLEX = "complex"
    SIGNAL = "signal"


EVENT_SCHEMA = Schema.of(key=Type.STRING, number=Type.LONG, seq=Type.LONG)
COMPLEX_SCHEMA = Schema.of(
    key=Type.STRING, number=Type.LONG, first_msc=Type.LONG, arrangement=Type.LIST, events=Type.LIST
)
SIGNAL_SCHEMA = Schema.of(
    complex=Type.STRING,
    key=Type.STRING,
    side=Type.STRING,
    symbol=Type.STRING,
    lots=Type.DOUBLE,
    stop_points=Type.LONG,
    target_points=Type.LONG,
    valid_ms=Type.LONG,
)


@dataclass(frozen=True, slots=True)
class Stream:
    """A named, typed sequence of rows; every row has a time in ms UTC beside its attributes."""

    name: str
    schema: Schema
    origin: Origin


@dataclass(frozen=True, slots=True)
class LengthWindow:
    """The last `rows` rows."""

    rows: int


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """The rows younger than `span_ms`: a row leaves when its time + span_ms <= now."""

    span_ms: int


@dataclass(frozen=True, slots=True)
class Aggregate:
    """avg, sum, count, min, max or stdDev over the window; `argument` None only for count()."""

    function: str
    argument: Expression | None
    type: Type


@dataclass(frozen=True, slots=True)
class Query:
    """`from source[filters]#window[window_filters] select .. group by .. having .. into target`."""

    name: str
    source: str
    filters: tuple[Expression, ...]
    window: LengthWindow | TimeWindow | None
    window_filters: tuple[Expression, ...]
    aggregates: tuple[Aggregate, ...]
    group_by: tuple[Column, ...]
    projection: tuple[tuple[str, Expression], ...]
    having: Expression | None
    target: str


class Repeat(StrEnum):
    """What happens to a raised event whose number is already in the queue."""

    REJECT = "reject"
    REFRESH = "refresh"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True)
class Engine:
    """One event queue with its binder; `upstream` engines hand it their complex events."""

    name: str
    span_ms: int
    opposites: Literal["evict", "validate"] = "evict"
    late: Literal["drop", "accept"] = "drop"
    events_max: int = 1_000_000
    repeat: Repeat = Repeat.ALLOW
    upstream: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """A simple event: raised from rows of `source` on which `condition` turns (`every`: is) true.

    `key` is the attribute of `for each`; `opposites` is symmetric and complete in the plan.
    """

    name: str
    number: int
    engine: str
    source: str
    condition: Expression
    every: bool
    repeat: Repeat
    key: Column | None
    opposites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chained:
    """A complex event of an upstream engine as a simple event of `engine`, under its own number."""

    complex: str
    number: int
    engine: str
    repeat: Repeat


@dataclass(frozen=True, slots=True)
class Ref:
    """A simple event (by name of Event or Complex) named in a pattern.

    `key` None means the complex event's own key (or no key where neither has one).
    """

    event: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Leaf:
    ref: Ref


@dataclass(frozen=True, slots=True)
class Sequence:
    """`left followed by [not absent] right`."""

    left: Pattern
    right: Pattern
    absent: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class Both:
    """`left and right`: all interleavings."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Either:
    """`left or right`: the union of the arrangements."""

    left: Pattern
    right: Pattern


Pattern = Leaf | Sequence | Both | Either


@dataclass(frozen=True, slots=True)
class Complex:
    """A complex event; `key` is the attribute name of `for each`."""

    name: str
    number: int
    engine: str
    pattern: Pattern
    within_ms: int
    key: str | None = None
    forbid: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class Signal:
    """A trading signal made of each occurrence of a complex event; `symbol` None is its key."""

    name: str
    complex: str
    side: Literal["buy", "sell", "close"]
    symbol: str | None = None
    lots: float | None = None
    stop_points: int | None = None
    target_points: int | None = None
    valid_ms: int | None = None


Operator = Query | Event | Complex | Signal


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a back end needs; `operators` stand in definition order.

    The number of event or complex event `d` on key slot `k` (0, 1, ..) is
    `d.number + k * number_stride`: unique per definition and key. Keys named in the rules have the
    first slots, others get theirs when they first appear in the input.
    """

    name: str
    streams: tuple[Stream, ...]
    engines: tuple[Engine, ...]
    operators: tuple[Operator, ...]
    chained: tuple[Chained, ...] = ()
    number_stride: int = 100
    keys: tuple[str, ...] = ()
    text: str = field(default="", compare=False)
    compat: Literal["", "siddhi"] = ""

    def stream(self, name: str) -> Stream:
        return next(stream for stream in self.streams if stream.name == name)

    def engine(self, name: str) -> Engine:
        return next(engine for engine in self.engines if engine.name == name)

    @property
    def sources(self) -> tuple[Stream, ...]:
        return tuple(stream for stream in self.streams if stream.origin is Origin.SOURCE)

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(op for op in self.operators if isinstance(op, Event))

    @property
    def complexes(self) -> tuple[Complex, ...]:
        return tuple(op for op in self.operators if isinstance(op, Complex))

    @property
    def queries(self) -> tuple[Query, ...]:
        return tuple(op for op in self.operators if isinstance(op, Query))

    @property
    def signals(self) -> tuple[Signal, ...]:
        return tuple(op for op in self.operators if isinstance(op, Signal))


def leaves(pattern: Pattern) -> tuple[Ref, ...]:
    """The events a pattern names, left to right, with repetitions."""
    if isinstance(pattern, Leaf):
        return (pattern.ref,)
    return leaves(pattern.left) + leaves(pattern.right)
