"""What an importer yields: ticks of one symbol in server time, and the offset of that time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mt5bridge.records import Records, utc_msc


class HistoryError(Exception):
    """History that cannot be read; the text names file, line and remedy."""


@dataclass(frozen=True, slots=True, eq=False)
class TickBlock:
    """Consecutive ticks of `symbol`; `utc_offset_ms` is server time minus UTC.

    `export` numbers exports that may overlap or go back in time, such as files of one import.
    """

    symbol: str
    ticks: Records
    utc_offset_ms: int = 0
    export: int = 0

    @property
    def utc_msc(self) -> npt.NDArray[np.int64]:
        return utc_msc(self.ticks, self.utc_offset_ms)
