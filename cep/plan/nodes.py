"""The immutable logical plan.

A plan is a list of operators in the order of definition. Rows flow from source streams through
queries into derived streams; event definitions turn rows into numbered simple events in the queue
of an engine; complex events are bound there; signals are queries of these and other streams. The
meaning of queue, repetition, opposites and binding is that of the simple CEP engine (article
"Anatomy of a simple CEP engine").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from typing import Any, Literal

from cep.lang.parameters import Parameter
from cep.plan.expressions import Column, Expression
from cep.plan.query import HasSteps, Query, StreamInput
from cep.plan.steps import Kinds, Step, Window
from cep.plan.types import Schema, Type


class Origin(StrEnum):
    """Who puts rows on a stream."""

    SOURCE = "source"
    QUERY = "query"
    INNER = "inner"
    FAULT = "fault"
    TRIGGER = "trigger"
    EVENT = "event"
    COMPLEX = "complex"
    SIGNAL = "signal"


EVENT_SCHEMA = Schema.of(key=Type.STRING, number=Type.LONG, seq=Type.LONG)
COMPLEX_SCHEMA = Schema.of(
    key=Type.STRING, number=Type.LONG, first_msc=Type.LONG, arrangement=Type.LIST, events=Type.LIST
)


@dataclass(frozen=True, slots=True)
class Reorder:
    """Rows wait up to `max_delay_ms` behind the newest and leave in order of time.

    Later ones go to `late_stream`, or nowhere.
    """

    max_delay_ms: int
    late_stream: str | None = None


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Where a source that another engine makes of the same records comes from.

    Its rows have the clocks of the record of `sources` that they follow from, and are late with it;
    `key_positions` are its attributes that hold that record's key.
    """

    sources: frozenset[str]
    key_positions: frozenset[int]


@dataclass(frozen=True, slots=True)
class Stream:
    """A named, typed sequence of rows; every row has a time in ms UTC beside its attributes.

    `on_error`: what happens to a row that makes a reader fail: it is logged, or goes to the fault
    stream `!name`. `key` is the text attribute of a source whose values have clocks of their own.
    `elsewhere` is of a source that another engine makes.
    """

    name: str
    schema: Schema
    origin: Origin
    on_error: Literal["log", "stream"] = "log"
    reorder: Reorder | None = None
    key: str | None = None
    elsewhere: Elsewhere | None = None


