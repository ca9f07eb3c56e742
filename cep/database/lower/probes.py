"""Combinations where an equality gives, for each new row and each query, the value of a column.

That value is looked for. A database that joins by hashing does so at once; left to itself it would
compare all rows with each other first, for the equality is between three tables. One with indexes
does better with one range for all queries, unless their constants lie far apart.
"""

from __future__ import annotations

import sqlalchemy as sa

from cep.database.expressions import Lowering
from cep.database.lower.combinations import Arm, Combinations
from cep.database.lower.index_ranges import IndexRange, index_range
from cep.database.lower.nested import nested
from cep.plan.families import PARAMETER

SPREAD = 4
"""So many values of a range for each query are looked through as fast as one is looked for."""


def probed(combined: Combinations, arrived: int) -> Arm | None:
    """The combinations with new rows of one input; None where that is not the better way."""
    solved = _solved(combined, arrived)
    if combined.parameters is None or solved is None:
        return None
    place, slot, reached = solved
    if combined.tables.dialect.forms != "duckdb" and not _is_wide(combined, reached):
        return None
    rows = combined.named(arrived)
    asking = _asking(combined, arrived, rows, reached)
    rows = {**rows, arrived: asking, PARAMETER: asking}
    find = combined.finder(rows, arrived)
    lowering = Lowering(combined.tables.dialect, find)
    others = sorted(combined.others(arrived), key=lambda one: one != slot)
    conditions = [find(reached.column) == asking.c.k]
    for one in others:
        conditions += combined.holds(rows, one, arrived)
    rest = (one for at, one in enumerate(combined.found.conditions) if at != place)
    conditions += [lowering.truth(one) for one in rest]
    source = nested([asking, *(rows[one] for one in others)])
    combined.index(slot, reached.column)
    how = (
        f"new {combined.streams[arrived]}, each of {len(combined.family)} queries, "
        f"{combined.streams[slot]} by {reached.column.name}"
    )
    order = combined.order(rows, arrived)
    return Arm(arrived, rows, source, tuple(conditions), order, find, how)


def _solved(combined: Combinations, arrived: int) -> tuple[int, int, IndexRange] | None:
    """The place of an equality that a parameter is in, and what it says about another input."""
    for place, condition in enumerate(combined.found.conditions):
        for slot in combined.others(arrived):
            found = index_range(condition, slot)
            if found is None or found.value is None or PARAMETER not in found.slots:
                continue
            if found.slots <= {arrived, PARAMETER}:
                return place, slot, found
    return None


def _is_wide(combined: Combinations, reached: IndexRange) -> bool:
    """Whether one range for all queries holds much that is for none."""
    low, high = reached.constants(combined.family)
    return high - low >= SPREAD * len(combined.family)


def _asking(
    combined: Combinations, arrived: int, rows: dict[int, sa.FromClause], reached: IndexRange
) -> sa.Subquery:
    """New rows with each query's parameters and `k`, the value that is looked for."""
    lowering = Lowering(combined.tables.dialect, combined.finder(rows, arrived))
    value = reached.value
    assert value is not None
    both = (rows[arrived], rows[PARAMETER])
    columns = [column for one in both for column in one.c]
    select = sa.select(*columns, lowering.value(value).label("k")).select_from(nested(both))
    return select.where(*combined.begins(rows, arrived)).subquery(f"e{arrived}p")
