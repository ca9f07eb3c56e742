"""Files as data vendors write them, and those of the same vendors that hold no quotes."""

from __future__ import annotations

import lzma
import struct
import zipfile
from datetime import UTC as ZONE
from datetime import datetime
from pathlib import Path

import pytest

from mt5bridge.history import Broken, HistoryError, ServerTime, read_ticks

Row = tuple[str, float, float]


def quotes(path: Path, **options: object) -> dict[str, list[Row]]:
    """(time UTC, bid, ask) of each tick by symbol."""
    found: dict[str, list[Row]] = {}
    for block in read_ticks(path, **options):  # type: ignore[arg-type]
        rows = zip(block.utc_msc, block.ticks["bid"], block.ticks["ask"], strict=True)
        found.setdefault(block.symbol, []).extend(
            (_text(int(msc)), float(bid), float(ask)) for msc, bid, ask in rows
        )
    return found


def _text(msc: int) -> str:
    return datetime.fromtimestamp(msc / 1000, ZONE).isoformat(" ", "milliseconds")[:23]


def zipped(path: Path, **members: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in members.items():
            file.writestr(name, text)
    return path


def text(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


# -- HistData and TrueFX --------------------------------------------------------------------------

HISTDATA = "20240702 170014663,1.074390,1.074420,0\n20240702 170015003,1.074400,1.074430,0\n"


def test_histdata_keeps_winter_time_all_year_and_comes_zipped_beside_a_report(
    tmp_path: Path,
) -> None:
    name = "DAT_ASCII_EURUSD_T_202407"
    path = zipped(tmp_path / f"{name}.zip", **{f"{name}.csv": HISTDATA, f"{name}.txt": "gaps"})
    expected = [
        ("2024-07-02 22:00:14.663", 1.07439, 1.07442),
        ("2024-07-02 22:00:15.003", 1.0744, 1.07443),
    ]
    assert quotes(path) == {"EURUSD": expected}
    assert quotes(text(tmp_path / f"{name}.csv", HISTDATA)) == {"EURUSD": expected}
    assert quotes(path, server=ServerTime.parse("-5")) == {"EURUSD": expected}


def test_a_clock_that_the_format_tells_is_not_another_by_an_option(tmp_path: Path) -> None:
    """Its table tells the clock of HistData, TrueFX, LEAN's markets, and headers; `--server-time`
    is for times that have none.
    """
    quote = "34200250,1.081,1.0812\n"
    lean = {"20240301_eurusd_tick_quote.csv": quote}
    gmt = "Gmt time,Ask,Bid\n01.03.2024 09:30:00.250,1.0812,1.081\n"
    eastern = text(tmp_path / "DAT_ASCII_EURUSD_T_202407.csv", HISTDATA)
    universal = [
        text(tmp_path / "EURUSD-2024-01.csv", "EUR/USD,20240102 00:00:00.123,1.10394,1.10398\n"),
        text(tmp_path / "EURUSD_Ticks_2024.csv", gmt),
        zipped(tmp_path / "forex/oanda/tick/eurusd/20240301_quote.zip", **lean),
        bi5(tmp_path / "EURUSD/2024/00/15/09h_ticks.bi5", (218, 111815, 111812)),
    ]
    for path, clock in [(eastern, "UTC-5 h"), *((one, "UTC") for one in universal)]:
        with pytest.raises(HistoryError) as caught:
            quotes(path, server=ServerTime.parse("ny+7"))
        told = f"its times are {clock}, as its format has it, and --server-time says America/New"
        assert told in str(caught.value) and "leave --server-time out" in str(caught.value)
    assert [quotes(path, server=ServerTime()) for path in universal] == [*map(quotes, universal)]


def test_truefx_is_utc_and_its_pairs_have_a_stroke(tmp_path: Path) -> None:
    path = text(
        tmp_path / "EURUSD-2024-01.csv",
        "EUR/USD,20240102 00:00:00.123,1.10394,1.10398\nGBP/USD,20240102 00:00:01.5,1.2,1.3\n",
    )
    assert quotes(path) == {
        "EURUSD": [("2024-01-02 00:00:00.123", 1.10394, 1.10398)],
        "GBPUSD": [("2024-01-02 00:00:01.500", 1.2, 1.3)],
    }


def test_a_broken_line_of_a_file_without_a_header_has_its_number(tmp_path: Path) -> None:
    lines = HISTDATA.splitlines()
    path = text(tmp_path / "DAT_ASCII_EURUSD_T_202407.csv", "\n".join([*lines, "x,1,2,0", *lines]))
    with pytest.raises(HistoryError, match=r"T_202407\.csv:3: "):
        quotes(path)
    broken = Broken("skip")
    assert len(quotes(path, broken=broken)["EURUSD"]) == 4 and broken.count == 1


# -- Dukascopy ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "time", "server"),
    [
        ("Gmt time,Ask,Bid,AskVolume,BidVolume", "01.03.2024 09:30:00.250", None),
        ("Time (UTC),Ask,Bid,AskVolume,BidVolume", "2024.03.01 09:30:00.250", None),
        ("Local time,Ask,Bid,AskVolume,BidVolume", "01.03.2024 10:30:00.250 GMT+0100", None),
        ("Time (EET),Ask,Bid,AskVolume,BidVolume", "2024.03.01 11:30:00.250", "Europe/Athens"),
        ("timestamp,askPrice,bidPrice,askVolume,bidVolume", "1709285400250", None),
    ],
)
def test_dukascopy_csv(tmp_path: Path, header: str, time: str, server: str | None) -> None:
    path = text(tmp_path / "EURUSD_Ticks_2024.03.01.csv", f"{header}\n{time},1.0812,1.081,0.9,1.8")
    clock = ServerTime.parse(server) if server else None
    assert quotes(path, server=clock) == {"EURUSD": [("2024-03-01 09:30:00.250", 1.081, 1.0812)]}
    if server:
        with pytest.raises(HistoryError, match="say what the server's clock shows"):
            quotes(path)


def bi5(path: Path, *ticks: tuple[int, int, int]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = b"".join(struct.pack(">3I2f", ms, ask, bid, 0.75, 1.5) for ms, ask, bid in ticks)
    path.write_bytes(lzma.compress(data, format=lzma.FORMAT_ALONE))
    return path


def test_dukascopy_hours(tmp_path: Path) -> None:
    """Months count from 00; prices are the nearest doubles to their decimals."""
    hour = "2024/00/15/09h_ticks.bi5"
    path = bi5(tmp_path / "EURUSD" / hour, (218, 111815, 111812), (3_599_999, 111820, 111815))
    assert quotes(path) == {
        "EURUSD": [
            ("2024-01-15 09:00:00.218", 1.11812, 1.11815),
            ("2024-01-15 09:59:59.999", 1.11815, 1.1182),
        ]
    }
    yen = bi5(tmp_path / "USDJPY" / hour, (0, 131966, 131945))
    assert quotes(yen)["USDJPY"][0][1:] == (131.945, 131.966)
    gold = bi5(tmp_path / "XAUUSD" / hour, (0, 2056345, 2056015))
    with pytest.raises(HistoryError, match=r"the point of XAUUSD is not known; .*XAUUSD=0\.001"):
        quotes(gold)
    assert quotes(gold, points={"XAUUSD": 0.001})["XAUUSD"][0][1:] == (2056.015, 2056.345)
    whole = path.read_bytes()
    path.write_bytes(whole + whole)
    with pytest.raises(HistoryError, match=r"09h_ticks\.bi5: damaged \(\d+ bytes behind its ticks"):
        quotes(path)
    none = tmp_path / "EURUSD" / "2024/00/15/10h_ticks.bi5"
    none.write_bytes(b"")
    assert quotes(none) == {}


# -- LEAN -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "rows", "time"),
    [
        ("forex/oanda/tick/eurusd", "34200250,1.081,1.0812", "09:30:00.250"),
        ("forex/fxcm/tick/eurusd", "34200250,1.081,1.0812", "14:30:00.250"),
        ("crypto/coinbase/tick/eurusd", "34200250,1.081,5,1.0812,7", "09:30:00.250"),
        ("cfd/oanda/tick/eurusd", "34200250.9991,1.081,1.0812", "09:30:00.250"),
    ],
)
def test_lean_counts_from_midnight_of_its_market(
    tmp_path: Path, folder: str, rows: str, time: str
) -> None:
    path = zipped(
        tmp_path / folder / "20240301_quote.zip", **{"20240301_eurusd_tick_quote.csv": rows + "\n"}
    )
    assert quotes(path) == {"EURUSD": [(f"2024-03-01 {time}", 1.081, 1.0812)]}


@pytest.mark.parametrize("time", ["-1", "-0.5", "86400000", "999999999", "86400000.5"])
def test_a_time_out_of_the_day_of_lean_is_refused_with_its_line(tmp_path: Path, time: str) -> None:
    rows = f"0,1,2\n{time},1,2\n86399999.9,1,2\n"
    path = text(tmp_path / "oanda" / "20240301_eurusd_tick_quote.csv", rows)
    with pytest.raises(HistoryError, match=r"quote\.csv:2: .* is no time of the file's day"):
        quotes(path)
    broken = Broken("skip")
    found = [row[0] for row in quotes(path, broken=broken)["EURUSD"]]
    assert found == ["2024-03-01 00:00:00.000", "2024-03-01 23:59:59.999"] and broken.count == 1


def test_a_market_of_lean_whose_clock_is_not_known_is_asked_for(tmp_path: Path) -> None:
    path = text(tmp_path / "20240301_us30_Tick_Quote.csv", "34200250,1.081,1.0812\n")
    with pytest.raises(HistoryError, match="say what the server's clock shows"):
        quotes(path)
    found = quotes(path, server=ServerTime.parse("-5"))
    assert found == {"US30": [("2024-03-01 14:30:00.250", 1.081, 1.0812)]}


# -- numbers with a comma -------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_decimals_may_have_a_comma(tmp_path: Path, delimiter: str) -> None:
    lines = ["time,bid,ask", "2024-03-01 09:30:00;1;1", "2024-03-01 09:30:01;1,08;1,0802"]
    content = "\n".join(lines).replace("time,bid,ask", "time;bid;ask").replace(";", delimiter)
    path = text(tmp_path / "a.csv", content)
    given = {"symbol": "A", "server": ServerTime()}
    assert [row[1:] for row in quotes(path, **given)["A"]] == [(1.0, 1.0), (1.08, 1.0802)]
    text(path, f"{content}\n2024-03-01 09:30:02;1.08;1,09".replace(";", delimiter))
    with pytest.raises(HistoryError, match=r"a\.csv:4: bid '1\.08' is no number"):
        quotes(path, **given)


def test_commas_that_could_part_thousands_are_refused(tmp_path: Path) -> None:
    lines = ["time_msc;bid;ask", "1700000000000;999;1,001", "1700000000001;1,080;1,081"]
    path = text(tmp_path / "a.csv", "\n".join(lines))
    with pytest.raises(HistoryError) as caught:
        quotes(path, symbol="A")
    told = "a.csv:2: 1,001 may have a decimal comma, or one between thousands"
    assert told in str(caught.value) and "give --decimal-comma" in str(caught.value)
    found = quotes(path, symbol="A", decimal_comma=True)["A"]
    assert [row[1:] for row in found] == [(999.0, 1.001), (1.08, 1.081)]


@pytest.mark.parametrize("number", ["0,080", "1,08", "1,0802", "1080,5", "-0,001"])
def test_one_comma_that_parts_no_thousands_tells_of_all(tmp_path: Path, number: str) -> None:
    lines = ["time_msc;bid;ask", "1700000000000;1,080;1,081", f"1700000000001;1,080;{number}"]
    path = text(tmp_path / "a.csv", "\n".join(lines))
    wanted = float(number.replace(",", "."))
    assert [row[2] for row in quotes(path, symbol="A")["A"]] == [1.081, wanted]


# -- what is refused ------------------------------------------------------------------------------


def _damaged(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:-7])
    return path


