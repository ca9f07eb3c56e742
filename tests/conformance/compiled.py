"""A case on a run: as a module where one can run it, else in the interpreter.

A query of a module is heard through the stream it alone writes; what one event puts there counts as
one batch. Where others are heard the interpreter runs all, so that expired rows and batches are
seen. Programs have a test of their own (`test_one_program`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Any

from cep.engine.coverage import why_not_generated
from cep.engine.kernels.state import OUT_STREAM, OUT_TIME
from cep.engine.native import Compiled, Run
from cep.engine.rows import Rows
from cep.engine.snapshot import restore, take
from cep.interpreter.rows import Chunk
from cep.lang.errors import RuleError
from cep.plan import Plan, build_on_demand, compile_rules
from cep.plan.types import Type
from tests.conformance.cases import Case, Step
from tests.conformance.drivers import Driver, InterpreterDriver, Told, Values, shown


def compiled(text: str, compat: str, jit: bool = False) -> Driver:
    """An app on the native engine; Siddhi's mode is the interpreter's alone."""
    return InterpreterDriver(text, compat) if compat else CompiledDriver(text, jit)


def is_for_the_interpreter(case: Case) -> bool:
    """Whether a case needs what only the interpreter takes.

    That is rows sent together as one batch, rows for a stream that queries write, and values that
    are not of the declared types, which Siddhi does not check.
    """
    return any(
        "events" in step or not all(_fits(step, text) for text in case.apps)
        for step in case.steps
        if step["op"] == "send"
    )


def _fits(step: Step, text: str) -> bool:
    try:
        plan = compile_rules(text)
        schema = plan.stream(step["stream"]).schema
    except (RuleError, StopIteration):
        return True
    if step["stream"] not in {source.name for source in plan.sources}:
        return False
    data = (step.get("event") or step).get("data", [])
    if "plain" in (step.get("event") or step):
        return True
    types = [attribute.type for attribute in schema.attributes]
    kinds = [kind for kind, _ in data]
    return len(kinds) == len(types) and all(
        kind == "n" or type_ is Type.OBJECT or kind == type_[0]
        for kind, type_ in zip(kinds, types, strict=True)
    )


class CompiledDriver:
    """One running app; `jit` compiles to machine code."""

    def __init__(self, text: str, jit: bool) -> None:
        self.plan = compile_rules(text)
        self._jit = jit
        self._sole = sole_streams(self.plan)
        self._by_stream: list[tuple[str, Told]] = []
        self._by_query: list[tuple[str, Told]] = []
        self._held: list[tuple[str, Told]] = []
        self._started: Run | None = None
        self._now_ms: int | None = None

    def on(self, kind: str, target: str, told: Told) -> None:
        if kind == "query":
            stream = self._sole.get(target)
            wanted = self._by_query if stream is None else self._by_stream
            wanted.append((stream or target, told))
        elif target in {stream.name for stream in self.plan.streams}:
            self._by_stream.append((target, told))
        else:
            self._held.append((target, told))

    @property
    def _run(self) -> Run:
        if self._started is None:
            run = self._rules().start(mode="sorted")  # the recorded engine has one clock
            self._started = self._heard(run)
        return self._started

    def _rules(self) -> Compiled:
        rules = Compiled(self.plan, jit=self._jit)
        is_heard = not (self._by_query or self._held)
        return (
            rules.generated if is_heard and rules.is_generated("sorted") else rules.by_interpreter
        )

    def _heard(self, run: Run) -> Run:
        for query, told in self._by_query:
            assert run.interpreting is not None
            run.interpreting.interpreter.on_query(query, partial(_tell, told))
        for window, told in self._held:
            assert run.interpreting is not None
            interpreter = run.interpreting.interpreter
            interpreter.on_stream(window, lambda rows, t=told: t(shown(rows), None))
        return run

    def start(self, time_ms: int) -> None:
        move = self._run.advance if self.plan.playback is None else self._run.wall
        self._deliver(move(time_ms))

    def send(self, stream: str, rows: Sequence[tuple[int, Values]]) -> None:
        for time_ms, values in rows:
            self._tell_sources(stream, time_ms, values)
            names = self.plan.stream(stream).schema.names
            row = dict(zip(names, values, strict=True))
            self._deliver(self._run.push_row(stream, time_ms, row))

    def _tell_sources(self, stream: str, time_ms: int, values: Values) -> None:
        for name, told in self._by_stream:
            if name == stream:
                told([(time_ms, list(values))], None)

    def pass_time(self, to_ms: int) -> None:
        interpreted = self._run.interpreting
        if self.plan.playback is not None:
            while interpreted is not None:
                due_ms = interpreted.interpreter.next_wall_ms
                if due_ms is None or due_ms > to_ms:
                    break
                self._now_ms = due_ms
                self._deliver(self._run.wall(due_ms))
            self._now_ms = None
            self._deliver(self._run.wall(to_ms))
            return
        while interpreted is not None:
            due_ms = interpreted.interpreter.next_due_ms
            if due_ms is None or due_ms > to_ms:
                break
            self._now_ms = due_ms
            self._deliver(self._run.advance(due_ms))
        self._now_ms = None
        self._deliver(self._run.advance(to_ms))

    def wall_ms(self, since_ms: int) -> int:
        return since_ms if self._now_ms is None else self._now_ms

    def ask(self, text: str) -> list[Values] | None:
        query = build_on_demand(text, self.plan)
        if self._run.interpreting is None:
            return [list(row.values()) for row in self._run.ask(query)] or None
        return self._run.interpreting.interpreter.ask(query)

    def snapshot(self) -> bytes:
        return take(self._run)

    def restore(self, data: bytes) -> None:
        self._started = self._heard(restore(self._rules(), data))

    def _deliver(self, rows: Rows) -> None:
        """Tell the rows of one event and stream together."""
        names = [self._run.decoder.names[code] for code in rows.ints[:, OUT_STREAM].tolist()]
        times = rows.ints[:, OUT_TIME].tolist()
        values = self._run.decoder.values(rows)
        made = zip(rows.orders.tolist(), names, times, values, strict=True)
        for (_, name), group in groupby(made, lambda row: row[:2]):
            batch: list[tuple[int, list[Any]]] = [(time, list(row)) for _, _, time, row in group]
            for stream, told in self._by_stream:
                if stream == name:
                    told(batch, None)


def _tell(told: Told, _: int, current: Chunk | None, expired: Chunk | None) -> None:
    told(shown(current), shown(expired))


def sole_streams(plan: Plan) -> dict[str, str]:
    """By query of a module the stream that it alone writes, which shows all it puts out."""
    others = why_not_generated(plan)
    writers = Counter(query.target for query in plan.queries)
    return {
        query.name: query.target
        for query in plan.queries
        if query.name not in others and query.target and writers[query.target] == 1
    }
