"""What the prices of an archive show of points that nobody has told it."""

from __future__ import annotations

from collections.abc import Iterable

from cep.archive import Archive
from cep.archive.schema import TICKS
from cep.backtest.points import Evidence, evidence
from cep.backtest.selection import Selection
from cep.backtest.simulate import prices_of


def untold_points(archive: Archive, others: Iterable[str] = ()) -> dict[str, Evidence]:
    """Of each symbol with ticks, but for `others`, in the order of their names. Reads the first
    ticks of each.
    """
    told = {one.symbol for one in archive.manifest.specifications if one.told.get("point")}
    told.update(others)
    files = archive.files(TICKS)
    files.sort(key=lambda file: (file.symbol, file.first_ingest, file.path))
    everything = Selection(archive.store.place, tuple(files))
    untold = {name: one for name, one in everything.by_symbol().items() if name not in told}
    return {name: evidence(prices_of(one)) for name, one in untold.items()}
