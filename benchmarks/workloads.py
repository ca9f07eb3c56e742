"""The workloads N1-N9 as texts: SiddhiQL for Siddhi and for us, EPL for Esper, and their input.

The texts are those of the table in the project's benchmark plan; Siddhi and we run the same one,
but for N3, which has a second, shorter form here (`RULES` of `benchmarks.n3`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SYMBOLS = 100
START_MS = 1_600_000_000_000
TICK_STEP_MS = 10
SPANS_MS = [540 - i for i in range(80)]
RISES = [round(0.01 * (step + 1), 2) for step in range(10)]


@dataclass(frozen=True)
class Input:
    """Rows of one stream `S`: a symbol code and a price, or two ints; times in ms."""

    names: tuple[str, ...]
    columns: tuple[npt.NDArray[np.generic], ...]
    times: Ints
    symbols: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.times)


def ticks(count: int) -> Input:
    """Random walks of ±0.01 of all symbols in turn, 10 ms apart."""
    steps = np.random.default_rng(7).choice([-0.01, 0.01], count)
    which = np.arange(count) % SYMBOLS
    mid = np.empty(count)
    for symbol in range(SYMBOLS):
        mid[symbol::SYMBOLS] = 100 + np.cumsum(steps[symbol::SYMBOLS])
    times = START_MS + TICK_STEP_MS * np.arange(count)
    names = tuple(f"S{number:03d}" for number in range(SYMBOLS))
    volume = np.ones(count, np.int64)
    return Input(("symbol", "mid", "volume"), (which, mid, volume), times, names)


def pairs(count: int) -> Input:
    """Two ints, each uniform in 0..999, one row per ms."""
    a, b = np.random.default_rng(11).integers(0, 1000, (2, count))
    return Input(("a", "b"), (a, b), START_MS + np.arange(count))


@dataclass(frozen=True)
class Workload:
    """One line of the table: what it runs, on what, and how many events are enough to time it.

    Without `esper` texts there is none that does the same.

    `peer_events` are fewer where a peer needs minutes for more. `warm_up` events fill the windows.
    """

    name: str
    title: str
    siddhi: str
    esper: tuple[str, ...]
    make: Callable[[int], Input]
    warm_up: int
    events: int
    peer_events: int
    goal: float


TICK = "define stream S (symbol string, mid double, volume long);\n"
PAIR = "define stream S (a int, b int);\n"
ESPER_TICK = (
    "@public @buseventtype create objectarray schema S (symbol string, mid double, volume long)"
)
ESPER_PAIR = "@public @buseventtype create objectarray schema S (a int, b int)"
BY_SYMBOL = "@public create context BySymbol partition by symbol from S"


def _each(count: int, text: Callable[[int], str]) -> str:
    return "\n".join(text(i) for i in range(count))


def _epl(schema: str, *texts: str) -> tuple[str, ...]:
    return (schema, *texts)


def _n8(rise: float) -> str:
    return (
        f"from every e1=S -> e2=S[mid > e1.mid + {rise}] -> e3=S[mid > e2.mid + {rise}]"
        " within 20 sec select e1.mid as m1, e2.mid as m2, e3.mid as m3 insert into Out;"
    )


def _n8_esper(rise: float) -> str:
    return (
        "context BySymbol select e1.mid as m1, e2.mid as m2, e3.mid as m3 from pattern"
        f" [every e1=S -> ((e2=S(mid > e1.mid + {rise}) -> e3=S(mid > e2.mid + {rise}))"
        " where timer:within(20 sec))]"
    )


WORKLOADS = (
    Workload(
        "N1",
        "filter",
        TICK + "from S[mid > 100.0] select symbol, mid insert into Out;",
        _epl(ESPER_TICK, "select symbol, mid from S(mid > 100.0)"),
        ticks, 100_000, 4_000_000, 2_000_000, 70e6,
    ),
    Workload(
        "N2",
        "5-minute window, avg and stdDev, group by symbol",
        TICK + "from S#window.time(5 min) select symbol, mid, avg(mid) as ma, stdDev(mid) as sd"
        " group by symbol insert into Out;",
        _epl(
            ESPER_TICK,
            "select symbol, mid, avg(mid) as ma, stddev(mid) as sd from S#time(5 min)"
            " group by symbol",
        ),
        ticks, 100_000, 2_000_000, 500_000, 10e6,
    ),
    Workload(
        "N3",
        "bands per symbol, two edges, up followed by down within 3 min",
        TICK + """partition with (symbol of S) begin
