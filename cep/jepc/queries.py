"""Queries as objects: streams with windows, and the four operators, composed at will.

Everything-is-an-object, as in the article "Event processing on your own database" (section 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Any, Literal, Self

from cep.jepc.errors import QueryError, is_a
from cep.jepc.expressions import Condition, Term, Written

LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """The events of the last `size_ms`; one exactly as old is out.

    With `jump_ms` an event of time t is there from floor(t / jump) * jump until
    floor((t + size) / jump) * jump.
    """

    size_ms: int
    jump_ms: int = 1

    def __post_init__(self) -> None:
        _need_positive(size_ms=self.size_ms, jump_ms=self.jump_ms)


@dataclass(frozen=True, slots=True)
class CountWindow:
    """The last `size` events, of each value of the attributes `by` where given.

    With `jump` the number of the event (from 0, per key) stands for the time of a `TimeWindow`.
    """

    size: int
    jump: int = 1
    by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _need_positive(size=self.size, jump=self.jump)


Window = TimeWindow | CountWindow


@dataclass(frozen=True, slots=True)
class Node:
    """What may be the input of an operator; `name` is what conditions call it by."""

    span: Window | None = field(default=None, kw_only=True)
    name: str = field(default="", kw_only=True)

    def window(self, window: Window) -> Self:
        """The same, its events in a window of their own."""
        return replace(self, span=window)

    def named(self, name: str) -> Self:
        """The same, called `name` in conditions and in names of attributes."""
        return replace(self, name=name)


@dataclass(frozen=True, slots=True)
class Stream(Node):
    """A registered stream, or the output of another query, by its name."""

    source: str


@dataclass(frozen=True, slots=True)
class Filter(Node):
    """Events on which the condition is true. They live as long as those of the input."""

    input: Input
    condition: Condition


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over the live events: a function of rule files, and what it is taken of.

    `written` is the whole of it, where it was read from a text.
    """

    function: str
    of: tuple[Term | str | int, ...] = ()
    written: Written | None = None


def count() -> Aggregate:
    """How many events."""
    return Aggregate("count")


def total(of: Term | str) -> Aggregate:
    """The sum."""
    return Aggregate("sum", (of,))


def average(of: Term | str) -> Aggregate:
    """The mean."""
    return Aggregate("avg", (of,))


def least(of: Term | str) -> Aggregate:
    """The smallest value."""
    return Aggregate("min", (of,))


def greatest(of: Term | str) -> Aggregate:
    """The largest value."""
    return Aggregate("max", (of,))


def deviation(of: Term | str) -> Aggregate:
    """The standard deviation of all."""
    return Aggregate("stdDev", (of,))


@dataclass(frozen=True, slots=True)
class Aggregator(Node):
    """One result for each new event, over all live ones and itself (of its group).

    The result has the attributes of `group_by`, then the aggregates. Without a window of its own
    a result lives as long as an event of the input.
    """

    input: Input
    aggregates: Mapping[str, Aggregate]
    group_by: Sequence[str] = ()
    having: Condition | None = None


@dataclass(frozen=True, slots=True)
class Correlator(Node):
    """Combinations of live events, one of each input, on which the condition is true.

    A combination is reported once, when its last event arrives, and lives as long as the first of
    its events to go. Attributes that several inputs have are called `input_attribute`.
    """

    inputs: Sequence[Input]
    condition: Condition | None = None

    def __post_init__(self) -> None:
        if not is_a(self.inputs, Sequence) or len(self.inputs) < 2:
            raise QueryError("a correlator needs two inputs or more")


@dataclass(frozen=True, slots=True)
class Projector(Node):
    """Other attributes of the same events: `values` by name. They live as long as the events."""

    input: Input
    values: Mapping[str, Condition]


@dataclass(frozen=True, slots=True)
class PatternSymbol:
    """Emitted by an event on which `condition` is true; `sets` then give values to variables."""

    condition: Condition = "true"
    sets: Mapping[str, Condition] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PatternMatcher(Node):
    """Sequences of events whose symbols match a regular expression, within a time.

    `pattern` is written with the symbols' names, blanks between them, and `| * + ? {m,n} ( )`;
    where all names are single letters blanks may be left out. `variables` are the names and types
    that symbols set and conditions see (null until set). A match is reported once, when its last
    event arrives, as the variables in `output`.

    Events of one instant are alternatives: a match takes one of them. Between two events of a
    match there is no instant without one of its events; with `gaps="invisible"` instants that
    emit no symbol do not count.
    """

    input: Input
    pattern: str
    within_ms: int
    symbols: Mapping[str, PatternSymbol]
    variables: Mapping[str, str] = field(default_factory=dict)
    output: Sequence[str] = ()
    gaps: Literal["none", "invisible"] = "none"

    def __post_init__(self) -> None:
        _need_positive(within_ms=self.within_ms)
        if not is_a(self.pattern, str):
            raise QueryError(f"pattern = {self.pattern!r}: give a text of symbols")


Input = Stream | Filter | Projector | Aggregator | Correlator | PatternMatcher
Query = Filter | Projector | Aggregator | Correlator | PatternMatcher


def check_parts(name: str, query: Any) -> None:
    """QueryError when the inputs, windows or values of the query `name` are of another kind."""
    if query.__class__ not in _OPERATORS:
        return  # lowering says so
    waiting: list[Any] = [query]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, Node):
            kind = type(part).__name__
            raise QueryError(f"{name}: an input of type {kind}; give a Stream or an operator")
        if not is_a(part.span, TimeWindow, CountWindow, NoneType):
            kind = type(part.span).__name__
            raise QueryError(f"{name}: a window of type {kind}; give a TimeWindow or CountWindow")
        for word in ("aggregates", "values", "symbols", "variables"):
            if not isinstance(getattr(part, word, {}), Mapping):
                raise QueryError(f"{name}: {word} are not a dictionary; give them by name")
        if isinstance(part, Aggregator):
            _check_aggregator(name, part)
        if isinstance(part, Stream) and not is_a(part.source, str):
            raise QueryError(f"{name}: a stream {part.source!r}; give its name")
        waiting += getattr(part, "inputs", None) or [getattr(part, "input", None)] * (
            not isinstance(part, Stream)
        )


def _check_aggregator(name: str, part: Aggregator) -> None:
    for called, aggregate in part.aggregates.items():
        if not is_a(aggregate, Aggregate):
            hint = "give an aggregate such as `count()` or `Aggregate('avg', ['price'])`"
            raise QueryError(f"{name}: {called} = {aggregate!r}: {hint}")
    if is_a(part.group_by, str):
        raise QueryError(f"{name}: group_by = {part.group_by!r}: give a list: [{part.group_by!r}]")


_OPERATORS = (Filter, Projector, Aggregator, Correlator, PatternMatcher)


def _need_positive(**numbers: int) -> None:
    for name, number in numbers.items():
        if not is_a(number, int) or is_a(number, bool):
            raise QueryError(f"{name} = {number!r}: use a whole number")
        if not 1 <= number <= LARGEST:
            raise QueryError(f"{name} = {number}: use 1 or more, at most {LARGEST}")
