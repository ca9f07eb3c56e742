"""The definitions of SiddhiQL."""

from __future__ import annotations

from dataclasses import dataclass

from cep.lang.ast.annotations import Annotation
from cep.lang.ast.expressions import Reference
from cep.lang.ast.inputs import Handler, StreamInput
from cep.lang.ast.nodes import Duration, Literal, Name, Node
from cep.lang.ast.queries import SelectItem
from cep.lang.parameters import Parameter


@dataclass(frozen=True, slots=True)
class AttributeDefinition(Node):
    """`name type`."""

    name: Name
    type: str


@dataclass(frozen=True, slots=True)
class StreamDefinition(Node):
    """`[@..] define stream S (a type, ..)`."""

    name: Name
    attributes: tuple[AttributeDefinition, ...]
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class TableDefinition(Node):
    """`[@PrimaryKey('a')] [@Index('b')] define table T (a type, ..)`."""

    name: Name
    attributes: tuple[AttributeDefinition, ...]
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class WindowDefinition(Node):
    """`define window W (a type, ..) time(5 min) [output all|current|expired events]`."""

    name: Name
    attributes: tuple[AttributeDefinition, ...]
    window: Handler
    output: str = "all"
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class TriggerDefinition(Node):
    """`define trigger T at every 5 sec`, `at 'CRON'` or `at 'start'`."""

    name: Name
    every: Duration | None
    at: Literal | None
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class AggregationDefinition(Node):
    """`define aggregation A from S select .. group by .. aggregate [by ts] every sec ... year`.

    `durations` are the calendar units, finest first: sec, min, hour, day, week, month, year;
    a range (`sec ... year`) is spelled out by the parser.
    """

    name: Name
    source: StreamInput
    items: tuple[SelectItem, ...] | None
    group_by: tuple[Reference, ...]
    by: Reference | None
    durations: tuple[str, ...]
    is_range: bool
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class PositionDefinition(Node):
    """`define position P [magic N]`; without one it is that of the run."""

    name: Name
    magic: Literal | None

    @property
    def made(self) -> tuple[Name, ...]:
        """Four tables, then two streams, whose names begin with its own."""
        ends = ("", "Orders", "Streak", "Others", "Fills", "Closed")
        return tuple(Name(self.name.text + end, span=self.name.span) for end in ends)


@dataclass(frozen=True, slots=True)
class ParameterDefinition(Node):
    """`define parameter P TYPE = VALUE [range A to B [step C]] [in (A, B, ..)]`.

    Where the name stands, the tree has the value.
    """

    name: Name
    parameter: Parameter
