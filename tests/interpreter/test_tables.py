"""Tables: against a list of rows, keys and indexes, the order of rows, what is told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loguru import logger

from cep.interpreter.context import Context, Shared
from cep.interpreter.rows import Row
from cep.interpreter.tables import Table, make_table, make_writer
from cep.interpreter.tables.hash_order import in_hash_order, java_text, joined_key, slots_for
from cep.plan import expressions as ex
from cep.plan.nodes import Table as TablePlan
from cep.plan.steps import Assignment, Delete, Update
from cep.plan.types import Schema, Type
from tests.campaign import examples

SCHEMA = Schema.of(key=Type.STRING, n=Type.INT, x=Type.DOUBLE)
KEY = ex.Column(0, "key", Type.STRING, ex.TABLE_SLOT)
N = ex.Column(1, "n", Type.INT, ex.TABLE_SLOT)
X = ex.Column(2, "x", Type.DOUBLE, ex.TABLE_SLOT)
OUT_KEY, OUT_N, OUT_X = (
    ex.Output(position, attribute.name, attribute.type)
    for position, attribute in enumerate(SCHEMA.attributes)
)
ORDERS = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
}
SET_X = (Assignment(2, OUT_X),)
SET_ALL = tuple(
    Assignment(position, value) for position, value in enumerate((OUT_KEY, OUT_N, OUT_X))
)

Values = list[Any]


def make(key: tuple[int, ...] = (), indexes: tuple[int, ...] = ()) -> tuple[Table, Context]:
    shared = Shared(False)
    context = Context(shared)
    shared.tables["T"] = table = make_table(TablePlan("T", SCHEMA, key, indexes), context)
    return table, context


def values(table: Table) -> list[Values]:
    return [row.values for row in table.rows()]


class Model:
    """A table as a list of rows, every condition tried on each."""

    def __init__(self, key: tuple[int, ...]) -> None:
        self.key = key
        self.rows: list[Values] = []

    def add(self, row: Values) -> None:
        if not self.key or self._of(row) not in map(self._of, self.rows):
            self.rows.append(list(row))

    def _of(self, row: Values) -> Values:
        return [row[position] for position in self.key]

    def fitting(self, on: Any, row: Values) -> list[int]:
        return [number for number, held in enumerate(self.rows) if on(held, row)]

    def delete(self, on: Any, row: Values) -> None:
        gone = self.fitting(on, row)
        self.rows = [held for number, held in enumerate(self.rows) if number not in gone]

    def update(self, on: Any, row: Values, all_: bool, insert: bool) -> None:
        fitting = self.fitting(on, row)
        if not fitting and insert:
            self.add(row)
        new = {n: list(row) if all_ else [*self.rows[n][:2], row[2]] for n in fitting}
        rows = [new.get(number, held) for number, held in enumerate(self.rows)]
        keys = [self._of(held) for held in rows]
        if not self.key or all(keys.count(key) == 1 for key in keys):
            self.rows = rows


def comparisons() -> st.SearchStrategy[tuple[ex.Expression, Any]]:
    """A condition on the table's row and the output, and the same in Python."""

    def made(op: str, position: int) -> tuple[ex.Expression, Any]:
        held = (KEY, N, X)[position]
        out = (OUT_KEY, OUT_N, OUT_X)[position]

        def on(row: Values, output: Values) -> bool:
            left, right = row[position], output[position]
            return op == "!=" if left is None or right is None else ORDERS[op](left, right)

        return ex.Comparison(op, held, out), on

    def mirrored(position: int) -> tuple[ex.Expression, Any]:
        held, out = (KEY, N, X)[position], (OUT_KEY, OUT_N, OUT_X)[position]
        return ex.Comparison("==", out, held), made("==", position)[1]

    return st.one_of(
        st.builds(made, st.sampled_from(("==", "!=", "<", ">=")), st.sampled_from((1, 2))),
        st.builds(made, st.sampled_from(("==", "!=")), st.just(0)),
        st.builds(mirrored, st.sampled_from((0, 1, 2))),
    )


def conditions() -> st.SearchStrategy[tuple[ex.Expression, Any]]:
    def both(left: tuple[Any, Any], right: tuple[Any, Any]) -> tuple[ex.Expression, Any]:
        return ex.Logical("and", left[0], right[0]), lambda r, o: left[1](r, o) and right[1](r, o)

    return st.one_of(comparisons(), st.builds(both, comparisons(), comparisons()))


ROWS = st.tuples(
    st.sampled_from(("a", "b", "c", "dd")), st.integers(0, 4), st.one_of(st.none(), st.just(1.5))
).map(list)
OPERATIONS = st.lists(
    st.tuples(st.sampled_from(("add", "add", "delete", "update", "upsert")), ROWS, st.booleans()),
    max_size=20,
)