def test_what_vendors_have_beside_quotes_is_refused_by_name(tmp_path: Path) -> None:
    hour = "EURUSD/2024/00/15/09h_ticks.bi5"
    good = bi5(tmp_path / hour, (0, 2, 1))
    renamed = tmp_path / "january.bi5"
    renamed.write_bytes(good.read_bytes())
    trade = {"20240301_eurusd_tick_trade.csv": "0,1,2\n"}
    equity = {"20240301_spy_tick_quote.csv": "0,4000000,1,4000100,2,Q,0,0\n"}
    cases = {
        "these are bars": text(tmp_path / "bars.csv", "20240102 170000;1.1;1.2;1.0;1.1;0\n"),
        "trades have no bid and ask": zipped(tmp_path / "20240301_trade.zip", **trade),
        "not quotes of a currency": zipped(tmp_path / "equity" / "20240301_quote.zip", **equity),
        "no file of ticks in it": zipped(tmp_path / "none.zip", **{"readme.md": ""}),
        "2 files of ticks in it": zipped(tmp_path / "two.zip", **{"a.csv": "", "b.csv": ""}),
        "cannot be unpacked": text(tmp_path / "no.zip", "PK"),
        "the path does not tell its hour": renamed,
        "times beyond its hour": bi5(tmp_path / "A" / hour, (3_600_000, 2, 1)),
        "not whole records": bi5(tmp_path / "B" / hour, (0, 2, 1)),
        "damaged": text(tmp_path / "C" / hour, "not LZMA at all"),
    }
    _damaged(cases["not whole records"])
    for message, path in cases.items():
        with pytest.raises(HistoryError, match=message) as refused:
            quotes(path)
        assert str(refused.value).startswith(str(path))


def test_a_zip_file_damaged_inside_is_refused(tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "a.zip", **{"a.csv": "time_msc,bid,ask\n" + "1709285400000,1,2\n" * 99}
    )
    data = bytearray(path.read_bytes())
    data[60] ^= 255
    path.write_bytes(data)
    with pytest.raises(HistoryError, match="cannot be unpacked"):
        quotes(path, symbol="A")
