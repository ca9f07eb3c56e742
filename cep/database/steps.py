"""What a plan becomes on a database: statements in order, each told the numbers of its batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa

from cep.database.dialects.base import Dialect, Element
from cep.plan.types import Schema, Type

MarkKind = Literal["base", "gone", "purged", "first", "now"]


@dataclass(frozen=True, slots=True)
class BatchNumber:
    """A number that only a batch knows.

    `base`: how many rows a stream had before the batch, so that its new rows are those with a
    larger `pos`. In statements that purge, `purged`: rows of the stream up to this `pos` are not
    needed any more; `gone`: those up to this one are not there any more. `first` and `now`: the
    times in ms of the batch's first and last event.
    """

    kind: MarkKind
    stream: str = ""


def batch_number(kind: MarkKind, stream: str = "") -> Element:
    """A mark in an expression of SQLAlchemy; `first` and `now` have no stream."""
    return sa.bindparam(None, BatchNumber(kind, stream), sa.BigInteger(), unique=True)


Value: TypeAlias = "str | int | float | bool | None"


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL with places for `values`, in order; some are numbers that each batch fills in."""

    text: str
    values: tuple[Value | BatchNumber, ...] = ()

    @classmethod
    def of(cls, dialect: Dialect, clause: sa.ClauseElement) -> Statement:
        """A statement of SQLAlchemy Core as the dialect writes it."""
        text, values = dialect.text(clause)
        return cls(text, values)

    def bound(self, numbers: Mapping[BatchNumber, int]) -> tuple[Value, ...]:
        """The values for one batch."""
        return tuple(numbers[one] if isinstance(one, BatchNumber) else one for one in self.values)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that a query or family makes in one batch: what a lowering gives back.

    `select` has labelled columns, in this order: `member` (only of families of several members:
    the place in `Family.members`), `seq` and `ts` of the event that brought the row about, `o_0`,
    `o_1`, .. (if needed: the order of rows of one event and member), then the projection as `v_0`,
    `v_1`, ..

    `is_ordered`: the statement itself gives the rows in the order of (seq, member, o_0, ..), so
    that nobody need sort them. `is_wide` (only families that nothing reads): no `member`; every row
    has the values of all members, member by member: `v_0`, `v_1`, ...

    `is_packed`: these values, all whole numbers, stand in one text instead, `v_0`, with commas
    between (`null` is null).

    `is_grouped` (whole numbers again): each row has all results of one event, `number` of them;
    `member` and each value are texts with that many numbers, or `=` and one that all have.

    `is_paired`: `member` has pairs instead, each a number times `packed.PAIR` and a value; this is
    the value that is null, and the others are numbers that all have.

    `order`: columns of tables in the select that by themselves put the rows of a member in order,
    as `pos` does: the rows are numbered and read by them, and by nothing else.
    """

    select: sa.Select[Any] | sa.CompoundSelect[Any]
    strategy: str
    orders: int = 0
    is_ordered: bool = False
    is_wide: bool = False
    is_packed: bool = False
    is_grouped: bool = False
    is_paired: bool = False
    order: tuple[Element, ...] = ()


@dataclass(frozen=True, slots=True)
class Fetch:
    """Reads the results of a batch: columns `seq`, `member` (if `has_member`), then values.

    `members` are the streams that a member number stands for; `names` and `types` the attributes of
    each. Rows come in the order of seq, those of a member in their own. `is_wide`: each has the
    values of all members; `is_packed`: in one text. `is_grouped`: all results of an event; columns
    `seq`, `number`, then texts of so many numbers (or `=` and one for all). `is_paired`: see there.
    """

    statement: Statement
    members: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    types: tuple[Type, ...]
    has_member: bool = False
    is_wide: bool = False
    is_packed: bool = False
    is_grouped: bool = False
    is_paired: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One query or family at work: its rows go into a stream (`insert`), to the caller, or both.

    `strategy` is one line for `explain`.
    """

    name: str
    members: tuple[str, ...]
    strategy: str
    reads: tuple[str, ...]
    writes: str | None = None
    insert: Statement | None = None
    fetch: Fetch | None = None


@dataclass(frozen=True, slots=True)
class Retention:
    """What of a stream must stay: rows younger than `time_ms`, and the last `rows`.

    The newest row that is older stays, too, so that sums up to it can be looked up.
    """

    time_ms: int = 0
    rows: int = 1

    def and_also(self, other: Retention) -> Retention:
        """What satisfies both."""
        return Retention(max(self.time_ms, other.time_ms), max(self.rows, other.rows))


@dataclass(frozen=True, slots=True)
class Filled:
    """Adds to a table what follows from a stream's new rows."""

    table: str
    statement: Statement


@dataclass(frozen=True, slots=True)
class Kept:
    """A stream's table: what is filled after it, what of it stays, and how the rest goes."""

    table: sa.Table
    types: tuple[Type, ...]
    retention: Retention
    fills: tuple[Filled, ...]
    purges: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class CreatedTable:
    """A table to be made, and its indexes by name.

    `rows` are the contents of a table of parameters; others (None) begin empty.
    """

    table: sa.Table
    types: tuple[Type, ...]
    create: str
    indexes: Mapping[str, str]
    rows: tuple[tuple[Value, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """A plan as a database runs it, batch by batch.

    A batch loads the `sources` (with what follows each), then runs the `steps` in order. `refused`:
    why, by operator, for those that the database does not run. `ranks`: the place of a stream's
    rows among those of one event. `late`: the table of the own times of late events, if any come.
    """

    tables: tuple[CreatedTable, ...]
    kept: Mapping[str, Kept]
    sources: Mapping[str, Schema]
    steps: tuple[Step, ...]
    refused: Mapping[str, str]
    ranks: Mapping[str, int]
    late: sa.Table | None = None
