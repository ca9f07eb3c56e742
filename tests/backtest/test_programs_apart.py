"""Rules that are a program, a symbol at a time: the rows of one process, whatever time makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from cep.archive import Archive
from cep.backtest.parts import why_sequential
from cep.backtest.selection import select
from cep.backtest.sequential import sequential
from cep.dropped import Dropped
from cep.engine.native import Compiled
from cep.engine.rows import Rows
from cep.plan import compile_rules
from tests.backtest.archives import imported, recorded
from tests.backtest.in_parts import rows_in_parts
from tests.backtest.rules import DEAL, TICK
from tests.campaign import either

Build = Callable[[Path], Archive]


def bars(size: str) -> str:
    return (
        f"from Tick#bars:time(bid, volume, {size})"
        " select symbol, open, high, low, close, bar_ticks group by symbol insert into Bar;"
    )


EACH = "partition with (symbol of Tick) begin {} end;"
PROGRAMS = {
    "candles": bars("10 min"),
    "candles of candles": "".join(
        (
            bars("1 min"),
            """
        from Bar select symbol, close as price, bar_ticks as size insert into Closes;
        from Closes#bars:time(price, size, 5 min)
        select symbol, high, low group by symbol insert into Long;""",
        )
    ),
    "two sizes": "".join(
        (
            bars("1 min"),
            """
        from Tick#bars:time(ask, volume, 5 min)
        select symbol, high, low group by symbol insert into Long;""",
        )
    ),
    "candles to signals": "".join(
        (
            bars("2 min"),
            """
        from Bar select symbol, close, avg(close) as mean group by symbol insert into Mean;
        define engine Main (queue = 1 hour);
        define event Above in Main for each symbol as Mean[close > mean] repeat refresh;
        define event Below in Main for each symbol as Mean[close < mean] repeat refresh;
        define complex Turn in Main for each symbol as Above followed by Below within 30 min;
        define signal Fade on Turn sell 0.10 lots stop 20 points target 30 points for 30 min;""",
        )
    ),
    "bars of ticks": """
        from Tick#bars:ticks(bid, volume, 7)
        select symbol, open, close, rsi(close, 3) as strength group by symbol insert into Bar;""",
    "a stale feed": EACH.format("""
        from every e1=Tick -> not Tick for 20 sec
        select e1.symbol as symbol, e1.bid as bid insert into Stale;"""),
    "what leaves": EACH.format("""
        from Tick#window.time(2 min) select symbol, bid, count() as n
        insert expired events into Gone;"""),
    "batches": EACH.format("""
        from Tick#window.timeBatch(3 min) select symbol, max(bid) as high, count() as n
        insert into Batch;"""),
    "a median": """
        from Tick#window.time(3 min)
        select symbol, bid, median(bid) as middle group by symbol insert into Middle;""",
    "rises": EACH.format("""
        from every e1=Tick, e2=Tick[bid > e1.bid]<2:4>, e3=Tick[bid < e2[last].bid]
        select e1.symbol as symbol, e1.bid as first, e2[last].bid as top insert into Rise;"""),
    "delayed": EACH.format("""
        from Tick#window.delay(45 sec) select symbol, bid insert into Later;"""),
}


@pytest.fixture(scope="module", params=[recorded, imported], ids=["recorded", "imported"])
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    build: Build = request.param
    return build(tmp_path_factory.mktemp("archive"))


Placed = tuple[int, bytes]
"""A row, behind the place in the order of what it follows from: fills go by it."""


def placed(found: Iterable[Rows]) -> list[Placed]:
    return [
        row for rows in found for row in zip(rows.orders.tolist(), rows.json_lines(), strict=True)
    ]


def both_ways(archive: Archive, text: str, slice_rows: int) -> list[Placed]:
    """The rows in sequence, which are those in parts; so is what was dropped."""
    plan = compile_rules(text)
    rules, selection = Compiled(plan), select(archive, plan)
    assert (
        why_sequential(rules, lived=selection.is_lived, ends_sorted=selection.ends_sorted) is None
    )
    dropped: list[Dropped] = []
    expected = placed(sequential(rules, selection, ended=dropped.append))
    found = placed(rows_in_parts(rules, selection, slice_rows, ended=dropped.append))
    assert found == expected
    assert dropped[0] == dropped[1]
    return expected


@pytest.mark.parametrize("slice_rows", either([1 << 20, 100], [1 << 20, 700, 100]))
@pytest.mark.parametrize("name", PROGRAMS)
def test_parts_of_programs_are_sequential(archive: Archive, name: str, slice_rows: int) -> None:
    plan = compile_rules(TICK + PROGRAMS[name])
    assert Compiled(plan).why_not_generated("sorted"), "else it would be a module"
    assert both_ways(archive, TICK + PROGRAMS[name], slice_rows)


def test_deals_stand_beside_bars(archive: Archive) -> None:
    text = TICK + DEAL + bars("4 min")
    text += "from Deal select symbol, lots, median(lots) as usual group by symbol insert into Lots;"
    assert both_ways(archive, text, 300)
