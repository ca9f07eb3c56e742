"""The window of rows that follow one another."""

from __future__ import annotations

from cep.plan.expressions import Constant
from cep.plan.signatures import TEXT, Misfit, Parameter, Signature, null, time
from cep.plan.types import Type
from cep.plan.windows.base import Arguments, WindowKind


def _checked(arguments: Arguments) -> Arguments | Misfit:
    gap, _, latency = arguments
    assert isinstance(gap, Constant)
    assert isinstance(latency, Constant)
    if isinstance(gap.value, int) and isinstance(latency.value, int) and latency.value > gap.value:
        message = "the latency of a session is longer than its gap"
        return Misfit(message, "make `latency` at most the gap")
    return arguments


SESSION = WindowKind(
    Signature(
        "session",
        (
            time("gap"),
            Parameter("key", TEXT, "attribute", null(Type.STRING)),
            time("latency", Constant(0, Type.LONG), least=0),
        ),
        "rows that follow one another, per key, until nothing comes for `gap`",
    ),
    "session(5 sec)",
    by="clock",
    clock="key",
    keeps="silence",
    finish=_checked,
)
