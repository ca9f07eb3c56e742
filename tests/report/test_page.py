"""The page as text: escaping, tables, queue, decimation."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cep.report import Dot, Marker, Report, Scatter, Table, Time, Verdict, render
from cep.report.axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH
from cep.report.chart import MARKERS_MAX, chart_data, encode
from cep.report.decimate import kept_points
from cep.report.histogram import BARS_MAX, bars, histogram_html
from cep.report.model import Histogram, MarkerKind, QueueEntry, QueueView, Role, SymbolChart
from cep.report.rows import (
    EngineRows,
    complex_markers,
    complex_table,
    event_markers,
    line,
    signal_markers,
    signal_table,
    symbol_markers,
)
from cep.report.scatter import DOTS_MAX, scatter_html
from cep.report.tables import ROWS_MAX, queue_html, table_html, time_text
from tests.report import sample

NASTY = "</script><script>alert(1)</script><!-- & \u2028 \" '"


def cells(row: str) -> list[str]:
    return [html.unescape(re.sub("<[^>]+>", "", cell)) for cell in re.findall("<td.*?</td>", row)]


def body_rows(text: str) -> list[str]:
    return re.findall("<tr.*?</tr>", text.split("<tbody>")[1])


def test_page_is_self_contained() -> None:
    page = render(sample.report())
    assert not re.search(r"(src|href)=[\"'](?!data:)", page)
    assert "@import" not in page and 'http-equiv="Content-Security-Policy"' in page
    addresses = set(re.findall(r"https?://[^\"' ]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}, "an XML name is the only address"


@given(st.text() | st.just(NASTY))
def test_no_text_escapes_its_place(text: str) -> None:
    plain = render(Report("t"))
    marker = Marker(MarkerKind.EVENT, 0, text, detail=text)
    page = render(
        Report(
            text, text, Verdict(False, text), ((text, text),),
            (SymbolChart(text, (), (marker,)),),
            (Table(text, (text,), [(text,), (Time(0, text),)]),),
            (QueueView(text, (QueueEntry(1, text, 0, (text,), text, text),)),),
            (Histogram(text, text, [1.0]),),
            (Scatter(text, text, text, (Dot(1.0, -1.0, text),)),),
        )
    )  # fmt: skip
    assert page.count("<script") == plain.count("<script")
    assert page.count("</script") == plain.count("</script")
    assert "<!-- " not in page


@given(st.text())
def test_chart_data_is_the_same_text_again(text: str) -> None:
    chart = SymbolChart(text, (), (Marker(MarkerKind.SIGNAL, 7, text, price=1.5, side="buy"),))
    encoded = encode((chart,), 100)
    assert not set("<>&") & set(encoded)
    (data,) = json.loads(encoded)
    assert data["symbol"] == text and data["start"] == 7
    expected = {"kind": "signal", "t": 0, "p": 1.5, "side": "buy", "label": text}
    assert data["markers"] == [{k: v for k, v in expected.items() if v != ""}]


PLACE = re.compile(r'<circle class="dot (\w+)" cx="([-\d.]+)" cy="([-\d.]+)"')


@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)), max_size=20))
def test_dots_lie_within_their_axes_in_the_order_of_their_values(
    pairs: list[tuple[float, float]],
) -> None:
    text = scatter_html(Scatter("t", "x", "y", [Dot(x, y, "") for x, y in pairs]))
    found = [(kind, float(x), float(y)) for kind, x, y in PLACE.findall(text)]
    assert [kind for kind, _, _ in found] == ["sell" if y < 0 else "buy" for _, y in pairs]
    assert all(LEFT <= x <= WIDTH - RIGHT and TOP <= y <= HEIGHT - BOTTOM for _, x, y in found)
    across = [x for _, (_, x, _) in sorted(zip(pairs, found, strict=True))]
    assert across == sorted(across)
    assert 2 * 2 <= len(re.findall('class="grid"', text)) <= 2 * 8


def test_a_scatter_of_more_dots_than_are_drawn_says_so() -> None:
    dots = [Dot(float(n), 1.0, f"number {n}") for n in range(DOTS_MAX + 5)]
    text = scatter_html(Scatter("All", "x", "y", dots))
    assert f"All (the latest {DOTS_MAX:,})" in text
    assert "number 5<" in text and "number 4<" not in text


FINITE = st.floats(-1e12, 1e12).map(lambda value: round(value, 6))


@given(st.lists(FINITE, min_size=1, max_size=80))
def test_each_value_is_counted_in_the_bar_it_lies_in(values: list[float]) -> None:
    lows, counts, width = bars(np.array(values))
    assert counts.sum() == len(values) and len(counts) <= BARS_MAX + 2
    if any(values):
        assert lows.tolist() == pytest.approx((lows[0] + width * np.arange(len(lows))).tolist())
        assert all(low + width <= 1e-9 * width or low >= -1e-9 * width for low in lows), (
            "no bar has gains and losses"
        )
    inner = counts[1:-1].tolist()
    between = [[v for v in values if low <= v < low + width] for low in lows.tolist()[1:-1]]
    assert np.abs(np.subtract(inner, [len(found) for found in between])).sum() <= 2, (
        "but for the rounding of an edge"
    )


def test_a_histogram_tells_each_bar_and_what_lies_beyond() -> None:
    values = [-5.0] * 3 + [10.0] * 96 + [1000.0]
    text = histogram_html(Histogram("Trades", "net", values))
    said = dict(re.findall("<title>(.*?): ([0-9,]+)</title>", text))
    assert sum(int(count.replace(",", "")) for count in said.values()) == 100
    assert list(said)[-1].startswith("from ") and said[list(said)[-1]] == "1"
    assert "mean 19.45, median 10" in text
    single = histogram_html(Histogram("One", "x", [0.0]))
    assert "<title>0 to 1: 1</title>" in single


def test_queue_has_the_columns_of_the_schematic_newest_first() -> None:
    text = queue_html(sample.queue())
    columns = [html.unescape(c) for c in re.findall("<th [^>]*>(.*?)</th>", text)]
    assert columns == ["Number", "Event", "Key", "Time (UTC)", "Bind 1", "Bind 2", "State"]
    rows = body_rows(text)
    assert [cells(row)[1] for row in rows] == ["LegFilled", "BelowMa", "AboveUpper"]
    assert cells(rows[2])[4:] == ["Reversal", "Broad", "expired"]
    assert ["gone" in row.split(">")[0] for row in rows] == [False, False, True]


def test_queue_without_keys_has_no_key_column() -> None:
    view = QueueView("Main", (QueueEntry(10, "A", 0),))
    assert cells(body_rows(queue_html(view))[0]) == ["10", "A", time_text(0), "", "queued"]


def test_long_tables_show_the_latest_rows_and_say_so() -> None:
    text = table_html(Table("T", ("n",), [(i,) for i in range(ROWS_MAX + 5)]))
    assert len(body_rows(text)) == ROWS_MAX
    assert f"the latest {ROWS_MAX:,} of {ROWS_MAX + 5:,}" in text
    assert cells(body_rows(text)[0]) == ["5"]


def test_time_text() -> None:
    assert time_text(1_709_280_000_250) == "2024-03-01 08:00:00.250"
    assert time_text(-1) == "1969-12-31 23:59:59.999"


def test_markers_without_a_price_stand_on_the_price_line() -> None:
    chart = sample.chart("EURUSD")
    price = chart.series[0]
    on_line, before = (Marker(MarkerKind.EVENT, t, "E") for t in (sample.START_MSC + 1500, 0))
    data = chart_data(replace(chart, markers=(on_line, before)), 100)
    assert [m["p"] for m in data["markers"]] == pytest.approx(
        [price.values[1], price.values[0]], abs=1e-6
    )


def test_too_many_markers_keep_the_latest_and_the_total() -> None:
    many = tuple(Marker(MarkerKind.EVENT, i, "E") for i in range(MARKERS_MAX + 10))
    data = chart_data(SymbolChart("S", (), many), 100)
    assert len(data["markers"]) == MARKERS_MAX and data["markers"][-1]["t"] == MARKERS_MAX + 9
    assert data["totals"]["event"] == MARKERS_MAX + 10


numbers = st.lists(st.floats(allow_infinity=False, width=32), max_size=300)


@given(numbers, st.integers(4, 60))
def test_decimation_keeps_ends_and_extremes(values: list[float], points_max: int) -> None:
    array = np.array(values, dtype=np.float64)
    kept = kept_points(array, points_max)
    assert len(kept) <= max(points_max, 4)
    assert np.all(np.diff(kept) > 0)
    if len(array):
        assert kept[0] == 0 and kept[-1] == len(array) - 1
    if len(array) and not np.isnan(array).all():
        assert np.nanmin(array[kept]) == np.nanmin(array)
        assert np.nanmax(array[kept]) == np.nanmax(array)


EVENT = {"stream": "Above", "time_msc": 5, "key": "MSFT", "number": 110, "seq": 3}
COMPLEX = {
    "stream": "Reversal", "time_msc": 9, "key": "MSFT", "number": 120, "first_msc": 5,
    "arrangement": [110, 111], "events": [3, 4],
}  # fmt: skip
SIGNAL = {
    "stream": "Fade", "time_msc": 9, "complex": "Reversal", "key": None, "side": "sell",
    "symbol": "MSFT", "lots": 0.1, "stop_points": 200, "target_points": None, "valid_ms": None,
}  # fmt: skip


def test_output_rows_become_markers() -> None:
    (event,) = event_markers([EVENT], "Main")
    (complex_,) = complex_markers([COMPLEX], "Main")
    (signal,) = signal_markers([SIGNAL])
    assert event.id == "Main/3" and complex_.parts == ("Main/3", "Main/4")
    assert complex_.detail == "(110, 111)"
    assert (signal.side, signal.detail, signal.time_msc) == ("sell", "0.1 lots", 9)


def test_output_rows_become_tables() -> None:
    complexes, signals = complex_table([COMPLEX]), signal_table([SIGNAL])
    assert cells(body_rows(table_html(complexes))[0])[1:6] == [
        "Reversal", "MSFT", "120", "110, 111", "3, 4",
    ]  # fmt: skip
    row = cells(body_rows(table_html(signals))[0])
    assert row[1:] == ["Fade", "sell", "MSFT", "0.1", "200", "", "", "Reversal"]
    assert all(len(table.columns) == len(table.rows[0]) for table in (complexes, signals))


def test_a_symbol_gets_its_own_rows_and_those_of_no_symbol() -> None:
    other, both = {**EVENT, "key": "^GSPC"}, {**COMPLEX, "stream": "Both", "key": None}
    runs = [EngineRows("Main", [EVENT, other], [COMPLEX]), EngineRows("Second", [], [both])]
    found = symbol_markers("MSFT", runs, [SIGNAL, {**SIGNAL, "symbol": "^GSPC"}])
    assert [m.label for m in found] == ["Above", "Fade", "Reversal", "Both"]
    assert found[0].id == "Main/3" and found[3].parts == ("Second/3", "Second/4")


def test_null_interrupts_a_line() -> None:
    made = line([{"time_msc": 1, "ma": None}, {"time_msc": 2, "ma": 1.5}], "ma", Role.MIDDLE)
    assert made.time_msc.tolist() == [1, 2]
    assert np.isnan(made.values[0]) and made.values[1] == 1.5
