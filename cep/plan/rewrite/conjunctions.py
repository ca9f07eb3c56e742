"""Conjunctions with the cheap and selective condition first.

Each condition has a cost (what it takes to find out) and a chance (of being true). The expected
cost of `a and b and ..` is least when cost / (1 - chance) grows from left to right; equals keep
their order. All conditions but user functions are free of effects, and null counts as false on
either side, so the result is the same.
"""

from __future__ import annotations

from cep.plan.expressions import (
    Aggregated,
    Arithmetic,
    Call,
    Collected,
    Column,
    Comparison,
    Constant,
    EventTime,
    Expression,
    InTable,
    IsNull,
    Logical,
    Missing,
    Not,
    Output,
    children,
)
from cep.plan.functions import user_function
from cep.plan.rewrite.expressions import map_children

COSTS: dict[type, float] = {
    Constant: 0,
    Column: 1,
    Output: 1,
    Aggregated: 1,
    EventTime: 1,
    Missing: 1,
    Collected: 20,
    Not: 0.5,
    IsNull: 0.5,
    Comparison: 1,
    Logical: 0.5,
    Arithmetic: 1,
    Call: 10,
    InTable: 100,
}
"""The cost of a node, 1 being a comparison of two numbers; its operands come on top.

Strings are compared as numbers: back ends code them.
"""

USER_COST = 200.0
CHANCES = {"==": 0.1, "!=": 0.9, "<": 0.35, "<=": 0.35, ">": 0.35, ">=": 0.35}
"""How often a comparison is true, where nothing more is known."""
CONSTANT_FACTOR = 0.95
EVEN_CHANCE = 0.5
NULL_CHANCE = 0.05
UNLIKELY_MIN = 1e-6


def cost(expression: Expression) -> float:
    """What it takes to compute the expression once."""
    own = COSTS[type(expression)]
    if isinstance(expression, Call) and user_function(expression.function) is not None:
        own = USER_COST
    return own + sum(cost(child) for child in children(expression))


def chance(expression: Expression) -> float:
    """How often the condition is true, by its form."""
    match expression:
        case Constant():
            return float(expression.value is True)
        case Comparison():
            constant = isinstance(expression.left, Constant) or isinstance(
                expression.right, Constant
            )
            return CHANCES[expression.op] * (CONSTANT_FACTOR if constant else 1.0)
        case Logical():
            left, right = chance(expression.left), chance(expression.right)
            return left * right if expression.op == "and" else 1 - (1 - left) * (1 - right)
        case Not():
            return 1 - chance(expression.operand)
        case IsNull() | Missing():
            return NULL_CHANCE
        case _:
            return EVEN_CHANCE


def rank(condition: Expression) -> float:
    """What a conjunction is ordered by: cost per row it saves the rest."""
    return cost(condition) / max(1 - chance(condition), UNLIKELY_MIN)


def conjuncts(condition: Expression) -> list[Expression]:
    """The parts of `a and b and ..`, left to right."""
    if isinstance(condition, Logical) and condition.op == "and":
        return conjuncts(condition.left) + conjuncts(condition.right)
    return [condition]


def ordered(expression: Expression) -> Expression:
    """The expression with each conjunction in it put in order.

    What is asked of a table is left as it is: the table finds the rows by its own indexes.
    """
    if isinstance(expression, InTable):
        return expression
    parts = [map_children(part, ordered) for part in conjuncts(expression)]
    parts.sort(key=rank)
    result = parts[0]
    for part in parts[1:]:
        result = Logical("and", result, part)
    return result
