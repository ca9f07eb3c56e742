"""Conditions and values of queries, checked against the rows they may speak of."""

from __future__ import annotations

from collections.abc import Iterable

from cep.jepc.expressions import Condition, Term, Written
from cep.jepc.queries import Aggregate
from cep.lang import parse_expression
from cep.lang.errors import RuleError, Source
from cep.plan.check import Checker
from cep.plan.expressions import Aggregate as PlanAggregate
from cep.plan.expressions import Expression
from cep.plan.problems import Problems
from cep.plan.scope import Place, Scope
from cep.plan.types import Schema


class Check:
    """Types the expressions of one operator; errors name the query and what it asked."""

    def __init__(self, where: str, places: Iterable[Place]) -> None:
        self._where = where
        self._places = tuple(places)

    def condition(self, condition: Condition) -> Expression:
        """A bool expression; RuleError for anything else."""
        written = self._written(condition)
        return self._checker(written).condition(written.node)

    def value(self, value: Condition) -> Expression:
        """An expression of any type."""
        written = self._written(value)
        return self._checker(written).check(written.node)

    def aggregate(self, aggregate: Aggregate, found: list[PlanAggregate]) -> Expression:
        """An aggregate, which is put among those `found`."""
        if aggregate.written is not None:
            written = aggregate.written
        else:
            arguments = ", ".join(_text(of) for of in aggregate.of)
            written = self._written(f"{aggregate.function}({arguments})")
        return self._checker(written, found).check(written.node)

    def having(self, condition: Condition, outputs: Schema) -> Expression:
        """A condition on what is selected."""
        written = self._written(condition)
        scope = Scope(Problems(written.source), self._places).with_outputs(outputs)
        return Checker(scope).condition(written.node)

    def _checker(self, written: Written, found: list[PlanAggregate] | None = None) -> Checker:
        return Checker(Scope(Problems(written.source), self._places), found)

    def _written(self, condition: Condition) -> Written:
        if isinstance(condition, Written):
            return condition
        text = _text(condition)
        try:
            return Written(parse_expression(text), Source(text, self._where))
        except RuleError as error:
            error.source = self._where
            raise


def _text(value: Term | str | int) -> str:
    return value.text if isinstance(value, Term) else str(value)
