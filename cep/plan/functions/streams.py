"""Stream functions: `#name(..)` behind a stream, adding attributes to each row.

Bars give one row for each finished bar: the attributes of its last row and those of the bar.
"""

from __future__ import annotations

from cep.plan.expressions import Constant
from cep.plan.signatures import NUMBER, TEXT, TRUTH, Parameter, Signature, null, rows, time
from cep.plan.types import Type

X = Parameter("x", NUMBER)
PRICE = Parameter("price", NUMBER)
VOLUME = Parameter("volume", NUMBER)
PRIORITIES = ("info", "debug", "warn", "error", "fatal", "off", "trace")
DOUBLE = Type.DOUBLE
BAR = (
    ("open", DOUBLE),
    ("high", DOUBLE),
    ("low", DOUBLE),
    ("close", DOUBLE),
    ("bar_volume", DOUBLE),
    ("bar_ticks", Type.LONG),
    ("start_msc", Type.LONG),
)


def _bars(name: str, size: Parameter, doc: str) -> Signature:
    return Signature(f"bars:{name}", (PRICE, VOLUME, size), doc, added=BAR, stateful=True)


STREAM_FUNCTIONS = (
    Signature(
        "log",
        (
            Parameter("priority", TEXT, "constant", null(Type.STRING), choices=PRIORITIES),
            Parameter("message", TEXT, default=null(Type.STRING)),
            Parameter("is_row_logged", TRUTH, default=Constant(True, Type.BOOL)),
        ),
        "writes each row to the log",
        overloads=(
            (),
            ("message",),
            ("is_row_logged",),
            ("message", "is_row_logged"),
            ("priority", "message"),
            ("priority", "message", "is_row_logged"),
        ),
    ),
    Signature(
        "pol2Cart",
        (
            Parameter("theta", NUMBER),
            Parameter("rho", NUMBER),
            Parameter("z", NUMBER, default=null(DOUBLE)),
        ),
        "the point of an angle in degrees and a radius",
        added=(("x", DOUBLE), ("y", DOUBLE), ("z", DOUBLE)),
    ),
    Signature(
        "bollinger",
        (X, rows("n"), Parameter("k", NUMBER, "constant", Constant(2.0, DOUBLE), least=0)),
        "the mean of the last n and k standard deviations around it",
        added=(("upper", DOUBLE), ("middle", DOUBLE), ("lower", DOUBLE)),
        stateful=True,
    ),
    Signature(
        "macd",
        (X, rows("fast"), rows("slow"), rows("smooth")),
        "the distance of two exponential means, its own mean, and what is between them",
        added=(("macd", DOUBLE), ("signal", DOUBLE), ("histogram", DOUBLE)),
        stateful=True,
    ),
    _bars("time", time("size"), "bars of a fixed time, aligned to multiples of it"),
    _bars("ticks", rows("n"), "bars of n rows"),
    _bars(
        "volume",
        Parameter("size", NUMBER, "constant", least=0),
        "bars that end with the row by which their volume reaches `size`",
    ),
)
"""Every stream function."""
