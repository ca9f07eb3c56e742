"""Windows that end where a condition does."""

from __future__ import annotations

from cep.plan.expressions import Constant
from cep.plan.signatures import TEXT, Parameter, Signature, flag
from cep.plan.types import Type
from cep.plan.windows.base import WindowKind

CONDITION = Parameter("condition", TEXT, "constant or attribute")

EXPRESSION = WindowKind(
    Signature("expression", (CONDITION,), "the newest rows for which the condition holds"),
    "expression('count() < 5')",
    by="condition",
    has_condition=True,
)
EXPRESSION_BATCH = WindowKind(
    Signature(
        "expressionBatch",
        (
            CONDITION,
            Parameter(
                "include_trigger", (Type.BOOL,), "constant or attribute", Constant(False, Type.BOOL)
            ),
            flag("stream_current"),
        ),
        "rows until the condition fails, at a time",
    ),
    "expressionBatch('count() < 5')",
    by="condition",
    has_condition=True,
)
