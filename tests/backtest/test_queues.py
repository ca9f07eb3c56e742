"""The event queue of a moment, made of a run's rows, is the one that the interpreter had then."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cep.backtest.queues import courses
from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules
from cep.report import QueueCourse
from tests.campaign import examples

RULES = """
define stream Price (symbol string, level int);
define engine Main (queue = 10 sec{settings});
define event Low in Main for each symbol as every Price[level < 2] repeat allow opposite High;
define event High in Main for each symbol as Price[level > 7];
define event Mid in Main for each symbol as every Price[level == 5] repeat refresh;
define event Any in Main as every Price[level == 6] repeat allow;
define complex Turn in Main for each symbol as Low followed by (Mid or High) within 9 sec;
define complex Odd in Main as Any and Any within 5 sec;
"""
ALL = 1_000_000
PRICES = st.lists(
    st.tuples(st.sampled_from("AB"), st.integers(0, 9), st.integers(1, 6_000)), max_size=60
)
SETTINGS = st.sampled_from(["", ", opposites = 'validate'", ", max = 2"])


def held_at(course: QueueCourse, msc: int) -> list[tuple[str, str, int, tuple[str, ...]]]:
    """Event, key, time and bindings of what a course says stood in the queue."""
    return [
        (stay.event, stay.key, stay.time_msc, tuple(sorted(n for n, at in stay.binds if at <= msc)))
        for stay in course.stays
        if stay.entered_msc <= msc < stay.left_msc
    ]


@settings(max_examples=examples(60))
@given(PRICES, SETTINGS)
def test_each_moments_queue_is_the_interpreters(
    prices: list[tuple[str, int, int]], engine_settings: str
) -> None:
    plan = compile_rules(RULES.format(settings=engine_settings))
    run, now = InterpretedRun(plan), 0
    rows: dict[str, list[Any]] = defaultdict(list)
    seen = {}
    for symbol, level, later_ms in prices:
        now += later_ms
        for row in run.push("Price", now, [symbol, level]):
            rows[row["stream"]].append(row)
        queue = [one for one in run.interpreter.queue("Main") if one.at_ms >= now - 10_000]
        seen[now] = {
            symbol: [
                (one.name, one.key or "", one.at_ms, tuple(sorted(name for name, _ in one.bound)))
                for one in queue
                if one.key in (symbol, None)
            ]
            for symbol in "AB"
        }
    for symbol in "AB":
        (course,) = courses(plan, rows, symbol, ALL)
        assert {msc: held_at(course, msc) for msc in seen} == {
            msc: found[symbol] for msc, found in seen.items()
        }


def test_an_engine_downstream_holds_what_it_was_handed() -> None:
    """And what is not kept is told: the time since which all is."""
    more = """
define engine Next (queue = 1 min) from Main;
define event Seen in Next for each symbol as every Price[level == 9] repeat allow;
define complex Both in Next for each symbol as Turn followed by Seen within 1 min;
"""
    plan = compile_rules(RULES.format(settings="") + more)
    run = InterpretedRun(plan)
    rows: dict[str, list[Any]] = defaultdict(list)
    for at, level in enumerate((1, 5, 9), 1):
        for row in run.push("Price", 1000 * at, ["A", level]):
            rows[row["stream"]].append(row)
    main, downstream = courses(plan, rows, "A", 1)
    assert [stay.event for stay in main.stays] == ["Low", "Mid", "High"]
    assert [(stay.event, stay.time_msc, stay.left_msc) for stay in downstream.stays] == [
        ("Turn", 2000, 62_001), ("Seen", 3000, 63_001),
    ]  # fmt: skip
    assert downstream.stays[1].binds == (("Both", 3000),)
    assert main.known_msc == 3000, "one row of each was kept; the latest of these is here"
