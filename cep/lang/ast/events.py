"""The statements of the simple CEP engine."""

from __future__ import annotations

from dataclasses import dataclass

from cep.lang.ast.expressions import Expression
from cep.lang.ast.nodes import Duration, Literal, Name, Node


@dataclass(frozen=True, slots=True)
class Option(Node):
    """`name = value` in `define engine`."""

    name: Name
    value: Literal | Duration


@dataclass(frozen=True, slots=True)
class EngineDefinition(Node):
    """`define engine NAME (options) from A, B`."""

    name: Name
    options: tuple[Option, ...]
    upstream: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Header(Node):
    """What events and complex events share: `NAME [number N] [in ENGINE] [for each ATTR]`."""

    name: Name
    number: Literal | None
    engine: Name | None
    key: Name | None


@dataclass(frozen=True, slots=True)
class EventDefinition(Node):
    """`define event HEADER as [every] STREAM[condition] [opposite ..] [repeat ..]`."""

    header: Header
    every: bool
    source: Name
    condition: Expression | None
    opposites: tuple[Name, ...]
    repeat: str | None


@dataclass(frozen=True, slots=True)
class PatternEvent(Node):
    """An event of a pattern, by name or number, of the own key or of a literal one."""

    name: Name | Literal
    key: Literal | None


@dataclass(frozen=True, slots=True)
class FollowedBy(Node):
    """`left followed by [not absent] right`."""

    left: Pattern
    right: Pattern
    absent: tuple[PatternEvent, ...]


@dataclass(frozen=True, slots=True)
class PatternAnd(Node):
    """`left and right`."""

    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class PatternOr(Node):
    """`left or right`, or two rows of explicit arrangements."""

    left: Pattern
    right: Pattern


Pattern = PatternEvent | FollowedBy | PatternAnd | PatternOr


@dataclass(frozen=True, slots=True)
class ComplexDefinition(Node):
    """`define complex HEADER as PATTERN within TIME forbid A, B`."""

    header: Header
    pattern: Pattern
    within: Duration | None
    forbid: tuple[PatternEvent, ...]


@dataclass(frozen=True, slots=True)
class Level(Node):
    """Where a stop or target is: `kind` is `points`, `at` (a price), `by` (a distance in prices),
    or empty where the expression tells.
    """

    value: Expression
    kind: str


@dataclass(frozen=True, slots=True)
class SignalDefinition(Node):
    """`define signal NAME on SOURCE[condition] SIDE [SYMBOL] [lots] [at limit ..] [stop ..] ..`.

    `source` is a complex event or a stream; `order` what kind of pending order waits at `price`,
    None for one at the market; `valid` a time in ms.
    """

    name: Name
    source: Name
    condition: Expression | None
    side: str
    symbol: Literal | None
    lots: Expression | None = None
    risk_percent: Expression | None = None
    order: str | None = None
    price: Expression | None = None
    stop: Level | None = None
    target: Level | None = None
    valid: Expression | None = None
