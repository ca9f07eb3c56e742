"""Named windows: one window that several queries feed, read and search."""

from __future__ import annotations

from collections.abc import Iterable

from cep.interpreter.context import Context
from cep.interpreter.held import HeldRows
from cep.interpreter.rows import Chunk, Emit, Row, RowKind
from cep.interpreter.tables.search import Find
from cep.interpreter.windows import make_window
from cep.plan.expressions import Expression
from cep.plan.nodes import NamedWindow as NamedWindowPlan

KINDS = {
    "current": (RowKind.CURRENT,),
    "expired": (RowKind.EXPIRED,),
    "all": (RowKind.CURRENT, RowKind.EXPIRED),
}


class NamedWindow:
    """A `define window`: rows go in, current and expired rows come out as its `output` says."""

    def __init__(self, plan: NamedWindowPlan, context: Context, publish: Emit) -> None:
        self.plan = plan
        self._publish = publish
        self._kinds = KINDS[plan.output]
        inner = context.wanting(plan.output)
        self._window = make_window(plan.window, plan.schema, inner, self._out)
        self._held = HeldRows(plan.window, self._window, context)

    def add(self, rows: Chunk) -> None:
        """Put rows in, whatever their kind: an expired row is a new row here."""
        if rows:
            self._window.process([row.copy(RowKind.CURRENT) for row in rows])

    def rows(self, asking: Row | None = None) -> Iterable[Row]:
        """The rows held now."""
        return self._held.rows()

    def index(self, key: Expression) -> Find | None:
        """An index for a join, kept as long as the window."""
        return self._held.index(key)

    def _out(self, chunk: Chunk) -> None:
        self._held.observe(chunk)
        rows = [row for row in chunk if row.kind in self._kinds]
        if rows:
            self._publish(rows)


def make_named_window(plan: NamedWindowPlan, context: Context, publish: Emit) -> NamedWindow:
    """A named window; `publish` takes what comes out, one chunk at a time."""
    return NamedWindow(plan, context, publish)
