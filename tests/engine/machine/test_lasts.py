"""Groups of which only the last row of a chunk goes on: their values are read once a chunk."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.machine.kernels.groups import GROUP_LASTS
from cep.engine.machine.kernels.steps import GROUP
from cep.engine.machine.kernels.words import OP
from cep.engine.native import Compiled
from cep.plan import compile_rules
from tests.campaign import examples
from tests.engine.machine.compared import assert_same
from tests.engine.machine.records import START, STREAMS, records

VALUES = "avg(price) as m, count() as c, max(n) as h, median(price) as e, stdDev(price) as d"
QUERY = "from A#window.{window} select {select} insert {events}into Out;\n"
WINDOWS = [
    "lengthBatch(3)",
    "lengthBatch(4, true)",
    "batch(2)",
    "timeBatch(2 sec)",
    "timeBatch(2 sec, true)",
    "hopping(3 sec, 1 sec)",
    "expressionBatch('count() < 4', true)",
    "expressionBatch('count() < 3', true, true)",
    "expressionBatch('sum(n) < 6', true)",
    "cron('*/3 * * * * ?')",
    "length(3)",
    "time(2 sec)",
]
SELECTS = [
    VALUES,
    f"symbol, {VALUES} group by symbol",
    f"symbol, price, n, {VALUES} group by price, n",
    f"symbol, {VALUES} group by symbol order by c desc limit 2",
    "symbol, sum(n) as s, minForever(price) as f, lag(price) as l group by symbol, flag",
]


def reads_lasts(select: str, events: str = "") -> bool:
    text = STREAMS + QUERY.format(window="lengthBatch(3)", select=select, events=events)
    whole = Compiled(compile_rules(text), jit=False, machine="always").whole
    assert whole is not None
    words, nodes = whole.program.words, whole.program.parts.nodes
    (group,) = (node for _, node in nodes if words[node + OP] == GROUP)
    return bool(words[group + GROUP_LASTS])


@pytest.mark.parametrize("select", SELECTS)
def test_values_are_read_of_the_last(select: str) -> None:
    assert reads_lasts(select)


@pytest.mark.parametrize(
    ("select", "events"),
    [
        (f"symbol, {VALUES} group by symbol having c > 1L", ""),
        (f"symbol, {VALUES} group by symbol", "all events "),
        (f"str:upper(symbol) as u, {VALUES} group by symbol", ""),
        ("avg(math:log(price, 2.0)) as m, count() as c", ""),
    ],
)
def test_others_are_read_of_each(select: str, events: str) -> None:
    """A condition on the values, rows that leave, calls that Python makes."""
    assert not reads_lasts(select, events)


@settings(max_examples=examples(200))
@given(
    window=st.sampled_from(WINDOWS), other=st.sampled_from(WINDOWS),
    select=st.sampled_from(SELECTS), rows=records(60),
    cuts=st.sets(st.integers(0, 60), max_size=2),
)  # fmt: skip
def test_the_same_rows(
    window: str, other: str, select: str, rows: list[Any], cuts: set[int]
) -> None:
    """Also of chunks that another window makes."""
    text = (
        STREAMS
        + QUERY.format(window=window, select=select, events="")
        + f"from A#window.{other} select symbol, price, n, flag insert all events into Chunk;\n"
        f"from Chunk#window.{window} select {select} insert into Next;\n"
        f"partition with (symbol of A) begin\nfrom A#window.{other} select {select}\n"
        "insert into Parts;\nend;\n"
    )
    assert_same(text, rows, START + 10_000_000, cuts=cuts)


def test_a_group_that_its_last_row_leaves_empty() -> None:
    """A row that is too much for a batch leaves it before it comes: none is left, which is said."""
    window = "expressionBatch('sum(n) < 6', true)"
    text = STREAMS + QUERY.format(window=window, select=SELECTS[1], events="")
    rows = [("A", START + at, ("x", 1.0, n, True, 1)) for at, n in enumerate((7, 2, 3, 8, 1))]
    assert assert_same(text, rows, START + 1_000) == 4
