"""The error of a product by the processor's fused multiply-add, where plain Python takes halves.

Both give the very same number wherever the product is neither near the largest double nor so small
that its error is none; there machine code takes halves, too. So a product and its error cost two
instructions, not seventeen, and a row of a window's mean and deviation a seventh less.
Source: Ogita, Rump, Oishi, "Accurate sum and dot product" (2005), algorithms 3.3 and 3.5.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic, overload, register_jitable

from cep.plan.functions import pairs

LARGEST, SMALLEST = 2.0**1000, 2.0**-900

_by_halves = register_jitable(pairs.error_by_halves)


@intrinsic
def fused(context: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), build


@overload(pairs.product_error)
def _product_error(a: Any, b: Any, p: Any) -> Any:
    def product_error(a: Any, b: Any, p: Any) -> Any:
        if SMALLEST < abs(p) < LARGEST:
            return fused(a, b, -p)
        return _by_halves(a, b, p)

    return product_error


OVERLOADED = frozenset([pairs.product_error])
"""Functions that kernels call as they are: compiled code has its own of them."""
