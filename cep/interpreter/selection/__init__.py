"""What a query selects, while it runs: its steps, a chunk at a time as in Siddhi.

A row passes the steps that see single rows; what is selected of a chunk then passes those that see
it as a whole (`chunks`), and goes on.
"""

from __future__ import annotations

from cep.interpreter.context import Context
from cep.interpreter.context import Step as Happened
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Chunk, Emit, Evaluator, Row, RowKind
from cep.interpreter.selection.chunks import make_chunk_step
from cep.interpreter.selection.groups import Groups
from cep.plan.query import HasSteps
from cep.plan.steps import GroupBy, Kinds, Last, Order, Sort

__all__ = ["Selection"]

WANTED: dict[Kinds, tuple[RowKind, ...]] = {
    "current": (RowKind.CURRENT,),
    "expired": (RowKind.EXPIRED,),
    "all": (RowKind.CURRENT, RowKind.EXPIRED),
}


class Selection:
    """Selects rows of the wanted kinds; groups see all of them.

    Rows that leave carry the selected values, and in `output` what they are sorted by.
    """

    def __init__(self, query: HasSteps, kinds: Kinds, context: Context, emit: Emit) -> None:
        self._context = context
        self._emit = emit
        self._wanted = WANTED[kinds]
        groups, having, sort = query.step(GroupBy), query.having, query.step(Sort)
        self._groups = None if groups is None else Groups(groups, context)
        self._passes_resets = groups is None or not groups.columns
        self._project = [
            evaluator(expression, context.owned_by(f"{context.owner}.{name}"))
            for name, expression in query.projection
        ]
        self._having = None if having is None else evaluator(having, context)
        self._sort_by = [] if sort is None else [_sort_key(key, context) for key in sort.keys]
        made = [(step, make_chunk_step(step)) for step in query.steps]
        self._chunk_steps = [(step, pass_) for step, pass_ in made if pass_ is not None]
        self._tells_empty = query.step(Last) is not None

    def process(self, chunk: Chunk) -> None:
        """Select a chunk; nothing is emitted when no row has been selected."""
        selected = self._select(chunk)
        if selected is not None:
            self._context.tell(Happened.SELECTED, selected)
            self._emit(selected)

    def process_all(self, chunks: list[Chunk]) -> None:
        """Select chunks one by one; what is selected goes on as one chunk."""
        selected = [found for chunk in chunks if (found := self._select(chunk)) is not None]
        if selected:
            rows = [row for found in selected for row in found]
            self._context.tell(Happened.SELECTED, rows)
            self._emit(rows)

    def _select(self, chunk: Chunk) -> Chunk | None:
        """What is selected; None when nothing is, unless a last row was there and is cut away."""
        selected = [row for row in map(self._row, chunk) if row is not None]
        for step, passed in self._chunk_steps:
            selected = passed(selected)
            if isinstance(step, Last) and not selected:
                return None
        return selected if selected or self._tells_empty else None

    def _row(self, row: Row) -> Row | None:
        """The selected row; None when it is of no wanted kind or `having` is not true on it."""
        if row.kind is RowKind.TIMER:
            return None
        if row.kind is RowKind.RESET:
            return self._reset(row)
        if self._groups is not None:
            self._groups.enter(row)
        if row.kind not in self._wanted:
            return None
        row.output = output = [project(row) for project in self._project]
        if self._having is not None and self._having(row) is not True:
            self._context.tell(Happened.HAVING, [row])
            return None
        selected = Row(row.time, output, row.kind)
        selected.group = () if self._groups is None else row.group
        if self._sort_by:
            selected.output = [key(row) for key in self._sort_by]
        return selected

    def _reset(self, row: Row) -> Row | None:
        if self._groups is not None:
            self._groups.reset()
        return row if self._passes_resets else None


def _sort_key(key: Order, context: Context) -> Evaluator:
    """What a row that has been projected is sorted by."""
    if key.value is not None:
        return evaluator(key.value, context)
    return lambda row: row.output[key.position]
