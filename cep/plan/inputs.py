"""Streams as queries read them: filters, stream functions and the window, in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cep.lang import ast
from cep.lang.errors import suggestion
from cep.plan import functions
from cep.plan.calls import OWN_HINT, Calls
from cep.plan.check import Checker
from cep.plan.expressions import Column
from cep.plan.functions import STREAM_FUNCTIONS
from cep.plan.kinds import unknown
from cep.plan.problems import Problems, Skip, with_article
from cep.plan.query import StreamInput
from cep.plan.scope import Place, Scope
from cep.plan.signatures import Signature
from cep.plan.steps import Filter, Handler, Holder, StreamFunction
from cep.plan.streams import Known, Streams, holder_of
from cep.plan.types import Attribute, Schema
from cep.plan.window_builder import as_call, build_window, handler_name
from cep.plan.windows import window_kind

ScopeOf = Callable[[Schema], Scope]
"""The scope of a handler, given the attributes so far."""


class InputBuilder:
    """Builds the inputs of one query; every handler is checked even when another one is wrong."""

    def __init__(self, problems: Problems, streams: Streams) -> None:
        self.problems = problems
        self.streams = streams
        self.broken = False

    def stream(
        self, node: ast.StreamInput, known: Known, scope_of: ScopeOf | None = None
    ) -> StreamInput:
        """A stream with its handlers; sets `broken` when one of them is in error."""
        name = node.alias.text if node.alias else node.marker + node.stream.text
        scopes = scope_of or (lambda schema: Scope(self.problems, (Place(name, schema),)))
        source = StreamInput(known.name, known.schema, holder=holder_of(known))
        for handler in node.handlers:
            built = self.problems.attempt(self._handled, source, handler, scopes)
            self.broken |= built is None
            source = built or source
        return source

    def _handled(
        self, source: StreamInput, node: ast.Filter | ast.Handler, scopes: ScopeOf
    ) -> StreamInput:
        checker = Checker(scopes(source.schema), None, self.streams.tables)
        if isinstance(node, ast.Filter):
            return _with(source, Filter(checker.condition(node.condition)))
        if node.is_window:
            if source.holder is not Holder.STREAM:
                message = f"`{source.stream}` is {with_article(source.holder)} and takes no window"
                hint = "insert its rows into a stream, and put the window on that"
                raise self.problems.error(node.span, message, hint)
            window = build_window(self.problems, node, checker, source.schema)
            return replace(source, window=window)
        function = self._function(node, checker, source.schema)
        schema = Schema(source.schema.attributes + function.added.attributes)
        return replace(_with(source, function), schema=schema)

    def _function(self, node: ast.Handler, checker: Checker, schema: Schema) -> StreamFunction:
        signature = self._signature(node)
        arguments = Calls(checker).arguments(as_call(node), signature)
        added = signature.adds(arguments)
        for name, _ in added:
            if name in schema.names:
                message = f"`{signature.name}` adds `{name}`, which is there already"
                hint = "select what you need under other names into a stream first"
                raise self.problems.error(node.span, message, hint)
        attributes = tuple(Attribute(name, type_) for name, type_ in added)
        return StreamFunction(
            signature.name, arguments, Schema(attributes), digest=signature.digest
        )

    def _signature(self, node: ast.Handler) -> Signature:
        name = handler_name(node)
        signature = functions.stream_function(name)
        if signature is not None:
            return signature
        known = [*(one.name for one in STREAM_FUNCTIONS), *functions.user_names()]
        hint = suggestion(name, known)
        if window_kind(name) is not None:
            hint = f"write `#window.{name}(..)`"
        elif functions.scalar(name) or functions.aggregator(name):
            hint = f"write `select {name}(..) as ..`"
        if not hint.startswith(("did", "write")):
            hint += f"; {OWN_HINT}"
        wanted = ast.Name(name, span=node.name.span)
        raise unknown(self.problems, wanted, "stream function", hint)


def keyed(source: StreamInput, group_by: tuple[Column, ...], slot: int) -> StreamInput:
    """The input with the query's groups as the keys of functions that remember rows."""

    def with_keys(handler: Handler) -> Handler:
        if not isinstance(handler, StreamFunction):
            return handler
        signature = functions.stream_function(handler.name)
        if signature is None or not signature.stateful:
            return handler
        first_added = source.schema.position(handler.added.names[0])
        keys = tuple(
            replace(column, slot=0)
            for column in group_by
            if column.slot == slot and column.position < first_added
        )
        return replace(handler, keys=keys)

    return replace(
        source,
        before=tuple(map(with_keys, source.before)),
        after=tuple(map(with_keys, source.after)),
    )


def _with(source: StreamInput, handler: Handler) -> StreamInput:
    """One more handler, in front of the window or behind it."""
    if source.window is None:
        return replace(source, before=(*source.before, handler))
    return replace(source, after=(*source.after, handler))


def need_whole(builder: InputBuilder) -> None:
    """Stop where a handler was in error; it is reported already."""
    if builder.broken:
        raise Skip
