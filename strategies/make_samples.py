"""Writes the made-up ticks and fills beside the rule files; run it from the repository's root."""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
START_MSC = 1_704_205_800_000  # 2024-01-02 14:30 UTC
QUOTES = 6  # tick flags: bid and ask have changed
MAGIC = 77
TICK = ("time_msc", "symbol", "bid", "ask", "last", "volume", "flags")
DEAL = ("time_msc", "symbol", "ticket", "position", "magic", "comment", "side", "entry", "lots",
        "price")  # fmt: skip
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Market:
    """One symbol: its first price, price step, spread in steps, and how much it moves a tick."""

    symbol: str
    price: float
    digits: int
    spread_points: int
    move_points: float


def noise(rng: random.Random) -> float:
    """About normal; made of `random()`, which every Python version repeats."""
    return sum(rng.random() for _ in range(12)) - 6.0


def quotes(markets: tuple[Market, ...], minutes: int, seed: int) -> Iterator[Row]:
    """Random walks that share waves of several minutes and each have shocks of their own."""
    rng = random.Random(seed)
    drift = {market.symbol: 0.0 for market in markets}
    for second in range(60 * minutes):
        wave = math.sin(second / 53.0) + 0.7 * math.sin(second / 17.0)
        for market in markets:
            if rng.random() > 0.5:
                continue
            shock = 14.0 * noise(rng) if rng.random() < 0.02 else noise(rng)
            drift[market.symbol] = 0.98 * drift[market.symbol] + shock
            points = round(market.move_points * (drift[market.symbol] + 8.0 * wave))
            widening = 3 if rng.random() < 0.03 else 1
            bid = market.price + points / 10**market.digits
            ask = bid + widening * market.spread_points / 10**market.digits
            time_msc = START_MSC + 1000 * second + rng.randrange(1000)
            bid_text, ask_text = (f"{price:.{market.digits}f}" for price in (bid, ask))
            yield time_msc, market.symbol, bid_text, ask_text, "0", "0", QUOTES


def fills(ticks: list[Row], seed: int) -> Iterator[Row]:
    """Fills of a grid that buys falling and sells rising prices, and now and then a manual one."""
    rng = random.Random(seed)
    previous: dict[str, float] = {}
    ticket = 5000
    for time_msc, symbol, bid, ask, *_ in ticks:
        change = float(bid) - previous.setdefault(symbol, float(bid))
        if abs(change) / float(bid) < 0.0003 or rng.random() < 0.3:
            continue
        previous[symbol] = float(bid)
        falling = "hand" if rng.random() < 0.1 else "grid"
        comment = falling if change < 0 else "exit"
        magic = 0 if comment == "hand" else MAGIC
        side, entry = ("sell", "out") if comment == "exit" else ("buy", "in")
        for part in range(rng.choice((1, 1, 2))):
            ticket += 1
            price = bid if side == "sell" else ask
            filled_msc = time_msc + 40 + 15 * part
            yield filled_msc, symbol, ticket, ticket, magic, comment, side, entry, "0.10", price


def write(path: Path, names: tuple[str, ...], rows: list[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(names)
        lines.writerows(rows)


def make(folder: Path) -> None:
    """Write the sample files of all strategies below `folder`."""
    shares = (Market("MSFT", 370.0, 2, 2, 1.2), Market("^GSPC", 4740.0, 2, 25, 9.0))
    pairs = (Market("EURUSD", 1.09500, 5, 8, 4.0), Market("GBPUSD", 1.26500, 5, 11, 5.0))
    for name, markets, minutes, seed in (
        ("band_reversal", shares, 40, 16),
        ("article", shares, 40, 2),
        ("fills_and_market", pairs, 40, 3),
        ("swing_break", pairs, 40, 5),
    ):
        ticks = sorted(quotes(markets, minutes, seed), key=lambda row: row[0])
        write(folder / name / "ticks.csv", TICK, ticks)
        if name not in ("article", "swing_break"):
            write(folder / name / "deals.csv", DEAL, list(fills(ticks, seed)))


if __name__ == "__main__":
    make(FOLDER)
