"""What was lived, run again from the spool for the sake of the charts."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cep.engine.kernels.state import OUT_KEY, OUT_TIME
from cep.engine.native import Compiled
from cep.engine.queues import Queued, queue
from cep.engine.rows import Rows
from cep.live.feed import MarketFeed
from cep.market import ENTRIES, SIDES
from cep.plan import Plan, compile_rules
from mt5bridge.records import DealKind, text_of
from mt5bridge.spool import Group, RecordKind, read

Prices = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bands:
    """A symbol's prices and bands; times in ms UTC."""

    time_msc: NDArray[np.int64]
    mid: Prices
    ma: Prices
    sd: Prices

    def since(self, time_msc: int) -> Bands:
        """Those from a time on."""
        at = self.time_msc >= time_msc
        return Bands(self.time_msc[at], self.mid[at], self.ma[at], self.sd[at])


@dataclass(slots=True)
class Lived:
    """The lines, fills and queues of a run."""

    plan: Plan
    ticks: int = 0
    fills: list[dict[str, Any]] = field(default_factory=list)
    bands: dict[str, Bands] = field(default_factory=dict)
    queues: dict[str, list[Queued]] = field(default_factory=dict)


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Output rows from JSON lines."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def relive(rules: Path, spool: Path) -> Lived:
    """Run the demo's rules over its spool and keep the `Band` rows and the last queues."""
    plan = compile_rules(rules.read_text(encoding="utf-8"), str(rules))
    run = Compiled(plan, outputs=["Band"]).start()
    feed = MarketFeed(run)
    lived = Lived(plan)
    parts: dict[str, list[NDArray[np.float64]]] = defaultdict(list)
    fills: dict[int, dict[str, Any]] = {}
    for group in read(spool):
        lived.ticks += len(group.records) if group.kind is RecordKind.TICKS else 0
        if group.kind is RecordKind.DEALS:
            note_fills(fills, group)
        for rows, _ in feed.feed([group]):
            _collect(rows, run.keys, parts)
    lived.fills = list(fills.values())
    for symbol, columns in sorted(parts.items()):
        together = np.concatenate(columns)
        lived.bands[symbol] = Bands(together[:, 0].astype(np.int64), *together[:, 1:].T)
    lived.queues = {engine.name: queue(run, engine.name) for engine in plan.engines}
    return lived


def _collect(rows: Rows, keys: list[str], parts: dict[str, list[Prices]]) -> None:
    """Add the rows' times, prices and bands to their symbols."""
    for key_row in np.unique(rows.ints[:, OUT_KEY]):
        places = rows.ints[:, OUT_KEY] == key_row
        columns = np.column_stack((rows.ints[places, OUT_TIME], rows.floats[places, :3]))
        parts[keys[key_row - 1]].append(columns)


def note_fills(fills: dict[int, dict[str, Any]], group: Group) -> None:
    """Take deals into the fills by ticket: what is no trade is none, the newest revision counts."""
    for deal, time_msc in zip(group.records, group.utc_msc.tolist(), strict=True):
        ticket, side = int(deal["ticket"]), SIDES.get(int(deal["type"]))
        if int(deal["kind"]) == DealKind.DELETE or side is None:
            fills.pop(ticket, None)
            continue
        fills[ticket] = {
            "time_msc": time_msc,
            "symbol": text_of(deal["symbol"]),
            "side": side,
            "entry": ENTRIES.get(int(deal["entry"]), ""),
            "lots": float(deal["volume"]),
            "price": float(deal["price"]),
            "magic": int(deal["magic"]),
            "comment": text_of(deal["comment"]),
        }
