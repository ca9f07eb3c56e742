"""What a row must pass to be taken by a state: its filters and stream functions, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cep.interpreter.context import Context
from cep.interpreter.expressions import evaluator
from cep.interpreter.match.partial import Partial
from cep.interpreter.rows import Row
from cep.interpreter.stream_functions import make_stream_function
from cep.plan.query import StreamState
from cep.plan.steps import Filter, Handler, StreamFunction

Check = Callable[[Partial], Any]
"""True where the candidate passes."""


class Gate:
    """The handlers of a state, applied to a partial match that holds the candidate already."""

    def __init__(self, state: StreamState, context: Context) -> None:
        self._slot = state.slot
        handlers = enumerate(state.input.before)
        self._checks = [self._check(item, context.within(f"{i}")) for i, item in handlers]

    def refusal(self, partial: Partial) -> int | None:
        """The number (1, 2, ..) of the handler that the candidate fails; None when it passes."""
        for check in self._checks:
            if check(partial) is not True:
                return 1 + self._checks.index(check)
        return None

    def _check(self, handler: Handler, context: Context) -> Check:
        if isinstance(handler, Filter):
            return evaluator(handler.condition, context)
        return self._function(handler, context)

    def _function(self, handler: StreamFunction, context: Context) -> Check:
        """The candidate is replaced by what the function makes of it."""
        apply = make_stream_function(handler, context)

        def check(partial: Partial) -> bool:
            held = partial.slots[self._slot]
            candidate = held[-1] if isinstance(held, list) else held
            assert candidate is not None, "the gate sees a candidate"
            made = apply([Row(candidate.time, candidate.values, slots=partial.slots)])
            if not made:
                return False
            changed = Row(candidate.time, made[-1].values)
            if isinstance(held, list):
                held[-1] = changed
            else:
                partial.slots[self._slot] = changed
            return True

        return check
