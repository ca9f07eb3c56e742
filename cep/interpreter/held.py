"""The rows a window holds, indexed where each comes and goes by itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cep.interpreter.context import Context
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Chunk, Evaluator, Row, RowKind
from cep.interpreter.tables.index import Index
from cep.interpreter.tables.search import Find
from cep.interpreter.windows import WindowPart
from cep.plan.expressions import Expression
from cep.plan.steps import Window
from cep.plan.windows import kind_of


def is_indexed(window: Window) -> bool:
    """Whether each row of a window comes and goes by itself; `length(0)` holds nothing."""
    kind = kind_of(window)
    return kind.leaves_singly and window.constant(kind.size) > 0


class HeldRows:
    """What can be found in a window. `observe` must be shown all that comes out of it."""

    def __init__(self, plan: Window, window: WindowPart, context: Context) -> None:
        self._window = window
        self._context = context
        self._is_indexed = is_indexed(plan)
        self._indexes: dict[Expression, tuple[Evaluator, Index]] = {}
        self._mirror: dict[int, Row] | None = None
        self._count = 0
        context.keep(self, "held")

    def rows(self, asking: Row | None = None) -> Iterable[Row]:
        """The rows in the window."""
        return list(self._window.held())

    def index(self, key: Expression) -> Find | None:
        """An index on an expression of the held row, made when first asked for, kept from then."""
        if not self._is_indexed:
            return None
        if key not in self._indexes:
            self._indexes[key] = (evaluator(key, self._context), Index())
            self._mirror = None
        _, index = self._indexes[key]
        return lambda op, value: self._found(index, op, value)

    def observe(self, chunk: Chunk) -> None:
        """Follow the window: current rows have come, expired rows have gone."""
        if self._mirror is None:
            return
        for row in chunk:
            if row.kind is RowKind.CURRENT:
                self._enter(self._mirror, row)
            elif row.kind is RowKind.EXPIRED:
                self._leave(self._mirror, row)

    def _found(self, index: Index, op: str, value: Any) -> Iterable[Row]:
        if self._mirror is None:
            self._mirror = self._filled()
        mirror = self._mirror
        return [mirror[number] for number in index.find(op, value)]

    def _filled(self) -> dict[int, Row]:
        """Index what the window holds: at the first question, and after a restore."""
        mirror: dict[int, Row] = {}
        for _, index in self._indexes.values():
            index.clear()
        for row in self._window.held():
            self._enter(mirror, row)
        return mirror

    def _enter(self, mirror: dict[int, Row], row: Row) -> None:
        mirror[self._count] = row
        for key, index in self._indexes.values():
            index.add(key(_in_any_slot(row)), self._count)
        self._count += 1

    def _leave(self, mirror: dict[int, Row], left: Row) -> None:
        number = next((one for one, row in mirror.items() if row.values is left.values))
        row = mirror.pop(number)
        for key, index in self._indexes.values():
            index.remove(key(_in_any_slot(row)), number)

    def state(self) -> None:
        """Nothing: all is made again of what the window holds."""
        return

    def restore(self, state: None) -> None:
        """Look at the window anew."""
        self._mirror = None


def _in_any_slot(row: Row) -> Row:
    """The row as the expression of a key sees it, whichever slot the key counts in."""
    return Row(row.time, [], row.kind, [row, row])
