"""Aggregators: functions over the rows of a window.

Those of Siddhi, then ours. An indicator follows arrivals: rows that leave the window change
nothing, and a batch that starts again starts it again.
"""

from __future__ import annotations

from collections.abc import Sequence

from cep.plan.expressions import Constant, Expression
from cep.plan.signatures import ANY, NUMBER, TRUTH, VALUES, Parameter, Signature, rows
from cep.plan.types import Type


def same(arguments: Sequence[Expression]) -> Type:
    """The type of the first argument."""
    return arguments[0].type


def wide(arguments: Sequence[Expression]) -> Type:
    """Sums of whole numbers are whole."""
    return Type.LONG if arguments[0].type.is_integer else Type.DOUBLE


X = Parameter("x", NUMBER)
Y = Parameter("y", NUMBER)
PERIOD = rows("n")
FLAG = Parameter("flag", TRUTH)
COUNTED = Parameter("x", ANY, default=Constant(None, Type.OBJECT))
BACK = Parameter("n", (Type.INT,), "constant", Constant(1, Type.INT), least=1)
PERCENT = Parameter("p", NUMBER, "constant", least=0)
BAR = (Parameter("high", NUMBER), Parameter("low", NUMBER), Parameter("close", NUMBER))

AGGREGATORS = (
    Signature("sum", (X,), "the sum; long for whole numbers, else double", wide),
    Signature("avg", (X,), "the mean", Type.DOUBLE),
    Signature("count", (COUNTED,), "the number of rows, those with nulls too", Type.LONG),
    Signature("min", (X,), "the smallest value", same),
    Signature("max", (X,), "the largest value", same),
    Signature("minForever", (X,), "the smallest value ever, whatever leaves", same),
    Signature("maxForever", (X,), "the largest value ever, whatever leaves", same),
    Signature("stdDev", (X,), "the standard deviation of the population", Type.DOUBLE),
    Signature("distinctCount", (Parameter("x", ANY),), "the number of different values", Type.LONG),
    Signature("and", (FLAG,), "whether all are true", Type.BOOL),
    Signature("or", (FLAG,), "whether one is true", Type.BOOL),
    Signature("unionSet", (Parameter("set", (Type.OBJECT,)),), "the union of sets", Type.OBJECT),
    Signature("median", (X,), "the middle value; the mean of the middle two", Type.DOUBLE),
    Signature(
        "percentile",
        (X, PERCENT),
        "the value below which `p` percent lie, interpolated linearly",
        Type.DOUBLE,
    ),
    Signature("correlation", (X, Y), "Pearson's correlation of two values", Type.DOUBLE),
    Signature(
        "vwap",
        (Parameter("price", NUMBER), Parameter("volume", NUMBER)),
        "the mean price, weighted by volume",
        Type.DOUBLE,
    ),
    Signature("ema", (X, PERIOD), "exponential mean, alpha 2 / (n + 1)", Type.DOUBLE),
    Signature("wma", (X, PERIOD), "mean of the last n, weighted n, n - 1, .., 1", Type.DOUBLE),
    Signature("rsi", (X, PERIOD), "relative strength index of Wilder, 0 to 100", Type.DOUBLE),
    Signature("atr", (*BAR, PERIOD), "average true range of Wilder", Type.DOUBLE),
    Signature("lag", (Parameter("x", VALUES), BACK), "the value n rows earlier, or null", same),
)

INDICATORS = frozenset({"ema", "wma", "rsi", "atr", "lag"})
"""Aggregators that follow arrivals and never forget what leaves a window."""
