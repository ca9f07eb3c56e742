"""Windows of the rows with the most frequent values."""

from __future__ import annotations

from cep.plan.expressions import Constant
from cep.plan.signatures import VALUES, Misfit, Parameter, Signature, null, rows
from cep.plan.types import Type
from cep.plan.windows.base import Arguments, WindowKind

ATTRIBUTES = Parameter("attribute", VALUES, "attribute", repeated=True)


def _with_error(arguments: Arguments) -> Arguments | Misfit:
    """A tenth of the share where nothing is said; both are parts of one."""
    share, error, *attributes = arguments
    assert isinstance(share, Constant)
    assert isinstance(error, Constant)
    if error.value is None:
        error = Constant(float(share.value or 0) / 10, Type.DOUBLE)
    for place, (what, constant) in enumerate((("support", share), ("error", error))):
        if not 0 < float(constant.value or 0) <= 1:
            message = f"`{what}` of `lossyFrequent` is a share: more than 0, at most 1"
            return Misfit(message, "for example `lossyFrequent(0.1, 0.01)`", place)
    return (share, error, *attributes)


FREQUENT = WindowKind(
    Signature("frequent", (rows("n"), ATTRIBUTES), "the rows of the n most frequent values"),
    "frequent(5, k)",
    by="values",
)
LOSSY_FREQUENT = WindowKind(
    Signature(
        "lossyFrequent",
        (
            Parameter("support", (Type.DOUBLE,), "constant", least=0),
            Parameter("error", (Type.DOUBLE,), "constant", null(Type.DOUBLE)),
            ATTRIBUTES,
        ),
        "the rows of values with at least that share of all",
    ),
    "lossyFrequent(0.1, 0.01, k)",
    by="values",
    finish=_with_error,
)
