"""Calls in expressions: scalar functions, aggregators, the times of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cep.lang import ast
from cep.lang.errors import suggestion
from cep.plan import functions, habits
from cep.plan.expressions import (
    Aggregate,
    Aggregated,
    Call,
    EventTime,
    Expression,
)
from cep.plan.kinds import noun_of, unknown
from cep.plan.signatures import Misfit, Signature, fit

if TYPE_CHECKING:
    from cep.plan.check import Checker

OWN_HINT = "the file of functions of your own is named with `--functions FILE`"


class Calls:
    """Types the calls of one clause."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        self.problems = checker.problems
        self._inside_aggregate = False

    def call(self, node: ast.Call) -> Expression:
        """A scalar function or an aggregator."""
        name = called(node)
        if name.lower() == "eventtimestamp":
            return self._event_time(node, node.arguments or ())
        aggregator = functions.aggregator(name)
        if aggregator is not None:
            return self._aggregate(node, aggregator)
        scalar = functions.scalar(name)
        if scalar is None:
            raise self._unknown(node, name)
        arguments = self.arguments(node, scalar)
        return Call(scalar.name, arguments, scalar.type(arguments), scalar.digest)

    def arguments(self, node: ast.Call, signature: Signature) -> tuple[Expression, ...]:
        """The arguments in canonical order."""
        given = self._everything(node) if node.arguments is None else node.arguments
        values = [self.checker.check(argument) for argument in given]
        fitted = fit(signature, values)
        if not isinstance(fitted, Misfit):
            self._need_made(node, signature, fitted)
            return fitted
        if fitted.position is None:
            message = fitted.message
            if node.arguments is None:
                message += ", and `*` is each attribute"
            raise self.problems.error(node.span, message, fitted.hint)
        wrong = given[fitted.position]
        described = self.checker.described_as(wrong, values[fitted.position])
        message = f"{fitted.message}, {described}"
        raise self.problems.error(wrong.span, message, fitted.hint)

    def _need_made(
        self, node: ast.Call, signature: Signature, arguments: tuple[Expression, ...]
    ) -> None:
        """The user's class takes the constants, and what it remembers can be saved."""
        own = functions.user_indicator(signature.name) if signature.digest else None
        if own is None:
            return
        try:
            own.maker.state(own.maker.make(*own.maker.constants(arguments)))
        except Exception as problem:
            message = f"`{signature.name}` cannot begin: {type(problem).__name__}: {problem}"
            if isinstance(problem, functions.StateError):
                message = str(problem)
            hint = f"it is `class {own.maker.class_name}` in {own.place}"
            raise self.problems.error(node.span, message, hint) from problem

    def _everything(self, node: ast.Call) -> tuple[ast.Expression, ...]:
        """`f(*)`: every attribute of the stream."""
        places = self.checker.scope.places
        if len(places) != 1:
            hint = "name the attributes it gets"
            raise self.problems.error(node.span, f"`{called(node)}(*)` reads one stream", hint)
        names = (ast.Name(name, span=node.span) for name in places[0].schema.names)
        return tuple(ast.Reference(name, span=node.span) for name in names)

    def _event_time(self, node: ast.Call, arguments: tuple[ast.Expression, ...]) -> Expression:
        """`eventTimestamp()`, or `eventTimestamp(e1)` of an event of the query."""
        if not arguments:
            return EventTime()
        event = arguments[0]
        if len(arguments) > 1 or not isinstance(event, ast.Reference) or event.stream is not None:
            hint = "write `eventTimestamp()`, or `eventTimestamp(e1)` with an event's name"
            raise self.problems.error(node.span, "`eventTimestamp` takes one event", hint)
        place = self.checker.scope.event(event.name)
        return EventTime(place.slot)

    def _aggregate(self, node: ast.Call, signature: Signature) -> Expression:
        if len(signature.added) > 1:
            message = f"`{signature.name}` gives {len(signature.added)} values"
            hint = f"write it behind a stream: `from S#{signature.name}(..)`"
            raise self.problems.error(node.span, message, hint)
        aggregates = self._need_allowed(node, signature.name)
        self._inside_aggregate = True
        try:
            arguments = self.arguments(node, signature)
        finally:
            self._inside_aggregate = False
        type_ = signature.type(arguments)
        if not signature.digest and functions.aggregator_of(signature.name).of_rows:
            arguments = ()
        aggregate = Aggregate(signature.name, arguments, type_, signature.digest)
        if aggregate not in aggregates:
            aggregates.append(aggregate)
        return Aggregated(aggregates.index(aggregate), type_)

    def _need_allowed(self, node: ast.Call, function: str) -> list[Aggregate]:
        if self._inside_aggregate:
            message = f"aggregate `{function}` inside an aggregate"
            hint = "insert the inner one into a stream first"
            raise self.problems.error(node.span, message, hint)
        if self.checker.aggregates is None:
            message = f"aggregate `{function}` can stand only in `select`"
            hint = "select it with a name, then use that name"
            raise self.problems.error(node.span, message, hint)
        return self.checker.aggregates

    def _unknown(self, node: ast.Call, name: str) -> Exception:
        near = suggestion(name, functions.names())
        hint = habits.function(name, functions.names())
        hint = hint or (near if near.startswith("did") else OWN_HINT)
        wanted = ast.Name(name, span=node.function.span)
        match noun_of(self.problems, name):
            case "window":
                hint = f"write it behind a stream: `from S#window.{name}(..)`"
            case "stream function":
                hint = f"write it behind a stream: `from S#{name}(..)`"
        return unknown(self.problems, wanted, "function", hint)


def called(node: ast.Call) -> str:
    """The name of a call, with its namespace."""
    prefix = f"{node.namespace.text}:" if node.namespace is not None else ""
    return prefix + node.function.text
