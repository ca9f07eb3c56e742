"""What the demo's page counts and draws, without a run."""

from __future__ import annotations

import numpy as np
import pytest

from cep.demo.lived import Bands, Lived, note_fills
from cep.demo.page import PAUSE_MS, charts, summary
from cep.plan import compile_rules
from mt5bridge.records import DEAL, DealKind, DealType
from mt5bridge.spool import Group, RecordKind

START_MSC = 1_709_280_000_000
RULES = "define stream Tick (symbol string, bid double); from Tick select symbol insert into Out;"


def deals(*rows: tuple[int, int, DealKind, DealType, float]) -> Group:
    """Deals of (ticket, revision, kind, type, volume)."""
    records = np.zeros(len(rows), DEAL)
    for record, row in zip(records, rows, strict=True):
        for name, value in zip(("ticket", "revision", "kind", "type", "volume"), row, strict=True):
            record[name] = value
    records["time_msc"], records["symbol"] = START_MSC, b"EURUSD"
    return Group(1, RecordKind.DEALS, "terminal", ("deals",), 1, records)


def test_what_is_no_trade_is_no_fill() -> None:
    lived = Lived(compile_rules(RULES))
    by_ticket: dict[int, dict[str, object]] = {}
    note_fills(
        by_ticket,
        deals(
            (1, 0, DealKind.ADD, DealType.BALANCE, 0.0),
            (2, 0, DealKind.ADD, DealType.BUY, 0.1),
            (3, 0, DealKind.ADD, DealType.SELL, 0.2),
            (4, 0, DealKind.ADD, DealType.BUY, 0.3),
        ),
    )
    note_fills(
        by_ticket,
        deals(
            (3, 1, DealKind.UPDATE, DealType.SELL, 0.5),
            (4, 1, DealKind.DELETE, DealType.BUY, 0.3),
        ),
    )
    lived.fills = list(by_ticket.values())
    assert [(fill["side"], fill["lots"]) for fill in lived.fills] == [("buy", 0.1), ("sell", 0.5)]
    assert ("Fills", "2") in summary({}, lived, [])


@pytest.mark.parametrize(("opening_ms", "dropped"), [(0, 0), (500, 0), (PAUSE_MS, 1)])
def test_a_chart_begins_where_the_market_does(opening_ms: int, dropped: int) -> None:
    times = START_MSC + np.arange(5) * 500
    times[0] -= opening_ms
    values = np.linspace(1.1, 1.2, 5)
    lived = Lived(compile_rules(RULES), bands={"EURUSD": Bands(times, values, values, values)})
    (chart,) = charts(lived, [])
    assert all(len(line.time_msc) == len(line.values) == 5 - dropped for line in chart.series)
    assert int(chart.series[0].time_msc[0]) == int(times[dropped])


def test_a_symbol_without_a_band_has_an_empty_chart() -> None:
    nothing = np.empty(0)
    bands = {"EURUSD": Bands(nothing.astype(np.int64), nothing, nothing, nothing)}
    (chart,) = charts(Lived(compile_rules(RULES), bands=bands), [])
    assert not len(chart.series[0].time_msc)
