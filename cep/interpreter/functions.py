"""Scalar functions made callable: the plan's, and the user's."""

from __future__ import annotations

from cep.interpreter.context import Context
from cep.interpreter.rows import Evaluator
from cep.plan.expressions import Call
from cep.plan.functions import function_of, scalar_of


def function(node: Call, arguments: list[Evaluator], context: Context) -> Evaluator:
    """A call as a function of a row."""
    known = scalar_of(node.function)
    if known is not None:
        return known.plain(node, arguments, context)
    call = function_of(node.function, node.digest).call
    return lambda row: call(*[argument(row) for argument in arguments])
