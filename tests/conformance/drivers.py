"""What a case is run on: an app by its text, fed and asked through a few calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from cep.interpreter.interpreter import Interpreter
from cep.interpreter.rows import Chunk
from cep.plan import Plan, build_on_demand, compile_rules

Values = list[Any]
Rows = list[tuple[int, Values]] | None
Told = Callable[[Rows, Rows], None]
"""Told (current rows, expired rows), each with its time; None where there are none of a kind."""


class Driver(Protocol):
    """One running app. Times are ms UTC."""

    plan: Plan

    def on(self, kind: str, target: str, told: Told) -> None:
        """Have `told` hear what comes out of a query or stream."""
        ...

    def start(self, time_ms: int) -> None: ...

    def send(self, stream: str, rows: Sequence[tuple[int, Values]]) -> None: ...

    def pass_time(self, to_ms: int) -> None:
        """Let the wall's clock run."""
        ...

    def wall_ms(self, since_ms: int) -> int:
        """What the wall's clock shows while something comes out; `since_ms` when it stands."""
        ...

    def ask(self, text: str) -> list[Values] | None: ...

    def snapshot(self) -> bytes: ...

    def restore(self, data: bytes) -> None: ...


class InterpreterDriver:
    """The interpreter alone. An app with `@app:playback` is driven by its rows' times."""

    def __init__(self, text: str, compat: str) -> None:
        prefix = f"@app:compat('{compat}') " if compat else ""
        self.plan = compile_rules(prefix + text)
        self._playback = self.plan.playback is not None
        self._interpreter = Interpreter(self.plan, playback=self._playback)
        self._due_ms: int | None = None

    def on(self, kind: str, target: str, told: Told) -> None:
        if kind == "query":
            self._interpreter.on_query(target, lambda _, new, old: told(shown(new), shown(old)))
        else:
            self._interpreter.on_stream(target, lambda rows: told(shown(rows), None))

    def start(self, time_ms: int) -> None:
        self._interpreter.wall(time_ms)
        self._interpreter.start(None if self._playback else time_ms)

    def send(self, stream: str, rows: Sequence[tuple[int, Values]]) -> None:
        self._interpreter.send(stream, rows)

    def pass_time(self, to_ms: int) -> None:
        if not self._playback:
            self._interpreter.advance(to_ms)
            return
        while (due_ms := self._interpreter.next_wall_ms) is not None and due_ms <= to_ms:
            self._due_ms = due_ms
            self._interpreter.wall(due_ms)
        self._due_ms = None
        self._interpreter.wall(to_ms)

    def wall_ms(self, since_ms: int) -> int:
        if self._playback:
            return since_ms if self._due_ms is None else self._due_ms
        return max(since_ms, self._interpreter.now_ms or 0)

    def ask(self, text: str) -> list[Values] | None:
        return self._interpreter.ask(build_on_demand(text, self.plan))

    def snapshot(self) -> bytes:
        return self._interpreter.snapshot()

    def restore(self, data: bytes) -> None:
        self._interpreter.restore(data)


def shown(rows: Chunk | None) -> Rows:
    return None if rows is None else [(row.time, list(row.values)) for row in rows]
