"""Rows of windows that a join finds by their values: as when it looks at each of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.change import changed
from cep.engine.machine.kernels.joins import JOIN_SEARCHES
from cep.engine.machine.kernels.searches import BY_KEY, Q_BY
from cep.engine.machine.kernels.steps import JOIN
from cep.engine.machine.kernels.words import OP
from cep.engine.native import Compiled
from cep.interpreter.run import InterpretedRun
from cep.plan import compile_rules
from tests.campaign import examples
from tests.engine.machine.compared import assert_same
from tests.engine.machine.records import START, STREAMS, records
from tests.engine.machine.test_change import changed_meaning

NAMED = (
    "define window W (symbol string, price double, n long) {window};\n"
    "from B select symbol, price, n insert into W;\n"
    "@info(name='join') from A as a join W as b on {on}\n"
    "  select a.n as m, b.n as n, b.price as p insert into Out;\n"
)
ON = "a.symbol == b.symbol"
QUEUES = ["length(4)", "time(2 sec)", "timeLength(2 sec, 3)", "externalTime(n, 3 sec)",
          "expression('count() < 4')", "delay(1 sec)"]  # fmt: skip
EQUAL = [
    ON,
    "b.price == a.price",
    "a.symbol == b.symbol and a.n == b.n and b.price > 0.0",
    "b.n == a.n + 1L",
]


def found_by(text: str) -> list[int]:
    """By what the first other side of each side of the joins is searched."""
    whole = Compiled(compile_rules(text), jit=False, machine="always").whole
    assert whole is not None
    words, nodes = whole.program.words, whole.program.parts.nodes
    joins = [node for _, node in nodes if words[node + OP] == JOIN]
    return [int(words[words[words[node + JOIN_SEARCHES]] + Q_BY]) for node in joins]


@pytest.mark.parametrize("window", QUEUES)
@pytest.mark.parametrize("on", EQUAL)
def test_queues_are_found_by_value(window: str, on: str) -> None:
    assert BY_KEY in found_by(STREAMS + NAMED.format(window=window, on=on))


@pytest.mark.parametrize(
    ("window", "on"),
    [
        ("length(4)", "a.n < b.n"),
        ("length(4)", "a.symbol == b.symbol or a.n == b.n"),
        ("length(4)", "a.price == b.n"),
        ("length(4)", "a.symbol == b.symbol and str:upper(b.symbol) == a.symbol"),
        ("lengthBatch(4)", ON),
        ("sort(4, n)", ON),
    ],
)
def test_others_are_looked_at_one_by_one(window: str, on: str) -> None:
    """No equality of attributes, a call that Python makes for each row, no queue."""
    assert BY_KEY not in found_by(STREAMS + NAMED.format(window=window, on=on))


@settings(max_examples=examples(200))
@given(
    window=st.sampled_from(QUEUES), on=st.sampled_from(EQUAL), rows=records(120),
    cuts=st.sets(st.integers(0, 120), max_size=3), is_named=st.booleans(),
)  # fmt: skip
def test_the_same_rows(
    window: str, on: str, rows: list[Any], cuts: set[int], is_named: bool
) -> None:
    """Late rows, nulls and both zeros among them; also behind snapshots."""
    text = STREAMS + NAMED.format(window=window, on=on)
    if not is_named:
        text = STREAMS + (
            f"from A#window.length(2) as a join B[n >= 0]#window.{window} as b on {on}\n"
            "  select a.n as m, b.n as n, b.price as p insert all events into Out;\n"
        )
    rows = [(stream, at, values) for stream, at, values in rows if values[2] is not None]
    assert_same(text, rows, START + 10_000_000, cuts=cuts)


@settings(max_examples=examples(100))
@given(
    windows=st.lists(st.sampled_from(QUEUES), min_size=2, max_size=4),
    rows=records(80), data=st.data(),
)  # fmt: skip
def test_a_window_that_changes(windows: list[str], rows: list[Any], data: st.DataObject) -> None:
    """The join goes on, and finds what the new window holds."""
    plans = [compile_rules(STREAMS + NAMED.format(window=one, on=ON)) for one in windows]
    run = Compiled(plans[0], jit=False, machine="always").start(mode="sorted")
    meant = InterpretedRun(plans[0])
    cuts = sorted(data.draw(st.integers(0, len(rows))) for _ in plans[1:])
    for place, (stream, time_msc, values) in enumerate(rows):
        while cuts and cuts[0] == place:
            plan = plans[-len(cuts)]
            del cuts[0]
            run, _ = changed(run, plan)
            meant, _ = changed_meaning(meant, plan, "sorted")
        row = dict(zip(plans[0].stream(stream).schema.names, values, strict=True))
        found = run.push_row(stream, time_msc, row).dicts()
        assert found == meant.push_row(stream, time_msc, row)
