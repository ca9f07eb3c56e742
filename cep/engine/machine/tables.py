"""Tables as words of the program, and what queries ask of them and write to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cep.dropped import Reason
from cep.engine.machine.dispatch import Word
from cep.engine.machine.expressions import Names, Unsupported
from cep.engine.machine.kernels.searches import BY_INDEX, BY_KEY, BY_NOTHING, FOUND, Q_RING, SEARCH
from cep.engine.machine.kernels.steps import LOOKUP, WRITE
from cep.engine.machine.kernels.stored import ADD, DELETE, UPDATE, UPDATE_OR_ADD
from cep.engine.machine.kernels.tables import (
    BY_ARRIVAL,
    BY_HASH,
    BY_REAL,
    BY_WHOLE,
    LINKS,
    OF_TEXT,
    OF_TRUTH,
    OF_WHOLE,
    R_LINKS,
    T_INDEXES,
)
from cep.engine.machine.kernels.words import INDEX
from cep.engine.machine.program import Builder, names_of
from cep.interpreter.tables.lookup import lookups
from cep.plan.expressions import TABLE_SLOT, Column, EventTime, Expression, InTable, walk
from cep.plan.nodes import Table
from cep.plan.query import Query, StreamInput
from cep.plan.steps import Delete, Insert, Update
from cep.plan.types import Schema, Type

if TYPE_CHECKING:
    from cep.engine.machine.queries import Place, Selecting

KEY_TYPES = {Type.STRING: OF_TEXT, Type.BOOL: OF_TRUTH, Type.INT: OF_WHOLE, Type.LONG: OF_WHOLE}


def lower_table(builder: Builder, table: Table) -> None:
    """Say what a table is; its state is in the home of what is in no partition."""
    types = [attribute.type for attribute in table.schema.attributes]
    if any(type_ in (Type.OBJECT, Type.LIST) for type_ in types):
        raise Unsupported(f"table {table.name}: values that are objects")
    order = order_of(table)
    if order == BY_HASH:
        builder.hash_texts(("table", table.name))
    keys = len(table.primary_key)
    key = R_LINKS + LINKS * len(table.indexes)
    data = key + keys
    state = builder.home.take(T_INDEXES + INDEX * len(table.indexes))
    builder.tables[table.name] = builder.block((
        state, len(types), data + 1 + len(types), keys,
        builder.block(column_of(types, one) for one in table.primary_key), key, data, order,
        builder.block(KEY_TYPES.get(types[one], OF_WHOLE) for one in table.primary_key),
        len(table.indexes), builder.block(column_of(types, one) for one in table.indexes),
        builder.counter(("table", table.name), Reason.REPEAT),
    ))  # fmt: skip


def column_of(types: Sequence[Type], place: int) -> int:
    """A column as kernels have it: one of doubles is negative."""
    return -1 - place if types[place].is_real else place


def order_of(table: Table) -> int:
    """By what the rows are ordered; see `cep.interpreter.tables.keys`."""
    types = [table.schema.attributes[one].type for one in table.primary_key]
    if not types:
        return BY_ARRIVAL
    if len(types) == 1 and types[0].is_numeric:
        return BY_REAL if types[0].is_real else BY_WHOLE
    if any(type_.is_real for type_ in types):
        raise Unsupported(f"table {table.name}: a key of several values, one with a point")
    return BY_HASH


def table_named(builder: Builder, name: str) -> Table:
    return next(table for table in builder.plan.tables if table.name == name)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a table: the condition, which sees the row of the table in `slot`; by which
    names, those of the row that asks; from which word on the table's row stands there.
    """

    table: Table
    condition: Expression | None
    slot: int
    names: Names
    at: int


def with_row(names: Names, schema: Schema, slot: int, at: int) -> Names:
    """Names of a row that has a row of a table or window from a word on: its time, its values."""
    held = names_of(schema, at + 1, slot)
    return Names(
        {**names.columns, **held.columns}, {**names.times, slot: at},
        names.aggregates, names.outputs, names.lookups,
    )  # fmt: skip


def lower_search(place: Place, asked: Asked, filters: Sequence[Expression] = ()) -> int:
    """The search in a table; `filters` see its row alone."""
    builder, table = place.builder, asked.table
    need_no_lookup(asked.condition, *filters)
    names = with_row(asked.names, table.schema, asked.slot, asked.at)
    on = condition_of(place, names, asked.slot, asked.condition, filters)
    by, values = found_by(table, asked)
    writer = builder.writer(asked.names)
    codes = [builder.value(writer.value(value)) for value in values]
    return builder.block((
        builder.tables[table.name], place.home.take(FOUND), by, builder.block(codes),
        builder.block(int(value.type.is_real) for value in values),
        asked.at, len(table.schema), on, *[0] * (SEARCH - Q_RING),
    ))  # fmt: skip


def condition_of(
    place: Place,
    names: Names,
    slot: int,
    condition: Expression | None,
    filters: Sequence[Expression],
) -> int:
    """The condition behind the filters, which see the row that is looked at alone."""
    writer = place.builder.writer(names)
    alone = place.builder.writer(in_any_slot(names, slot))
    parts = [alone.condition(one) for one in filters]
    if condition is not None:
        parts.append(writer.condition(condition))
    if not parts:
        return 0
    whole = parts[0]
    for part in parts[1:]:
        whole = writer.joined(whole, part)
    return place.builder.code(whole)


