"""Indicators of the user in `select`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cep.interpreter.aggregators.base import Aggregator
from cep.interpreter.fed import Fed
from cep.interpreter.rows import Evaluator, Row
from cep.plan.expressions import Aggregate


class OwnAggregator(Aggregator):
    """It follows what comes; rows that leave a window change nothing."""

    def __init__(self, aggregate: Aggregate, read: Sequence[Evaluator]) -> None:
        self._fed = Fed(aggregate.function, aggregate.digest, aggregate.arguments, read)

    @property
    def value(self) -> Any:
        return self._fed.given[0]

    def enter(self, row: Row) -> Any:
        return self._fed.take(row)[0]

    def leave(self, row: Row) -> Any:
        return self.value

    def reset(self) -> Any:
        self._fed.reset()
        return self.value

    def state(self) -> Any:
        return self._fed.state()

    def restore(self, state: Any) -> None:
        self._fed.restore(state)
