"""Ticks that come more than once: in an import, and in one beside what the archive has."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cep.archive.parts import int64
from mt5bridge.records import Records

Overlap: TypeAlias = Literal["refuse", "new", "keep"]
"""What becomes of times that the archive, or an earlier export of the import, covers already: they
are refused, only what is new there is taken, or all is, and may be there twice."""

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Keys = npt.NDArray[np.void]
_SAME = ("bid", "ask", "last", "volume_real")
"""What ticks of one time have in common that are the same tick."""


def tick_keys(times_msc: Ints, ticks: Records) -> Keys:
    """A key for each tick, equal where time, prices and volume are."""
    return _keys(times_msc, {name: ticks[name] for name in _SAME})


def table_keys(table: pa.Table) -> Keys:
    """The same for archived rows."""
    return _keys(int64(table, "time_msc"), {name: table[name].to_numpy() for name in _SAME})


def _keys(times_msc: Ints, values: dict[str, npt.NDArray[np.float64]]) -> Keys:
    rows = np.empty(len(times_msc), [("time_msc", np.int64), *((n, np.float64) for n in _SAME)])
    rows["time_msc"] = times_msc
    for name in _SAME:
        rows[name] = values[name] + 0.0  # -0.0 is 0.0, which bytes are not
    return rows.view(f"V{rows.dtype.itemsize}")


def repeats(there: Keys, ticks: Keys) -> Mask:
    """Which ticks are archived as often as they came so far; O(n log n).

    A market may quote the same price several times in a millisecond. So a tick that the archive has
    n times, and an export m times, is there max(n, m) times afterwards: the first n of the export
    are repeats.
    """
    _, codes = np.unique(np.concatenate([there, ticks]), return_inverse=True)
    known, codes = codes[: len(there)], codes[len(there) :]
    counts = np.bincount(known, minlength=len(there) + len(ticks))
    found: Mask = _occurrences(codes) < counts[codes]
    return found


def _occurrences(codes: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """How often each code came before in its own array."""
    order = np.argsort(codes, kind="stable")
    ranks = np.arange(len(codes))
    is_first = np.diff(codes[order], prepend=-1) != 0
    result = np.empty(len(codes), np.intp)
    result[order] = ranks - np.maximum.accumulate(np.where(is_first, ranks, 0))
    return result


def repeated(there: Keys, ticks: Keys) -> int:
    """How many ticks the archive has too."""
    return int(np.count_nonzero(np.isin(ticks, there)))


def doubled(times_msc: Ints, ticks: Records) -> int:
    """How many ticks, sorted by time, came before in the same import."""
    same = np.flatnonzero(times_msc[1:] == times_msc[:-1])
    shared = np.union1d(same, same + 1)  # all others have a time of their own, and need no key
    return len(shared) - len(np.unique(tick_keys(times_msc[shared], ticks[shared])))