@settings(max_examples=examples(400), deadline=None)
@given(
    key=st.sampled_from(((), (0,), (1,), (0, 1))),
    indexes=st.sampled_from(((), (1,), (0, 2))),
    condition=conditions(),
    operations=OPERATIONS,
)
def test_is_a_list_of_rows(
    key: tuple[int, ...],
    indexes: tuple[int, ...],
    condition: tuple[ex.Expression, Any],
    operations: list[tuple[str, Values, bool]],
) -> None:
    logger.disable("cep")
    table, context = make(key, indexes)
    model, on = Model(key), condition[1]
    search = table.search(condition[0], context)
    for operation, row, all_ in operations:
        _apply(table, context, condition[0], operation, row, all_)
        if operation == "add":
            model.add(row)
        elif operation == "delete":
            model.delete(on, row)
        else:
            model.update(on, row, all_, operation == "upsert")
        assert values(table) == model.rows if not key else _sorted(table) == _sort(model.rows)
        asking = Row(0, [])
        asking.output = row
        assert search.any(asking) is bool(model.fitting(on, row))
    logger.enable("cep")


def _apply(
    table: Table, context: Context, on: ex.Expression, operation: str, row: Values, all_: bool
) -> None:
    if operation == "add":
        table.add([Row(0, row)])
    elif operation == "delete":
        make_writer(Delete("T", "current", on), context)([Row(0, row)])
    else:
        set_ = SET_ALL if all_ else SET_X
        update = Update("T", "current", on, set_, operation == "upsert")
        make_writer(update, context)([Row(0, row)])


def _sort(rows: list[Values]) -> list[Values]:
    return sorted(rows, key=repr)


def _sorted(table: Table) -> list[Values]:
    return _sort(values(table))


def test_a_second_row_with_the_key_is_dropped_and_told() -> None:
    table, _ = make(key=(0,))
    told: list[str] = []
    sink = logger.add(lambda message: told.append(str(message)))
    table.add([Row(0, ["a", 1, 1.0]), Row(0, ["a", 2, 2.0])])
    logger.remove(sink)
    assert values(table) == [["a", 1, 1.0]]
    assert "'a' is there" in told[0]


def test_rows_with_a_numeric_key_are_listed_by_it() -> None:
    table, _ = make(key=(1,))
    table.add([Row(0, ["a", number, 0.0]) for number in (3, 1, 2)])
    assert [row[1] for row in values(table)] == [1, 2, 3]


def test_rows_with_a_text_key_are_listed_as_recorded() -> None:
    table, _ = make(key=(0,))
    table.add([Row(0, ["WSO2", 1, 0.0]), Row(0, ["IBM", 2, 0.0])])
    assert [row[0] for row in values(table)] == ["IBM", "WSO2"]


def test_hash_order_of_recorded_buckets() -> None:
    keys = [joined_key(key) for key in ((952, "WSO2"), (954, "IBM"), (950, "WSO2"))]
    long = [key.replace("95", "149628995", 1).replace(":-:", "000:-:", 1) for key in keys]
    assert in_hash_order(sorted(long), slots_for(3)) == long


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0"),
        (1e7, "1.0E7"),
        (12345678.9, "1.23456789E7"),
        (0.001, "0.001"),
        (0.00012, "1.2E-4"),
        (-2.5e-10, "-2.5E-10"),
        (True, "true"),
        (None, "null"),
        (7, "7"),
    ],
)
def test_values_are_written_as_java_writes_them(value: object, text: str) -> None:
    assert java_text(value) == text


def test_searches_by_key_without_looking_at_every_row() -> None:
    table, context = make(key=(0,), indexes=(1,))
    for condition in (
        ex.Comparison("==", KEY, OUT_KEY),
        ex.Comparison("<=", OUT_N, N),
        ex.Logical("and", ex.Comparison("!=", X, OUT_X), ex.Comparison("==", N, OUT_N)),
    ):
        assert table.search(condition, context).indexed
    assert not table.search(ex.Comparison("==", X, OUT_X), context).indexed


@settings(max_examples=examples(50), deadline=None)
@given(key=st.sampled_from(((), (0,), (1,))), rows=st.lists(ROWS, max_size=30))
def test_restored_it_lists_the_same_rows_in_the_same_order(
    key: tuple[int, ...], rows: list[Values]
) -> None:
    logger.disable("cep")
    table, _ = make(key, (1,))
    table.add([Row(time, row) for time, row in enumerate(rows)])
    again, context = make(key, (1,))
    again.restore(table.state())
    assert values(again) == values(table)
    more = Row(0, ["e", 9, 0.0])
    for one in (table, again):
        one.add([more])
    assert values(again) == values(table)
    asking = Row(0, [])
    asking.output = ["e", 9, 0.0]
    assert again.search(ex.Comparison("==", N, OUT_N), context).any(asking)
    logger.enable("cep")


@settings(max_examples=examples(100), deadline=None)
@given(
    key=st.sampled_from(((), (0,), (1,), (0, 1))), condition=comparisons(), operations=OPERATIONS
)
def test_an_index_finds_the_rows_in_the_order_of_the_table(
    key: tuple[int, ...],
    condition: tuple[ex.Expression, Any],
    operations: list[tuple[str, Values, bool]],
) -> None:
    logger.disable("cep")
    table, context = make(key, (0, 1, 2))
    for operation, row, all_ in operations:
        _apply(table, context, condition[0], operation, row, all_)
        asking = Row(0, [])
        asking.output = row
        found = [
            pair.slots[-1]
            for pair in table.search(condition[0], context).pairs(asking)
            if pair.slots
        ]
        assert found == [held for held in table.rows() if condition[1](held.values, row)]
    logger.enable("cep")
