"""What a rule file must put out: references by name, and the comparison with what it puts out."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks.trader.market import Market

Compute = Callable[[Market], pd.DataFrame]
RELATIVE = 1e-9
LEAST = 1e-12
"""How far differences of means next to nothing may be off: a last digit of a price of gold."""
REFERENCES: dict[str, Reference] = {}


@dataclass(frozen=True)
class Reference:
    """How a rule file's output is computed without it.

    `stream` is what the file puts out. `rounded` names the columns that are means and the like,
    compared to 1e-9 of their size or `LEAST`; the others must be equal.
    """

    stream: str
    compute: Compute
    rounded: Collection[str]


def reference(stream: str, *rounded: str) -> Callable[[Compute], Compute]:
    """Makes a function the reference of the rule file of its name."""

    def taken(compute: Compute) -> Compute:
        REFERENCES[compute.__name__] = Reference(stream, compute, rounded)
        return compute

    return taken


def difference(wanted: pd.DataFrame, found: pd.DataFrame, rounded: Collection[str]) -> str:
    """Where two outputs differ first, in words; nothing where they are the same.

    Rows of one time and symbol stand in their order; that of symbols in one ms is not compared.
    """
    wanted, found = _ordered(wanted), _ordered(found.reindex(columns=wanted.columns))
    for name in wanted.columns:
        n = min(len(wanted), len(found))
        same = _same(wanted[name][:n], found[name][:n], name in rounded)
        if not same.all():
            row = int(np.argmin(same))
            return (
                f"{name} is {found[name][row]!r} and not {wanted[name][row]!r}: row {row} is\n"
                f"{found.iloc[row].to_dict()}, to be\n{wanted.iloc[row].to_dict()}"
            )
    return "" if len(wanted) == len(found) else f"{len(found)} rows, to be {len(wanted)}"


def _ordered(frame: pd.DataFrame) -> pd.DataFrame:
    keys = [name for name in ("time_msc", "symbol", "key") if name in frame.columns]
    return frame.sort_values(keys, kind="stable", ignore_index=True)


def _same(wanted: pd.Series, found: pd.Series, is_rounded: bool) -> np.ndarray:
    if is_rounded:
        a, b = wanted.to_numpy(np.float64), found.to_numpy(np.float64)
        return np.asarray(np.isclose(a, b, rtol=RELATIVE, atol=LEAST, equal_nan=True))
    return np.asarray((wanted == found) | (wanted.isna() & found.isna()))
