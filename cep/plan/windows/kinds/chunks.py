"""The window of the rows that come together."""

from __future__ import annotations

from cep.plan.expressions import Constant
from cep.plan.signatures import Parameter, Signature
from cep.plan.types import Type
from cep.plan.windows.base import WindowKind

BATCH = WindowKind(
    Signature(
        "batch",
        (Parameter("n", (Type.INT,), "constant", Constant(0, Type.INT), least=0),),
        "the rows that come together",
    ),
    "batch()",
    by="chunks",
)
