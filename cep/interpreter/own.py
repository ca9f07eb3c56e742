"""Indicators of the user behind a stream: what they give is added to each row."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from cep.interpreter.fed import Fed
from cep.interpreter.indicators import Constants, Indicator
from cep.interpreter.rows import Chunk, Evaluator, Row, RowKind
from cep.plan.steps import StreamFunction


def own_indicator(function: StreamFunction) -> Callable[[list[Evaluator], Constants], Indicator]:
    """Makes the indicator for one group of rows."""
    return partial(OwnLines, function)


class OwnLines(Indicator):
    """Rows that leave a window behind it change nothing, and get what was given last."""

    def __init__(
        self, function: StreamFunction, arguments: list[Evaluator], constants: Constants
    ) -> None:
        self._fed = Fed(function.name, function.digest, function.arguments, arguments)

    def take(self, row: Row) -> Chunk:
        given = self._fed.take(row) if row.kind is RowKind.CURRENT else self._fed.given
        return [row.with_values([*row.values, *given])]

    def state(self) -> Any:
        return self._fed.state()

    def restore(self, state: Any) -> None:
        self._fed.restore(state)
