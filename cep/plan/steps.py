"""The steps of a query: the small operators that its rows pass, one after the other.

Those of an input stand in front of and behind its window, those of a query behind what binds its
inputs. What is selected has a fixed order: `GroupBy`, `Project`, `Filter` (`having`), `Last`,
`Sort`, `Slice`, `Rate`, of which only `Project` is always there; an output ends it. The first three
see one row at a time, the others the chunk of rows that were selected together.

Rows carry slots; a `Column` names its slot. Conditions on rows of a table see the table's row in
`expressions.TABLE_SLOT`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from cep.plan.expressions import Aggregate, Column, Constant, Expression
from cep.plan.types import Attribute, Schema

Kinds = Literal["current", "expired", "all"]
"""Which rows of a query go out."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Rows on which the condition is not true go no further."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class StreamFunction:
    """`#name(arguments)`: appends the attributes `added` to each row (none for `log`).

    `name` is spelled as in `cep.plan.functions`, with its namespace (`bars:time`). What a function
    remembers (`bollinger`, `macd`, bars) is kept per value of `keys`: the query's `group by`.
    `digest` says which indicator it is, where it is the user's.
    """

    name: str
    arguments: tuple[Expression, ...]
    added: Schema
    keys: tuple[Column, ...] = ()
    digest: str = ""


Handler = Filter | StreamFunction


@dataclass(frozen=True, slots=True)
class Window:
    """`#window.name(arguments)`; the table `cep.plan.windows` says what the arguments mean.

    Omitted optional arguments are filled with their defaults by the builder. Durations are
    constants in ms. `digests` are those of the user's functions in the condition of an expression
    window, which is a text.
    """

    name: str
    arguments: tuple[Expression, ...] = ()
    digests: tuple[str, ...] = ()

    def constant(self, position: int) -> int:
        """The whole number that argument is; TypeError when it is no constant whole number."""
        argument = self.arguments[position]
        if isinstance(argument, Constant) and isinstance(argument.value, int):
            return argument.value
        raise TypeError(f"{self.name}: argument {position + 1} is no whole constant")


@dataclass(frozen=True, slots=True)
class GroupBy:
    """Running values of each group, which a row that comes or leaves changes; rows go on singly."""

    columns: tuple[Column, ...]
    aggregates: tuple[Aggregate, ...]


Projection = tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Project:
    """Each row becomes these values, by name. Later steps see both them and the row."""

    columns: Projection

    @property
    def schema(self) -> Schema:
        """The names and types."""
        return schema_of(self.columns)


@dataclass(frozen=True, slots=True)
class Last:
    """Of the rows that one chunk brings only the last goes on, or (`by_group`) that of each group.

    As in Siddhi, where aggregates or groups are selected.
    """

    by_group: bool


@dataclass(frozen=True, slots=True)
class Order:
    """One key of `order by`: an output attribute, or (`position` -1) one of the input, `value`."""

    position: int
    descending: bool
    value: Expression | None = None


@dataclass(frozen=True, slots=True)
class Sort:
    """Rows of one chunk by keys, the first being the most important one; equal ones stay as is."""

    keys: tuple[Order, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """Of one chunk `limit` rows after the first `offset`.

    `passes_expired`: of expired rows all pass, though they count. So it is in Siddhi but where the
    last row of a chunk, or every row of groups, is selected.
    """

    limit: int | None
    offset: int | None
    passes_expired: bool


@dataclass(frozen=True, slots=True)
class Rate:
    """`output kind every ..`: by `events` (rows) or by time (`every_ms`).

    A snapshot repeats what a query holds: it takes rows of all kinds.
    """

    kind: Literal["all", "first", "last", "snapshot"]
    events: int | None
    every_ms: int | None


def repeats_held(rate: Rate | None) -> bool:
    """Whether what a query holds goes out again and again, instead of what has come."""
    return rate is not None and rate.kind == "snapshot"


Step = GroupBy | Project | Filter | Last | Sort | Slice | Rate


class Holder(StrEnum):
    """What a query reads from."""

    STREAM = "stream"
    TABLE = "table"
    WINDOW = "window"
    AGGREGATION = "aggregation"


@dataclass(frozen=True, slots=True)
class Assignment:
    """`set T.a = value`: position of the table's attribute; the value sees the output row."""

    position: int
    value: Expression


@dataclass(frozen=True, slots=True)
class Insert:
    """Rows of `events` kinds go into a stream, table or named window; expired become current."""

    target: str
    events: Kinds
    holder: Holder = Holder.STREAM


@dataclass(frozen=True, slots=True)
class Delete:
    """For each row: table rows on which `on` is true go. `on` sees the output row as `Output`."""

    target: str
    events: Kinds
    on: Expression


@dataclass(frozen=True, slots=True)
class Update:
    """For each row: table rows on which `on` is true are changed, else (`or_insert`) one is added.

    Without `set` the assignments are those of the attributes that share a name.
    """

    target: str
    events: Kinds
    on: Expression
    assignments: tuple[Assignment, ...]
    or_insert: bool


@dataclass(frozen=True, slots=True)
class Return:
    """Rows go to query callbacks only."""

    events: Kinds


Output = Insert | Delete | Update | Return


def selecting(
    projection: Projection,
    *,
    aggregates: tuple[Aggregate, ...] = (),
    group_by: tuple[Column, ...] = (),
    having: Expression | None = None,
    order_by: tuple[Order, ...] = (),
    limit: int | None = None,
    offset: int | None = None,
    rate: Rate | None = None,
) -> tuple[Step, ...]:
    """The steps that the clauses of a query mean.

    A snapshot repeats every row that is held, so that its rows are not brought down to the last;
    those of groups are neither sorted nor skipped, as in Siddhi.
    """
    has_groups, every_row = bool(group_by), repeats_held(rate)
    summarises = has_groups or bool(aggregates)
    cuts_chunks = not summarises or has_groups != every_row
    steps: list[Step] = []
    if summarises:
        steps.append(GroupBy(group_by, aggregates))
    steps.append(Project(projection))
    if having is not None:
        steps.append(Filter(having))
    if summarises and not every_row:
        steps.append(Last(has_groups))
    if order_by and cuts_chunks:
        steps.append(Sort(order_by))
    if limit is not None or offset:
        skipped = None if has_groups and every_row else offset
        steps.append(Slice(limit, skipped, passes_expired=cuts_chunks))
    if rate is not None:
        steps.append(rate)
    return tuple(steps)


def schema_of(projection: Projection) -> Schema:
    """The attributes that are selected."""
    return Schema(tuple(Attribute(name, value.type) for name, value in projection))
