"""The window of the rows between times of a calendar."""

from __future__ import annotations

from cep.plan.cron import why_no_cron
from cep.plan.expressions import Constant
from cep.plan.signatures import TEXT, Misfit, Parameter, Signature
from cep.plan.windows.base import Arguments, WindowKind


def _checked(arguments: Arguments) -> Arguments | Misfit:
    (text,) = arguments
    assert isinstance(text, Constant)
    misfit = why_no_cron(str(text.value))
    return arguments if misfit is None else misfit


CRON = WindowKind(
    Signature(
        "cron", (Parameter("cron", TEXT, "constant"),), "the rows between times of a calendar"
    ),
    "cron('0 0 * * * ?')",
    by="clock",
    clock="one",
    finish=_checked,
)
