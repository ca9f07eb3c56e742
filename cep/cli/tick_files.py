"""Ticks for a simulated terminal: from files or made up, in UTC, by symbol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cep.backtest.points import derived_points
from cep.cli.errors import UserError
from mt5bridge.history import ServerTime, TickBlock, read_ticks
from mt5bridge.records import TICK, Records
from mt5bridge.simulator import Walk, random_walk


def load_ticks(
    files: Iterable[Path],
    symbol: str | None,
    server: ServerTime | None,
    points: Mapping[str, float] = {},
    *,
    decimal_comma: bool = False,
) -> dict[str, Records]:
    """All ticks of the files by symbol, in file order."""
    found: dict[str, list[Records]] = {}
    given: dict[str, Any] = {"symbol": symbol, "server": server, "decimal_comma": decimal_comma}
    for file in files:
        for block in read_ticks(file, points=points, **given):
            found.setdefault(block.symbol, []).append(in_utc(block))
    if not any(map(len, found.values())):
        names = ", ".join(map(str, files))
        raise UserError(f"{names}: no tick in it", "export the ticks again")
    return {name: np.concatenate(parts) for name, parts in found.items()}


def in_utc(block: TickBlock) -> Records:
    ticks = block.ticks.astype(TICK)
    ticks["time_msc"] = block.utc_msc
    ticks["time"] = block.utc_msc // 1000
    return ticks


def made_up_ticks(symbols: Iterable[str], count: int, seed: int) -> dict[str, Records]:
    """A random walk per symbol; the same arguments give the same ticks."""
    names = list(dict.fromkeys(symbols))
    return {name: random_walk(Walk(count, seed + i)) for i, name in enumerate(names)}


def points_of(
    ticks: Mapping[str, Records], given: Mapping[str, float], *, made_up: bool = False
) -> dict[str, float]:
    """The size of each symbol's point: given, that of ticks made up, or from its prices."""
    if unknown := next((name for name in given if name not in ticks), None):
        raise UserError(f"--point: no ticks of {unknown}", f"there are {', '.join(sorted(ticks))}")
    known = {**(dict.fromkeys(ticks, Walk(1).point) if made_up else {}), **given}
    samples = {name: (array["bid"], array["ask"]) for name, array in ticks.items()}
    return {name: point.size for name, point in derived_points(known, samples).items()}
