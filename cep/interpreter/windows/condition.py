"""The condition of an expression window, with the aggregates in it."""

from __future__ import annotations

from typing import Any

from cep.interpreter.aggregators import make_aggregator
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Row
from cep.interpreter.windows.base import Setting
from cep.plan.functions import FunctionError
from cep.plan.window_conditions import window_condition


class Condition:
    """Judges the row that comes or goes, with the first and the last row of the window.

    RuleError when the text is no condition on the window's rows. FunctionError when it calls
    functions of the user that the rules do not name: no snapshot would know of them.
    """

    def __init__(self, text: str, setting: Setting) -> None:
        plan = window_condition(text, setting.schema)
        if plan.digests != setting.window.digests:
            raise FunctionError(
                f"window condition {text!r}: a function of your own in it is not that of the rules",
                "call it in a query before the window, and let the condition read what it gives",
            )
        self.text = text
        self._holds = evaluator(plan.condition, setting.context)
        self._aggregators = [make_aggregator(item, setting.context) for item in plan.aggregates]

    def enter(self, row: Row, first: Row, last: Row) -> bool:
        """Whether it holds after the row has come."""
        judged = Row(row.time, row.values, row.kind, [row, first, last])
        judged.aggregates = [aggregator.enter(judged) for aggregator in self._aggregators]
        return self._holds(judged) is True

    def leave(self, row: Row, first: Row, last: Row) -> bool:
        """Whether it holds after the row has gone."""
        judged = Row(row.time, row.values, row.kind, [row, first, last])
        judged.aggregates = [aggregator.leave(judged) for aggregator in self._aggregators]
        return self._holds(judged) is True

    def reset(self) -> None:
        """No row is counted any more."""
        for aggregator in self._aggregators:
            aggregator.reset()

    def state(self) -> Any:
        """Plain data."""
        return [aggregator.state() for aggregator in self._aggregators]

    def restore(self, state: Any) -> None:
        """Take over what `state` gave, of a condition of the same text."""
        for aggregator, saved in zip(self._aggregators, state, strict=True):
            aggregator.restore(saved)
