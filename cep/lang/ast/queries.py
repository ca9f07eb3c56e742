"""Queries, partitions and on-demand queries."""

from __future__ import annotations

from dataclasses import dataclass

from cep.lang.ast.annotations import Annotation
from cep.lang.ast.expressions import Expression, Reference
from cep.lang.ast.inputs import JoinInput, StreamInput
from cep.lang.ast.nodes import Literal, Name, Node
from cep.lang.ast.outputs import Output, Rate
from cep.lang.ast.states import StateInput

Input = StreamInput | JoinInput | StateInput


@dataclass(frozen=True, slots=True)
class SelectItem(Node):
    """`expression as alias`; only a reference needs no alias."""

    expression: Expression
    alias: Name | None


@dataclass(frozen=True, slots=True)
class Order(Node):
    """`name [asc|desc]` in `order by`."""

    reference: Reference
    descending: bool


@dataclass(frozen=True, slots=True)
class Selection(Node):
    """`select .. group by .. having .. order by .. limit .. offset ..`; `items` None is `*`."""

    items: tuple[SelectItem, ...] | None
    group_by: tuple[Reference, ...] = ()
    having: Expression | None = None
    order_by: tuple[Order, ...] = ()
    limit: Expression | None = None
    offset: Expression | None = None


@dataclass(frozen=True, slots=True)
class Query(Node):
    """`from .. select .. output .. insert into target`."""

    source: Input
    selection: Selection
    rate: Rate | None
    output: Output
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True, slots=True)
class ValuePartition(Node):
    """`expression of STREAM`."""

    expression: Expression
    stream: Name


@dataclass(frozen=True, slots=True)
class RangePartition(Node):
    """`condition as 'key' or condition as 'key' of STREAM`."""

    ranges: tuple[tuple[Expression, Literal], ...]
    stream: Name


@dataclass(frozen=True, slots=True)
class Partition(Node):
    """`partition with (..) begin queries end`."""

    keys: tuple[ValuePartition | RangePartition, ...]
    queries: tuple[Query, ...]
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True, slots=True)
class OnDemandQuery(Node):
    """A query asked of a table, window or aggregation at once.

    `from T as t on .. within .. per .. select ..` (only here a source; the output is `Return`),
    `select .. insert into T`, `[select ..] delete T on ..`, `[select ..] update T set .. on ..`,
    `select .. update or insert into T set .. on ..`.
    """

    source: Name | None
    alias: Name | None
    on: Expression | None
    within: tuple[Expression, ...]
    per: Expression | None
    selection: Selection
    output: Output
