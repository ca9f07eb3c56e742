"""Windows against their definitions, on generated streams; snapshots; conditions of windows."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.interpreter.codec import pack, unpack
from cep.interpreter.context import Context, Shared
from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.windows import WindowPart, make_window
from cep.plan.build import compile_rules
from cep.plan.steps import Window
from cep.plan.types import Schema, Type
from tests.campaign import examples
from tests.interpreter.timers import take_over_clock
from tests.reference import window_chunks as naive
from tests.reference.window_chunks import Arrival, Chunks, Out

SCHEMA = Schema.of(v=Type.LONG, expr=Type.STRING)
SIGNS = {RowKind.CURRENT: "+", RowKind.EXPIRED: "-", RowKind.RESET: "0"}
AGES = 10**6
"""Ms after which everything has left."""


@functools.cache
def planned(text: str) -> Window:
    """A window of the plan, from its text."""
    plan = compile_rules(
        f"define stream S (v long, expr string); from S#window.{text} select v insert into O;"
    )
    window = plan.queries[0].stream_input.window
    assert window is not None
    return window


class Running:
    """A window on a clock of its own, and the chunks that have come out."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.shared = Shared(compat=False, playback=False)
        self.chunks: Chunks = []
        self.part: WindowPart = make_window(window, SCHEMA, Context(self.shared), self._take)

    def _take(self, chunk: Chunk) -> None:
        assert chunk, "an empty chunk is not sent"
        self.chunks.append([_shown(row) for row in chunk])

    def feed(self, arrivals: Sequence[Arrival], expr: str = "") -> Chunks:
        """What comes of rows that come one by one."""
        for time, value in arrivals:
            self.shared.clock.glide(time)
            self.part.process([Row(time, [value, expr])])
        return self.chunks

    def finish(self) -> Chunks:
        """All chunks, after a long time."""
        self.shared.clock.glide((self.shared.clock.now_ms or 0) + AGES)
        return self.chunks

    def reborn(self) -> Running:
        """The same window, made anew of its snapshot."""
        other = Running(self.window)
        for path, part in self.shared.parts.items():
            other.shared.parts[path].restore(unpack(pack(part.state())))
        take_over_clock(other.shared, self.shared)
        return other


def _shown(row: Row) -> Out:
    sign = SIGNS[row.kind]
    return (sign, row.time, None if sign == "0" else row.values[0])


def histories(largest_step: int = 40) -> st.SearchStrategy[list[Arrival]]:
    """Streams of rows: steps of time (often none), and values that seldom repeat."""
    steps = st.lists(
        st.tuples(st.integers(0, largest_step), st.integers(0, 9)), min_size=1, max_size=40
    )
    return steps.map(_history)


def _history(steps: list[tuple[int, int]]) -> list[Arrival]:
    time, found = 10_000, []
    for step, value in steps:
        time += step if step % 3 else 0
        found.append((time, value))
    return found


def rising(arrivals: list[Arrival]) -> list[Arrival]:
    """The same with the sum of the values so far as value: an attribute that is a clock."""
    total, found = 0, []
    for time, value in arrivals:
        total += value
        found.append((time, total))
    return found


Definition = Callable[[list[Arrival], int, int], Chunks]
NUMBERS = st.integers(1, 6)
TIMES = st.integers(1, 90)

