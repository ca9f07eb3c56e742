"""The syntax tree. Two trees are equal when they say the same: positions do not count."""

from __future__ import annotations

from dataclasses import dataclass, field

from cep.lang.errors import Span


@dataclass(frozen=True, slots=True)
class Node:
    """Anything that stands somewhere in the text."""

    span: Span = field(compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Name(Node):
    """An identifier as written, without backticks."""

    text: str


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A constant; `type` is the SiddhiQL type it is written as."""

    value: str | int | float | bool
    type: str


@dataclass(frozen=True, slots=True)
class Duration(Node):
    """A time literal such as `1 min 30 sec`."""

    ms: int


@dataclass(frozen=True, slots=True)
class Reference(Node):
    """`name` or `stream.name`."""

    name: Name
    stream: Name | None = None


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`op` is `not` or `-`."""

    op: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """`op` is an arithmetic, comparison or logical operator."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class IsNull(Node):
    """`operand is null`."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A scalar function or an aggregate."""

    function: Name
    arguments: tuple[Expression, ...]


Expression = Literal | Duration | Reference | Unary | Binary | IsNull | Call


@dataclass(frozen=True, slots=True)
class Annotation(Node):
    """`@name(key='value', ..)`; a value without a key has the key ''."""

    name: str
    elements: tuple[tuple[str, str], ...]

    def value(self, key: str) -> str | None:
        """The value given for `key`, or for no key."""
        return next((value for name, value in self.elements if name.lower() in (key, "")), None)


@dataclass(frozen=True, slots=True)
class AttributeDefinition(Node):
    """`name type`."""

    name: Name
    type: str


@dataclass(frozen=True, slots=True)
class StreamDefinition(Node):
    """`define stream S (a type, ..)`."""

    name: Name
    attributes: tuple[AttributeDefinition, ...]


@dataclass(frozen=True, slots=True)
class Window(Node):
    """`#window.name(arguments)`."""

    name: Name
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class StreamInput(Node):
    """`S[filter]..#window.w(..)[filter]..`."""

    stream: Name
    filters: tuple[Expression, ...]
    window: Window | None
    window_filters: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class SelectItem(Node):
    """`expression as alias`; only a reference needs no alias."""

    expression: Expression
    alias: Name | None


@dataclass(frozen=True, slots=True)
class Query(Node):
    """`from .. select .. insert into target`; `items` None is `select *`."""

    source: StreamInput
    items: tuple[SelectItem, ...] | None
    group_by: tuple[Reference, ...]
    having: Expression | None
    target: Name
    annotations: tuple[Annotation, ...]


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
class SignalDefinition(Node):
    """`define signal NAME on COMPLEX SIDE [SYMBOL] [X lots] [stop ..] [target ..] [for ..]`."""

    name: Name
    complex: Name
    side: str
    symbol: Literal | None
    lots: Literal | None
    stop: Literal | None
    target: Literal | None
    valid: Duration | None


Definition = (
    StreamDefinition | EngineDefinition | EventDefinition | ComplexDefinition | SignalDefinition
)
Statement = Definition | Query


@dataclass(frozen=True, slots=True)
class Script(Node):
    """A whole rule file."""

    annotations: tuple[Annotation, ...]
    statements: tuple[Statement, ...]
