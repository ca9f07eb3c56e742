"""On-demand queries: asked once of what a table, named window or aggregation holds now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cep.interpreter.context import Context, Shared
from cep.interpreter.rows import Chunk, Row
from cep.interpreter.selection import Selection
from cep.interpreter.tables import make_writer
from cep.interpreter.tables.search import Find, Holder, Search
from cep.plan.expressions import TABLE_SLOT, Expression
from cep.plan.query import OnDemandQuery
from cep.plan.steps import Holder as Source
from cep.plan.steps import Insert, Return

PLACE = "on-demand"


class Listed:
    """A holder looked through row by row: one question is not worth an index that stays."""

    def __init__(self, holder: Holder) -> None:
        self._holder = holder

    def rows(self, asking: Row) -> Iterable[Row]:
        """What the holder holds."""
        return self._holder.rows(asking)

    def index(self, key: Expression) -> Find | None:
        """No index."""
        return None


def answer(query: OnDemandQuery, shared: Shared) -> list[list[Any]] | None:
    """The rows found, None when there is none (as in Siddhi); a change answers no rows.

    ValueError when the times or the unit of an aggregation are none.
    """
    context = Context(shared, PLACE)
    try:
        rows = _selected(query, context)
        if isinstance(query.output, Return):
            return [row.values for row in rows] or None
        _write(query, rows, context)
        return []
    finally:
        context.drop()


def _selected(query: OnDemandQuery, context: Context) -> Chunk:
    """The found rows, selected as one chunk."""
    selected: Chunk = []
    selection = Selection(query, "current", context, selected.extend)
    found = list(_found(query, context))
    if found:
        selection.process(found)
    return selected


def _found(query: OnDemandQuery, context: Context) -> Iterable[Row]:
    """Fresh copies of the held rows on which `on` is true; one empty row without a source."""
    asking = Row(context.now_ms, [])
    if query.source is None:
        return [asking]
    search = Search(query.on, TABLE_SLOT, _holder(query, context), context)
    return [held.copy() for pair in search.pairs(asking) if isinstance(held := _last(pair), Row)]


def _last(pair: Row) -> Row | list[Row] | None:
    return pair.slots[-1] if pair.slots else None


def _holder(query: OnDemandQuery, context: Context) -> Holder:
    shared, name = context.shared, query.source or ""
    match query.holder:
        case Source.TABLE:
            table: Holder = shared.tables[name]
            return table
        case Source.WINDOW:
            return Listed(shared.windows[name])
        case Source.AGGREGATION:
            view: Holder = shared.aggregations[name].view(query.within, query.per, context)
            return view
        case _:
            raise ValueError(f"{name} holds no rows")


def _write(query: OnDemandQuery, rows: Chunk, context: Context) -> None:
    if isinstance(query.output, Insert):
        context.shared.tables[query.output.target].add(rows)
    elif not isinstance(query.output, Return):
        make_writer(query.output, context)(rows)
