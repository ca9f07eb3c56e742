"""Ticks for a simulated terminal: from files or made up, in UTC, by symbol."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from cep.cli.errors import UserError
from mt5bridge.history import ServerTime, TickBlock, read_ticks
from mt5bridge.records import TICK, Records
from mt5bridge.simulator import Walk, random_walk

POINTS = tuple(10.0**-digits for digits in range(9))


def load_ticks(
    files: Iterable[Path], symbol: str | None, server: ServerTime | None
) -> dict[str, Records]:
    """All ticks of the files by symbol, in file order."""
    found: dict[str, list[Records]] = {}
    for file in files:
        for block in read_ticks(file, symbol=symbol, server=server):
            found.setdefault(block.symbol, []).append(in_utc(block))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def in_utc(block: TickBlock) -> Records:
    ticks = block.ticks.astype(TICK)
    ticks["time_msc"] = block.utc_msc
    ticks["time"] = block.utc_msc // 1000
    return ticks


def made_up_ticks(symbols: Iterable[str], count: int, seed: int) -> dict[str, Records]:
    """A random walk per symbol; the same arguments give the same ticks."""
    names = list(dict.fromkeys(symbols))
    if count < 1:
        raise UserError(f"--count {count}: a symbol needs ticks", "use 1 or more")
    return {name: random_walk(Walk(count, seed + i)) for i, name in enumerate(names)}


def point_of(ticks: Records) -> float:
    """The largest power of ten that all bids are multiples of; 1e-8 when there is none."""
    bids = ticks["bid"][np.isfinite(ticks["bid"])]
    for point in POINTS:
        steps = bids / point
        if np.all(np.abs(steps - np.rint(steps)) < 1e-6):
            return point
    return POINTS[-1]
