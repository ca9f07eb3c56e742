"""mt5cep: the rule file over an archive, its signals filled by the simulated broker."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np

import cep.backtest
from benchmarks.backtesters.job import POINT, SYMBOL, Job, Trade, serve
from cep.archive import Archive, import_history
from mt5bridge.history import TickBlock
from mt5bridge.records import TICK

RULES = Path(__file__).with_name("crossing.cep")
COLUMNS = ("opened_msc", "open_price", "closed_msc", "close_price", "points")


def archive(job: Job) -> Path:
    return job.folder / "archive"


def prepare(job: Job) -> None:
    """Import the ticks."""
    quotes = job.quotes()
    records = np.zeros(len(quotes), TICK)
    records["time_msc"], records["flags"] = quotes.times_msc, 6
    records["bid"], records["ask"] = quotes.bids, quotes.asks
    import_history(Archive(archive(job)), [TickBlock(SYMBOL, records)])


def run(job: Job, folder: Path) -> list[Trade]:
    """Everything, from the text of the rules and the archive's files to the tables."""
    found = cep.backtest.run(
        RULES,
        folder,
        parameters={"Fast": job.fast, "Slow": job.slow, "Point": POINT},
        point={SYMBOL: POINT},
        streams=["Long", "Flat"],
    )
    closed = found.trades.filter([why == "close" for why in found.trades["reason"].to_pylist()])
    return [
        Trade(*row) for row in zip(*(closed[name].to_pylist() for name in COLUMNS), strict=True)
    ]


if __name__ == "__main__":
    serve(version("mt5cep"), archive, run, prepare)
