"""Trees as short prefix text, for tests to compare."""

from __future__ import annotations

from typing import Any

from cep.lang import ast


def shown(node: Any) -> str:
    """A tree as prefix text."""
    match node:
        case ast.StreamInput() | ast.StreamState() | ast.CountState() | ast.AbsentState():
            return _state(node)
        case ast.LogicalState() | ast.NextState() | ast.EveryState() | ast.GroupState():
            return _states(node)
        case ast.PatternEvent() | ast.FollowedBy() | ast.PatternAnd() | ast.PatternOr():
            return _pattern(node)
        case ast.Filter():
            return f"[{shown(node.condition)}]"
        case ast.Handler():
            return _handler(node)
        case _:
            return _expression(node)


def _expression(node: Any) -> str:
    match node:
        case ast.Literal():
            return repr(node.value)
        case ast.Duration():
            return f"{node.ms}ms"
        case ast.Reference():
            return _stream(node) + ("." if node.stream else "") + node.name.text
        case ast.EventReference():
            return "@" + _stream(node)
        case ast.Unary():
            return f"({node.op} {shown(node.operand)})"
        case ast.Binary():
            return f"({node.op} {shown(node.left)} {shown(node.right)})"
        case ast.IsNull():
            return f"(null? {shown(node.operand)})"
        case ast.In():
            return f"(in {shown(node.operand)} {node.table.text})"
        case ast.Call():
            return f"({_named(node)} {_arguments(node)})"
    raise AssertionError(node)


def _stream(node: Any) -> str:
    if node.stream is None:
        return ""
    index = node.index
    if index is None:
        return node.marker + node.stream.text
    place = str(index.number) if index.from_last is None else f"last-{index.from_last}"
    return f"{node.marker}{node.stream.text}[{place}]"


def _named(node: Any) -> str:
    name = node.function if isinstance(node, ast.Call) else node.name
    return f"{node.namespace.text}:{name.text}" if node.namespace else name.text


def _arguments(node: Any) -> str:
    return "*" if node.arguments is None else " ".join(map(shown, node.arguments))


def _handler(node: ast.Handler) -> str:
    return f"#{'window.' if node.is_window else ''}{_named(node)}({_arguments(node)})"


def _state(node: Any) -> str:
    match node:
        case ast.StreamInput():
            alias = f" as {node.alias.text}" if node.alias else ""
            return node.marker + node.stream.text + "".join(map(shown, node.handlers)) + alias
        case ast.StreamState():
            return (f"{node.reference.text}=" if node.reference else "") + shown(node.input)
        case ast.CountState():
            count = node.symbol or f"<{node.least}:{node.most}>"
            return shown(node.state) + count
        case _:
            wait = f" {node.time.ms}ms" if node.time else ""
            return f"(not {shown(node.state)}{wait})"


def _states(node: Any) -> str:
    match node:
        case ast.LogicalState():
            return f"({node.op} {shown(node.left)} {shown(node.right)})"
        case ast.NextState():
            return f"({shown(node.left)} {shown(node.right)})"
        case ast.EveryState():
            return f"(every {shown(node.state)})"
        case _:
            return f"(within {node.within.ms}ms {shown(node.state)})"


def _pattern(node: Any) -> str:
    match node:
        case ast.PatternEvent():
            key = f"'{node.key.value}" if node.key else ""
            name = node.name.text if isinstance(node.name, ast.Name) else str(node.name.value)
            return name + key
        case ast.FollowedBy():
            absent = "".join(f" !{shown(event)}" for event in node.absent)
            return f"(->{absent} {shown(node.left)} {shown(node.right)})"
        case ast.PatternAnd():
            return f"(and {shown(node.left)} {shown(node.right)})"
        case _:
            return f"(or {shown(node.left)} {shown(node.right)})"
