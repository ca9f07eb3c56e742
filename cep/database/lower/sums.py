"""Cumulative sums of a stream, per group: what aggregates over any window are differences of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import sqlalchemy as sa

from cep.database import vocabulary
from cep.database.conversions import whole
from cep.database.dialects.base import Element
from cep.database.errors import Refusal
from cep.database.exact import Exact, exact, most_of
from cep.database.expressions import Lowering
from cep.database.lower.carried import Carried
from cep.database.lower.exactly import complaint, forbid
from cep.database.lower.groups import Groups
from cep.database.lower.window_bounds import WindowBounds
from cep.database.steps import batch_number
from cep.database.tables import NUMBER, ColumnType, Tables
from cep.plan.expressions import Aggregate, Expression
from cep.plan.functions import aggregator_of
from cep.plan.functions.sql import ExactSums, Looked, Record, Summarise
from cep.plan.functions.sql import Sums as Terms
from cep.plan.query import Query
from cep.plan.types import Type

REALS = (Type.FLOAT, Type.DOUBLE)

Before = Callable[[str], Element]
"""A cumulative column of the last row in front of the window; null where there is none."""


@dataclass(frozen=True, slots=True)
class SumColumn:
    """One column of the table, of argument number `place`; `kind` says how it goes on.

    `sum`: cumulative; `value`: the row's own; `run`: the least or greatest (`function`) so far;
    `held`: whether the row cannot be summed up without error.
    """

    name: str
    kind: str
    type: ColumnType
    place: int
    of: Callable[[Element], Element]
    function: str = ""


@dataclass(frozen=True)
class Sums:
    """The table of one query, and how aggregates are read from it.

    A row for each row of the stream that passes the filters behind the window: group, `ts`, `pos`,
    `num` (its number in the group), then what each aggregate needs.
    """

    query: Query
    bounds: WindowBounds
    tables: Tables

    @cached_property
    def groups(self) -> Groups:
        """How rows are told apart."""
        return Groups(self.query.group_by, self.tables.dialect)

    @cached_property
    def stream(self) -> str:
        """The stream that is read."""
        return self.query.stream_input.stream

    @property
    def base(self) -> Element:
        """New rows have a larger `pos`."""
        return batch_number("base", self.stream)

    @cached_property
    def arguments(self) -> tuple[Expression, ...]:
        """What aggregates are taken of, each once."""
        found = [one.argument for one in self.query.aggregates if not _is_of_rows(one)]
        return tuple(dict.fromkeys(one for one in found if one is not None))

    @cached_property
    def parts(self) -> tuple[SumColumn, ...]:
        """The columns behind `num`."""
        return tuple(dict.fromkeys(self._parts()))

    @cached_property
    def table(self) -> sa.Table:
        """The table itself; equal for all queries that need the same."""
        source = self.query.stream_input
        forever = [
            not _is_of_rows(one) and self._further(one) is not None for one in self.query.aggregates
        ]
        text = repr((
            self.query.group_by, source.window_filters, self.bounds.born, self.bounds.order,
            self.bounds.sizes if self.bounds.order == "num" else self.bounds.is_whole,
            [(part.name, part.kind, part.function) for part in self.parts],
            self.arguments, any(forever),
        ))  # fmt: skip
        columns: dict[str, ColumnType] = {
            **self.groups.columns,
            **dict.fromkeys(("ts", "pos", "num", "n"), NUMBER),
            **{part.name: part.type for part in self.parts},
        }
        order = () if self.bounds.order == "pos" else (self.bounds.order,)
        made = self.tables.following(
            self.stream, text, columns, (*self.groups.names, *order, "pos"),
            self._fill, self._purge(any(forever)),
        )  # fmt: skip
        for part in self.parts:
            if part.kind == "held":
                forbid(made, part.name)
        return made

    def aggregated(
        self, aggregate: Aggregate, own: sa.FromClause, before: Before, extreme: Extreme
    ) -> Element:
        """The value of an aggregate for a row of this table."""

        def since(name: str) -> Element:
            now: Element = own.c[name]
            return now if self.bounds.is_whole else now - sa.func.coalesce(before(name), 0)

        if _is_of_rows(aggregate):
            return since("n")
        place, how = self.place(aggregate), self._how(aggregate)
        further = self._further(aggregate)
        if further is not None:
            return own.c[f"{further}_{place}"]
        match how:
            case Looked():
                return extreme(aggregate.function, f"x_{place}")
            case Terms():
                result: Element = how.result(
                    vocabulary, [since(f"{name}_{place}") for name in how.terms]
                )
                return result
            case ExactSums():
                found = self._exact(how, aggregate)
                return found.result([since(f"t_{place}_{term}") for term in range(found.count)])
        raise AssertionError(aggregate.function)

    def looks(self, aggregate: Aggregate) -> bool:
        """Whether it looks at the rows in the window, for sums do not tell."""
        is_looked = not _is_of_rows(aggregate) and isinstance(self._how(aggregate), Looked)
        return is_looked and self._further(aggregate) is None

    def _how(self, aggregate: Aggregate) -> Summarise:
        how = aggregator_of(aggregate.function).sql
        if how is None:
            raise Refusal("notimpl", f"{aggregate.function}()")
        return how

    def _further(self, aggregate: Aggregate) -> str | None:
        """The function of a least or greatest value of all rows there ever were, if it is one."""
        how = self._how(aggregate)
        if isinstance(how, Record):
            return how.further
        if not isinstance(how, Looked) or not self.bounds.is_whole:
            return None
        if how.further is None:
            raise Refusal("notimpl", f"{aggregate.function}() of all rows")
        return how.further

    def place(self, aggregate: Aggregate) -> int:
        """The number of its argument."""
        assert aggregate.argument is not None
        return self.arguments.index(aggregate.argument)

    def _exact(self, how: ExactSums, aggregate: Aggregate) -> Exact:
        assert aggregate.argument is not None
        return exact(self.tables.dialect, how.share, aggregate.argument.type)

    def _parts(self) -> Iterator[SumColumn]:
        for place, argument in enumerate(self.arguments):
            taking = [one for one in self.query.aggregates if one.argument == argument]
            yield from self._of_argument(place, argument, taking)

    def _of_argument(
        self, place: int, argument: Expression, taking: Sequence[Aggregate]
    ) -> Iterator[SumColumn]:
        ways = [self._how(one) for one in taking]
        terms = {
            name: term for how in ways if isinstance(how, Terms) for name, term in how.terms.items()
        }
        for name, term in terms.items():
            yield SumColumn(f"{name}_{place}", "sum", NUMBER, place, partial(term, vocabulary))
        shares = [how.share for how in ways if isinstance(how, ExactSums)]
        if shares:
            yield from self._terms(place, argument, most_of(shares))
        kind = self.tables.dialect.column_types[argument.type]
        if any(map(self.looks, taking)):
            yield SumColumn(f"x_{place}", "value", kind, place, _itself)
        further = {found for one in taking if (found := self._further(one)) is not None}
        for function in sorted(further):
            yield SumColumn(f"{function}_{place}", "run", kind, place, _itself, function)

    def _terms(self, place: int, argument: Expression, share: str) -> Iterator[SumColumn]:
        of = exact(self.tables.dialect, share, argument.type)
        for term in range(of.count):
            yield SumColumn(f"t_{place}_{term}", "sum", NUMBER, place, partial(_term, of, term))
        if argument.type in REALS:
            yield SumColumn(complaint(argument, place), "held", sa.Boolean(), place, _itself)

    def _fill(self, table: sa.Table) -> sa.Select[Any]:
        """The new rows, from where the last one of their group was."""
        dialect = self.tables.dialect
        rows, arguments, strange = self._new()
        lowering = Lowering(dialect, self.tables.find({0: rows}))
        passes = [lowering.truth(one) for one in self.query.stream_input.window_filters]
        groups = self.groups.of(lowering)
        carried = Carried(table, groups, self.groups, dialect.forms != "sqlite")

        def so_far(function: str, value: Element) -> Element:
            found = getattr(sa.func, function)(value)
            over: Element = found.over(
                partition_by=groups or None, order_by=rows.c.pos, rows=(None, 0)
            )
            return over

        def summed(value: Element, name: str) -> Element:
            new = sa.cast(so_far("sum", value), sa.BigInteger())
            return sa.func.coalesce(carried.last(name), 0) + new

        counted = self.bounds.order == "num" and bool(passes)
        all_pass = sa.and_(sa.true(), *passes)
        columns = [rows.c.ts, rows.c.pos, summed(whole(1), "num")]
        columns.append(summed(sa.case((all_pass, 1), else_=0) if counted else whole(1), "n"))
        for part in self.parts:
            value = strange[part.place] if part.kind == "held" else part.of(arguments[part.place])
            if counted:
                value = sa.case((all_pass, value), else_=_nothing(part))
            if part.kind == "sum":
                value = summed(value, part.name)
            elif part.kind == "run":
                value = _further(
                    part.function, so_far(part.function, value), carried.last(part.name)
                )
            columns.append(value)
        select = sa.select(*groups, *columns).select_from(carried.beside(rows))
        return select if counted else select.where(*passes)

    def _new(self) -> tuple[sa.FromClause, list[Element], Mapping[int, Element]]:
        """The stream's new rows, their arguments, and whether reals cannot be summed up.

        Those that cannot are null: their terms might be beyond any number of the database.
        """
        rows, is_new = self.tables.fresh(self.stream, "e")
        dialect = self.tables.dialect
        lowering = Lowering(dialect, self.tables.find({0: rows}))
        extra = []
        summed = [part.place for part in self.parts if part.kind == "held"]
        for place in summed:
            value, type_ = lowering.value(self.arguments[place]), self.arguments[place].type
            holds = exact(dialect, "sum", type_).held(value)
            extra += [sa.case((holds, value)).label(f"x_{place}"), (~holds).label(f"y_{place}")]
        select = sa.select(*rows.c, *extra).where(is_new)
        if self.bounds.born:
            select = select.where(rows.c.pos > self.bounds.born)
        new = select.subquery("h")
        lowering = Lowering(dialect, self.tables.find({0: new}))
        arguments = [
            new.c[f"x_{place}"] if place in summed else lowering.value(argument)
            for place, argument in enumerate(self.arguments)
        ]
        return new, arguments, {place: new.c[f"y_{place}"] for place in summed}

    def _purge(self, is_forever: bool) -> Callable[[sa.Table], sa.Delete] | None:
        """Rows in front of the window but the newest of a group that is still seen, or goes on
        forever.
        """
        if self.bounds.order == "num":
            return self._purge_numbers
        if self.bounds.is_whole or is_forever:
            return lambda table: self._older(table, is_forever=True)
        if self.groups.names or self.query.stream_input.window_filters:
            return lambda table: self._older(table, is_forever=False)
        return None

    def _older(self, table: sa.Table, *, is_forever: bool) -> sa.Delete:
        """One look at all rows; a self-join would look at each group again for each row."""
        rows = table.alias("q")
        end = batch_number("purged", self.stream)
        newest = sa.func.max(sa.case((rows.c.pos <= end, rows.c.pos), else_=0))
        stay = sa.select(newest).group_by(*(rows.c[name] for name in self.groups.names))
        if not is_forever:
            stay = stay.having(sa.func.max(rows.c.pos) > end)
        return sa.delete(table).where(table.c.pos <= end, table.c.pos.not_in(stay))

    def _purge_numbers(self, table: sa.Table) -> sa.Delete:
        """A group's rows that so many others have followed as are seen at once, and one more."""
        rows = table.alias("q")
        by = [rows.c[name] for name in self.groups.names]
        behind = sa.func.max(rows.c.num).over(partition_by=by) - rows.c.num
        ranked = sa.select(rows.c.pos, behind.label("behind")).subquery("ranked")
        gone = sa.select(ranked.c.pos).where(ranked.c.behind > max(self.bounds.sizes[0]))
        return sa.delete(table).where(table.c.pos.in_(gone))


def _is_of_rows(aggregate: Aggregate) -> bool:
    return aggregator_of(aggregate.function).of_rows


Extreme = Callable[[str, str], Element]
"""A function of the values of a column that are in the window."""


def _nothing(part: SumColumn) -> Element:
    """What a row that does not pass adds."""
    if part.kind == "sum":
        return whole(0)
    return sa.cast(sa.null(), part.type)


def _further(function: str, new: Element, old: Element) -> Element:
    """The smaller or larger one; null gives way."""
    is_further = new < old if function == "min" else new > old
    return sa.case((sa.or_(old.is_(None), is_further), new), else_=old)


def _itself(value: Element) -> Element:
    return value


def _term(of: Exact, place: int, value: Element) -> Element:
    return of.terms(value)[place]
