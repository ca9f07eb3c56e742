"""Windows as streams and definitions write them, with their arguments in canonical order."""

from __future__ import annotations

from cep.lang import ast
from cep.lang.errors import Span, suggestion
from cep.plan import functions
from cep.plan.calls import Calls
from cep.plan.check import Checker
from cep.plan.expressions import Constant, Expression
from cep.plan.kinds import unknown
from cep.plan.problems import Problems
from cep.plan.signatures import Misfit
from cep.plan.steps import Window
from cep.plan.types import Schema
from cep.plan.window_conditions import window_condition
from cep.plan.windows import WINDOWS, WindowKind, window_kind


def handler_name(node: ast.Handler) -> str:
    """The name of a window or function, with its namespace."""
    prefix = f"{node.namespace.text}:" if node.namespace is not None else ""
    return prefix + node.name.text


def as_call(node: ast.Handler) -> ast.Call:
    """The handler as a call, whose arguments are checked like any other's."""
    return ast.Call(node.name, node.arguments, node.namespace, span=node.span)


def build_window(problems: Problems, node: ast.Handler, checker: Checker, schema: Schema) -> Window:
    """A window with its arguments in canonical order."""
    kind = _kind(problems, node)
    arguments = _arguments(problems, node, checker, kind)
    digests: tuple[str, ...] = ()
    if kind.has_condition:
        digests = _check_condition(problems, node, arguments[0], schema)
    return Window(kind.name, arguments, digests)


def _kind(problems: Problems, node: ast.Handler) -> WindowKind:
    name = handler_name(node)
    kind = window_kind(name)
    if kind is not None:
        return kind
    hint = suggestion(name, [one.name for one in WINDOWS])
    if functions.stream_function(name) is not None:
        hint = f"write `#{name}(..)`"
    elif functions.scalar(name) or functions.aggregator(name):
        hint = f"write `select {name}(..) as ..`"
    raise unknown(problems, ast.Name(name, span=node.name.span), "window", hint)


def _arguments(
    problems: Problems, node: ast.Handler, checker: Checker, kind: WindowKind
) -> tuple[Expression, ...]:
    given = node.arguments or ()
    if kind.read is None:
        read: tuple[Expression, ...] | Misfit = Calls(checker).arguments(
            as_call(node), kind.signature
        )
    else:
        values = [checker.check(argument) for argument in given]
        read = kind.read(values, [problems.text(argument.span) for argument in given])
    found = read if isinstance(read, Misfit) else kind.finish(read)
    if isinstance(found, Misfit):
        wrong: Span = node.span if found.position is None else given[found.position].span
        raise problems.error(wrong, found.message, found.hint)
    return found


def _check_condition(
    problems: Problems, node: ast.Handler, condition: Expression, schema: Schema
) -> tuple[str, ...]:
    """A condition known now is checked now; one in an attribute when it comes.

    Returns the digests of the user's functions in it.
    """
    text = condition.value if isinstance(condition, Constant) else None
    if not isinstance(text, str):
        return ()
    assert node.arguments
    return window_condition(text, schema, problems, node.arguments[0].span).digests
