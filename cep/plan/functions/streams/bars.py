"""Bars: a row for each finished one, with the attributes of its last row and those of the bar."""

from __future__ import annotations

from cep.plan.signatures import NUMBER, Parameter, Signature, rows, time
from cep.plan.types import Type

BAR = (
    ("open", Type.DOUBLE),
    ("high", Type.DOUBLE),
    ("low", Type.DOUBLE),
    ("close", Type.DOUBLE),
    ("bar_volume", Type.DOUBLE),
    ("bar_ticks", Type.LONG),
    ("start_msc", Type.LONG),
)


def _bars(name: str, size: Parameter, doc: str) -> Signature:
    parameters = (Parameter("price", NUMBER), Parameter("volume", NUMBER), size)
    return Signature(name, parameters, doc, added=BAR, stateful=True)


TIME = _bars("bars:time", time("size"), "bars of a fixed time, aligned to multiples of it")
TICKS = _bars("bars:ticks", rows("n"), "bars of n rows")
VOLUME = _bars(
    "bars:volume",
    Parameter("size", NUMBER, "constant", least=0),
    "bars that end with the row by which their volume reaches `size`",
)
