"""Whether the expression of a stop or target is a price or a distance.

`target Swing.high` is a price, `stop 2 * atr` a distance, `stop Swing.low - 0.5 * atr` a price
again: as points and vectors of a line add up. Where that does not tell, the rule has to.
"""

from __future__ import annotations

from typing import Literal

from cep.lang import ast
from cep.plan.problems import Problems

LevelKind = Literal["points", "at", "by"]
_Kind = Literal["price", "distance", "number", ""]
_SUMS: dict[tuple[str, _Kind, _Kind], _Kind] = {
    ("-", "price", "price"): "distance",
    ("+", "price", "distance"): "price",
    ("-", "price", "distance"): "price",
    ("+", "distance", "price"): "price",
    ("+", "price", "number"): "price",
    ("-", "price", "number"): "price",
    ("+", "number", "price"): "price",
    ("+", "distance", "distance"): "distance",
    ("-", "distance", "distance"): "distance",
    ("+", "distance", "number"): "distance",
    ("-", "distance", "number"): "distance",
    ("+", "number", "distance"): "distance",
    ("+", "number", "number"): "number",
    ("-", "number", "number"): "number",
}


def level_kind(problems: Problems, clause: str, level: ast.Level) -> LevelKind:
    """What a level says of itself, else what its expression tells."""
    match level.kind:
        case "points" | "at" | "by":
            return level.kind
    found = _kind(level.value)
    if found in ("price", "distance"):
        return "at" if found == "price" else "by"
    what = "a number alone" if found == "number" else "this"
    message = f"{what} may be a price or a distance"
    hint = f"write `{clause} at ..` for a price, `{clause} by ..` for a distance in prices"
    if found == "number":
        hint += f", or `{clause} 200 points`"
    raise problems.error(level.value.span, message, hint)


def _kind(node: ast.Expression) -> _Kind:
    match node:
        case ast.Literal() | ast.Duration():
            return "number"
        case ast.Reference():
            return "price"
        case ast.Unary(op="-"):
            return _kind(node.operand) if _kind(node.operand) != "price" else ""
        case ast.Binary():
            return _of_two(node)
        case _:
            return ""


def _of_two(node: ast.Binary) -> _Kind:
    left, right = _kind(node.left), _kind(node.right)
    if node.op in ("+", "-"):
        return _SUMS.get((node.op, left, right), "")
    if node.op not in ("*", "/") or not left or not right:
        return ""
    if left == right == "number":
        return "number"
    is_ratio = node.op == "/" and right != "number"
    is_sum = isinstance(node.left, ast.Binary) and left == "price"
    return "" if is_ratio or is_sum else "distance"
