"""One input of a query: handlers, the window, handlers behind it."""

from __future__ import annotations

from collections.abc import Callable

from cep.interpreter.context import Context, Step
from cep.interpreter.expressions import evaluator
from cep.interpreter.rows import Chunk, Emit
from cep.interpreter.stream_functions import make_stream_function
from cep.interpreter.windows import WindowPart, make_window
from cep.plan.expressions import Expression
from cep.plan.query import StreamInput
from cep.plan.steps import Filter, Handler
from cep.plan.types import Schema


class InputPart:
    """A running input. `receive` takes the chunks of its stream or named window."""

    def __init__(self, source: StreamInput, context: Context, emit: Emit) -> None:
        self.window: WindowPart | None = None
        self._watch: Emit | None = None
        self._behind = chain(source.after, context.within("after"), emit)
        inner = self._behind
        if source.window is not None:
            schema = schema_in_front(source)
            self.window = make_window(source.window, schema, context, self._from_window)
            inner = self.window.process
        self.receive: Emit = chain(source.before, context.within("before"), inner)

    def observe(self, watch: Emit) -> None:
        """Show every chunk that leaves the window, before the handlers behind it get it."""
        self._watch = watch

    def _from_window(self, chunk: Chunk) -> None:
        if self._watch is not None:
            self._watch(chunk)
        self._behind(chunk)


def make_input(source: StreamInput, context: Context, emit: Emit) -> InputPart:
    """An input, its window and functions kept for snapshots."""
    return InputPart(source, context, emit)


def chain(handlers: tuple[Handler, ...], context: Context, emit: Emit) -> Emit:
    """The handlers one behind the other; chunks emptied on the way go no further."""
    for position, handler in reversed(list(enumerate(handlers))):
        place = context.within(str(position))
        if isinstance(handler, Filter):
            emit = _filter(handler.condition, place, emit)
        else:
            emit = _function(make_stream_function(handler, place, emit), emit)
    return emit


def _filter(condition: Expression, context: Context, emit: Emit) -> Emit:
    holds = evaluator(condition, context)

    def process(chunk: Chunk) -> None:
        passed = [row for row in chunk if holds(row) is True]
        if context.shared.trace is not None:
            context.tell(Step.FILTERED, [row for row in chunk if row not in passed])
        if passed:
            emit(passed)

    return process


def _function(apply: Callable[[Chunk], Chunk], emit: Emit) -> Emit:
    def process(chunk: Chunk) -> None:
        changed = apply(chunk)
        if changed:
            emit(changed)

    return process


def schema_in_front(source: StreamInput) -> Schema:
    """The schema of the window's rows: without what functions behind it add."""
    added = sum(len(item.added) for item in source.after if not isinstance(item, Filter))
    attributes = source.schema.attributes
    return Schema(attributes[: len(attributes) - added])
