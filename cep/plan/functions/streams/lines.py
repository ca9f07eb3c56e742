"""Indicators that add several lines to each row."""

from __future__ import annotations

from cep.plan.expressions import Constant
from cep.plan.functions.parameters import X
from cep.plan.signatures import NUMBER, Parameter, Signature, rows
from cep.plan.types import Type

BOLLINGER = Signature(
    "bollinger",
    (X, rows("n"), Parameter("k", NUMBER, "constant", Constant(2.0, Type.DOUBLE), least=0)),
    "the mean of the last n and k standard deviations around it",
    added=(("upper", Type.DOUBLE), ("middle", Type.DOUBLE), ("lower", Type.DOUBLE)),
    stateful=True,
)
MACD = Signature(
    "macd",
    (X, rows("fast"), rows("slow"), rows("smooth")),
    "the distance of two exponential means, its own mean, and what is between them",
    added=(("macd", Type.DOUBLE), ("signal", Type.DOUBLE), ("histogram", Type.DOUBLE)),
    stateful=True,
)
