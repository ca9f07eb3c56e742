"""Tables on the machine: the rows of the interpreter, whatever is written, found and deleted."""

# ruff: noqa: S608 -- these are rules, made of constants

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cep.engine.machine.memory import hash_of_text
from cep.interpreter.tables.hash_order import text_hash
from tests.campaign import examples
from tests.engine.machine.compared import assert_same
from tests.engine.machine.records import START, STREAMS, records

PLAIN = "define table T (symbol string, price double, n long);\n"
KEYS = {
    "none": "",
    "text": "@PrimaryKey('symbol')",
    "whole": "@PrimaryKey('n')",
    "real": "@PrimaryKey('price')",
    "two": "@PrimaryKey('symbol', 'n')",
    "indexed": "@Index('symbol')",
    "both": "@PrimaryKey('n')\n@Index('symbol')\n@Index('price')",
    "text and index": "@PrimaryKey('symbol')\n@Index('n')",
}
ALL = "from B join T select T.symbol as s, T.price as p, T.n as n, B.k as k insert into Out;\n"
"""Every row of the table, in its order, whenever B comes."""
INSERT = "from A select symbol, price, n insert into T;\n"
WRITES = {
    "insert": INSERT,
    "delete all": INSERT + "from B[flag] delete T on T.n >= n;\n",
    "delete by key": INSERT + "from B delete T on T.symbol == symbol and T.price > price;\n",
    "delete by number": INSERT + "from B delete T on n == T.n;\n",
    "delete by both": INSERT + "from B delete T on T.n == n and T.symbol == symbol;\n",
    "update": INSERT + "from B update T set T.price = price on T.symbol == symbol;\n",
    "update from the row": INSERT
    + "from B select n, price update T set T.price = T.price + price on T.n <= n;\n",
    "update the key": INSERT
    + "from B select n, symbol update T set T.n = n, T.symbol = symbol on T.price == 1.0;\n",
    "move keys": INSERT + "from B select n update T set T.n = T.n + 1L on T.n > n;\n",
    "swap keys": INSERT + "from B select k update T set T.n = 3L - T.n on T.n < 4L;\n",
    "update by name": INSERT + "from B select n, price update T on T.n == n;\n",
    "upsert": "from A select symbol, price, n update or insert into T on T.symbol == symbol;\n",
    "upsert with set": "from A select symbol, price, n update or insert into T"
    " set T.price = T.price + price on T.symbol == symbol and T.n == n;\n",
    "upsert by inequality": "from A select symbol, price, n update or insert into T"
    " set T.price = price on T.n < n;\n",
    "upsert of groups": "from A#window.length(3) select symbol, sum(price) as price, count() as n"
    " group by symbol update or insert into T on T.symbol == symbol;\n",
    "expired": "from A#window.length(2) select symbol, price, n insert expired events into T;\n",
    "all events": "from A#window.time(2 sec) select symbol, price, n insert all events into T;\n",
    "deleted by expired": INSERT
    + "from A#window.time(3 sec) select n delete T for expired events on T.n == n;\n",
    "times": INSERT + "from B select n, eventTimestamp() as now"
    " update T set T.n = now - 1700000000000L on T.n == n;\n",
}
LOOKS = {
    "filter": "from A[T.symbol == symbol in T] select symbol, n insert into Seen;\n",
    "not": "from A[n > 0 and not ((T.n == n and T.price > price) in T)] select n insert into S;\n",
    "behind the window": "from A#window.length(2)[T.n == n in T] select n"
    " insert all events into S;\n",
    "before the window": "from A[T.n == n in T]#window.length(2) select sum(n) as n"
    " insert into S;\n",
    "projection": "from A select n, (T.n == n in T) as has, (T.n > n in T) as more"
    " insert into S;\n",
    "having": "from A#window.time(3 sec) select symbol, count() as c group by symbol"
    " having (T.n == c in T) and c > 1L insert all events into S;\n",
    "aggregate": "from A#window.length(3) select sum(ifThenElse(T.n == n in T, 1, 0)) as c"
    " insert all events into S;\n",
    "of groups": "from A#window.length(3)"
    " select symbol, sum(n) as t, (T.symbol == symbol in T) as h group"
    " by symbol having h order by t desc limit 2 insert into S;\n",
    "times": "from A[T.n < eventTimestamp() - 1700000000000L in T] select n insert into S;\n",
}


def same(text: str, rows: list[Any]) -> int:
    return assert_same(STREAMS + text, rows, START + 10_000_000)


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@settings(max_examples=examples(100))
@given(key=st.sampled_from(list(KEYS.values())), rows=records())
def test_written(key: str, write: str, rows: list[Any]) -> None:
    same(f"{key}\n{PLAIN}{write}{ALL}", rows)


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
@settings(max_examples=examples(100))
@given(key=st.sampled_from([KEYS["none"], KEYS["whole"], KEYS["text and index"]]), rows=records())
def test_looked_up(key: str, look: str, rows: list[Any]) -> None:
    write = "from B select symbol, price, n update or insert into T on T.n == n;\n"
    same(f"{key}\n{PLAIN}{write}{look}", rows)


def test_many_rows_in_the_order_of_a_hash_table() -> None:
    """Growth of the hash table changes the order; rows go and come again."""
    write = "from A[flag] select symbol, price, n insert into T;\n"
    write += "from A[not flag] delete T on T.n == n;\n"
    for key in ("@PrimaryKey('symbol', 'n')", "@PrimaryKey('symbol')", "@PrimaryKey('n')", ""):
        rows: list[Any] = []
        for place in range(400):
            n = place * 37 % 101
            flag = place % 5 != 4
            rows.append(("A", START + place, [f"s{n}é", 1.0, n, flag, 0]))
            if place % 50 == 49:
                rows.append(("B", START + place, ["x", 1.0, 1, True, 0]))
        assert same(f"{key}\n{PLAIN}{write}{ALL}", rows) > 0


def test_hash_of_texts() -> None:
    for text in ("", "a", "EURUSD", "grüße", "\U0001f600"):
        found, power = hash_of_text(text)
        assert found ^ (found >> 16) == text_hash(text)
        units = len(text.encode("utf-16-be")) // 2
        assert power == pow(31, units, 2**32)
