"""Stream functions: lines against the `ta` package, bars against pandas, log, coordinates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from loguru import logger
from ta.trend import MACD
from ta.volatility import BollingerBands

from cep.interpreter.codec import pack, unpack
from cep.interpreter.context import Context, Shared
from cep.interpreter.rows import Chunk, Row, RowKind
from cep.interpreter.stream_functions import Apply, make_stream_function
from cep.plan.build import compile_rules
from cep.plan.steps import StreamFunction

CLOSE = 1e-9
STREAM = "define stream S (k string, p double, v double); "


def planned(text: str, group_by: str = "") -> StreamFunction:
    """A stream function of the plan, from its text."""
    plan = compile_rules(STREAM + f"from S#{text} select * {group_by} insert into O;")
    [handler] = plan.queries[0].stream_input.before
    assert isinstance(handler, StreamFunction)
    return handler


def made(text: str, group_by: str = "") -> tuple[Apply, Shared]:
    shared = Shared(compat=False)
    return make_stream_function(planned(text, group_by), Context(shared)), shared


def added(chunk: Chunk) -> list[list[Any]]:
    """What stands behind the values of the stream."""
    return [row.values[3:] for row in chunk]


def rows(prices: Iterable[float], key: str = "k") -> Chunk:
    """A row each 100 ms, each of volume 2."""
    return [Row(1000 + 100 * i, [key, price, 2.0]) for i, price in enumerate(prices)]


PRICES = pd.Series(100 + np.random.default_rng(5).normal(0, 0.1, 300).cumsum())


def check_lines(found: list[list[Any]], expected: pd.DataFrame) -> None:
    """Equal where `ta` has values, null where it has none."""
    for have, want in zip(found, expected.to_numpy().tolist(), strict=True):
        known = [None if value != value else value for value in want]
        assert [value is None for value in have] == [value is None for value in known]
        assert [value for value in have if value is not None] == pytest.approx(
            [value for value in known if value is not None], rel=CLOSE, abs=1e-12
        )


def test_bollinger() -> None:
    apply, _ = made("bollinger(p, 20, 2.5)")
    band = BollingerBands(PRICES, 20, 2.5)
    lines = [band.bollinger_hband(), band.bollinger_mavg(), band.bollinger_lband()]
    check_lines(added(apply(rows(PRICES))), pd.concat(lines, axis=1))


def test_macd() -> None:
    apply, _ = made("macd(p, 12, 26, 9)")
    macd = MACD(PRICES)
    lines = [macd.macd(), macd.macd_signal(), macd.macd_diff()]
    check_lines(added(apply(rows(PRICES))), pd.concat(lines, axis=1))


@pytest.mark.parametrize(
    "text",
    ["bollinger(p, 5)", "macd(p, 3, 6, 4)", "bars:ticks(p, v, 7)", "bars:time(p, v, 1 sec)",
     "bars:volume(p, v, 15.0)"],
)  # fmt: skip
def test_goes_on_from_a_snapshot_for_each_key(text: str) -> None:
    apply, shared = made(text, "group by k")
    mixed = [
        row for pair in zip(rows(PRICES, "a"), rows(-PRICES, "b"), strict=True) for row in pair
    ]
    apply(mixed[:333])
    again, other = made(text, "group by k")
    for path, part in shared.parts.items():
        other.parts[path].restore(unpack(pack(part.state())))
    expected = [row.values for row in apply(mixed[333:])]
    assert [row.values for row in again(mixed[333:])] == expected
    alone, _ = made(text)
    of_a = [row.values for row in alone(rows(PRICES, "a"))]
    later = [values for values in expected if values[0] == "a"]
    assert later and later == of_a[-len(later) :]


def test_time_bars() -> None:
    apply, _ = made("bars:time(p, v, 1 sec)")
    found = apply(rows([5.0, 7.0, 4.0, 6.0, *[1.0] * 6, 2.0]))
    assert [(row.time, row.values) for row in found] == [
        (2000, ["k", 1.0, 2.0, 5.0, 7.0, 1.0, 1.0, 20.0, 10, 1000])
    ]


def test_time_bars_agree_with_pandas() -> None:
    apply, _ = made("bars:time(p, v, 700 milliseconds)")
    found = pd.DataFrame(added(apply(rows(PRICES))))
    times = pd.to_datetime([1000 + 100 * i for i in range(len(PRICES))], unit="ms")
    bars = pd.Series(PRICES.to_numpy(), index=times).resample("700ms", origin="epoch").ohlc()
    assert found[[0, 1, 2, 3]].to_numpy().tolist() == bars.to_numpy().tolist()[: len(found)]


def test_tick_and_volume_bars() -> None:
    apply, _ = made("bars:ticks(p, v, 2)")
    assert [(row.time, row.values[3:]) for row in apply(rows([1.0, 3.0, 2.0]))] == [
        (1100, [1.0, 3.0, 1.0, 3.0, 4.0, 2, 1000])
    ]
    apply, _ = made("bars:volume(p, v, 5.0)")
    assert [row.time for row in apply(rows([1.0] * 7))] == [1200, 1500]


def test_rows_that_leave_change_no_line() -> None:
    apply, _ = made("bollinger(p, 2)")
    apply(rows([1.0, 3.0]))
    [row] = apply([Row(9, ["k", 50.0, 1.0], RowKind.EXPIRED)])
    assert row.values[3:] == [4.0, 2.0, 0.0]
    assert row.kind is RowKind.EXPIRED


def test_coordinates() -> None:
    apply, _ = made("pol2Cart(p, v)")
    [[x, y]] = added(apply(rows([90.0])))
    assert (x, y) == (pytest.approx(0.0, abs=1e-12), 2.0)
    assert added(apply([Row(0, ["k", None, 1.0])])) == [[None, None]]


def test_log_writes_and_lets_pass() -> None:
    lines: list[str] = []
    sink = logger.add(lambda message: lines.append(str(message)), format="{level} {message}")
    try:
        for text in ("log('here')", "log('debug', 'there', false)", "log('off', 'no', true)"):
            apply, _ = made(text)
            chunk = rows([1.0])
            assert apply(chunk) is chunk
    finally:
        logger.remove(sink)
    assert len(lines) == 2
    assert lines[0].startswith("INFO") and "here, Row(1000" in lines[0]
    assert lines[1].startswith("DEBUG") and lines[1].rstrip().endswith("there")
