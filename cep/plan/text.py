"""Expressions, patterns and times of a plan, written as in rules."""

from __future__ import annotations

from cep.lang.tokens import DAY_MS, SECOND_MS
from cep.plan.expressions import (
    Aggregated,
    Arithmetic,
    Call,
    Column,
    Comparison,
    Constant,
    EventTime,
    Expression,
    IsNull,
    Logical,
    Not,
    Output,
)
from cep.plan.nodes import Aggregate, Both, Either, Leaf, Pattern, Ref, Sequence
from cep.plan.types import Type

LEVELS = {"or": 1, "and": 2, "==": 3, "!=": 3, "<": 4, ">": 4, "<=": 4, ">=": 4}
LEVELS |= {"+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
UNITS_MS = (
    ("day", DAY_MS),
    ("hour", 3_600 * SECOND_MS),
    ("min", 60 * SECOND_MS),
    ("sec", SECOND_MS),
    ("ms", 1),
)


def duration_text(ms: int) -> str:
    """A time literal, such as `1 min 30 sec`."""
    parts: list[str] = []
    for unit, unit_ms in UNITS_MS:
        count, ms = divmod(ms, unit_ms)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts) or "0 ms"


def ref_text(ref: Ref) -> str:
    return ref.event if ref.key is None else f"{ref.event}('{ref.key}')"


def refs_text(refs: tuple[Ref, ...]) -> str:
    return ", ".join(ref_text(ref) for ref in refs)


def pattern_text(pattern: Pattern, level: int = 0) -> str:
    """A pattern; `level` is how tight the operator around it binds."""
    match pattern:
        case Leaf():
            return ref_text(pattern.ref)
        case Sequence():
            own, absent = 0, f"[not {refs_text(pattern.absent)}] " if pattern.absent else ""
            operator = f"followed by {absent}".rstrip()
        case Either():
            own, operator = 1, "or"
        case Both():
            own, operator = 2, "and"
    left, right = pattern_text(pattern.left, own), pattern_text(pattern.right, own + 1)
    text = f"{left} {operator} {right}"
    return f"({text})" if own < level else text


def aggregate_text(aggregate: Aggregate) -> str:
    argument = "" if aggregate.argument is None else expression_text(aggregate.argument)
    return f"{aggregate.function}({argument})"


def expression_text(
    expression: Expression, aggregates: tuple[Aggregate, ...] = (), level: int = 0
) -> str:
    """An expression; `aggregates` are those of its query, `level` is as in `pattern_text`."""
    match expression:
        case Constant():
            own, text = 8, _constant_text(expression)
        case Column() | Output():
            return expression.name
        case Aggregated():
            return aggregate_text(aggregates[expression.position])
        case EventTime():
            return "eventTimestamp()"
        case Not():
            own, text = 7, "not " + expression_text(expression.operand, aggregates, 7)
        case IsNull():
            own, text = 8, expression_text(expression.operand, aggregates, 9) + " is null"
        case Call():
            arguments = (expression_text(a, aggregates) for a in expression.arguments)
            return f"{expression.function}({', '.join(arguments)})"
        case Arithmetic() | Comparison() | Logical():
            own = LEVELS[expression.op]
            left = expression_text(expression.left, aggregates, own)
            right = expression_text(expression.right, aggregates, own + 1)
            text = f"{left} {expression.op} {right}"
    return f"({text})" if own < level else text


def _constant_text(constant: Constant) -> str:
    value = constant.value
    if isinstance(value, bool) or value is None:
        return "null" if value is None else str(value).lower()
    if isinstance(value, str):
        quote = "'" if "'" not in value else '"' if '"' not in value else '"""'
        return f"{quote}{value}{quote}"
    return f"{value}{ {Type.LONG: 'L', Type.FLOAT: 'f'}.get(constant.type, '') }"
