"""Output rates on hand-made rows."""

from __future__ import annotations

import pytest

from cep.interpreter.codec import pack, unpack
from cep.interpreter.context import Context, Shared
from cep.interpreter.rates import Limiter, make_limiter
from cep.interpreter.rows import Chunk, Row, RowKind
from cep.plan.expressions import Aggregated, Column
from cep.plan.query import Query, StreamInput
from cep.plan.steps import Rate, Return, Window, selecting
from cep.plan.types import Schema, Type
from tests.interpreter.timers import take_over_clock

SCHEMA = Schema.of(name=Type.STRING, total=Type.LONG)
NAME = Column(0, "name", Type.STRING)
PROJECTION = (("name", NAME), ("total", Aggregated(0, Type.LONG)))


class Bench:
    """A limiter on a clock of its own; `out` are the chunks that came, as shown by `show`."""

    def __init__(self, rate: Rate, window: str = "", grouped: bool = False, compat: bool = False):
        self.out: list[list[tuple[str, int, str]]] = []
        self.shared = Shared(compat)
        source = StreamInput("S", SCHEMA, window=Window(window) if window else None)
        steps = selecting(PROJECTION, rate=rate, group_by=(NAME,) if grouped else ())
        query = Query("q", source, steps, Return("all"))
        self.limiter: Limiter = make_limiter(query, Context(self.shared, "/q"), self._emit)
        self.shared.clock.jump(0)
        self.limiter.start(0)

    def _emit(self, chunk: Chunk) -> None:
        self.out.append([(*row.values, row.kind.name.lower()) for row in chunk])

    def at(self, time_ms: int, *names: str, kind: RowKind = RowKind.CURRENT) -> Bench:
        """A chunk of rows; `total` counts the rows of all chunks so far."""
        self.shared.clock.jump(time_ms)
        if names:
            self.limiter.process([self._row(time_ms, name, kind) for name in names])
        return self

    def _row(self, time_ms: int, text: str, kind: RowKind) -> Row:
        name, total = text[0], int(text[1:])
        row = Row(time_ms, [name, total], kind)
        row.group = (name,)
        return row

    def shown(self) -> list[str]:
        return [
            " ".join(f"{'-' * (kind == 'expired')}{name}{total}" for name, total, kind in chunk)
            for chunk in self.out
        ]


def ungrouped(bench: Bench) -> Bench:
    """Rows of a query without `group by` are all of the empty group."""
    make = bench._row

    def row(time_ms: int, text: str, kind: RowKind) -> Row:
        made = make(time_ms, text, kind)
        made.group = ()
        return made

    bench._row = row  # type: ignore[method-assign]
    return bench


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("all", ["a1 b2", "c3 d4"]), ("first", ["a1", "c3", "e5"]), ("last", ["b2", "d4"])],
)
def test_every_two_rows(kind: str, expected: list[str]) -> None:
    bench = ungrouped(Bench(Rate(kind, 2, None)))  # type: ignore[arg-type]
    bench.at(0, "a1").at(1, "b2").at(2, "c3", "d4").at(3, "e5")
    assert bench.shown() == expected


def test_first_and_last_of_rows_by_group() -> None:
    first = Bench(Rate("first", 2, None), grouped=True)
    first.at(0, "a1").at(1, "b2").at(2, "a3").at(3, "a4")
    assert first.shown() == ["a1", "b2", "a4"]
    last = Bench(Rate("last", 3, None), grouped=True)
    last.at(0, "a1").at(1, "b2").at(2, "a3").at(3, "b4")
    assert last.shown() == ["a3 b2"]


def test_first_of_every_row_is_every_row_but_in_siddhi() -> None:
    ours = ungrouped(Bench(Rate("first", 1, None))).at(0, "a1", "b2").at(1, "c3")
    assert ours.shown() == ["a1 b2", "c3"]
    theirs = ungrouped(Bench(Rate("first", 1, None), compat=True)).at(0, "a1", "b2").at(1, "c3")
    assert theirs.shown() == ["a1"]


def test_all_and_last_of_a_period_come_at_its_end() -> None:
    every = ungrouped(Bench(Rate("all", None, 1000)))
    every.at(10, "a1").at(500, "b2", "c3").at(1000, "d4").at(3500)
    assert every.shown() == ["a1 b2 c3", "d4"]
    last = Bench(Rate("last", None, 1000), grouped=True)
    last.at(10, "a1").at(500, "b2").at(600, "a3").at(2000)
    assert last.shown() == ["a3 b2"]


def test_first_of_a_period_passes_at_once_and_again_at_exactly_the_period() -> None:
    bench = ungrouped(Bench(Rate("first", None, 1000)))
    bench.at(200, "a1").at(1199, "b2").at(1200, "c3", "d4")
    assert bench.shown() == ["a1", "c3"]
    grouped = Bench(Rate("first", None, 1000), grouped=True)
    grouped.at(200, "a1").at(300, "b2").at(1200, "a3", "b4")
    assert grouped.shown() == ["a1", "b2", "a3"]


SNAPSHOT = Rate("snapshot", None, 1000)


def test_snapshot_without_window_repeats_the_last_row() -> None:
    bench = ungrouped(Bench(SNAPSHOT)).at(10, "a1").at(20, "b2").at(2000)
    assert bench.shown() == ["b2", "b2"]
    grouped = Bench(SNAPSHOT, grouped=True).at(10, "a1").at(20, "b2").at(30, "a3").at(1000)
    assert grouped.shown() == ["a3 b2"]


def test_snapshot_of_a_window_shows_its_rows_with_the_newest_aggregate() -> None:
    bench = ungrouped(Bench(SNAPSHOT, window="length"))
    bench.at(10, "a1").at(20, "b2").at(30, "a1", kind=RowKind.EXPIRED).at(30, "c3").at(1000)
    assert bench.shown() == ["b3 c3"]


def test_snapshot_of_a_grouped_window_shows_one_row_of_each_group() -> None:
    bench = Bench(SNAPSHOT, window="length", grouped=True)
    bench.at(10, "a1").at(20, "a3").at(30, "b5").at(1000)
    assert bench.shown() == ["a3 b5"]


def test_an_empty_snapshot_is_told() -> None:
    assert ungrouped(Bench(SNAPSHOT, window="length")).at(2500).shown() == ["", ""]


@pytest.mark.parametrize("window", ["", "length"])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    "rate",
    [Rate(kind, *every) for kind in ("all", "first", "last") for every in ((3, None), (None, 700))]
    + [SNAPSHOT],
)
def test_a_restored_limiter_goes_on(rate: Rate, grouped: bool, window: str) -> None:
    def make() -> Bench:
        return Bench(rate, window, True) if grouped else ungrouped(Bench(rate, window))

    first = make().at(10, "a1").at(20, "b2").at(710, "a3")
    second = make()
    second.limiter.restore(unpack(pack(first.limiter.state())))
    take_over_clock(second.shared, first.shared)
    first.out = []
    for bench in (first, second):
        bench.at(800, "b4").at(900, "a1", kind=RowKind.EXPIRED).at(1500, "c5").at(4000)
    assert second.shown() == first.shown()
    assert first.shown()
