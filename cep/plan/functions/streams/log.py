"""What writes rows to the log."""

from __future__ import annotations

from cep.plan.expressions import Constant
from cep.plan.signatures import TEXT, TRUTH, Parameter, Signature, null
from cep.plan.types import Type

PRIORITIES = ("info", "debug", "warn", "error", "fatal", "off", "trace")

LOG = Signature(
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
)
