"""Of many readers those are asked that a row concerns: nobody can tell but by the clock."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.jit import plain
from cep.engine.machine.kernels import readers as kernels
from cep.engine.machine.kernels.steps import STREAM
from cep.engine.machine.kernels.streams import STREAM_INDEX
from cep.engine.machine.kernels.words import OP
from cep.engine.machine.limits import LimitTables
from cep.engine.machine.readers import READERS_MIN, index_of
from cep.engine.native import Compiled
from cep.plan import compile_rules
from tests.campaign import examples
from tests.engine.machine.compared import Record, assert_same, assert_same_lived

readers_of: Any = plain(kernels.readers_of)
STREAMS = """
@key('symbol')
define stream Tick (symbol string, bid double, size long, flag bool);
"""
SYMBOLS = "ABCDEF"
OTHERS = """
from Tick[bid > 1.5] select symbol, bid, 'high' as what insert into Out;
from Tick#window.length(3) select symbol, sum(bid) as bid, 'sum' as what insert into Out;
"""


def each(rule: str, values: str = SYMBOLS) -> str:
    return "".join(rule.replace("VALUE", value) for value in values)


INDEXED = {
    "an alert for each symbol": each(
        "from Tick[symbol == 'VALUE' and bid > 1.0] select symbol, bid, 'VALUE' as what "
        "insert into Out;"
    ),
    "several of each, among others": each(
        "from Tick['VALUE' == symbol]#window.length(2) select symbol, max(bid) as bid, "
        "'VALUE' as what insert all events into Out;"
    )
    + OTHERS
    + each(
        "from Tick[symbol == 'VALUE'][bid < 1.0] select symbol, bid, 'low' as what insert into Out;"
    ),
    "by a number, also an impossible one": each(
        "from Tick[size == VALUE and flag] select symbol, bid, 'VALUE' as what insert into Out;",
        "0123456789",
    )
    + "from Tick[size == 1 and size == 2] select symbol, bid, 'never' as what insert into Out;",
    "of one attribute or the other": each(
        "from Tick[symbol == 'VALUE'] select symbol, bid, 'VALUE' as what insert into Out;"
    )
    + each("from Tick[size == VALUE] select symbol, bid, 'VALUE' as what insert into Out;", "123"),
    "behind a query that makes several rows": "from Tick#window.lengthBatch(3) select symbol, bid "
    "insert into Some;"
    + each("from Some[symbol == 'VALUE'] select symbol, bid, 'VALUE' as what insert into Out;"),
    "events of their key": each(
        "define event UpVALUE for each symbol as Tick[symbol == 'VALUE' and bid > 1.0] "
        "repeat allow;"
        "define event DownVALUE for each symbol as every Tick[symbol == 'VALUE' and bid < 1.0] "
        "repeat allow;"
        "define complex TurnVALUE for each symbol as UpVALUE followed by DownVALUE within 1 min;"
    ),
    "events of a key that is passed on": "from Tick[bid > 0.5] select symbol, bid insert into P;"
    + each(
        "define event UpVALUE for each symbol as P[symbol == 'VALUE' and bid > 1.0] repeat allow;"
        "define complex TwiceVALUE for each symbol as UpVALUE followed by UpVALUE within 1 min;"
    ),
    "in a partition": "partition with (flag of Tick) begin "
    + each("from Tick[symbol == 'VALUE'] select symbol, bid, 'VALUE' as what insert into Out;")
    + "end;",
}
NOT_INDEXED = {
    "few": each("from Tick[symbol == 'VALUE'] select symbol insert into Out;", "ABCD"),
    "events that have to know that they were false": each(
        "define event IsVALUE for each symbol as Tick[size == VALUE] repeat allow;", "012345"
    )
    + each("define event AtVALUE as Tick[symbol == 'VALUE'] repeat allow;"),
    "events of a key that is made": "from Tick select ifThenElse(flag, symbol, 'Z') as name, bid "
    "insert into Made;"
    + each(
        "define event UpVALUE for each name as Made[name == 'VALUE' and bid > 1.0] repeat allow;"
        "define complex TwiceVALUE for each name as UpVALUE followed by UpVALUE within 1 min;"
    ),
    "what need not be true": each(
        "from Tick[symbol == 'VALUE' or bid > 1.0] select symbol insert into Out;"
    ),
    "numbers that equal others": each(
        "from Tick[bid == VALUE] select symbol insert into Out;", "012345"
    ),
    "what Python looks at": each(
        "from Tick[str:length(symbol) == 1 and symbol == 'VALUE'] select symbol insert into Out;"
    ),
}
VALUE = st.tuples(
    st.one_of(st.sampled_from([*SYMBOLS, "Z"]), st.none()),
    st.one_of(st.sampled_from([0.5, 1.0, 1.2, 2.0]), st.none()),
    st.one_of(st.integers(-1, 10), st.none()),
    st.booleans(),
)


def records(rows: list[tuple[Any, ...]]) -> list[Record]:
    return [("Tick", 1_700_000_000_000 + 5_000 * n, row) for n, row in enumerate(rows)]


@pytest.mark.parametrize("form", [*INDEXED, *NOT_INDEXED])
@settings(max_examples=examples(15), deadline=None)
@given(rows=st.lists(VALUE, max_size=20))
def test_rows_are_those_of_the_interpreter(form: str, rows: list[tuple[Any, ...]]) -> None:
    rules = STREAMS + (INDEXED | NOT_INDEXED)[form]
    assert_same(rules, records(rows), 1_700_000_600_000, cuts={7})
    assert_same_lived(rules, records(rows), 1_700_000_600_000)


@pytest.mark.parametrize("form", [*INDEXED, *NOT_INDEXED])
def test_who_is_asked(form: str) -> None:
    rules = Compiled(compile_rules(STREAMS + (INDEXED | NOT_INDEXED)[form]), jit=False).whole
    assert rules is not None and rules.program is not None
    found = rules.program.words
    nodes = (node for _, node in rules.program.parts.nodes if found[node + OP] == STREAM)
    assert any(found[node + STREAM_INDEX] for node in nodes) == (form in INDEXED)


@given(
    st.lists(
        st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(0, 9)), max_size=40
    ),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5),
)
def test_the_table_leads_to_those_who_ask_for_the_value(
    wanted: list[int | None], others: list[int]
) -> None:
    made: list[int] = [0]

    def block(more: Any) -> int:
        first = len(made)
        made.extend(more)
        return first

    readers = list(range(100, 100 + len(wanted)))
    asks = {
        reader: {6: value}
        for reader, value in zip(readers, wanted, strict=True)
        if value is not None
    }
    index = index_of(readers, asks, LimitTables(block, lambda count: 0, {}))
    assert bool(index) == (len(asks) >= READERS_MIN)
    for value in {*(one for one in wanted if one is not None), *others} if index else ():
        row = np.array([[0] * 8 + [value]], np.int64)
        place = readers_of(row, np.array(made, np.int64), index, 2)
        listed = made[place + 1 : place + 1 + made[place]]
        assert listed == [
            reader for reader, one in zip(readers, wanted, strict=True) if one in (None, value)
        ]
