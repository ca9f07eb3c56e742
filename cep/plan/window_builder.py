"""Windows as streams and definitions write them, with their arguments in canonical order."""

from __future__ import annotations

from cep.lang import ast
from cep.lang.errors import Span, suggestion
from cep.plan import functions
from cep.plan.calls import Calls
from cep.plan.check import Checker
from cep.plan.cron import Cron
from cep.plan.expressions import Column, Constant, Expression
from cep.plan.kinds import unknown
from cep.plan.problems import Problems
from cep.plan.signatures import Misfit, Signature, fit
from cep.plan.steps import Window
from cep.plan.types import Schema, Type
from cep.plan.window_conditions import window_condition
from cep.plan.windows import WINDOWS, window_signature


def handler_name(node: ast.Handler) -> str:
    """The name of a window or function, with its namespace."""
    prefix = f"{node.namespace.text}:" if node.namespace is not None else ""
    return prefix + node.name.text


def as_call(node: ast.Handler) -> ast.Call:
    """The handler as a call, whose arguments are checked like any other's."""
    return ast.Call(node.name, node.arguments, node.namespace, span=node.span)


def build_window(problems: Problems, node: ast.Handler, checker: Checker, schema: Schema) -> Window:
    """A window with its arguments in canonical order."""
    name = handler_name(node)
    signature = window_signature(name)
    if signature is None:
        known = [one.name for one in WINDOWS]
        hint = suggestion(name, known)
        if functions.stream_function(name) is not None:
            hint = f"write `#{name}(..)`"
        elif functions.scalar(name) or functions.aggregator(name):
            hint = f"write `select {name}(..) as ..`"
        raise unknown(problems, ast.Name(name, span=node.name.span), "window", hint)
    if signature.name == "sort":
        return Window("sort", _sort(problems, node, checker))
    arguments = Calls(checker).arguments(as_call(node), signature)
    if signature.name in ("expression", "expressionBatch"):
        digests = _check_condition(problems, node, arguments[0], schema)
        return Window(signature.name, arguments, digests)
    if signature.name == "cron":
        check_cron(problems, node.span, str(value_of(arguments[0])))
    if signature.name == "session":
        _check_session(problems, node, arguments)
    if signature.name == "lossyFrequent" and value_of(arguments[1]) is None:
        tenth = Constant(float(value_of(arguments[0]) or 0) / 10, Type.DOUBLE)
        arguments = (arguments[0], tenth, *arguments[2:])
    return Window(signature.name, arguments)


def value_of(expression: Expression) -> str | int | float | bool | None:
    """The value of a constant; None for anything else."""
    return expression.value if isinstance(expression, Constant) else None


def _check_condition(
    problems: Problems, node: ast.Handler, condition: Expression, schema: Schema
) -> tuple[str, ...]:
    """A condition known now is checked now; one in an attribute when it comes.

    Returns the digests of the user's functions in it.
    """
    text = value_of(condition)
    if not isinstance(text, str):
        return ()
    assert node.arguments
    return window_condition(text, schema, problems, node.arguments[0].span).digests


def _check_session(
    problems: Problems, node: ast.Handler, arguments: tuple[Expression, ...]
) -> None:
    gap, latency = value_of(arguments[0]), value_of(arguments[2])
    if isinstance(gap, int) and isinstance(latency, int) and latency > gap:
        message = "the latency of a session is longer than its gap"
        raise problems.error(node.span, message, "make `latency` at most the gap")


def check_cron(problems: Problems, span: Span, text: str) -> None:
    """Refuse what is no cron expression."""
    try:
        Cron.parse(text)
    except ValueError as error:
        hint = "for example '0 30 9 ? * MON-FRI': seconds minutes hours day month weekday"
        raise problems.error(span, str(error), hint) from error


SORT_HINT = "write `sort(10, price, 'desc', symbol)`: rows to keep, then attributes"


def _sort(problems: Problems, node: ast.Handler, checker: Checker) -> tuple[Expression, ...]:
    """Rows to keep, then attributes, each with 'asc' (when nothing is said) or 'desc'."""
    signature = window_signature("sort")
    nodes = node.arguments or ()
    assert signature is not None
    size = Signature(signature.name, signature.parameters[:1], signature.doc)
    given = [checker.check(argument) for argument in nodes]
    fitted = fit(size, given[:1])
    if isinstance(fitted, Misfit) or len(given) < 2:
        message = fitted.message if isinstance(fitted, Misfit) else "`sort` needs an attribute"
        raise problems.error(node.span, message, SORT_HINT)
    result = list(fitted)
    for argument, value in zip(nodes[1:], given[1:], strict=True):
        if isinstance(value, Column):
            result += [value, Constant("asc", Type.STRING)]
        elif str(value_of(value)).lower() in ("asc", "desc") and isinstance(result[-1], Constant):
            if len(result) == 1:
                raise problems.error(argument.span, "an order without its attribute", SORT_HINT)
            result[-1] = Constant(str(value_of(value)).lower(), Type.STRING)
        else:
            message = f"{problems.text(argument.span)} is no attribute, 'asc' or 'desc'"
            raise problems.error(argument.span, message, SORT_HINT)
    return tuple(result)
