"""Cases by hand, at the edges of what is defined: the answers are written down, not computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cep.jepc import (
    Aggregator,
    Correlator,
    CountWindow,
    Filter,
    PatternMatcher,
    PatternSymbol,
    Stream,
    TimeWindow,
    average,
    count,
    greatest,
    least,
    total,
)
from cep.jepc.provider import Event
from cep.jepc.queries import Query, Window
from tests.database.answers import Told, event
from tests.jepc.generated import TESTS as GENERATED
from tests.reference.jepc import Tests


@dataclass(frozen=True)
class Boundary:
    """A query over `s` (a int, k string) and `r` (b int, g string), events, and the results."""

    name: str
    query: Query
    events: Sequence[Event]
    results: Told


TESTS: Tests = {
    **GENERATED,
    "a == 1": lambda row, variables=None: row["a"] == 1,
    "a == 2": lambda row, variables=None: row["a"] == 2,
    "a != 0": lambda row, variables: row["a"] != 0,
    "a < 3": lambda row, variables=None: row["a"] < 3,
    "s.a == r.b": lambda left, right: left["a"] is not None and left["a"] == right["b"],
    "x.a == y.a": lambda left, right: left["a"] == right["a"],
    "x.a < y.a": lambda left, right: left["a"] < right["a"],
    "x.a == y.b and y.b == z.a": lambda x, y, z: x["a"] == y["b"] == z["a"],
    "n >= 2": lambda row: row["n"] >= 2,
    "n": lambda row: row["n"],
}


def s(time_msc: int, a: int | None = 1, k: str | None = "x") -> Event:
    return event("s", time_msc, a, k)


def r(time_msc: int, b: int | None = 1, g: str | None = "x") -> Event:
    return event("r", time_msc, b, g)


def _counted(window: Window, **more: Any) -> Query:
    return Aggregator(Stream("s").window(window), {"n": count()}, **more)


def _counts(*found: tuple[int, int]) -> Told:
    return [(time, {"n": number}) for time, number in found]


def _joined(left_ms: int, right_ms: int) -> Query:
    left = Stream("s").window(TimeWindow(left_ms)).named("s")
    right = Stream("r").window(TimeWindow(right_ms)).named("r")
    return Correlator([left, right], "s.a == r.b")


def _pairs(*found: tuple[int, int, str, str]) -> Told:
    return [(time, {"a": a, "k": k, "b": a, "g": g}) for time, a, k, g in found]


def _self(condition: str, size: int) -> Query:
    x, y = (Stream("s").window(TimeWindow(size)).named(name) for name in "xy")
    return Correlator([x, y], condition)


def _selves(*found: tuple[int, int, str, int, str]) -> Told:
    return [(t, {"x_a": a, "x_k": k, "y_a": b, "y_k": m}) for t, a, k, b, m in found]


_SYMBOLS = {
    "x": PatternSymbol("a == 1", {"z": "a"}),
    "y": PatternSymbol("a == z + 1", {"w": "a"}),
    "u": PatternSymbol("a == 2"),
}


def _matched(pattern: str, within: int, gaps: Any = "none", over: Any = None) -> Query:
    names = [name for name in _SYMBOLS if name in pattern]
    symbols = {name: _SYMBOLS[name] for name in names}
    variables = {"z": "int", "w": "int"}
    source = Stream("s") if over is None else over
    return PatternMatcher(source, pattern, within, symbols, variables, ("z", "w"), gaps)


def _ways(*found: tuple[int, int, int | None]) -> Told:
    return [(time, {"z": z, "w": w}) for time, z, w in found]


WINDOWS = [
    Boundary(
        "an event exactly as old as the window is out",
        _counted(TimeWindow(10)),
        [s(100), s(109), s(110), s(119), s(120)],
        _counts((100, 1), (109, 2), (110, 2), (119, 2), (120, 2)),
    ),
    Boundary(
        "two events of one time give two results",
        _counted(TimeWindow(10)),
        [s(100), s(100), s(110), s(110), s(110)],
        _counts((100, 1), (100, 2), (110, 1), (110, 2), (110, 3)),
    ),
    Boundary(
        "after a gap an event is alone, whatever the window",
        Aggregator(
            Stream("s").window(TimeWindow(50)),
            {"n": count(), "sum": total("a"), "top": greatest("a"), "low": least("a")},
        ),
        [s(100, 5), s(120, -3), s(10_000_000, 2)],
        [
            (100, {"n": 1, "sum": 5, "top": 5, "low": 5}),
            (120, {"n": 2, "sum": 2, "top": 5, "low": -3}),
            (10_000_000, {"n": 1, "sum": 2, "top": 2, "low": 2}),
        ],
    ),
    Boundary(
        "the other stream's events are no clock of a window that does not read it",
        _counted(TimeWindow(10)),
        [s(100), r(150), s(105 + 45)],
        _counts((100, 1), (150, 1)),
    ),
    Boundary(
        "a jump keeps and lets go together",
        _counted(TimeWindow(10, 5)),
        [s(time) for time in (100, 104, 105, 109, 110, 114, 115)],
        _counts((100, 1), (104, 2), (105, 3), (109, 4), (110, 3), (114, 4), (115, 3)),
    ),
    Boundary(
        "with a jump above the size some never count",
        _counted(TimeWindow(2, 5)),
        [s(time) for time in (100, 102, 103, 104, 105, 108)],
        _counts((103, 1), (104, 2), (108, 1)),
    ),
    Boundary(
        "the last rows, with a jump",
        Aggregator(Stream("s").window(CountWindow(4, 2)), {"n": count(), "sum": total("a")}),
        [s(100 + number, number) for number in range(6)],
        [
            (100, {"n": 1, "sum": 0}),
            (101, {"n": 2, "sum": 1}),
            (102, {"n": 3, "sum": 3}),
            (103, {"n": 4, "sum": 6}),
            (104, {"n": 3, "sum": 9}),
            (105, {"n": 4, "sum": 14}),
        ],
    ),
    Boundary(
        "the last rows of each key",
        Aggregator(
            Stream("s").window(CountWindow(2, by=("k",))), {"n": count(), "mean": average("a")}
        ),
        [s(100, 1, "x"), s(100, 2, "y"), s(101, 3, "x"), s(102, 5, "x"), s(103, 4, "y")],
        [
            (100, {"n": 1, "mean": 1.0}),
            (100, {"n": 2, "mean": 1.5}),
            (101, {"n": 3, "mean": 2.0}),
            (102, {"n": 3, "mean": 10 / 3}),
            (103, {"n": 4, "mean": 3.5}),
        ],
    ),
    Boundary(
        "groups are apart, one of null too",
        _counted(TimeWindow(10), group_by=["k"]),
        [s(100, 1, "x"), s(101, 1, None), s(102, 1, "y"), s(103, 1, None), s(111, 1, None)],
        [
            (100, {"k": "x", "n": 1}),
            (101, {"k": None, "n": 1}),
            (102, {"k": "y", "n": 1}),
            (103, {"k": None, "n": 2}),
            (111, {"k": None, "n": 2}),
        ],
    ),
    Boundary(
        "a filter behind a window of rows lets the others count",
        Aggregator(Filter(Stream("s").window(CountWindow(2)), "a == 1"), {"n": count()}),
        [s(100, 1), s(101, 2), s(102, 1), s(103, 1)],
        _counts((100, 1), (102, 1), (103, 2)),
    ),
    Boundary(
        "a filter in front of a window of rows does not",
        Aggregator(Filter(Stream("s"), "a == 1").window(CountWindow(2)), {"n": count()}),
        [s(100, 1), s(101, 2), s(102, 1), s(103, 1)],
        _counts((100, 1), (102, 2), (103, 2)),
    ),
    Boundary(
        "an aggregate of aggregates",
        Aggregator(
            Filter(_counted(TimeWindow(10)), "n >= 2").window(TimeWindow(5)), {"m": total("n")}
        ),
        [s(100), s(104), s(105), s(109), s(110), s(200)],
        [(104, {"m": 2}), (105, {"m": 5}), (109, {"m": 7}), (110, {"m": 8})],
    ),
]

CORRELATIONS = [
    Boundary(
        "windows are unequal, the event of the short one is first",
        _joined(5, 20),
        [s(100), r(104), r(105), s(110)],
        _pairs((104, 1, "x", "x"), (110, 1, "x", "x"), (110, 1, "x", "x")),
    ),
    Boundary(
        "windows are unequal, the event of the long one is first",
        _joined(5, 20),
        [r(100), s(119, 1, "old"), s(120, 1, "late"), r(124, 1, "y")],
        _pairs((119, 1, "old", "x"), (124, 1, "late", "y")),
    ),
    Boundary(
        "events of one time meet, whichever is first",
        _joined(1, 1),
        [s(100, 1, "a"), r(100, 1, "b"), r(101, 2, "c"), s(101, 2, "d"), s(102, 2, "e")],
        _pairs((100, 1, "a", "b"), (101, 2, "d", "c")),
    ),
    Boundary(
        "several events of one time all meet once",
        _joined(5, 5),
        [s(100, 1, "a"), s(100, 1, "b"), r(100, 1, "c"), r(100, 1, "d")],
        _pairs((100, 1, "a", "c"), (100, 1, "b", "c"), (100, 1, "a", "d"), (100, 1, "b", "d")),
    ),
    Boundary(
        "null meets nothing",
        _joined(5, 5),
        [s(100, None), r(100, None), s(101, 1), r(101, 1)],
        _pairs((101, 1, "x", "x")),
    ),
    Boundary(
        "an event meets itself once",
        _self("x.a == y.a", 10),
        [s(100, 1, "a"), s(101, 1, "b")],
        _selves(
            (100, 1, "a", 1, "a"),
            (101, 1, "b", 1, "a"),
            (101, 1, "a", 1, "b"),
            (101, 1, "b", 1, "b"),
        ),
    ),
    Boundary(
        "an event meets those before it, as either",
        _self("x.a < y.a", 10),
        [s(100, 1, "a"), s(105, 2, "b"), s(109, 0, "c"), s(115, 3, "d")],
        _selves(
            (105, 1, "a", 2, "b"),
            (109, 0, "c", 1, "a"),
            (109, 0, "c", 2, "b"),
            (115, 0, "c", 3, "d"),
        ),
    ),
    Boundary(
        "three inputs, each in a window of its own",
        Correlator(
            [
                Stream("s").window(TimeWindow(10)).named("x"),
                Stream("r").window(TimeWindow(3)).named("y"),
                Stream("s").window(TimeWindow(1)).named("z"),
            ],
            "x.a == y.b and y.b == z.a",
        ),
        [s(100, 1, "a"), r(101, 1, "b"), s(103, 1, "c"), s(104, 1, "d"), r(104, 1, "e")],
        [
            (103, {"x_a": 1, "x_k": "a", "b": 1, "g": "b", "z_a": 1, "z_k": "c"}),
            (103, {"x_a": 1, "x_k": "c", "b": 1, "g": "b", "z_a": 1, "z_k": "c"}),
            (104, {"x_a": 1, "x_k": "a", "b": 1, "g": "e", "z_a": 1, "z_k": "d"}),
            (104, {"x_a": 1, "x_k": "c", "b": 1, "g": "e", "z_a": 1, "z_k": "d"}),
            (104, {"x_a": 1, "x_k": "d", "b": 1, "g": "e", "z_a": 1, "z_k": "d"}),
        ],
    ),
    Boundary(
        "windows of rows, with a key",
        Correlator(
            [
                Stream("s").window(CountWindow(1, by=("k",))).named("s"),
                Stream("r").window(CountWindow(1)).named("r"),
            ],
            "s.a == r.b",
        ),
        [s(100, 1, "x"), s(100, 1, "y"), r(200, 1, "u"), s(300, 2, "x"), r(300, 1, "v")],
        _pairs((200, 1, "x", "u"), (200, 1, "y", "u"), (300, 1, "y", "v")),
    ),
    Boundary(
        "how many combinations live",
        Aggregator(_joined(5, 20), {"n": count(), "top": greatest("a")}),
        [s(100), r(101), r(102), s(104), r(105, 7), s(106, 7)],
        [
            (101, {"n": 1, "top": 1}),
            (102, {"n": 2, "top": 1}),
            (104, {"n": 3, "top": 1}),
            (104, {"n": 4, "top": 1}),
            (106, {"n": 3, "top": 7}),
        ],
    ),
]

PATTERNS = [
    Boundary(
        "one event of each instant, all alternatives",
        _matched("x y", 10),
        [s(100, 1), s(100, 1), s(101, 2), s(101, 2)],
        _ways((101, 1, 2), (101, 1, 2), (101, 1, 2), (101, 1, 2)),
    ),
    Boundary(
        "events of one instant do not follow one another",
        _matched("x y", 10),
        [s(100, 1), s(100, 2), s(101, 1), s(102, 2)],
        _ways((102, 1, 2)),
    ),
    Boundary(
        "the last is less than `within` after the first",
        _matched("x y", 5),
        [s(100, 1), s(104, 2), s(200, 1), s(205, 2)],
        _ways((104, 1, 2)),
    ),
    Boundary(
        "an instant without an event of the match ends it",
        _matched("x y", 10),
        [s(100, 1), s(101, 5), s(102, 2), s(103, 1), s(104, 2), s(104, 5)],
        _ways((104, 1, 2)),
    ),
    Boundary(
        "instants that emit nothing may be invisible",
        _matched("x y", 10, "invisible"),
        [s(100, 1), s(101, 5), s(102, 2), s(103, 1), s(103, 5), s(104, 1), s(105, 2)],
        _ways((102, 1, 2), (105, 1, 2)),
    ),
    Boundary(
        "each way is reported",
        _matched("x (y | u)", 10),
        [s(100, 1), s(101, 2)],
        _ways((101, 1, 2), (101, 1, None)),
    ),
    Boundary(
        "repetitions have no end but the time",
        _matched("x+ u", 4),
        [s(100, 1), s(101, 1), s(102, 1), s(103, 2), s(104, 2)],
        _ways((103, 1, None), (103, 1, None), (103, 1, None)),
    ),
    Boundary(
        "a match of a filtered stream does not see what is left out",
        _matched("x y", 10, over=Filter(Stream("s"), "a < 3")),
        [s(100, 1), s(101, 5), s(102, 2)],
        _ways((102, 1, 2)),
    ),
    Boundary(
        "how many matches live",
        Aggregator(_matched("x y", 5), {"n": count()}),
        [s(100, 1), s(101, 2), s(104, 1), s(105, 2), s(106, 1), s(106, 1), s(107, 2)],
        _counts((101, 1), (105, 2), (107, 2), (107, 3)),
    ),
]

BOUNDARIES = [*WINDOWS, *CORRELATIONS, *PATTERNS]
