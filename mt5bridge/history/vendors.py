"""Files of data vendors that have no header line: what their columns are and which clock they show.

HistData: https://www.histdata.com/f-a-q/data-files-detailed-specification/
TrueFX: https://www.truefx.com/truefx-historical-downloads/
LEAN: https://www.quantconnect.com/docs/v2/lean-engine/data-format/forex-and-cfd
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC as ZONE
from datetime import datetime
from pathlib import Path

from mt5bridge.history.block import HistoryError
from mt5bridge.history.layout import Layout
from mt5bridge.history.zones import HOUR_MS, UTC, ServerTime

EST = ServerTime(-5 * HOUR_MS)
"""New York's winter time, which HistData and FXCM keep all year."""

_PRICE = r"\d+(?:\.\d+)?"
_LAYOUTS = (
    # HistData, generic ASCII: 20240102 170014663,1.10394,1.10398,0
    (
        re.compile(rf"\d{{8}} \d{{9}},{_PRICE},{_PRICE},\d+"),
        Layout(("time", "bid", "ask", "_3"), has_header=False, server=EST),
    ),
    # TrueFX: EUR/USD,20240102 17:00:14.663,1.10394,1.10398
    (
        re.compile(rf"[A-Z]{{3}}/[A-Z]{{3}},\d{{8}} [\d:.]+,{_PRICE},{_PRICE}"),
        Layout(("symbol", "time", "bid", "ask"), has_header=False, server=UTC, is_pair=True),
    ),
)
_HISTDATA_BARS = re.compile(rf"\d{{8}} \d{{6}}(?:;{_PRICE}){{4}};\d+")

_LEAN = re.compile(r"(?P<day>\d{8})_(?P<symbol>[^_]+)_tick_(?P<kind>quote|trade)\.csv", re.I)
_LEAN_QUOTES = {
    3: ("time_msc", "bid", "ask"),
    5: ("time_msc", "bid", "_2", "ask", "_4"),
}
_LEAN_CLOCKS = {"oanda": UTC, "fxcm": EST, "crypto": UTC}
"""Clocks by a folder above a file: a market's, or that of all markets of a kind."""

_SYMBOLS = (
    re.compile(r"(.+?)_\d{8,12}_\d{8,12}"),  # MetaTrader: EURUSD_202403010000_202403012359.csv
    re.compile(r"DAT_ASCII_([A-Z0-9]+)_T_\d{6}"),  # HistData
    re.compile(r"([A-Z]{6})-\d{4}-\d\d"),  # TrueFX
    re.compile(r"([A-Z0-9.-]+?)_Ticks_\d{4}"),  # Dukascopy
)


def symbol_in_name(name: str) -> str | None:
    """The symbol in the name of a file as vendors write it."""
    if match := _LEAN.fullmatch(name):
        return match["symbol"].upper()
    return next((found[1] for pattern in _SYMBOLS if (found := pattern.match(name))), None)


def layout_without_header(path: Path, name: str, first: str) -> Layout | None:
    """The layout of a file called `name` by its first line; None when that is a header.

    HistoryError for files of vendors that hold no quotes.
    """
    line = first.strip()
    if match := _LEAN.fullmatch(name):
        return _lean(path, match, line)
    if _HISTDATA_BARS.fullmatch(line):
        raise HistoryError(f"{path}: these are bars, not ticks; download HistData's ticks")
    return next((layout for pattern, layout in _LAYOUTS if pattern.fullmatch(line)), None)


def _lean(path: Path, match: re.Match[str], line: str) -> Layout:
    """LEAN counts milliseconds from midnight; the day is in the file's name, the clock nowhere."""
    if match["kind"].lower() == "trade":
        raise HistoryError(f"{path}: trades have no bid and ask; give the file of quotes")
    names = _LEAN_QUOTES.get(line.count(",") + 1)
    if names is None or "equity" in path.parts:
        raise HistoryError(
            f"{path}: not quotes of a currency, CFD or crypto market as LEAN has them "
            "(milliseconds, bid, ask, or with their sizes); write them as time_msc,bid,ask"
        )
    try:
        midnight = datetime.strptime(match["day"], "%Y%m%d").replace(tzinfo=ZONE)
    except ValueError as error:
        raise HistoryError(f"{path}: {match['day']} is no date; correct the file's name") from error
    clock = next(
        (_LEAN_CLOCKS[part] for part in reversed(path.parts) if part in _LEAN_CLOCKS), None
    )
    layout = Layout(names, has_header=False, server=clock)
    return replace(layout, midnight_msc=int(midnight.timestamp()) * 1000)
