"""The window of the smallest rows."""

from __future__ import annotations

from collections.abc import Sequence

from cep.plan.expressions import Column, Constant, Expression
from cep.plan.signatures import TEXT, VALUES, Misfit, Parameter, Signature, fit, rows
from cep.plan.types import Type
from cep.plan.windows.base import Arguments, WindowKind

SIZE = rows("n")
HINT = "write `sort(10, price, 'desc', symbol)`: rows to keep, then attributes"


def _read(values: Sequence[Expression], texts: Sequence[str]) -> Arguments | Misfit:
    """Rows to keep, then attributes, each with 'asc' (when nothing is said) or 'desc'."""
    size = fit(Signature(SORT.name, (SIZE,), ""), values[:1])
    if isinstance(size, Misfit):
        return Misfit(size.message, HINT)
    if len(values) < 2:
        return Misfit(f"`{SORT.name}` needs an attribute", HINT)
    result = list(size)
    for place, value in enumerate(values[1:], start=1):
        order = value.value if isinstance(value, Constant) else None
        if isinstance(value, Column):
            result += [value, Constant("asc", Type.STRING)]
        elif str(order).lower() in ("asc", "desc") and isinstance(result[-1], Constant):
            if len(result) == 1:
                return Misfit("an order without its attribute", HINT, place)
            result[-1] = Constant(str(order).lower(), Type.STRING)
        else:
            return Misfit(f"{texts[place]} is no attribute, 'asc' or 'desc'", HINT, place)
    return tuple(result)


SORT = WindowKind(
    Signature(
        "sort",
        (
            SIZE,
            Parameter("attribute", VALUES, "attribute"),
            Parameter("order", TEXT, "constant", repeated=True),
        ),
        "the n smallest rows by attributes, each followed by 'asc' or 'desc'",
    ),
    "sort(5, n, 'asc')",
    by="values",
    read=_read,
)
