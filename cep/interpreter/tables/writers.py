"""What a query does to rows of a table: delete, update, update or insert."""

from __future__ import annotations

from typing import Any

from cep.interpreter.context import Context
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Chunk, Emit, Evaluator, Row
from cep.interpreter.tables.table import Table
from cep.plan.steps import Delete, Update


def make_writer(output: Delete | Update, context: Context) -> Emit:
    """The change a query's output clause means, given the selected rows in order.

    The table has been made before.
    """
    table: Table = context.shared.tables[output.target]
    match output:
        case Delete():
            return _deletes(table, output, context)
        case Update():
            return _updates(table, output, context)


def _deletes(table: Table, output: Delete, context: Context) -> Emit:
    search = table.search(output.on, context)

    def write(rows: Chunk) -> None:
        for row in rows:
            table.remove([_held(pair) for pair in search.pairs(_asking(row))])

    return write


def _updates(table: Table, output: Update, context: Context) -> Emit:
    search = table.search(output.on, context)
    assignments = [(a.position, evaluator(a.value, context)) for a in output.assignments]

    def write(rows: Chunk) -> None:
        for row in rows:
            pairs = list(search.pairs(_asking(row)))
            if pairs:
                table.replace([(_held(pair), _changed(pair, assignments)) for pair in pairs])
            elif output.or_insert:
                table.add([row])

    return write


def _asking(row: Row) -> Row:
    """A selected row as conditions and assignments see it: as `Output`."""
    asking = row.copy()
    asking.output = row.values
    return asking


def _held(pair: Row) -> Row:
    """The table's row of a pair."""
    held = (pair.slots or [None])[-1]
    if not isinstance(held, Row):
        raise TypeError("the pair has no row of a table")
    return held


def _changed(pair: Row, assignments: list[tuple[int, Evaluator]]) -> list[Any]:
    values = list(_held(pair).values)
    for position, value in assignments:
        values[position] = value(pair)
    return values
