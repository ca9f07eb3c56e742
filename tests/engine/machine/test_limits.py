"""Of many readers with a limit each those are asked whom a row concerns: nobody can tell but by the
clock.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.clocks import Mode
from cep.engine.jit import plain
from cep.engine.kernels.scalar import NULL
from cep.engine.machine.kernels import limits as kernels
from cep.engine.machine.kernels.limits import LIMITED
from cep.engine.machine.kernels.readers import INDEX_BUCKETS, INDEX_MASK, INDEX_OTHERS
from cep.engine.machine.kernels.steps import STREAM
from cep.engine.machine.kernels.streams import STREAM_INDEX
from cep.engine.machine.kernels.words import OP
from cep.engine.machine.limits import LIMITS_MIN, limit_of
from cep.engine.native import Compiled
from cep.plan import compile_rules
from cep.plan.expressions import Column, Comparison, Constant
from cep.plan.types import Type
from tests.campaign import examples
from tests.engine.machine.compared import Record, assert_same, assert_same_lived
from tests.engine.test_change import check
from tests.reference.generate_changes import changes

STREAMS = """
@key('symbol')
define stream Tick (symbol string, bid double, size long, flag bool);
"""
PRICES = ("0.5", "0.75", "1.0", "1", "1.25", "1.5", "1.75", "2.0", "-0.0", "0.0")
COMPLEX = "define complex Both as Up0 followed by Up3 within 1 min;"


def each(rule: str, values: tuple[str, ...] = PRICES) -> str:
    return "".join(
        rule.replace("VALUE", value).replace("NUMBER", str(number))
        for number, value in enumerate(values)
    )


QUERY = "from Tick[{}] select symbol, bid, 'NUMBER' as what insert into Out;"
EVENT = "define event {} as Tick[{}] repeat allow;"
LIMITED_FORMS = {
    "queries above": each(QUERY.format("bid > VALUE")),
    "queries of all kinds": each(QUERY.format("VALUE >= bid"))
    + "from Tick select symbol, bid, 'all' as what insert into Out;"
    + each(QUERY.format("bid > VALUE and flag"))
    + each(QUERY.format("flag")[:-1].replace("flag", "flag][VALUE <= bid") + ";"),
    "queries of a whole number": each(QUERY.format("size < VALUE"), tuple("0123456789")),
    "events of no key": each(EVENT.format("UpNUMBER", "bid > VALUE")) + COMPLEX,
    "events of a key": each(EVENT.format("UpNUMBER for each symbol", "bid >= VALUE"))
    + "define complex Both for each symbol as Up0 followed by Up3 within 1 min;",
    "events both ways, among others": each(EVENT.format("UpNUMBER for each symbol", "bid > VALUE"))
    + each(QUERY.format("bid < VALUE"))
    + each(EVENT.format("DownNUMBER for each symbol", "bid < VALUE"))
    + EVENT.format("Any for each symbol", "flag")
    + EVENT.format("Other", "bid > 1.0")
    + "define complex Both for each symbol as Up0 followed by Down3 within 1 min;",
    "events raised every time": each(
        EVENT.format("UpNUMBER for each symbol", "bid > VALUE").replace("as Tick", "as every Tick")
    ),
    "events that ask for more": each(EVENT.format("UpNUMBER", "bid > VALUE and flag"))
    + each(EVENT.format("InNUMBER", "bid > 0.5 and bid < VALUE")),
    "events of one key": each(
        EVENT.format("UpNUMBER for each symbol", "symbol == 'A' and bid > VALUE")
    ),
    "events of several keys, and others": each(
        EVENT.format("AUpNUMBER for each symbol", "symbol == 'A' and bid > VALUE")
    )
    + each(EVENT.format("BUpNUMBER for each symbol", "bid < VALUE and symbol == 'B'"))
    + each(EVENT.format("UpNUMBER for each symbol", "bid > VALUE"))
    + each(EVENT.format("DownNUMBER", "bid < VALUE")),
    "behind a query that makes several rows": "from Tick#window.lengthBatch(2) "
    "select symbol, bid, flag insert into Some;"
    + "from Tick[flag] select symbol, bid, flag insert into Some;"
    + each(EVENT.format("UpNUMBER for each symbol", "bid > VALUE").replace("Tick", "Some"))
    + each(QUERY.format("bid > VALUE").replace("Tick", "Some")),
    "in a partition": "partition with (symbol of Tick) begin "
    + each(QUERY.format("bid > VALUE"))
    + "end;",
}
NOT_LIMITED = {
    "few": each(QUERY.format("bid > VALUE"), PRICES[: LIMITS_MIN - 1]),
    "what need not be true": each(QUERY.format("bid > VALUE or flag")),
    "of two attributes": each(QUERY.format("bid > VALUE"), PRICES[:4])
    + each(QUERY.format("size > VALUE"), tuple("0123")),
    "whole numbers beside doubles": each(QUERY.format("size > VALUE"), ("0.5",) * 10),
    "what Python looks at": each(QUERY.format("str:length(symbol) == 1 and bid > VALUE")),
}
VALUE = st.tuples(
    st.one_of(st.sampled_from([*"ABC"]), st.none()),
    st.one_of(
        st.sampled_from([0.5, 0.6, 1.0, 1.25, 1.3, 2.0, 2.5, 0.0, -0.0, -1.0, math.inf]), st.none()
    ),
    st.one_of(st.integers(-1, 10), st.none()),
    st.booleans(),
)


def records(rows: list[tuple[Any, ...]]) -> list[Record]:
    return [("Tick", 1_700_000_000_000 + 5_000 * n, row) for n, row in enumerate(rows)]


@pytest.mark.parametrize("form", [*LIMITED_FORMS, *NOT_LIMITED])
@settings(max_examples=examples(10), deadline=None)
@given(rows=st.lists(VALUE, max_size=20))
def test_rows_are_those_of_the_interpreter(form: str, rows: list[tuple[Any, ...]]) -> None:
    rules = STREAMS + (LIMITED_FORMS | NOT_LIMITED)[form]
    assert_same(rules, records(rows), 1_700_000_600_000, cuts={7})
    assert_same_lived(rules, records(rows), 1_700_000_600_000)


@pytest.mark.parametrize("form", [*LIMITED_FORMS, *NOT_LIMITED])
def test_who_is_asked(form: str) -> None:
    rules = Compiled(compile_rules(STREAMS + (LIMITED_FORMS | NOT_LIMITED)[form]), jit=False).whole
    assert rules is not None and rules.program is not None
    found = rules.program.words
    nodes = (node for _, node in rules.program.parts.nodes if found[node + OP] == STREAM)
    lists = [
        found[at]
        for node in nodes
        if (index := found[node + STREAM_INDEX])
        for at in (
            found[index + INDEX_OTHERS],
            *found[index + INDEX_BUCKETS + 1 :][: 2 * found[index + INDEX_MASK] + 2 : 2],
        )
    ]
    assert (LIMITED in lists) == (form in LIMITED_FORMS)


@given(st.lists(st.one_of(st.floats(), st.sampled_from([0.0, -0.0, math.inf, -math.inf]))))
def test_numbers_stand_as_their_values_do(values: list[float]) -> None:
    """`in_order`: a whole number that stands among others as the value does; null for none."""
    in_order: Any = plain(kernels.in_order)
    floats = np.array([values], np.float64)
    numbers = [int(in_order(floats.view(np.int64), floats, word, 1)) for word in range(len(values))]
    for one, number in zip(values, numbers, strict=True):
        assert (number == NULL) == math.isnan(one)
        for other, another in zip(values, numbers, strict=True):
            if not math.isnan(one) and not math.isnan(other):
                assert (one < other) == (number < another)
                assert (one < other) == (-another < -number)


@given(
    st.sampled_from(["<", "<=", ">", ">="]),
    st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**53), 2**53)),
    st.lists(st.floats(allow_nan=False)),
)
def test_a_limit_is_passed_where_the_comparison_is_true(
    op: str, constant: float, values: list[float]
) -> None:
    of = Type.LONG if isinstance(constant, int) else Type.DOUBLE
    column = Column(0, "bid", Type.DOUBLE)
    limit = limit_of(Comparison(op, column, Constant(constant, of)), 1)
    assert limit is not None
    in_order: Any = plain(kernels.in_order)
    meant = {"<": float.__lt__, "<=": float.__le__, ">": float.__gt__, ">=": float.__ge__}[op]
    for value in [*values, float(constant), 0.0, -0.0]:
        floats = np.array([[value]])
        number = int(in_order(floats.view(np.int64), floats, 0, 1))
        number = -number if limit.is_negated else number
        assert (number > limit.beyond) == meant(value, float(constant))


@pytest.mark.parametrize("mode", ["sorted", "lived"])
@settings(max_examples=examples(10), deadline=None)
@given(rows=st.lists(VALUE, max_size=20), cut=st.integers(0, 20), data=st.data())
def test_events_go_on_from_other_rules(
    mode: Mode, rows: list[tuple[Any, ...]], cut: int, data: st.DataObject
) -> None:
    """Those that stay know whether they were true; those that come do not."""
    plan = compile_rules(STREAMS + LIMITED_FORMS["events both ways, among others"])
    names = plan.stream("Tick").schema.names
    given = [
        (stream, time_msc, dict(zip(names, row, strict=True)))
        for stream, time_msc, row in records(rows)
    ]
    check(data.draw(changes(plan)), given, min(cut, len(rows)), machine="always", mode=mode)