def usual_key(schema: Schema) -> str | None:
    """The key of a source whose definition names none: `symbol`, where that is text."""
    is_text = any(one.name == "symbol" and one.type is Type.STRING for one in schema.attributes)
    return "symbol" if is_text else None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that stay until deleted: `primary_key` and `indexes` are attribute positions.

    A second row with the key of another is dropped; an empty `primary_key` is no key.
    """

    name: str
    schema: Schema
    primary_key: tuple[int, ...] = ()
    indexes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedWindow:
    """`define window`: one window that several queries feed and read."""

    name: str
    schema: Schema
    window: Window
    output: Kinds = "all"


@dataclass(frozen=True, slots=True)
class Trigger:
    """A stream with one attribute `triggered_time`: every `every_ms`, by `cron`, or at start."""

    name: str
    every_ms: int | None = None
    cron: str | None = None


@dataclass(frozen=True, slots=True)
class Aggregation(HasSteps):
    """`define aggregation`: running values per calendar unit, group and bucket.

    `durations` are calendar units, finest first. `by` is the timestamp (long ms or string); None
    is the row's time. `schema` is what readers see: `AGG_TIMESTAMP long` (start of the unit), then
    the projection. With `purge_every_ms` rows of a unit older than its `retention_ms` go.
    """

    name: str
    input: StreamInput
    steps: tuple[Step, ...]
    by: Expression | None
    durations: tuple[str, ...]
    schema: Schema
    purge_every_ms: int | None = None
    retention_ms: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ValueKey:
    """The partition key of a stream's rows is the expression's value; null drops the row."""

    stream: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class RangeKeys:
    """A row belongs to every key whose condition is true on it."""

    stream: str
    ranges: tuple[tuple[Expression, str], ...]


@dataclass(frozen=True, slots=True)
class Partition:
    """Queries that have a state of their own for each key.

    Streams without a key reach every instance there is. Inner streams are called
    `partition#stream` in the plan. With `purge` the state of a key idle for `idle_ms` is dropped,
    looked at every `purge_every_ms`.
    """

    name: str
    keys: tuple[ValueKey | RangeKeys, ...]
    idle_ms: int | None = None
    purge_every_ms: int | None = None


class Repeat(StrEnum):
    """What happens to a raised event whose number is already in the queue."""

    REJECT = "reject"
    REFRESH = "refresh"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True)
class Engine:
    """One event queue with its binder; `upstream` engines hand it their complex events.

    Of each number (definition and key) the queue holds `events_max` at most.
    """

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
    `carries` are the columns of the row that complex events keep.
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
    carries: tuple[Column, ...] = ()


@dataclass(frozen=True, slots=True)
class Chained:
    """A complex event of an upstream engine as a simple event of `engine`, under its own number."""

    complex: str
    number: int
    engine: str
    repeat: Repeat
    carries: tuple[Column, ...] = ()


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
class Bound:
    """A value of an event that is part of a complex event: a column of the row that raised it.

    `place` counts the events of that name in the match, from the oldest (0, 1, ..) or from the
    newest (-1, -2, ..); where there is none such, the value is null.
    """

    event: str
    column: Column
    place: int


@dataclass(frozen=True, slots=True)
class Complex:
    """A complex event; `key` is the attribute name of `for each`.

    `bound` are its attributes behind those that each complex event has.
    """

    name: str
    number: int
    engine: str
    pattern: Pattern
    within_ms: int
    key: str | None = None
    forbid: tuple[Ref, ...] = ()
    bound: tuple[Bound, ...] = ()


@dataclass(frozen=True, slots=True)
class Signal:
    """What the query of that name is for: it makes a signal of each row of its source.

    `side` is `buy`, `sell`, `close`, `modify` or `cancel`. `symbol` is that which the rules name;
    None: it is the key, or the symbol, of the row.
    """

    name: str
    source: str
    side: str
    symbol: str | None = None
    says: tuple[str, ...] = ()
    """The attributes that the rules ask for: null in one of these could not be computed."""


Operator = Query | Event | Complex


@dataclass(frozen=True, slots=True)
class Playback:
    """`@app:playback`: the rows' times drive the clock; after `idle_ms` it moves `increment_ms`."""

    idle_ms: int | None = None
    increment_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a back end needs; `operators` stand in definition order.

    The number of event or complex event `d` on key slot `k` (0, 1, ..) is
    `d.number + k * number_stride`: unique per definition and key. Keys named in the rules have the
    first slots, others get theirs when they first appear in the input.
    """

    name: str
    streams: tuple[Stream, ...]
    operators: tuple[Operator, ...]
    engines: tuple[Engine, ...] = ()
    tables: tuple[Table, ...] = ()
    windows: tuple[NamedWindow, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    aggregations: tuple[Aggregation, ...] = ()
    partitions: tuple[Partition, ...] = ()
    signals: tuple[Signal, ...] = ()
    chained: tuple[Chained, ...] = ()
    number_stride: int = 100
    keys: tuple[str, ...] = ()
    text: str = field(default="", compare=False)
    compat: Literal["", "siddhi"] = ""
    playback: Playback | None = None
    parameters: tuple[Parameter, ...] = field(default=(), compare=False)
    """Their values stand where their names stood."""

    def stream(self, name: str) -> Stream:
        return next(stream for stream in self.streams if stream.name == name)

    def engine(self, name: str) -> Engine:
        return next(engine for engine in self.engines if engine.name == name)

    @property
    def sources(self) -> tuple[Stream, ...]:
        return tuple(stream for stream in self.streams if stream.origin is Origin.SOURCE)

    @property
    def made(self) -> frozenset[str]:
        """The streams on which the rules put rows; a defined one may be fed from outside, too."""
        late = {s.reorder.late_stream for s in self.streams if s.reorder is not None}
        written = {query.target for query in self.queries} | late
        return frozenset(
            stream.name
            for stream in self.streams
            if stream.origin is not Origin.SOURCE or stream.name in written
        )

    @property
    def derived(self) -> frozenset[str]:
        """The streams that the rules show: all they make but the inner ones of partitions."""
        inner = {stream.name for stream in self.streams if stream.origin is Origin.INNER}
        return self.made - inner

    def position_of(self, query: str) -> str:
        """The position that a query keeps (`Mine:deals`), which is a table; empty for others."""
        name, _, part = query.partition(":")
        return name if part and any(one.name == name for one in self.tables) else ""

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(op for op in self.operators if isinstance(op, Event))

    @property
    def complexes(self) -> tuple[Complex, ...]:
        return tuple(op for op in self.operators if isinstance(op, Complex))

    @property
    def queries(self) -> tuple[Query, ...]:
        return tuple(op for op in self.operators if isinstance(op, Query))


def says_of(plan: Plan) -> dict[str, tuple[str, ...]]:
    """What each signal of a plan asks for, by its name."""
    return {signal.name: signal.says for signal in plan.signals}


def leaves(pattern: Pattern) -> tuple[Ref, ...]:
    """The events a pattern names, left to right, with repetitions."""
    if isinstance(pattern, Leaf):
        return (pattern.ref,)
    return leaves(pattern.left) + leaves(pattern.right)


def tells_key(pattern: Pattern, is_keyed: Callable[[str], bool]) -> bool:
    """Whether every arrangement has an event whose key is the complex event's own."""
    if isinstance(pattern, Leaf):
        return pattern.ref.key is None and is_keyed(pattern.ref.event)
    left, right = tells_key(pattern.left, is_keyed), tells_key(pattern.right, is_keyed)
    return left and right if isinstance(pattern, Either) else left or right


def nodes_below(node: Any) -> Iterator[Any]:
    """A node of a plan, which may be the plan, and all below it."""
    if isinstance(node, tuple):
        for item in node:
            yield from nodes_below(item)
    elif is_dataclass(node):
        yield node
        for one in fields(node):
            yield from nodes_below(getattr(node, one.name))
