"""A condition taken apart: which of its conjuncts fail on a row, and with which values."""

from __future__ import annotations

from collections.abc import Callable

from cep.interpreter.context import Context
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Evaluator, Row
from cep.plan.expressions import (
    TABLE_SLOT,
    Aggregated,
    Collected,
    Column,
    EventTime,
    Expression,
    Output,
    children,
)
from cep.plan.rewrite.conjunctions import conjuncts
from cep.plan.text import Speech
from cep.trace.texts import value_text

READ = (Aggregated, Collected, Column, EventTime, Output)
"""What a condition reads from a row."""


Moved = Callable[[Expression], Expression]


class Condition:
    """A condition on rows; `speech` says how it is written.

    `moved` makes of an expression the same one for rows of another shape, which are then shown.
    """

    def __init__(
        self, expression: Expression, context: Context, speech: Speech, moved: Moved | None = None
    ) -> None:
        def value_of(node: Expression) -> Evaluator:
            return evaluator(node if moved is None else moved(node), context)

        self._parts = [_Part(part, value_of, speech) for part in conjuncts(expression)]

    def holds(self, row: Row) -> bool:
        """Whether the condition is true on a row."""
        return all(part.holds(row) for part in self._parts)

    def text(self, row: Row) -> str:
        """The condition with the values it reads."""
        return _joined(self._parts, row)

    def why_not(self, row: Row) -> str:
        """The conjuncts that are not true on the row, with the values they read."""
        return _joined([part for part in self._parts if not part.holds(row)], row)


def _joined(parts: list[_Part], row: Row) -> str:
    values = dict(pair for part in parts for pair in part.values(row))
    text = " and ".join(part.text for part in parts)
    told = ", ".join(f"{name}={value}" for name, value in values.items())
    return f"{text} ({told})" if told else text


class _Part:
    """One conjunct."""

    def __init__(
        self, expression: Expression, value_of: Callable[[Expression], Evaluator], speech: Speech
    ) -> None:
        self.text = speech.text(expression)
        self._holds = value_of(expression)
        self._values = [(speech.text(node), value_of(node)) for node in read(expression)]

    def holds(self, row: Row) -> bool:
        return self._holds(row) is True

    def values(self, row: Row) -> list[tuple[str, str]]:
        return [(name, value_text(value_of(row))) for name, value_of in self._values]


def read(expression: Expression) -> list[Expression]:
    """What an expression reads from a row, left to right; what a table's rows hold is left out."""
    if isinstance(expression, Column) and expression.slot == TABLE_SLOT:
        return []
    if isinstance(expression, READ):
        return [expression]
    return [node for child in children(expression) for node in read(child)]
