"""Aggregators: one family a file. `make_aggregator` makes the running one of the plan's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cep.interpreter.aggregators.base import Aggregator
from cep.interpreter.aggregators.counts import Count, DistinctCount, UnionSet
from cep.interpreter.aggregators.extremes import Extreme, ExtremeForever
from cep.interpreter.aggregators.indicators import Atr, Ema, Lag, Rsi, Wma
from cep.interpreter.aggregators.order_statistics import MEDIAN, Percentile
from cep.interpreter.aggregators.own import OwnAggregator
from cep.interpreter.aggregators.paired import Correlation, WeightedPrice
from cep.interpreter.aggregators.siddhi import (
    SiddhiAll,
    SiddhiDeviation,
    SiddhiDistinctCount,
    SiddhiExtreme,
    SiddhiForever,
    SiddhiOne,
)
from cep.interpreter.aggregators.sums import Average, Deviation, Sum, WholeSum
from cep.interpreter.aggregators.truths import All, One
from cep.interpreter.context import Context
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Evaluator
from cep.plan.expressions import Aggregate, Constant
from cep.plan.types import Type

__all__ = ["Aggregator", "make_aggregator"]

_BY_NAME: dict[str, Callable[..., Aggregator]] = {
    "sum": Sum,
    "avg": Average,
    "stdDev": Deviation,
    "distinctCount": DistinctCount,
    "and": All,
    "or": One,
    "unionSet": UnionSet,
    "min": lambda x: Extreme(x, 1),
    "max": lambda x: Extreme(x, -1),
    "minForever": lambda x: ExtremeForever(x, 1),
    "maxForever": lambda x: ExtremeForever(x, -1),
    "median": lambda x: Percentile(x, MEDIAN),
    "vwap": WeightedPrice,
    "correlation": Correlation,
}
_SIDDHI: dict[str, Callable[..., Aggregator]] = {
    "and": SiddhiAll,
    "or": SiddhiOne,
    "distinctCount": SiddhiDistinctCount,
    "stdDev": SiddhiDeviation,
    "min": lambda x: SiddhiExtreme(x, 1),
    "max": lambda x: SiddhiExtreme(x, -1),
    "minForever": lambda x: SiddhiForever(x, 1),
    "maxForever": lambda x: SiddhiForever(x, -1),
}
"""Aggregators that Siddhi has in another way, in its mode."""
_WITH_CONSTANT: dict[str, Callable[..., Aggregator]] = {
    "percentile": Percentile,
    "ema": Ema,
    "wma": Wma,
    "rsi": Rsi,
    "atr": Atr,
    "lag": Lag,
}
"""Aggregators whose last argument is a constant: a number of rows, a percentage."""


def make_aggregator(aggregate: Aggregate, context: Context) -> Aggregator:
    """A running aggregator, empty; KeyError when there is none of that name."""
    name = aggregate.function
    if name == "count":
        return Count()
    if name == "sum" and aggregate.type is Type.LONG:
        return WholeSum(evaluator(aggregate.arguments[0], context))
    if aggregate.digest:
        return OwnAggregator(aggregate, _evaluators(aggregate.arguments, context))
    if context.compat and name in _SIDDHI:
        return _SIDDHI[name](*_evaluators(aggregate.arguments, context))
    if name in _BY_NAME:
        return _BY_NAME[name](*_evaluators(aggregate.arguments, context))
    values = _evaluators(aggregate.arguments[:-1], context)
    return _WITH_CONSTANT[name](*values, _constant(aggregate))


def _evaluators(arguments: tuple[Any, ...], context: Context) -> list[Evaluator]:
    return [evaluator(argument, context) for argument in arguments]


def _constant(aggregate: Aggregate) -> Any:
    last = aggregate.arguments[-1]
    if not isinstance(last, Constant):
        raise TypeError(f"{aggregate.function}: the last argument is no constant")
    return last.value
