"""Scalar functions, made callable: those of the core, of maths, texts and times, and the user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cep.interpreter.context import Context
from cep.interpreter.functions.core import CORE
from cep.interpreter.functions.maths import MATHS, chosen, rounding
from cep.interpreter.functions.texts import TEXTS, joined, substring
from cep.interpreter.functions.times import extracted
from cep.interpreter.rows import Evaluator, Row
from cep.plan.expressions import Call
from cep.plan.functions import function_of

MAKERS = {
    **CORE,
    "math:max": chosen(max),
    "math:min": chosen(min),
    "math:round": rounding,
    "str:concat": joined,
    "str:substr": substring,
    "time:extract": extracted,
}
"""Functions with rules of their own for types or nulls."""
STRICT: dict[str, Callable[..., Any]] = {**MATHS, **TEXTS}
"""Functions that are null when an argument is."""


def function(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
    """A call as a function of a row; KeyError when there is no such function."""
    if node.function in MAKERS:
        return MAKERS[node.function](node, arguments, context)
    if node.function in STRICT:
        return _strict(STRICT[node.function], arguments)
    call = function_of(node.function, node.digest).call
    return lambda row: call(*[argument(row) for argument in arguments])


def _strict(apply: Callable[..., Any], arguments: list[Evaluator]) -> Evaluator:
    def evaluate(row: Row) -> Any:
        values = [argument(row) for argument in arguments]
        return None if None in values else apply(*values)

    return evaluate
