"""Ticks written the way MetaTrader's "Export ticks" writes them, and read back line by line."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from mt5bridge.records import TICK, Records

HEADER = "<DATE>\t<TIME>\t<BID>\t<ASK>\t<LAST>\t<VOLUME>\t<FLAGS>"


def wall(time_msc: int) -> tuple[str, str]:
    moment = datetime.fromtimestamp(time_msc // 1000, UTC)
    return f"{moment:%Y.%m.%d}", f"{moment:%H:%M:%S}.{time_msc % 1000:03d}"


def export(ticks: Records, *, flags: bool = True, unchanged: bool = True) -> str:
    """The file's text; with `unchanged` a price that did not change is left empty."""
    lines = [HEADER if flags else HEADER.removesuffix("\t<FLAGS>")]
    bid = ask = None
    for tick in ticks:
        date, time = wall(int(tick["time_msc"]))
        now_bid, now_ask = float(tick["bid"]), float(tick["ask"])
        changed = ((2 if now_bid != bid else 0) | (4 if now_ask != ask else 0)) or 6
        fields = [
            date,
            time,
            repr(now_bid) if changed & 2 or not unchanged else "",
            repr(now_ask) if changed & 4 or not unchanged else "",
            "",
            "",
        ]
        lines.append("\t".join([*fields, str(changed)] if flags else fields))
        bid, ask = now_bid, now_ask
    return "\r\n".join(lines) + "\r\n"


def read_slowly(text: str) -> list[tuple[int, float, float, int]]:
    """(time_msc, bid, ask, flags) of each line, in the obvious way."""
    rows: list[tuple[int, float, float, int]] = []
    bid = ask = 0.0
    for line in text.replace("\r\n", "\n").split("\n")[1:]:
        if not line:
            continue
        date, time, bid_text, ask_text, _, _, flags = line.split("\t")
        bid = float(bid_text) if bid_text else bid
        ask = float(ask_text) if ask_text else ask
        seconds, _, fraction = time.partition(".")
        moment = datetime.strptime(f"{date} {seconds} +0000", "%Y.%m.%d %H:%M:%S %z")
        rows.append((int(moment.timestamp()) * 1000 + int(fraction), bid, ask, int(flags)))
    return rows


def quotes(rows: list[tuple[int, float, float]]) -> Records:
    records = np.zeros(len(rows), TICK)
    for i, (time_msc, bid, ask) in enumerate(rows):
        records[i]["time_msc"], records[i]["bid"], records[i]["ask"] = time_msc, bid, ask
    return records


def tuples(records: Records) -> list[tuple[Any, ...]]:
    names = ("time_msc", "bid", "ask", "flags")
    return list(zip(*(records[name].tolist() for name in names), strict=True))
