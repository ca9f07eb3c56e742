"""Patterns and sequences on the machine, beside the interpreter."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.engine.machine.kernels.words import TIMERS_COUNT
from cep.engine.native import Compiled
from cep.lang.errors import RuleError, RuleErrors
from cep.plan import compile_rules
from tests.engine.machine import random_matches
from tests.engine.machine.compared import Record, assert_same
from tests.semantics.loader import Case, load_cases

STREAMS = (
    "define stream A (symbol string, price double, volume long);\n"
    "define stream B (symbol string, price double, volume long);\n"
)
MATCHES = [
    case
    for case in load_cases()
    if case.name in ("chunk-two-readers", "pattern-expired-read", "pattern-late")
]
TRADER = Path(__file__).parents[3] / "benchmarks/trader"


def a(time_ms: int, price: float | None = 1.0, symbol: str = "x", volume: int | None = 1) -> Record:
    return "A", time_ms, (symbol, price, volume)


def b(time_ms: int, price: float | None = 1.0, symbol: str = "x", volume: int | None = 1) -> Record:
    return "B", time_ms, (symbol, price, volume)


def walk(count: int, seed: int, streams: str = "AB") -> list[Record]:
    """Records of some symbols at a few prices, half of them at equal times, some late."""
    random, now_ms, made = Random(seed), 1_700_000_000_000, []
    for _ in range(count):
        now_ms += random.choice([0, 0, 300, 900, 2000])
        values = random.choice("xyz"), float(random.randint(1, 6)), random.randint(1, 3)
        late_ms = random.choice([0, 0, 0, 0, 500, 4000])
        made.append((random.choice(streams), now_ms - late_ms, values))
    return made


CASES = {
    "all that is too old": (
        "every e1=A -> e2=B[price > 5.0] -> e3=A within 3 sec",
        "e1.price as p",
    ),
    "every with within": (
        "every e1=A[price > 1.0] -> e2=B[price > e1.price] within 5 sec",
        "e1.price as p, e2.price as q, eventTimestamp(e1) as t",
    ),
    "every over two": ("every (e1=A -> e2=B) -> e3=A[price > e2.price]", "e1.price as p"),
    "every in the middle": ("e1=A -> every e2=B[price > e1.price]", "e2.price as p"),
    "groups in time": (
        "every ((e1=A -> e2=B) within 2 sec) -> e3=A[volume == 1] within 6 sec",
        "e1.price as p, e3.price as q",
    ),
    "sequence": (
        "every e1=A, e2=A[price >= e1.price], e3=A[price >= e2.price]",
        "e1.price as p, e3.price as q",
    ),
    "counts": (
        "every e1=A<2:4> -> e2=B[price > e1[last].price]",
        "e1[0].price as p, e1[last - 1].price as q, e1[3] is null as r, e2.price as s",
    ),
    "counts of a sequence": (
        "every e1=A[price >= 2.0]+, e2=A[price < e1[last].price]",
        "e1[0].price as p, e1[last].price as q, eventTimestamp(e1) as t",
    ),
    "falling while it falls": (
        "e1=A*, e2=A[price < 3.0]",
        "e1[last].price as p, e2.price as q",
    ),
    "and": ("every e1=A[volume == 1] and e2=B[volume == 2]", "e1.price as p, e2.price as q"),
    "or": (
        "every e1=A[price > 4.0] or e2=B[price > 4.0] -> e3=A",
        "e2 is null as p, e3.price as q",
    ),
    "absence": ("every e1=A -> not B[symbol == e1.symbol] for 2 sec", "e1.price as p"),
    "absence in front": ("every not B for 1 sec -> e1=A[price > 2.0]", "e1.price as p"),
    "absence beside": ("every e1=A -> not B[price > 3.0] and e2=A[volume == 2]", "e2.price as p"),
    "absence in time beside": ("e1=A -> not B for 1 sec or e2=A", "e2 is null as p"),
    "absence of a sequence": ("every e1=A, not B for 300 milliseconds", "e1.price as p"),
    "found by a key": (
        "every e1=A -> e2=B[symbol == e1.symbol and volume == e1.volume] within 20 sec",
        "e1.price as p, e2.price as q",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_same_rows(name: str) -> None:
    source, selected = CASES[name]
    query = f"from {source} select {selected} insert into Out;"
    records = walk(150, len(name))
    until_ms = records[-1][1] + 60_000
    assert assert_same(STREAMS + query, records, until_ms) > 0


def test_of_too_many_the_oldest_is_dropped() -> None:
    text = STREAMS + (
        "@bound(partials='3') from every e1=A -> e2=B[volume == e1.volume]"
        " select e1.price as p insert into Out;"
    )
    records = [a(1000 * n, float(n), volume=n % 3) for n in range(9)]
    assert assert_same(text, [*records, b(20_000, volume=0), b(21_000, volume=2)]) == 2


def test_each_key_has_matches_of_its_own() -> None:
    text = STREAMS + (
        "partition with (symbol of A, symbol of B) begin\n"
        "from every e1=A -> not B[price > e1.price] for 2 sec select e1.price as p insert into Out;"
        "from every e1=A, e2=A[price > e1.price] select e2.price as p insert into Up;\nend;"
    )
    records = walk(200, 5)
    assert assert_same(text, records, records[-1][1] + 9000) > 20


def test_what_is_selected_of_one_row_at_a_time() -> None:
    """Each match is a chunk of its own for what sees chunks, whatever completes with it."""
    text = STREAMS + (
        "from every e1=A -> e2=A[price > 4.0] select e1.price as p order by p limit 1"
        " insert into Out;\n"
        "from every e1=A -> e2=B select e2.symbol as s, sum(e1.price) as p, count() as n"
        " group by e2.symbol having n > 2 insert into Sums;\n"
        "from every e1=A -> e2=B select e1.price as p offset 1 insert into None_;"
    )
    records = walk(120, 6)
    assert assert_same(text, records) > 40


def test_memory_is_given_back() -> None:
    text = STREAMS + (
        "from every e1=A -> e2=B[volume == e1.volume and price > 1.0] within 1 min"
        " select e1.price as p insert into Out;"
    )
    run = Compiled(compile_rules(text), jit=False, machine="always").start(mode="sorted")
    assert run.machine is not None
    tops = []
    for turn in range(6):
        for n in range(300):
            time_ms = 100_000 * turn + 10 * n
            run.push("A", {"symbol": ["x"], "price": [1.0], "volume": [n % 7]}, [time_ms])
        run.push("B", {"symbol": ["x"], "price": [2.0], "volume": [3]}, [100_000 * turn + 9000])
        tops.append(int(run.machine.memory.i[0, 0]))
    assert len(set(tops[2:])) == 1


@given(st.integers(0, 2**32))
def test_whatever_is_drawn(seed: int) -> None:
    random = Random(seed)
    text, records = random_matches.match(random), random_matches.records(random, 30)
    try:
        compile_rules(text)
    except (RuleError, RuleErrors):
        return
    assert_same(text, records, records[-1][1] + 20_000)


ABSENCES = (
    "every e1=A -> not A for {time}",
    "every e1=A -> not B[symbol == e1.symbol] for {time}",
    "e1=A[price > 2.0] -> not B[price > 4.0] for {time}",
    "every e1=A -> not B[price > 4.0] for {time} -> e2=A",
    "every (e1=A -> not B[price > 3.0] for {time})",
    "every e1=A -> e2=B -> not A[price > 3.0] for {time}",
    "every e1=A -> not B[price > 4.0] for {time} -> not A[price > 4.0] for 1 sec",
)


@given(
    st.integers(0, 2**32),
    st.sampled_from(ABSENCES),
    st.sampled_from(["300 milliseconds", "1 sec", "5 sec"]),
    st.sampled_from(["", " output last every 1 sec", " output every 5 sec"]),
    st.sets(st.integers(1, 40)),
)
def test_absences_end_in_the_order_in_which_they_began(
    seed: int, absence: str, time: str, rate: str, cuts: set[int]
) -> None:
    """Also of equal times, late rows, another timer of the query, and from a snapshot on."""
    query = f"from {absence.format(time=time)} select e1.price as p, e1.symbol as s{rate}"
    records = walk(40, seed)
    text = f"{STREAMS}{query} insert into Out;"
    assert assert_same(text, records, records[-1][1] + 20_000, cuts=cuts) >= 0


def test_an_absence_that_has_been_broken_leaves_no_timer() -> None:
    text = STREAMS + "from every e1=A -> not A for 5 sec select e1.price as p insert into Out;"
    run = Compiled(compile_rules(text), jit=False, machine="always").start(mode="sorted")
    assert run.machine is not None
    made = []
    for n in range(200):
        made += run.push("A", {"symbol": ["x"], "price": [n], "volume": [1]}, [10 * n]).dicts()
        assert run.machine.memory.i[0, TIMERS_COUNT] == 1
    assert [row["p"] for row in [*made, *run.end(7_000).dicts()]] == [199.0]


def deals(count: int, orders: int) -> list[Record]:
    """Deals of which some share their order, position and strategy."""
    random, now_ms, made = Random(4), 1_700_000_000_000, []
    for ticket in range(count):
        now_ms += random.choice([0, 500, 3000, 20_000])
        order = ticket - random.randint(0, orders)
        entry, side = random.choice(["in", "in", "out"]), random.choice(["buy", "sell"])
        values = (
            random.choice(["EURUSD", "XAUUSD"]), ticket, order, order // 2, order % 3, side, entry,
            0.1, 1.1, random.choice([-1.0, -2.0, 3.0]),
        )  # fmt: skip
        made.append(("Deal", now_ms, values))
    return made


@pytest.mark.parametrize("name", ["lone_fill", "losing_streak"])
def test_rules_about_deals(name: str) -> None:
    records = deals(300, 5)
    text = (TRADER / f"{name}.cep").read_text(encoding="utf-8")
    assert assert_same(text, records, records[-1][1] + 60_000) > 10


def ticks(count: int) -> list[Record]:
    """Ticks of two symbols on random walks, some seconds apart."""
    random, now_ms, made = Random(3), 1_700_000_040_000, []
    prices = {"EURUSD": 100.0, "XAUUSD": 200.0}
    for _ in range(count):
        now_ms += random.choice([0, 200, 6000, 15_000, 40_000])
        symbol = random.choice(list(prices))
        prices[symbol] += random.choice([-2.0, -1.0, 1.0, 1.5])
        made.append(("Tick", now_ms, (symbol, prices[symbol], 1.2, 0.0, 1.0, 6)))
    return made


@pytest.mark.parametrize("name", ["stale_feed", "engulfing", "three_falling"])
def test_rules_about_ticks(name: str) -> None:
    records = ticks(400)
    text = (TRADER / f"{name}.cep").read_text(encoding="utf-8")
    assert assert_same(text, records, records[-1][1] + 120_000) > 5


@pytest.mark.parametrize("case", MATCHES, ids=lambda case: case.name)
def test_what_is_written_down_of_matches(case: Case) -> None:
    rules = Compiled(case.plan(), jit=False, machine="always")
    assert rules.whole is not None, rules.why_not_whole
    run, made = rules.start(mode="sorted"), []
    for stream, time_msc, values in case.rows_in:
        names = rules.plan.stream(stream).schema.names
        made += run.push(stream, {name: [values.get(name)] for name in names}, [time_msc]).dicts()
    assert case.observed(made) == case.expected


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("from e1=A<1:2> -> e2=B select e1.price as p insert into Out;", "collected"),
        ("from e1=A<1:90> -> e2=B select e1[80].price as p insert into Out;", "far from"),
        ("from e1=A#log() -> e2=B select e1.price as p insert into Out;", "stream function"),
    ],
)
def test_what_it_cannot_do(query: str, why: str) -> None:
    rules = Compiled(compile_rules(STREAMS + query), jit=False, machine="always")
    assert rules.whole is None
    assert why in rules.why_not_whole


def test_many_parts_are_told_when_the_run_begins() -> None:
    text = STREAMS + "".join(
        f"from A select volume output last every {n + 1} sec insert into Out{n};\n"
        for n in range(600)
    )
    rows: list[Record] = [("A", 1_700_000_000_000, ("x", 1.0, 1))]
    assert assert_same(text, rows, 1_700_000_003_000) > 0