FAMILIES: dict[str, tuple[str, Definition]] = {
    "length": ("length({n})", lambda rows, n, t: naive.length(rows, n)),
    "time": ("time({t})", lambda rows, n, t: naive.time(rows, t)),
    "delay": ("delay({t})", lambda rows, n, t: naive.delay(rows)),
    "timeLength": ("timeLength({t}, {n})", lambda rows, n, t: naive.time_length(rows, t, n)),
    "lengthBatch": ("lengthBatch({n})", lambda rows, n, t: naive.length_batch(rows, n)),
    "timeBatch": ("timeBatch({t})", lambda rows, n, t: naive.time_batch(rows, t)),
    "aligned": ("timeBatch({t}, 7)", lambda rows, n, t: naive.time_batch(rows, t, 7)),
    "hopping": ("hopping({t}, {n}0)", lambda rows, n, t: naive.hopping(rows, t, n * 10)),
    "sort": ("sort({n}, v)", lambda rows, n, t: naive.sort(rows, n)),
    "session": ("session({t})", lambda rows, n, t: naive.session(rows, t)),
    "counted": (
        "expression('count() <= {n}')",
        lambda rows, n, t: naive.expression(rows, lambda held: len(held) <= n),
    ),
    "summed": (
        "expression('sum(v) < {t}')",
        lambda rows, n, t: naive.expression(rows, lambda held: sum(v for _, v in held) < t),
    ),
    "lasting": (
        "expression('eventTimestamp(last) - eventTimestamp(first) < {t}')",
        lambda rows, n, t: naive.expression(rows, lambda held: held[-1][0] - held[0][0] < t),
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=examples(300))
@given(rows=histories(), n=NUMBERS, t=TIMES)
def test_definition(family: str, rows: list[Arrival], n: int, t: int) -> None:
    text, definition = FAMILIES[family]
    running = Running(planned(text.format(n=n, t=t)))
    running.feed(rows)
    assert running.finish() == definition(rows, n, t)


CLOCKED: dict[str, tuple[str, Callable[[list[Arrival], int], Chunks]]] = {
    "externalTime": ("externalTime(v, {t})", naive.external_time),
    "externalTimeBatch": ("externalTimeBatch(v, {t})", naive.external_time_batch),
}


@pytest.mark.parametrize("family", CLOCKED)
@settings(max_examples=examples(300))
@given(rows=histories(), t=st.integers(1, 30))
def test_clock_of_an_attribute(family: str, rows: list[Arrival], t: int) -> None:
    text, definition = CLOCKED[family]
    running = Running(planned(text.format(t=t)))
    assert running.feed(rising(rows)) == definition(rising(rows), t)


@settings(max_examples=examples(300))
@given(rows=histories(4000), seconds=st.sampled_from([1, 2, 5, 10]))
def test_cron(rows: list[Arrival], seconds: int) -> None:
    running = Running(planned(f"cron('*/{seconds} * * * * ?')"))
    rows = [row for row in rows if row[0] % (seconds * 1000)]
    running.feed(rows)
    assert running.finish() == naive.calendar(rows, seconds)


@settings(max_examples=examples(300))
@given(sizes=st.lists(st.integers(1, 7), min_size=1, max_size=8), n=st.integers(0, 3))
def test_batch(sizes: list[int], n: int) -> None:
    running = Running(planned(f"batch({n})" if n else "batch()"))
    previous: list[Arrival] = []
    expected: Chunks = []
    for time, size in enumerate(sizes, start=1):
        running.shared.clock.glide(time)
        rows = [(time, value) for value in range(size)]
        running.part.process([Row(at, [value, ""]) for at, value in rows])
        parts = [rows[i : i + n] for i in range(0, size, n)] if n else [rows]
        for number, part in enumerate(parts):
            leaving = [] if number else naive.gone(previous, time)
            marks = [naive.reset(time if number else time - 1)] if number or time > 1 else []
            expected.append(leaving + marks + naive.came(part))
        previous = rows
    assert running.chunks == expected


WINDOWS = [
    *[text for text, _ in FAMILIES.values()],
    "externalTime(v, {t})",
    "externalTimeBatch(v, {t}, 3, {t}, true)",
    "lengthBatch({n}, true)",
    "timeBatch({t}, true)",
    "frequent({n}, v)",
    "lossyFrequent(0.3, 0.2, v)",
    "cron('* * * * * ?')",
    "batch()",
    "session({t}, expr, {n})",
    "expressionBatch('sum(v) < {t}')",
    "expressionBatch('count() <= {n}', true)",
    "expressionBatch('count() <= {n}', false, true)",
]


@pytest.mark.parametrize("text", WINDOWS)
@settings(max_examples=examples(30))
@given(rows=histories(), n=NUMBERS, t=st.integers(6, 90), cut=st.integers(0, 40))
def test_goes_on_from_a_snapshot(text: str, rows: list[Arrival], n: int, t: int, cut: int) -> None:
    running = Running(planned(text.format(n=n, t=t)))
    running.feed(rows[:cut], "key")
    other = running.reborn()
    assert [_shown(row) for row in other.part.held()] == [
        _shown(row) for row in running.part.held()
    ]
    running.chunks.clear()
    running.feed(rows[cut:], "key")
    other.feed(rows[cut:], "key")
    assert other.finish() == running.finish()


BALANCED = [text for text in WINDOWS if not text.startswith(("delay", "lossy", "expression"))]
"""Windows out of which a row goes at most once, after it has come."""


@pytest.mark.parametrize("text", BALANCED)
@settings(max_examples=examples(30))
@given(rows=histories(), n=NUMBERS, t=st.integers(6, 90))
def test_no_row_leaves_that_has_not_come(text: str, rows: list[Arrival], n: int, t: int) -> None:
    running = Running(planned(text.format(n=n, t=t)))
    running.feed(rows, "key")
    inside: Counter[Any] = Counter()
    for sign, _, value in [out for chunk in running.finish() for out in chunk]:
        inside[value] += {"+": 1, "-": -1, "0": 0}[sign]
        assert inside[value] >= 0


@settings(max_examples=examples(300))
@given(rows=histories(), n=NUMBERS)
def test_frequent_keeps_what_makes_more_than_its_share(rows: list[Arrival], n: int) -> None:
    running = Running(planned(f"frequent({n}, v)"))
    running.feed(rows)
    held = [row.values[0] for row in running.part.held()]
    counts = Counter(value for _, value in rows)
    assert len(held) == len(set(held)) <= n
    assert {value for value, count in counts.items() if count * n > len(rows)} <= set(held)


@settings(max_examples=examples(300))
@given(rows=histories())
def test_lossy_frequent_misses_no_frequent_value(rows: list[Arrival]) -> None:
    running = Running(planned("lossyFrequent(0.3, 0.1, v)"))
    counts: Counter[int] = Counter()
    for number, row in enumerate(rows, start=1):
        counts[row[1]] += 1
        passed = ("+", *row) in [out for chunk in running.feed([row]) for out in chunk]
        running.chunks.clear()
        assert passed or counts[row[1]] < 0.3 * number
        assert not passed or counts[row[1]] >= 0.2 * number


def test_session_waits_for_late_rows() -> None:
    running = Running(planned("session(100, expr, 100)"))
    running.feed([(1000, 1), (1010, 2), (1200, 3), (1105, 4)], "k")
    assert [chunk for chunk in running.finish() if chunk[0][0] == "-"] == [
        [("-", 1000, 1), ("-", 1010, 2), ("-", 1105, 4), ("-", 1200, 3)]
    ]


def test_session_drops_what_is_too_late() -> None:
    running = Running(planned("session(100)"))
    assert running.feed([(1000, 1), (1050, 2)])[-1] == [("+", 1050, 2)]
    running.part.process([Row(800, [3, ""])])
    assert len(running.chunks) == 2


def test_external_time_batch_sends_a_batch_again_after_its_timeout() -> None:
    running = Running(planned("externalTimeBatch(v, 100, 0, 50)"))
    running.feed([(10, 5), (20, 6), (100, 7)])
    assert running.chunks == [[("0", 6, None), ("+", 10, 5), ("+", 20, 6)]]
    running.shared.clock.glide(120)
    assert running.chunks[1:] == [
        [("-", 7, 5), ("-", 7, 6), ("0", 7, None), ("+", 10, 5), ("+", 20, 6), ("+", 100, 7)]
    ]


def test_stream_current_lets_rows_pass_at_once() -> None:
    running = Running(planned("lengthBatch(2, true)"))
    assert running.feed([(1, 1), (2, 2), (3, 3)]) == [
        [("+", 1, 1)],
        [("+", 2, 2)],
        [("-", 3, 1), ("-", 3, 2), ("0", 3, None), ("+", 3, 3)],
    ]


def test_stream_current_goes_on_from_a_snapshot_that_holds_the_batch_once() -> None:
    running = Running(planned("lengthBatch(2, true)"))
    running.part.restore([[[Row(1, [1, ""]), Row(2, [2, ""])], 0], []])
    assert running.feed([(3, 3)]) == [[("-", 3, 1), ("-", 3, 2), ("0", 3, None), ("+", 3, 3)]]


def test_sessions_that_end_together_leave_in_the_order_of_a_hash_table() -> None:
    running = Running(planned("session(100, expr)"))
    running.feed([(1000, 1)], "b")
    running.feed([(1000, 2)], "a")
    assert [chunk for chunk in running.finish() if chunk[0][0] == "-"] == [
        [("-", 1000, 2), ("-", 1000, 1)]
    ]


def test_condition_in_an_attribute_judges_all_rows_again() -> None:
    running = Running(planned("expression(expr)"))
    running.feed([(1, 1), (2, 2), (3, 3)], "count() <= 3")
    running.chunks.clear()
    assert running.feed([(4, 4)], "count() <= 2") == [[("-", 4, 1), ("-", 4, 2), ("+", 4, 4)]]


def test_expression_batch_starts_with_the_row_that_ends_it() -> None:
    running = Running(planned("expressionBatch('count() <= 2')"))
    assert running.feed([(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]) == [
        [("+", 3, 1), ("+", 3, 2)],
        [("-", 5, 1), ("-", 5, 2), ("+", 5, 3), ("+", 5, 4)],
    ]


def test_wrong_condition_of_an_attribute_is_an_error() -> None:
    running = Running(planned("expression(expr)"))
    with pytest.raises(Exception, match=r"unknown|missing"):
        running.feed([(1, 1)], "missing > 1")


def test_a_silent_week_costs_no_timers() -> None:
    running = Running(planned("timeBatch(1)"))
    running.feed([(1, 1)])
    running.shared.clock.glide(10)
    assert running.shared.clock.next_due_ms() is None
    assert running.feed([(7 * 86_400_000, 2)]) == [
        [("0", 1, None), ("+", 1, 1)],
        [("-", 3, 1)],
    ]
