"""The tables of a plan: one per stream, parameters of families, and tables that follow a stream.

Lowerings ask for what they need; what several ask for is there once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha1
from typing import Any

import sqlalchemy as sa

from cep.database.dialects.base import Dialect, Element
from cep.database.errors import Refusal
from cep.database.expressions import Find
from cep.database.late import own_time
from cep.database.steps import Retention, Value, batch_number
from cep.plan.expressions import Column, EventTime
from cep.plan.families import PARAMETER, Family
from cep.plan.types import Schema, Type

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
"""Of positions, sequence numbers and times (SQLite's row numbers must be called INTEGER)."""

NAME_MAX = 40
"""PostgreSQL cuts names of more than 63 bytes."""

ColumnType = sa.types.TypeEngine[Any]
Followed = Callable[[sa.Table], sa.Select[Any]]
Purged = Callable[[sa.Table], sa.Delete]


@dataclass(frozen=True, slots=True)
class Parameters:
    """A family's table of parameters: `member`, `c_0`.. constants, then what was asked for."""

    table: sa.Table
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True)
class Follower:
    """A table filled from the new rows of a stream, right after them."""

    stream: str
    table: sa.Table
    fill: sa.Select[Any]
    purge: sa.Delete | None


class Tables:
    """What the lowerings of one plan have asked for.

    `born` says how many rows an input had when a query was made, by query and slot: earlier rows
    are not its. `prefix` tells apart the tables of several runs in one database.
    """

    def __init__(
        self,
        dialect: Dialect,
        schemas: Mapping[str, Schema],
        prefix: str = "",
        born: Mapping[tuple[str, int], int] | None = None,
        is_durable: bool = True,
        takes_late: bool = False,
    ) -> None:
        self.dialect = dialect
        self.metadata = sa.MetaData()
        self.retention: dict[str, Retention] = {}
        self.parameter_tables: list[Parameters] = []
        self.followers: dict[str, Follower] = {}
        self._schemas = schemas
        self._prefix = prefix
        self._born = born or {}
        self._is_durable = is_durable
        self._streams: dict[str, sa.Table] = {}
        self._ranks: dict[tuple[str, int], int] = {}
        self._alone: frozenset[str] = frozenset()
        self.indexed: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
        self.late_times = self._late_times() if takes_late else None
        """The own times of late rows, where there may be any; `late`: where statements ask it."""
        self.late: sa.Table | None = None

    def stream(self, name: str) -> sa.Table:
        """A stream's table: `pos` (1..), `seq`, `ts`, `a_0`.. by the place in its schema.

        A filter in front of a window is a stream of its own before lowerings see the query.
        """
        if name not in self._streams:
            types = [attribute.type for attribute in self._schemas[name].attributes]
            for type_ in types:
                if type_ not in self.dialect.column_types:
                    reason = self.dialect.never.get(type_, "it cannot be stored")
                    raise Refusal("never", f"{name}: {type_}: {reason}")
            columns = [
                sa.Column(f"a_{place}", self.dialect.column_types[type_])
                for place, type_ in enumerate(types)
            ]
            self._streams[name] = self._table(
                f"s_{told_apart(name)}",
                [sa.Column(one, NUMBER) for one in ("pos", "seq", "ts")] + columns,
                key=("pos",),
            )
        return self._streams[name]

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams that have a table."""
        return tuple(self._streams)

    def purge(self, table: sa.Table, stream: str) -> sa.Delete:
        """What takes the rows away that nobody needs.

        It is told where they begin: PostgreSQL would pass by all that went since its last vacuum.
        """
        begin, end = batch_number("gone", stream), batch_number("purged", stream)
        return sa.delete(table).where(table.c.pos > begin, table.c.pos <= end)

    def fresh(self, name: str, alias: str) -> tuple[sa.FromClause, Element]:
        """A stream under a name of its own, and the condition for the rows of this batch."""
        rows = self.stream(name).alias(alias)
        return rows, rows.c.pos > batch_number("base", name)

    def find(self, rows: Mapping[int, sa.FromClause]) -> Find:
        """Where an expression's attributes are: a table, or alias, for each slot.

        For a family also its parameters, under the slot PARAMETER.
        """

        def found(node: Column | EventTime) -> Element:
            slot = (node.slot or 0) if isinstance(node, EventTime) else node.slot
            if isinstance(node, EventTime):
                return self.own_time(rows[slot])
            if slot == PARAMETER:
                return rows[slot].c[f"c_{node.position}"]
            return rows[slot].c[f"a_{node.position}"]

        return found

    def own_time(self, row: sa.FromClause) -> Element:
        """The time of a row itself: a late one has another in its table."""
        return row.c.ts if self.late is None else own_time(self.late, row.c.seq, row.c.ts)

    def keep(self, stream: str, *, time_ms: int = 0, rows: int = 1) -> None:
        """Say how long a query needs a stream's rows: a time, or a number of rows."""
        wanted = Retention(time_ms, rows)
        self.retention[stream] = self.retention.get(stream, Retention()).and_also(wanted)

    def index(self, stream: str, *columns: str) -> None:
        """Have an index on columns of a stream (`a_0`, `ts`, ..)."""
        if columns not in self.indexed[stream]:
            self.indexed[stream].add(columns)
            self._index(self.stream(stream), columns)

    def parameters(
        self,
        family: Family,
        more: Mapping[str, tuple[ColumnType, Sequence[Value]]] | None = None,
        indexes: Iterable[Sequence[str]] = (),
    ) -> sa.Table:
        """A table with a row per member: `member`, `c_0`.. its constants, and `more` columns.

        `more` gives type and values (one per member) of each further column, windows' sizes say.
        """
        further, wanted = more or {}, [tuple(names) for names in indexes]
        number = self._row_number(family, wanted)
        columns = [sa.Column("member", NUMBER)]
        for place, type_ in enumerate(family.types):
            kind = NUMBER if f"c_{place}" == number else self.dialect.column_types[type_]
            columns.append(sa.Column(f"c_{place}", kind))
        columns += [sa.Column(name, kind) for name, (kind, _) in further.items()]
        key = (number or "member",)
        table = self._table(f"p_{len(self.parameter_tables)}", columns, key, number is not None)
        for names in wanted:
            if names[0] != number:
                self._index(table, names)
        values = zip(*(column for _, column in further.values()), strict=True)
        added = list(values) if further else [()] * len(family)
        constants = family.constants or ((),) * len(family)
        rows = tuple(
            (member, *own, *others)
            for member, (own, others) in enumerate(zip(constants, added, strict=True))
        )
        self.parameter_tables.append(Parameters(table, rows))
        return table

    def following(
        self,
        stream: str,
        name: str,
        columns: Mapping[str, ColumnType],
        key: Sequence[str],
        fill: Followed,
        purge: Purged | None = None,
    ) -> sa.Table:
        """A table that gets rows right after a stream has: cumulative sums, instants, groups.

        `name` stands for its contents: whoever asks for the same name gets the same table. `fill`
        selects the new rows from the stream's (`batch_number("base", stream)`), columns in order.
        `purge` deletes what is not needed; by default rows whose `pos` is up to
        `batch_number("purged", stream)`, if the table has a `pos`.
        """
        whole = f"f_{told_apart(f'{stream}.{name}')}"
        if whole not in self.followers:
            made = [sa.Column(one, kind) for one, kind in columns.items()]
            table = self._table(whole, made, key=tuple(key))
            deletes = purge(table) if purge is not None else None
            if deletes is None and "pos" in columns:
                deletes = self.purge(table, stream)
            self.followers[whole] = Follower(stream, table, fill(table), deletes)
        return self.followers[whole].table

    def born(self, family: Family, slot: int) -> int:
        """How many rows an input had when the family's queries were made (all the same); mostly 0.

        Rows with a `pos` up to this are not theirs: a query begins with empty windows.
        """
        return self._born.get((family.name, slot), 0)

    def rank(self, family: Family, slot: int) -> int:
        """The order in which one event's rows reach the inputs of a query: smaller is earlier.

        A row r of slot i was there before e of slot j if (r.seq, rank i) < (e.seq, rank j).
        """
        return self._ranks.get((family.name, slot), slot)

    def is_alone(self, family: Family) -> bool:
        """Whether one event brings one row at most to all inputs of a query together."""
        return family.name in self._alone

    def rank_as(self, ranks: Mapping[tuple[str, int], int], alone: Iterable[str]) -> None:
        """Set what `rank` and `is_alone` say."""
        self._ranks.update(ranks)
        self._alone = self._alone.union(alone)

    def _row_number(self, family: Family, indexes: Iterable[Sequence[str]]) -> str | None:
        """The constant by which members are looked for, if it can be SQLite's number of a row.

        A row is found by its number in half the time that an index takes.
        """
        if self.dialect.forms != "sqlite":
            return None
        firsts = {names[0] for names in indexes}
        for place, type_ in enumerate(family.types):
            values = {row[place] for row in family.constants}
            is_key = len(values) == len(family) and type_ in (Type.INT, Type.LONG)
            if is_key and f"c_{place}" in firsts:
                return f"c_{place}"
        return None

    def _late_times(self) -> sa.Table:
        return self._table("late", [sa.Column(one, NUMBER) for one in ("seq", "own")], ("seq",))

    def _table(
        self,
        name: str,
        columns: list[sa.Column[Any]],
        key: tuple[str, ...],
        is_row_number: bool = False,
    ) -> sa.Table:
        options = table_options(self.dialect, self._is_durable)
        if self.dialect.forms == "sqlite" and key != ("pos",) and not is_row_number:
            options["sqlite_with_rowid"] = False
        # DuckDB finds rows by the ranges of its blocks; its indexes cost more than they give
        if self.dialect.forms != "duckdb" and key:
            columns = [*columns, sa.PrimaryKeyConstraint(*key)]  # type: ignore[list-item]
        for column in columns:
            if isinstance(column, sa.Column):
                column.autoincrement = False
        return sa.Table(self._prefix + name, self.metadata, *columns, **options)

    def _index(self, table: sa.Table, columns: tuple[str, ...]) -> None:
        if (
            self.dialect.forms == "duckdb"
        ):  # it reads an index for constants only, and fills it slowly
            return
        name = told_apart(f"{table.name}.{'.'.join(columns)}")
        sa.Index(f"{self._prefix}i_{name}", *(table.c[one] for one in columns))


