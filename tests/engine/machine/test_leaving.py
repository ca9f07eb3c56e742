"""Rows that leave a window are looked at again: by a table, the clock, an indicator of the user.

So a row may leave that had not come, or leave with another value: what is remembered is right again
when its like has come, and is forgotten only when nothing is left of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loguru import logger

from cep.engine.compiled import Compiled
from cep.plan import compile_rules
from tests.campaign import examples
from tests.engine.machine.compared import Record, assert_same, assert_same_lived
from tests.engine.machine.generated import START_MS, TICKS, end_of, ticks
from tests.functions.own import FILE, loaded

TABLE = """define stream I (price double);
define table T (price double);
from I select price insert into T;
"""
LATER_MS = START_MS + 3_000
WINDOWS = st.sampled_from([
    "length(2)", "length(1)", "time(2 sec)", "lengthBatch(2)", "timeBatch(2 sec)", "batch()",
    "externalTime(at, 2 sec)", "externalTimeBatch(at, 2 sec)", "sort(2, n)", "delay(1 sec)",
    "session(1 sec, symbol)", "hopping(3 sec, 1 sec)", "timeLength(3 sec, 2)",
    "frequent(2, symbol)", "expression('count() <= 2')", "expressionBatch('count() <= 2')",
])  # fmt: skip
LOOKS = st.sampled_from([
    "[price in T]", "[(price in T) or n > 1]", "[not (price in T)]",
    f"[currentTimeMillis() > {LATER_MS}L]", "#own:range(price)[high > 1.0]", "#own:range(price)",
])  # fmt: skip
VALUES = st.lists(
    st.sampled_from([
        "sum(price)", "avg(price)", "stdDev(price)", "median(price)", "percentile(price, 30)",
        "skewness(price)", "vwap(price, n)", "max(price)", "min(n)", "sum(n)", "count()",
        "distinctCount(n)", "and(n > 1)", "or(n > 1)", "sum(ifThenElse(price in T, price, 2.5))",
    ]),
    min_size=1, max_size=4,
).map(lambda some: ", ".join(f"{one} as v{n}" for n, one in enumerate(some)))  # fmt: skip
GROUPS = st.sampled_from(["", " group by symbol", " group by symbol, price"])
KEPT = st.sampled_from([1.0, 1.5, 2.0, -3.25, 0.0])


@pytest.fixture(autouse=True)
def functions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    loaded(tmp_path_factory.mktemp("own"), FILE)
    logger.disable("cep")  # what fails is logged with a trace, which takes long
    yield
    logger.enable("cep")


@st.composite
def rules(draw: st.DrawFn) -> str:
    """One query whose rows are looked at behind a window."""
    window, look, values, group = draw(WINDOWS), draw(LOOKS), draw(VALUES), draw(GROUPS)
    events = draw(st.sampled_from(["", "all events ", "expired events "]))
    return (
        f"{TICKS}{TABLE}from S#window.{window}{look} select symbol, price, n, {values}{group}"
        f" insert {events}into O;\n"
    )


@st.composite
def records(draw: st.DrawFn) -> list[Record]:
    """Ticks, with rows of the table in between."""
    found = list[Record]()
    for one in draw(ticks(25)):
        if draw(st.integers(0, 2)) == 0:
            found.append(("I", one[1], (draw(KEPT),)))
        found.append(one)
    return found


@settings(max_examples=examples(400), deadline=None)
@given(rules(), records(), st.booleans())
def test_a_row_that_leaves_is_looked_at_again(text: str, given: list[Record], lived: bool) -> None:
    made = Compiled(compile_rules(text), jit=False, machine="always")
    found = made.whole_lived if lived else made.whole
    assert found is not None, made.why_not_whole
    if lived:
        assert_same_lived(text, given, end_of(given))
    else:
        assert_same(text, given, end_of(given))


@pytest.mark.parametrize(
    ("value", "expected"),
    [("sum(price)", 1.5), ("avg(price)", 1.5), ("median(price)", 1.25), ("count()", 1)],
)
def test_what_leaves_before_it_comes_is_made_up_for(value: str, expected: float) -> None:
    """The first 1.0 does not get through, as `high` is 1.0; when it leaves, it is 1.5."""
    text = (
        f"{TICKS}from S#window.length(2)#own:range(price)[high > 1.0]"
        f" select {value} as v insert into O;\n"
    )
    given: list[Record] = [("S", START_MS, ("A", price, 0, START_MS)) for price in (1.0, 1.5, 1.0)]
    assert assert_same(text, given) == 2
    run = Compiled(compile_rules(text), jit=False, machine="always").start(mode="sorted")
    for stream, time_msc, values in given:
        names = ("symbol", "price", "n", "at")
        columns = {name: [value] for name, value in zip(names, values, strict=True)}
        rows = run.push(stream, columns, [time_msc]).dicts()
    assert [row["v"] for row in rows] == [expected]