from S#window.time(5 min) select symbol, mid, avg(mid) as ma, stdDev(mid) as sd insert into #Band;
from #Band[mid > ma + 2.0 * sd] select symbol, mid insert into #Up;
from #Band[mid < ma - 2.0 * sd] select symbol, mid insert into #Down;
from every u=#Up -> d=#Down within 3 min select u.symbol as symbol, d.mid as mid insert into Out;
end;""",
        (),  # contexts upon contexts: about 2,000 events/s, and other matches than the others
        ticks, 100_000, 2_000_000, 200_000, 8e6,
    ),
    Workload(
        "N4",
        "80 filters a - b == i",
        PAIR + _each(80, lambda i: f"from S[a - b == {i}] select a, b insert into Out;"),
        _epl(ESPER_PAIR, *(f"select a, b from S(a - b = {i})" for i in range(80))),
        pairs, 20_000, 4_000_000, 300_000, 10e6,
    ),
    Workload(
        "N5",
        "80 counts over windows of 461 to 540 ms",
        PAIR + _each(80, lambda i: f"from S#window.time({SPANS_MS[i]} milliseconds)"
                     " select count() as n insert into Out;"),
        _epl(ESPER_PAIR, *(f"select count(*) as n from S#time({w} msec)" for w in SPANS_MS)),
        pairs, 2_000, 300_000, 20_000, 500e3,
    ),
    Workload(
        "N6",
        "80 joins on l.a - r.b == i + 1 over windows of 461 to 540 ms",
        PAIR + _each(80, lambda i: f"from S#window.time({SPANS_MS[i]} milliseconds) as l join"
                     f" S#window.time({SPANS_MS[i]} milliseconds) as r on l.a - r.b == {i + 1}"
                     " select l.a as a, r.b as b insert into Out;"),
        _epl(ESPER_PAIR, *(
            f"select l.a as a, r.b as b from S#time({w} msec) as l, S#time({w} msec) as r"
            f" where l.a - r.b = {i + 1}" for i, w in enumerate(SPANS_MS)
        )),
        pairs, 1_000, 60_000, 1_000, 60e3,
    ),
    Workload(
        "N7",
        "80 sequences of three with a cross reference within 461 to 540 ms",
        PAIR + _each(80, lambda i: f"from every e1=S, e2=S[e1.a - a == {i}], e3=S[e2.a - a == {i}]"
                     f" within {SPANS_MS[i]} milliseconds"
                     " select e1.a as a1, e2.a as a2, e3.a as a3 insert into Out;"),
        _epl(ESPER_PAIR, *(
            "select * from S match_recognize (measures x.a as a1, y.a as a2, z.a as a3"
            f" pattern (x y z) interval {w} milliseconds define y as x.a - y.a = {i},"
            f" z as y.a - z.a = {i})" for i, w in enumerate(SPANS_MS)
        )),
        pairs, 2_000, 1_000_000, 20_000, 1e6,
    ),
    Workload(
        "N8",
        "ten three-step rises per symbol within 20 s",
        TICK + "partition with (symbol of S) begin\n" + "\n".join(map(_n8, RISES)) + "\nend;",
        _epl(ESPER_TICK, BY_SYMBOL, *map(_n8_esper, RISES)),
        ticks, 20_000, 1_000_000, 50_000, 500e3,
    ),
    Workload(
        "N9",
        "1,000 filters symbol == k and mid > x",
        TICK + _each(1000, lambda i: f"from S[symbol == 'S{i % SYMBOLS:03d}' and mid >"
                     f" {99.5 + i / 1000}] select symbol, mid insert into Out;"),
        _epl(ESPER_TICK, *(
            f"select symbol, mid from S(symbol = 'S{i % SYMBOLS:03d}' and mid > {99.5 + i / 1000})"
            for i in range(1000)
        )),
        ticks, 20_000, 2_000_000, 50_000, 5e6,
    ),
)  # fmt: skip


def workload(name: str) -> Workload:
    """The workload of that name, in any case; KeyError for an unknown one."""
    return {known.name: known for known in WORKLOADS}[name.upper()]
