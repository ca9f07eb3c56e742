"""Functions of the interpreter, called inside databases that run in our process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from cep.database.dialects.base import COLUMN_TYPES, Element
from cep.database.errors import Refusal
from cep.database.own import own_function
from cep.interpreter.context import Context, Shared
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Row
from cep.plan.expressions import Call, Column, Constant, Expression
from cep.plan.functions import user_function
from cep.plan.numbers import real as known


def called(node: Call, values: Sequence[Element]) -> Element:
    """A call as the interpreter does it; Refusal for values that no database holds."""
    types = [argument.type for argument in node.arguments]
    for type_ in (*types, node.type):
        if type_ not in COLUMN_TYPES:
            raise Refusal("never", f"{node.function}: {type_} is not a value of a database")
    if not types:
        raise Refusal("notimpl", f"{node.function}: a function of nothing")
    bare = replace(node, arguments=tuple(map(_argument, range(len(types)), node.arguments)))
    # a user's function may be made known anew under its name
    key = (bare, user_function(node.function))
    name = own_function(key, node.function, lambda: _function(bare), types, node.type)
    function: Element = getattr(sa.func, name)(*values, type_=COLUMN_TYPES[node.type])
    return function


def _argument(place: int, argument: Expression) -> Expression:
    """Constants may decide what is called; all else is a value."""
    if isinstance(argument, Constant):
        return argument
    return Column(place, "", argument.type)


def _function(node: Call) -> Callable[..., Any]:
    evaluate = evaluator(node, Context(Shared(compat=False)))

    def call(*values: Any) -> Any:
        found = evaluate(Row(0, list(values)))
        return known(found) if isinstance(found, float) else found

    return call