def in_any_slot(names: Names, slot: int) -> Names:
    """Names of the row in a slot, whichever slot an expression names."""
    own = {key[1]: found for key, found in names.columns.items() if key[0] == slot}
    at = names.times[slot]
    columns: dict[tuple[int, ...], tuple[Word, int]] = {
        (one, place): found for place, found in own.items() for one in (0, 1, TABLE_SLOT)
    }
    return Names(columns, {None: at, 0: at, 1: at, TABLE_SLOT: at})


def found_by(table: Table, asked: Asked) -> tuple[int, list[Expression]]:
    """By what rows are found, and its values: the key where all of it is given, an index."""
    given = equalities(asked.condition, asked.slot)
    if table.primary_key and all(one in given for one in table.primary_key):
        return BY_KEY, [given[one] for one in table.primary_key]
    for number, one in enumerate(table.indexes):
        if one in given:
            return BY_INDEX + number, [given[one]]
    return BY_NOTHING, []


def equalities(condition: Expression | None, slot: int) -> dict[int, Expression]:
    """By the place of an attribute of the row in `slot`, the value that it must equal."""
    given: dict[int, Expression] = {}
    for lookup in lookups(condition, slot):
        key, value = lookup.key, lookup.value
        if lookup.op != "==" or not isinstance(key, Column) or _is_timed(value):
            continue
        if key.type is value.type or (key.type.is_integer and value.type.is_integer):
            given.setdefault(key.position, value)
    return given


def _is_timed(value: Expression) -> bool:
    return any(isinstance(node, EventTime) for node in walk(value))


def need_no_lookup(*conditions: Expression | None) -> None:
    """Unsupported for a condition on rows that asks a table itself."""
    for one in conditions:
        if one is not None and any(isinstance(node, InTable) for node in walk(one)):
            raise Unsupported("`in` a table within a condition on rows of a table or join")


def lookups_of(expressions: Sequence[Expression]) -> list[InTable]:
    """What expressions ask of tables, each once."""
    found = (node for one in expressions for node in walk(one) if isinstance(node, InTable))
    return list(dict.fromkeys(found))


def asked_by(query: Query) -> list[InTable]:
    """What a query asks of tables."""
    return lookups_of(list(expressions_of(query)))


def expressions_of(query: Query) -> Iterator[Expression]:
    """All expressions on rows of the query itself."""
    if isinstance(query.input, StreamInput):
        yield from (*query.input.filters, *query.input.window_filters)
    for aggregate in query.aggregates:
        yield from aggregate.arguments
    for _, value in query.projection:
        yield value
    if query.having is not None:
        yield query.having


def widest_table(builder: Builder, query: Query) -> int:
    """Words that a row needs for the row of a table that it is compared with; 0 for none."""
    names = [one.table for one in asked_by(query)]
    if isinstance(query.output, Update | Delete):
        names.append(query.output.target)
    return max((1 + len(table_named(builder, name).schema) for name in names), default=0)


def lower_lookups(
    place: Place, selecting: Selecting, expressions: Sequence[Expression], following: int
) -> int:
    """The nodes that find out what expressions ask of tables, in front of that which needs it."""
    builder, width = place.builder, selecting.width
    for one in reversed(lookups_of(expressions)):
        table = table_named(builder, one.table)
        asked = Asked(table, one.condition, TABLE_SLOT, selecting.names, selecting.pair)
        following = builder.node(
            LOOKUP, following, width, width, 0, place.rank,
            lower_search(place, asked), selecting.names.lookups[one],
        )  # fmt: skip
    return following


def lower_write(place: Place, selecting: Selecting, output: Insert | Delete | Update) -> int:
    """The end of a query that changes a table."""
    builder, width = place.builder, selecting.width
    table = table_named(builder, output.target)
    shape, first = builder.tables[table.name], selecting.outputs
    if isinstance(output, Insert):
        return builder.node(WRITE, 0, width, width, 0, place.rank, ADD, shape, first, 0, 0, 0, 0)
    names = Names({}, {None: 0}, (), selecting.names.outputs)
    asked = Asked(table, output.on, TABLE_SLOT, names, selecting.pair)
    search = lower_search(place, asked)
    sets: list[int] = []
    keyed = False
    if isinstance(output, Update):
        need_no_lookup(*(one.value for one in output.assignments))
        writer = builder.writer(with_row(names, table.schema, TABLE_SLOT, selecting.pair))
        for one in output.assignments:
            sets += one.position, builder.value(writer.value(one.value))
            keyed |= one.position in table.primary_key
    how = DELETE
    if isinstance(output, Update):
        how = UPDATE_OR_ADD if output.or_insert else UPDATE
    return builder.node(
        WRITE, 0, width, width, 0, place.rank,
        how, shape, first, search, len(sets) // 2, int(keyed), builder.block(sets),
    )  # fmt: skip
