"""Small spools and record groups for spool and archive tests."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mt5bridge.records import DEAL, TICK
from mt5bridge.spool import CLOCK, Group, RecordKind, Spool

DAY_MS = 86_400_000
START_MSC = 1_700_000_000_000


def ticks(times_msc: npt.ArrayLike, price: float = 1.1) -> npt.NDArray[Any]:
    """Ticks at server times `times_msc`, each with its own price."""
    times = np.asarray(times_msc, np.int64)
    records = np.zeros(len(times), TICK)
    records["time_msc"] = times
    records["time"] = times // 1000
    records["bid"] = price + np.arange(len(times)) * 1e-5
    records["ask"] = records["bid"] + 1e-4
    records["flags"] = 6
    records["volume"] = 1
    return records


def tick_group(
    spool: Spool,
    symbol: str,
    sequence: int,
    times_msc: npt.ArrayLike,
    source: str = "terminal",
    utc_offset_ms: int = 0,
) -> Group:
    """Ticks of `symbol` that come next in `spool`."""
    return Group(
        spool.next_ingest,
        RecordKind.TICKS,
        source,
        ("ticks", symbol),
        sequence,
        ticks(times_msc, 1.0 + sequence * 1e-3),
        utc_offset_ms,
        np.zeros(np.size(times_msc), np.uint8),
    )


def deal_group(spool: Spool, sequence: int, tickets: list[int], source: str = "terminal") -> Group:
    """Deals that come next in `spool`."""
    records = np.zeros(len(tickets), DEAL)
    records["ticket"] = tickets
    records["time_msc"] = START_MSC + np.arange(len(tickets))
    records["symbol"] = b"EURUSD"
    records["comment"] = "Käufer".encode()
    return Group(spool.next_ingest, RecordKind.DEALS, source, ("deals",), sequence, records)


def clock_group(spool: Spool, time_msc: int) -> Group:
    """One clock record that comes next in `spool`."""
    records = np.array([(time_msc,)], CLOCK)
    return Group(spool.next_ingest, RecordKind.CLOCK, "daemon", ("clock",), 1, records)


def same(one: Group, other: Group) -> bool:
    return one.encode() == other.encode()


def opened(directory: Path, **settings: object) -> Spool:
    spool = Spool(directory, **settings)  # type: ignore[arg-type]
    spool.recover()
    return spool


def crashed(directory: Path) -> Path:
    """What the disk holds now, as a process killed at this moment would leave it."""
    return shutil.copytree(directory, directory.with_name(directory.name + "-crashed"))


def put(spool: Spool, sequence: int, count: int = 5, symbol: str = "EURUSD") -> Group:
    group = tick_group(spool, symbol, sequence, START_MSC + sequence * 10 + np.arange(count))
    assert spool.append(group)
    return group
