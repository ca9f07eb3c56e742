"""The windows there are."""

from __future__ import annotations

from cep.plan.expressions import Constant
from cep.plan.signatures import (
    TEXT,
    VALUES,
    WHOLE,
    Parameter,
    Signature,
    flag,
    null,
    rows,
    time,
)
from cep.plan.types import Type

TIMESTAMP = Parameter("timestamp", (Type.LONG,), "attribute")
START = Parameter("start", WHOLE, "constant", null(Type.LONG))
ATTRIBUTES = Parameter("attribute", VALUES, "attribute", repeated=True)
CONDITION = Parameter("condition", TEXT, "constant or attribute")
STREAM_CURRENT = flag("stream_current")
SHARE = Parameter("support", (Type.DOUBLE,), "constant", least=0)

WINDOWS = (
    Signature("length", (rows("n", least=0),), "the last n rows"),
    Signature(
        "lengthBatch",
        (rows("n", least=0), STREAM_CURRENT),
        "n rows at a time",
        overloads=(("n",), ("n", "stream_current")),
    ),
    Signature("time", (time("t"),), "the rows of the last time t"),
    Signature(
        "timeBatch",
        (time("t"), START, STREAM_CURRENT),
        "the rows of each time t, from the first row or aligned to `start`",
        overloads=(
            ("t",),
            ("t", "start"),
            ("t", "stream_current"),
            ("t", "start", "stream_current"),
        ),
    ),
    Signature("timeLength", (time("t"), rows("n", least=0)), "the last n rows of the last time t"),
    Signature("externalTime", (TIMESTAMP, time("t")), "`time` by an attribute's clock"),
    Signature(
        "externalTimeBatch",
        (
            TIMESTAMP,
            time("t"),
            Parameter("start", WHOLE, "constant or attribute", null(Type.LONG)),
            time("timeout", null(Type.LONG), least=0),
            flag("replace_timestamp"),
        ),
        "`timeBatch` by an attribute's clock",
    ),
    Signature(
        "sort",
        (
            rows("n"),
            Parameter("attribute", VALUES, "attribute"),
            Parameter("order", TEXT, "constant", repeated=True),
        ),
        "the n smallest rows by attributes, each followed by 'asc' or 'desc'",
    ),
    Signature("frequent", (rows("n"), ATTRIBUTES), "the rows of the n most frequent values"),
    Signature(
        "lossyFrequent",
        (SHARE, Parameter("error", (Type.DOUBLE,), "constant", null(Type.DOUBLE)), ATTRIBUTES),
        "the rows of values with at least that share of all",
    ),
    Signature(
        "cron", (Parameter("cron", TEXT, "constant"),), "the rows between times of a calendar"
    ),
    Signature(
        "batch",
        (Parameter("n", (Type.INT,), "constant", Constant(0, Type.INT), least=0),),
        "the rows that come together",
    ),
    Signature(
        "session",
        (
            time("gap"),
            Parameter("key", TEXT, "attribute", null(Type.STRING)),
            time("latency", Constant(0, Type.LONG), least=0),
        ),
        "rows that follow one another, per key, until nothing comes for `gap`",
    ),
    Signature("delay", (time("t", least=0),), "rows, a time t later"),
    Signature("expression", (CONDITION,), "the newest rows for which the condition holds"),
    Signature(
        "expressionBatch",
        (
            CONDITION,
            Parameter(
                "include_trigger", (Type.BOOL,), "constant or attribute", Constant(False, Type.BOOL)
            ),
            STREAM_CURRENT,
        ),
        "rows until the condition fails, at a time",
    ),
    Signature(
        "timeJump",
        (time("t"), time("jump")),
        "the rows of the last time t, given up a `jump` at a time",
    ),
    Signature(
        "lengthJump",
        (rows("n"), rows("jump"), Parameter("key", VALUES, "attribute", repeated=True)),
        "the last n rows, of each key, given up a `jump` at a time",
        overloads=(("n", "jump"), ("n", "jump", "key")),
    ),
    Signature("hopping", (time("size"), time("hop")), "every `hop`, the rows of the last `size`"),
)
"""Every window; arguments of the plan stand in the order of these parameters."""

_BY_NAME = {signature.name.lower(): signature for signature in WINDOWS}
BATCHING = frozenset(
    {
        "lengthBatch", "timeBatch", "externalTimeBatch", "cron", "batch", "expressionBatch",
        "hopping",
    }
)  # fmt: skip
"""Windows that give their rows a batch at a time."""


def window_signature(name: str) -> Signature | None:
    """A window by name; case does not matter."""
    return _BY_NAME.get(name.lower())