def table_options(dialect: Dialect, is_durable: bool) -> dict[str, Any]:
    """How tables are made: a crash of PostgreSQL empties all of a run that is not durable."""
    is_unlogged = dialect.forms == "postgresql" and not is_durable
    return {"prefixes": ["UNLOGGED"]} if is_unlogged else {}


def types_of(table: sa.Table) -> tuple[Type, ...]:
    """The types of a table's columns, as what they are loaded from."""
    return tuple(
        next(type_ for kind, type_ in _TYPES if isinstance(column.type, kind)) for column in table.c
    )


_TYPES: tuple[tuple[type, Type], ...] = (
    (sa.Boolean, Type.BOOL),
    (sa.Integer, Type.LONG),
    (sa.REAL, Type.FLOAT),
    (sa.Float, Type.DOUBLE),
    (sa.String, Type.STRING),
)


def told_apart(name: str) -> str:
    """A name as part of a table's: short, and different where case alone is not."""
    plain = "".join(
        letter if letter.isalnum() and letter.isascii() else "_" for letter in name.lower()
    )
    if plain == name and len(name) <= NAME_MAX:
        return name
    digest = sha1(name.encode(), usedforsecurity=False).hexdigest()[:8]
    return f"{plain[: NAME_MAX - 9]}_{digest}"
