"""Compiled joins and matches, explained by the interpreter."""

from __future__ import annotations

from dataclasses import replace

from cep.interpreter.context import Context
from cep.interpreter.interpreter import Interpreter
from cep.plan.nodes import Plan
from cep.plan.query import Query
from cep.trace.interpreted import InterpreterWatch, silence
from cep.trace.notes import Notes
from cep.trace.scope import Scope
from cep.trace.texts import NamedRow


class Shadow:
    """A compiled join or match a second time, in an interpreter that tells what it does."""

    def __init__(
        self,
        plan: Plan,
        query: Query,
        copies: tuple[tuple[str, str], ...],
        scope: Scope,
        notes: Notes,
    ) -> None:
        self._query, self._scope = query, scope
        self._streams = dict(copies)
        alone = replace(
            plan,
            streams=tuple(replace(stream, reorder=None) for stream in plan.streams),
            operators=(query,),
            engines=(),
            chained=(),
            triggers=(),
            partitions=tuple(one for one in plan.partitions if one.name == query.partition),
        )
        self._interpreter = Interpreter(alone)
        context = Context(self._interpreter.shared)
        watch = InterpreterWatch([query], scope, context, notes)
        self._interpreter.on_trace(watch.trace)
        self._notes = notes

    def see(self, made: list[NamedRow]) -> None:
        """Show it the rows that the engine has shown to the compiled one, in their order."""
        for name, row in made:
            stream = self._streams.get(name)
            if stream is None or not self._scope.holds(self._query, stream, row):
                continue
            self._interpreter.send(stream, [(row.time, row.values)])
            if not self._notes.has(self._query.name):
                self._notes.add(self._query.name, silence(self._query, stream))
