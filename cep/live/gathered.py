"""Groups of ticks that rules take together, and what of them is the same for whatever rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from cep.engine.kernels.state import Ints
from cep.market import shown_ticks
from mt5bridge.records import TICK, Records
from mt5bridge.spool import Group, RecordKind
from mt5bridge.validate import each

_TIME = (TICK.names or ()).index("time_msc")


class Columns(NamedTuple):
    """Ticks that are shown, an item each."""

    ticks: Records
    times: Ints
    """UTC ms."""
    order: Ints
    """Ingest numbers."""
    places: Ints
    """Of the symbol, among those of `Gathered`."""


class Gathered:
    """Groups of ticks, in order, but for those of which rules are shown nothing.

    `symbols` are theirs, each once, in the order in which they come.
    """

    def __init__(self, groups: Sequence[Group]) -> None:
        self.groups = [group for group in groups if _is_shown(group)]
        self.published = list(dict.fromkeys((one.source, one.stream[1]) for one in self.groups))
        self.symbols = list(dict.fromkeys(symbol for _, symbol in self.published))
        self._place = {symbol: place for place, symbol in enumerate(self.symbols)}
        self._widths = [len(group.records) for group in self.groups]
        self.count = sum(self._widths)
        self.is_whole = not any(len(group.quality) for group in self.groups)
        """Whether all of their ticks are shown."""

    @cached_property
    def rows(self) -> list[tuple[int, int, int, tuple[Any, ...]]]:
        """Of whole groups: ingest number, time in UTC ms, the symbol's place and the tick."""
        return list(self._rows())

    def _rows(self) -> Iterator[tuple[int, int, int, tuple[Any, ...]]]:
        for group in self.groups:
            place, offset_ms = self._place[group.stream[1]], group.utc_offset_ms
            for ingest, tick in enumerate(group.records.tolist(), group.ingest):
                yield ingest, tick[_TIME] - offset_ms, place, tick

    @cached_property
    def columns(self) -> Columns:
        """O(groups) and a few calls of NumPy."""
        groups, widths = self.groups, np.array(self._widths)
        # as bytes: NumPy looks at each field of each array that it is to concatenate
        ticks = np.frombuffer(b"".join([group.records.tobytes() for group in groups]), TICK)
        of_each = np.array(
            [(one.utc_offset_ms, one.ingest, self._place[one.stream[1]]) for one in groups]
        )
        of_each[:, 1] -= widths.cumsum() - widths
        offsets, before, places = of_each.repeat(widths, axis=0).T
        found = Columns(ticks, ticks["time_msc"] - offsets, before + np.arange(len(ticks)), places)
        if self.is_whole:
            return found
        marks = [each(group.quality, len(group.records)) for group in groups]
        kept = shown_ticks(np.concatenate(marks))
        return Columns(*(column[kept] for column in found))


@lru_cache(maxsize=1)
def gathered(groups: tuple[Group, ...]) -> Gathered | None:
    """These groups, if all are of ticks. The rules of several files ask one after another."""
    if all(group.kind is RecordKind.TICKS for group in groups):
        return Gathered(groups)
    return None


def _is_shown(group: Group) -> bool:
    """Whether rules are shown any tick of a group."""
    if not len(group.quality):
        return len(group.records) > 0
    return bool(shown_ticks(group.quality).any())
