"""Archives of what was lived, with watermarks of terminals and ticks that are older than these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from cep.archive import Archive, import_history, ingest_spool
from mt5bridge.history import TickBlock
from mt5bridge.spool import Spool, clock_group
from mt5bridge.spool.group import Told
from tests.backtest.archives import START_MSC, append, deals, with_points
from tests.spool.groups import ticks

RULES = """
define stream Tick (symbol string, bid double, ask double);
define stream Deal (symbol string, lots double);
from Tick#window.time(3 sec) select symbol, bid, count() as n, avg(bid) as m group by symbol
insert into Held;
define engine Main (queue = 10 sec);
define event Seen in Main for each symbol as every Tick[bid > 0.0] repeat allow;
define event Once in Main for each symbol as Tick[bid > 0.0] repeat refresh;
define event Many in Main for each symbol as every Held[n > 1] repeat allow;
define event Filled in Main for each symbol as every Deal[lots > 0.0] repeat allow;
define complex Pair in Main for each symbol as Seen followed by Filled within 4 sec;
define complex Twice in Main for each symbol as Many and Once within 4 sec;
define engine Top (queue = 1 min) from Main;
define complex Wide in Top as Twice('EURUSD') and Twice('GBPUSD') within 20 sec;
"""
PUBLISHED = (("one", "EURUSD"), ("one", "GBPUSD"), ("two", "GBPUSD"), ("two", "USDJPY"))
"""Who publishes what: two terminals have a symbol in common."""

Step = tuple[str, str, Sequence[int]] | tuple[Told, str, int]
"""Ticks (source, symbol, times) or a watermark (what is told, source, time); s after the start."""


def lived(folder: Path, steps: Iterable[Step], name: str = "spool") -> Archive:
    """An archive of `folder` with one more spool, of records that came in this order."""
    spool = Spool(folder / name)
    spool.recover()
    sequences: dict[tuple[str, str], int] = {}
    for number, step in enumerate(steps):
        if isinstance(step[0], Told):
            told, source, at = step
            key = (source if told is not Told.OWN else "", ("clock",))
            at_msc = START_MSC + 1000 * at
            assert spool.append(clock_group(spool.next_ingest, key, number + 1, told, at_msc))
        else:
            source, symbol, times = step
            stream = ("ticks", symbol) if symbol else ("deals",)
            msc = START_MSC + 1000 * np.array(times)
            records = ticks(msc, 1.0 + number / 100) if symbol else deals(number, int(msc[0]))
            append(spool, sequences, source, stream, records)
    spool.commit()
    spool.close()
    archive = Archive(folder / "archive")
    ingest_spool(folder / name, archive, include_open=True)
    return with_points(archive)


def any_life(seed: int, count: int = 80, begin: int = 0) -> list[Step]:
    """Ticks, some of them old, deals, and what two terminals and the daemon tell."""
    random = np.random.default_rng(seed)
    steps: list[Step] = []
    now = begin
    for _ in range(count):
        now += int(random.choice((0, 0, 1, 2, 5)))
        source, symbol = PUBLISHED[int(random.integers(len(PUBLISHED)))]
        late = int(random.choice((0, 0, 1, 3, 6)))
        kind = random.random()
        if kind < 0.55:
            steps.append((source, symbol, [now - late, now]))
        elif kind < 0.62:
            steps.append((source, "", [now]))
        elif kind < 0.9:
            steps.append((Told.COMPLETE, source, now - int(random.choice((0, 0, 2)))))
        else:
            steps.append((Told.AWAY if kind < 0.94 else Told.OWN, source, now))
    return steps


def history(archive: Archive, *, begin: int) -> None:
    """Sorted history beside it, from a time on."""
    times = START_MSC + 1000 * (begin + np.arange(20))
    for symbol in ("EURUSD", "USDJPY"):
        block = TickBlock(symbol, ticks(times))
        import_history(archive, [block], f"import {symbol}", overlap="keep")
