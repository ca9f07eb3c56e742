"""Windows of the last time, by the clock of the rules."""

from __future__ import annotations

from cep.plan.signatures import WHOLE, Parameter, Signature, flag, null, rows, time
from cep.plan.types import Type
from cep.plan.windows.base import WindowKind

TIME = WindowKind(
    Signature("time", (time("t"),), "the rows of the last time t"),
    "time(5 sec)",
    by="clock",
    clock="groups",
    apart="aggregates",
    keeps="age",
    leaves_singly=True,
)
TIME_BATCH = WindowKind(
    Signature(
        "timeBatch",
        (
            time("t"),
            Parameter("start", WHOLE, "constant", null(Type.LONG)),
            flag("stream_current"),
        ),
        "the rows of each time t, from the first row or aligned to `start`",
        overloads=(
            ("t",),
            ("t", "start"),
            ("t", "stream_current"),
            ("t", "start", "stream_current"),
        ),
    ),
    "timeBatch(5 sec)",
    by="clock",
    clock="one",
    keeps="batches",
)
TIME_LENGTH = WindowKind(
    Signature("timeLength", (time("t"), rows("n", least=0)), "the last n rows of the last time t"),
    "timeLength(5 sec, 5)",
    by="rows and clock",
    clock="one",
    keeps="age",
    leaves_singly=True,
)
DELAY = WindowKind(
    Signature("delay", (time("t", least=0),), "rows, a time t later"),
    "delay(5 sec)",
    by="clock",
    clock="groups",
    keeps="age",
)
TIME_JUMP = WindowKind(
    Signature(
        "timeJump",
        (time("t"), time("jump")),
        "the rows of the last time t, given up a `jump` at a time",
    ),
    "timeJump(5 sec, 1 sec)",
    by="clock",
    clock="one",
    keeps="age",
)
HOPPING = WindowKind(
    Signature("hopping", (time("size"), time("hop")), "every `hop`, the rows of the last `size`"),
    "hopping(5 sec, 1 sec)",
    by="clock",
    clock="one",
)
