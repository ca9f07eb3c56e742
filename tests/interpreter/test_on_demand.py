"""On-demand queries: what is found, selected, changed; nothing is left behind."""

from __future__ import annotations

from typing import Any

import pytest

from cep.interpreter.interpreter import Interpreter
from cep.plan import build_on_demand, compile_rules

APP = """
define stream S (symbol string, price double, volume long);
define table T (symbol string, price double, volume long);
@PrimaryKey('symbol') define table K (symbol string, price double, volume long);
define window W (symbol string, price double, volume long) length(2);
define aggregation A from S
  select symbol, sum(price) as total group by symbol aggregate every sec, min;
from S insert into T;
from S insert into K;
from S insert into W;
"""
NOON = 1_700_049_600_000
ROWS = (("a", 1.0, 10), ("b", 2.0, 20), ("a", 3.0, 30))


class Asked:
    def __init__(self) -> None:
        self.plan = compile_rules(APP)
        self.interpreter = Interpreter(self.plan)
        for number, row in enumerate(ROWS):
            self.interpreter.send("S", [(NOON + 1_000 * number, row)])

    def __call__(self, text: str) -> list[list[Any]] | None:
        return self.interpreter.ask(build_on_demand(text, self.plan))


@pytest.fixture
def ask() -> Asked:
    return Asked()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("from T select *", [list(row) for row in ROWS]),
        ("from T on price > 1.5 select symbol, volume", [["b", 20], ["a", 30]]),
        ("from T select symbol, sum(volume) as v group by symbol", [["a", 40], ["b", 20]]),
        ("from T select symbol, sum(volume) as v group by symbol having v > 30", [["a", 40]]),
        ("from T select symbol, price order by price desc limit 1 offset 1", [["b", 2.0]]),
        ("from T on price > 9.0", None),
        ("from T select * having volume == 5", None),
        ("from K on symbol == 'a' select price", [[1.0]]),
        ("from W select price", [[2.0], [3.0]]),
        ("from W on price > 2.5 select symbol", [["a"]]),
    ],
)
def test_finds_and_selects(ask: Asked, text: str, rows: list[list[Any]] | None) -> None:
    assert ask(text) == rows


def test_an_aggregation_is_asked_for_a_range_and_a_unit(ask: Asked) -> None:
    span = "within '2023-11-15 12:00:**'"
    assert ask(f"from A {span} per 'min' select symbol, total order by symbol") == [
        ["a", 4.0],
        ["b", 2.0],
    ]
    assert ask(f"from A on symbol == 'b' {span} per 'sec'") == [[NOON + 1_000, "b", 2.0]]


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ("delete T on T.volume == 10", [["b", 2.0, 20], ["a", 3.0, 30]]),
        ("select 20L as v delete T on T.volume == v", [["a", 1.0, 10], ["a", 3.0, 30]]),
        (
            "update T set T.price = 9.0 on T.symbol == 'a'",
            [["a", 9.0, 10], ["b", 2.0, 20], ["a", 9.0, 30]],
        ),
        (
            "select 'c' as symbol, 5.0 as price, 5L as volume insert into T",
            [*map(list, ROWS), ["c", 5.0, 5]],
        ),
        (
            "select 'c' as symbol, 5.0 as price, 5L as volume update or insert into T"
            " set T.price = price on T.symbol == symbol",
            [*map(list, ROWS), ["c", 5.0, 5]],
        ),
    ],
)
def test_changes_a_table_and_answers_no_rows(
    ask: Asked, change: str, left: list[list[Any]]
) -> None:
    assert ask(change) == []
    assert ask("from T select *") == left


def test_asking_changes_nothing_and_leaves_no_part_behind(ask: Asked) -> None:
    before = ask.interpreter.snapshot()
    for _ in range(2):
        ask("from T select symbol, sum(price) as s group by symbol")
    assert ask.interpreter.snapshot() == before
