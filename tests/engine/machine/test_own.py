"""Indicators of the user in a program: fed, failing, saved and carried as in the interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loguru import logger

from cep.clocks import Mode
from cep.engine.change import changed
from cep.engine.compiled import Compiled
from cep.engine.native import Run
from cep.engine.snapshot import restore, seed_of, take
from cep.interpreter.run import InterpretedRun
from cep.interpreter.snapshot import SnapshotError
from cep.plan import compile_rules
from cep.plan.nodes import Plan
from tests.campaign import examples
from tests.engine.machine.compared import Record, assert_same, assert_same_lived
from tests.engine.machine.generated import TICKS, end_of, ticks
from tests.engine.machine.records import START, STREAMS, records
from tests.engine.machine.test_change import changed_meaning
from tests.functions.own import FILE, loaded

OWN = (
    FILE
    + '''

@indicator(name="own:odd")
class Odd:
    """How many values have come; it fails on 2."""

    def __init__(self) -> None:
        self.n = 0

    def update(self, x: float) -> int:
        self.n += 1
        if x == 2.0:
            raise ValueError("two")
        return self.n


@indicator(name="own:longest")
class Longest:
    """The longest text, and whether this is it."""

    def __init__(self, least: int = 0) -> None:
        self.found = "-" * least

    def update(self, text: str | None, x: int | None) -> Seen:
        if text is not None and len(text) >= len(self.found):
            self.found = text + str(x)
        return Seen(self.found if x != 3 else None, text == self.found, x)
'''
).replace(
    "class Range(",
    "class Seen(NamedTuple):\n    text: str\n    is_it: bool\n    x: int\n\n\nclass Range(",
)

MODES = pytest.mark.parametrize("mode", ["sorted", "lived"])


@pytest.fixture(autouse=True)
def functions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder: Path = tmp_path_factory.mktemp("own")
    loaded(folder, OWN)
    logger.disable("cep")  # what fails is logged with a trace, which takes long
    yield
    logger.enable("cep")


SELECTED = st.lists(
    st.sampled_from([
        "own:mean(price, 2) as {}", "own:odd(price) as {}", "own:nulls(price) as {}",
        "own:odd(n) as {}", "count() as {}", "sum(n) as {}", "avg(price) as {}", "max(n) as {}",
        "own:mean(n) as {}", "stdDev(price) as {}", "maxForever(price) as {}",
        "median(price) as {}",
    ]),
    min_size=1, max_size=5,
).map(lambda some: ", ".join(one.format(f"v{n}") for n, one in enumerate(some)))  # fmt: skip
WINDOWS = st.sampled_from([
    "", "#window.length(2)", "#window.time(2 sec)", "#window.lengthBatch(3)",
    "#window.timeBatch(2 sec)", "#window.externalTime(at, 2 sec)", "#window.sort(2, n)",
    "#window.delay(1 sec)", "#window.batch()", "#window.session(1 sec, symbol)",
    "#window.hopping(3 sec, 1 sec)", "#window.timeLength(3 sec, 2)", "#window.length(0)",
    "#window.expression('count() <= 2')", "#window.frequent(2, symbol)",
    "#window.expressionBatch('count() <= 2')", "#window.externalTimeBatch(at, 2 sec)",
])  # fmt: skip
LINES = st.sampled_from([
    "", "", "#own:range(price)", "#own:longest(symbol, n)", "#own:longest(symbol, n, 3)",
    "#own:odd(price)", "[n > 0]#own:range(n)", "#own:range(price)[high > 1.0]",
])  # fmt: skip
EVENTS = st.sampled_from(["", "", "all events ", "expired events "])
GROUPS = st.sampled_from(["", "", " group by symbol", " group by symbol, price"])


@st.composite
def queries(draw: st.DrawFn, source: str = "S") -> str:
    """One query that asks indicators."""
    window, line = draw(WINDOWS), draw(LINES)
    handlers = draw(st.sampled_from([f"{line}{window}", f"{window}{line}"]))
    having = draw(st.sampled_from(["", "", " having v0 is null or v0 > 1.0"]))
    added = {
        "range": ", low as l{n}, high as h{n}",
        "longest": ", text as t{n}, is_it as i{n}, x as x{n}",
        "odd": ", odd as o{n}",
    }
    also = next((more for name, more in added.items() if f"own:{name}" in line), "")
    select = f"select symbol, price, n, at{also}, {draw(SELECTED)}"
    return (
        f"from {source}{handlers} {select}{draw(GROUPS)}{having}"
        f" insert {draw(EVENTS)}into O{{n}};\n"
    )


@st.composite
def rules(draw: st.DrawFn) -> str:
    """Two queries, one behind the other or side by side; perhaps in a partition."""
    first, second = draw(queries()), draw(queries(draw(st.sampled_from(["S", "O1"]))))
    text = first.format(n=1) + second.format(n=2)
    if draw(st.booleans()):
        return f"partition with (symbol of S) begin {text.replace('O1', '#O1')} end;\n"
    return text


def is_run(text: str, *, lived: bool) -> bool:
    """Whether a program runs it: chunks behind batches of several rows are refused."""
    made = Compiled(compile_rules(TICKS + text), jit=False, machine="always")
    found = made.whole_lived if lived else made.whole
    refused = ("may fail there", "orders texts", "`eventTimestamp()`")
    assert found is not None or any(one in made.why_not_whole for one in refused)
    return found is not None


@settings(max_examples=examples(400), deadline=None)
@given(rules(), ticks())
def test_sorted_records(text: str, records: list[Record]) -> None:
    if is_run(text, lived=False):
        assert_same(TICKS + text, records, end_of(records))


@settings(max_examples=examples(400), deadline=None)
@given(rules(), ticks(), st.booleans())
def test_lived_records(text: str, records: list[Record], has_key: bool) -> None:
    stream = TICKS.replace("define", "@key('symbol') define") if has_key else TICKS
    if is_run(text, lived=True):
        assert_same_lived(stream + text, records, end_of(records))


JOINED = STREAMS + (
    "from A#window.{left} join B#window.{right} on A.symbol == B.symbol"
    " select A.symbol as s, own:odd(A.price) as o, count() as c, own:nulls(B.price) as l,"
    " sum(A.n) as t insert all events into O;"
    "from A#own:range(price)#window.length(2) join B on A.n == B.n"
    " select low, own:mean(B.price, 2) as m insert into P;"
)


@pytest.mark.parametrize("left", ["length(2)", "time(2 sec)", "timeBatch(1 sec)"])
@pytest.mark.parametrize("right", ["length(3)", "lengthBatch(2)"])
@settings(max_examples=examples(40), deadline=None)
@given(rows=records())
def test_joins(left: str, right: str, rows: list[Record]) -> None:
    assert_same(JOINED.format(left=left, right=right), rows, START + 600_000)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("from every a=S -> b=S select own:mean(a.price) as m insert into O;", "may fail there"),
        ("from S as a join S#window.length(2) as b select own:mean(a.price) as m insert into O;",
         "may fail there"),
        ("from S#window.batch() select n insert into P;"
         "from P#window.lengthBatch(2) select own:mean(n) as m insert into O;", "may fail there"),
        ("from S#window.length(2) select own:mean(n) as m, correlation(price, n) as c"
         " insert into O;",
         "`correlation` behind an indicator that may fail"),
    ],
)  # fmt: skip
def test_where_more_would_be_lost_than_in_the_interpreter(text: str, reason: str) -> None:
    made = Compiled(compile_rules(TICKS + text), jit=False, machine="always")
    assert made.whole is None and reason in made.why_not_whole


CATALOGUE = (
    "from S#own:range(price) select symbol, high group by symbol insert into O{n};",
    "from S#window.lengthBatch(2) select own:mean(price, 2) as m, own:odd(price) as o,"
    " count() as c insert into O{n};",
    "from S#window.time(2 sec) select symbol, own:nulls(price) as m, own:mean(n) as o"
    " group by symbol insert all events into O{n};",
    "from S#own:longest(symbol, n)[is_it] select text, own:odd(n) as o insert into O{n};",
    "partition with (symbol of S) begin @info(name='p{n}') from S#own:odd(price)"
    " select odd, own:nulls(n) as m insert into O{n}; end;",
    "from S select n insert into O{n};",
)
CHOSEN = st.frozensets(st.integers(0, len(CATALOGUE) - 1), min_size=1, max_size=4)


def rules_of(chosen: frozenset[int]) -> Plan:
    texts = (
        CATALOGUE[n].format(n=n) if n == 4 else f"@info(name='q{n}') {CATALOGUE[n]}".format(n=n)
        for n in sorted(chosen)
    )
    return compile_rules(TICKS + "\n".join(texts))


@MODES
@settings(max_examples=examples(200), deadline=None)
@given(CHOSEN, st.lists(CHOSEN, max_size=3), ticks(), st.data())
def test_what_is_remembered_goes_on(
    mode: Mode,
    first: frozenset[int],
    then: list[frozenset[int]],
    rows: list[Record],
    data: st.DataObject,
) -> None:
    """In snapshots, and at changes of rules."""
    plan = rules_of(first)
    run = Compiled(plan, jit=False, machine="always").start(mode=mode)
    meant = InterpretedRun(plan, mode=mode)
    changes = dict(zip(data.draw(st.lists(st.integers(0, 30), max_size=3)), then, strict=False))
    cuts = data.draw(st.sets(st.integers(0, 30)))
    for place, (stream, time_ms, values) in enumerate(rows):
        if place in changes:
            plan = rules_of(changes[place])
            run, report = changed(run, plan)
            meant, expected = changed_meaning(meant, plan, mode)
            assert report == expected
        if place in cuts:
            saved = take(run)
            rules = Compiled(plan, jit=False, seed=seed_of(saved), machine="always")
            run = restore(rules, saved)
            assert take(run) == saved
        assert run.machine is not None
        row = dict(zip(plan.stream(stream).schema.names, values, strict=True))
        assert run.push_row(stream, time_ms, row).dicts() == meant.push_row(stream, time_ms, row)
    assert run.end(end_of(rows)).dicts() == meant.end(end_of(rows))


def started(text: str) -> Run:
    return Compiled(compile_rules(TICKS + text), jit=False, machine="always").start(mode="sorted")


def test_state_that_cannot_be_saved_is_named(tmp_path: Path) -> None:
    loaded(
        tmp_path, FILE.replace("self.low = x if", "self.odd = object()\n        self.low = x if")
    )
    run = started("@info(name='q') from S#own:range(price) select low insert into O;")
    take(run)
    run.push_row("S", 1, {"symbol": "A", "price": 1.0, "n": 1, "at": 1})
    with pytest.raises(SnapshotError, match=r"query q: .*`own:range` holds a object.*Extremes"):
        take(run)


def test_instances_whose_groups_are_gone_are_forgotten() -> None:
    """Rules that drop a query and get it again do not keep what it remembered."""
    texts = [f"@info(name='q') from S select own:mean(n, {n}) as m group by at insert into O;"
             for n in range(2, 6)]  # fmt: skip
    run = started(texts[0])
    for text in texts[1:]:
        rows = {"symbol": ["A"] * 500, "price": [1.0] * 500, "n": [1] * 500, "at": list(range(500))}
        run.push("S", rows, [1] * 500)
        run, _ = changed(run, compile_rules(TICKS + text))
        assert run.machine is not None and not len(run.machine.host.instances)


def test_in_machine_code() -> None:
    text = (
        "from S#own:longest(symbol, n) select text, is_it, x, own:odd(price) as o, count() as c,"
        " own:mean(price, 2) as m group by symbol insert into O;"
    )
    rows: list[Record] = [
        ("S", 1_000 * n, ["AB"[n % 2] * (n % 5), [1.0, 2.0, 0.5, None][n % 4], n, n])
        for n in range(40)
    ]
    assert assert_same(TICKS + text, rows, jit=True) > 20
