"""Texts of conditions and values, checked against the rows they may speak of."""

from __future__ import annotations

from collections.abc import Iterable

from cep.jepc.expressions import text_of
from cep.jepc.queries import Aggregate, Condition
from cep.lang import ast, parse_expression
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
        text = text_of(condition)
        return self._checker(text).condition(self._parsed(text))

    def value(self, value: Condition) -> Expression:
        """An expression of any type."""
        text = text_of(value)
        return self._checker(text).check(self._parsed(text))

    def aggregate(self, aggregate: Aggregate, found: list[PlanAggregate]) -> Expression:
        """An aggregate, which is put among those `found`."""
        arguments = (str(of) if isinstance(of, int) else text_of(of) for of in aggregate.of)
        text = f"{aggregate.function}({', '.join(arguments)})"
        return self._checker(text, found).check(self._parsed(text))

    def having(self, condition: Condition, outputs: Schema) -> Expression:
        """A condition on what is selected."""
        text = text_of(condition)
        scope = Scope(self._problems(text), self._places).with_outputs(outputs)
        return Checker(scope).condition(self._parsed(text))

    def _parsed(self, text: str) -> ast.Expression:
        try:
            return parse_expression(text)
        except RuleError as error:
            error.source = self._where
            raise

    def _checker(self, text: str, found: list[PlanAggregate] | None = None) -> Checker:
        return Checker(Scope(self._problems(text), self._places), found)

    def _problems(self, text: str) -> Problems:
        return Problems(Source(text, self._where))
