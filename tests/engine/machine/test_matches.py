"""Patterns and sequences on the machine, beside the interpreter."""

from __future__ import annotations

import pytest

from tests.engine.machine.compared import Record, assert_same

STREAMS = (
    "define stream A (symbol string, price double, volume long);\n"
    "define stream B (symbol string, price double, volume long);\n"
)


def a(time_ms: int, price: float | None = 1.0, symbol: str = "x", volume: int | None = 1) -> Record:
    return "A", time_ms, (symbol, price, volume)


def b(time_ms: int, price: float | None = 1.0, symbol: str = "x", volume: int | None = 1) -> Record:
    return "B", time_ms, (symbol, price, volume)


def test_a_pattern() -> None:
    text = STREAMS + (
        "from every e1=A[price > 1.0] -> e2=B[price > e1.price] within 5 sec"
        " select e1.price as p1, e2.price as p2, eventTimestamp(e1) as t insert into Out;"
    )
    records = [a(0, 2.0), a(1000, 3.0), b(2000, 2.5), b(3000, 9.0), a(4000, 5.0), b(9001, 6.0)]
    assert assert_same(text, records) == 2


def test_a_sequence() -> None:
    text = STREAMS + (
        "from every e1=A, e2=A[price > e1.price], e3=A[price > e2.price]"
        " select e1.price as p1, e3.price as p3 insert into Out;"
    )
    assert assert_same(text, [a(n, float(n % 5)) for n in range(30)]) > 4


def test_absence() -> None:
    text = STREAMS + (
        "from every e1=A -> not B[symbol == e1.symbol] for 2 sec"
        " select e1.price as p1 insert into Out;"
    )
    records = [a(0, 1.0), a(500, 2.0, "y"), b(1000, 0.0, "y"), a(3000, 4.0), a(9000, 5.0)]
    assert assert_same(text, records, 20_000) == 3
