"""Joins: against the definition, their index, self joins, tables and named windows."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings

from cep.interpreter.context import Context, Shared
from cep.interpreter.interpreter import Interpreter
from cep.interpreter.joins import make_join
from cep.interpreter.named_windows import make_named_window
from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.tables import make_table
from cep.plan.expressions import Arithmetic, Comparison, Constant
from cep.plan.nodes import NamedWindow, Table
from cep.plan.query import Join, StreamInput
from cep.plan.steps import Holder, Window
from cep.plan.types import Type
from tests.campaign import examples
from tests.interpreter.timers import take_over_clock
from tests.reference.generate_joins import (
    LEFT_KEY,
    LEFT_X,
    RIGHT_KEY,
    RIGHT_X,
    SCHEMA,
    START_MS,
    JoinCase,
    Values,
    joins,
)
from tests.reference.joins import Found, NaiveJoin

LENGTH = Window("length", (Constant(5, Type.INT),))
SAME_KEY = Comparison("==", LEFT_KEY, RIGHT_KEY)


class Running:
    """A join that runs by itself, and what it has emitted."""

    def __init__(self, join: Join, shared: Shared | None = None) -> None:
        self.shared = shared or Shared(False)
        self.batches: list[list[Chunk]] = []
        self.join = make_join(join, Context(self.shared, "q"), self.batches.append)
        self.receivers = dict(self.join.receivers())

    def send(self, stream: str, time: int, values: Values) -> list[list[Found]]:
        self.shared.clock.jump(time)
        if stream in self.receivers:
            self.receivers[stream]([Row(time, values)])
        return self.found()

    def found(self) -> list[list[Found]]:
        chunks = [chunk for batch in self.batches for chunk in batch]
        self.batches.clear()
        rows = ([_found(row) for row in chunk if row.kind is not RowKind.RESET] for chunk in chunks)
        return [chunk for chunk in rows if chunk]


def _found(row: Row) -> Found:
    sides = [side.values if isinstance(side, Row) else None for side in row.slots or []]
    return (row.time, row.kind.name, *sides)  # type: ignore[return-value]


def flat(chunks: list[list[Found]]) -> list[tuple[object, object]]:
    return [(left and left[1], right and right[1]) for chunk in chunks for *_, left, right in chunk]


@settings(max_examples=examples(400), deadline=None)
@given(joins())
def test_finds_what_the_definition_finds(case: JoinCase) -> None:
    running, naive = Running(case.join), NaiveJoin(case)
    for stream, time, values in case.rows:
        assert running.send(stream, time, values) == naive.send(stream, time, values)


@settings(max_examples=examples(300), deadline=None)
@given(joins())
def test_a_query_emits_what_the_definition_finds(case: JoinCase) -> None:
    out: list[tuple[str, int, Values]] = []
    interpreter = Interpreter(case.plan)
    interpreter.on_query("joined", lambda _, current, expired: out.extend(_rows(current, expired)))
    naive = NaiveJoin(case)
    for stream, time, values in case.rows:
        interpreter.send(stream, [(time, values)])
        found = [row for chunk in naive.send(stream, time, values) for row in chunk]
        assert sorted(out, key=repr) == sorted(_wanted(found, case), key=repr)
        out.clear()


def _rows(current: Chunk | None, expired: Chunk | None) -> list[tuple[str, int, Values]]:
    return [(row.kind.name, row.time, row.values) for row in [*(current or []), *(expired or [])]]


def _wanted(found: list[Found], case: JoinCase) -> list[tuple[str, int, Values]]:
    events = case.plan.queries[0].output.events
    return [
        (kind, time, [*_x_and_y(left), *_x_and_y(right)])
        for time, kind, left, right in found
        if events in ("all", kind.lower())
    ]


def _x_and_y(values: Values | None) -> Values:
    return [None, None] if values is None else values[1:]


@settings(max_examples=examples(100), deadline=None)
@given(joins())
def test_restored_in_the_middle_it_goes_on_as_before(case: JoinCase) -> None:
    running, half = Running(case.join), len(case.rows) // 2
    for row in case.rows[:half]:
        running.send(*row)
    again = _copy_of(running, case.join)
    for row in case.rows[half:]:
        assert again.send(*row) == running.send(*row)


def _copy_of(running: Running, join: Join) -> Running:
    again, shared = Running(join), running.shared
    for path, part in shared.parts.items():
        again.shared.parts[path].restore(part.state())
    take_over_clock(again.shared, shared)
    return again


def test_a_self_join_shows_a_row_to_both_sides_once() -> None:
    side = StreamInput("L", SCHEMA, window=LENGTH)
    running = Running(Join(side, side, "inner", "both", Comparison("<=", LEFT_X, RIGHT_X)))
    assert flat(running.send("L", START_MS, ["a", 1, 1.0])) == [(1, 1)]
    assert flat(running.send("L", START_MS, ["a", 2, 1.0])) == [(1, 2), (2, 2)]


def test_a_stream_without_window_is_not_found_and_resets() -> None:
    left = StreamInput("L", SCHEMA)
    running = Running(Join(left, StreamInput("R", SCHEMA, window=LENGTH), "inner", "both", None))
    running.receivers["L"]([Row(START_MS, ["a", 1, 1.0])])
    assert [[row.kind for row in chunk] for chunk in running.batches[0]] == [[RowKind.RESET]]
    running.batches.clear()
    assert running.send("R", START_MS, ["a", 2, 1.0]) == []
    assert flat(running.send("L", START_MS, ["a", 3, 1.0]))[:1] == [(3, 2)]


def test_a_table_never_triggers() -> None:
    shared = Shared(False)
    shared.tables["T"] = table = make_table(Table("T", SCHEMA, (0,)), Context(shared))
    right = StreamInput("T", SCHEMA, holder=Holder.TABLE)
    running = Running(Join(StreamInput("L", SCHEMA), right, "left", "left", SAME_KEY), shared)
    assert list(running.receivers) == ["L"]
    assert flat(running.send("L", START_MS, ["a", 1, 1.0]))[:1] == [(1, None)]
    table.add([Row(START_MS, ["a", 7, 1.0]), Row(START_MS, ["b", 8, 1.0])])
    assert flat(running.send("L", START_MS, ["a", 2, 1.0]))[:1] == [(2, 7)]


def test_a_named_window_triggers_and_is_found() -> None:
    shared = Shared(False)
    plan = NamedWindow("W", SCHEMA, replace(LENGTH, arguments=(Constant(1, Type.INT),)))
    published: Chunk = []
    shared.windows["W"] = window = make_named_window(plan, Context(shared, "W"), published.extend)
    right = StreamInput("W", SCHEMA, holder=Holder.WINDOW)
    left = StreamInput("L", SCHEMA, window=LENGTH)
    running = Running(Join(left, right, "inner", "both", None), shared)
    window.add([Row(START_MS, ["a", 1, 1.0]), Row(START_MS, ["b", 2, 1.0])])
    assert [(row.kind.name, row.values[1]) for row in published] == [
        ("CURRENT", 1),
        ("EXPIRED", 1),
        ("CURRENT", 2),
    ]
    assert flat(running.send("L", START_MS, ["a", 5, 1.0])) == [(5, 2)]
    running.receivers["W"](published)
    assert flat(running.found()) == [(5, 1), (5, 1), (5, 2)]


def test_equality_and_band_are_answered_by_an_index() -> None:
    side = StreamInput("L", SCHEMA, window=LENGTH)
    other = replace(side, stream="R")
    band = Comparison("<", LEFT_X, Arithmetic("+", RIGHT_X, Constant(2, Type.INT), Type.INT))
    for on, expected in (
        (SAME_KEY, True),
        (band, True),
        (Comparison("!=", LEFT_X, RIGHT_X), False),
    ):
        join = make_join(Join(side, other, "inner", "both", on), Context(Shared(False), "q"), print)
        assert join.indexed == (expected, expected)
