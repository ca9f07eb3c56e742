"""Logarithms, powers and angles, in the namespace `math`.

Libraries differ in their last digit: they are left to the plain definition wherever that can be
called.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from cep.plan.functions.base import Make, Scalar
from cep.plan.functions.ieee import ieee
from cep.plan.functions.native import Kernel, Source
from cep.plan.functions.parameters import X, Y
from cep.plan.functions.sql import Never
from cep.plan.signatures import NUMBER, Parameter, Signature
from cep.plan.types import Type

DIGITS = Never("the last digits of PostgreSQL's differ from ours")


def _logarithm(np: Any) -> Callable[..., Any]:
    return lambda value, base: np.divide(np.log(value), np.log(base))


def sine(value: float) -> float:
    return math.nan if math.isinf(value) else math.sin(value)


def cosine(value: float) -> float:
    return math.nan if math.isinf(value) else math.cos(value)


def _math(
    name: str, doc: str, plain: Make, *more: Parameter, kernel: Kernel | None = None
) -> Scalar:
    """`kernel`: what computes the same bits. NumPy takes sines and cosines from the C library, as
    compiled code does; of all others it has its own, where the processor allows it.
    """
    signature = Signature(f"math:{name}", (X, *more), doc, Type.DOUBLE)
    native = None
    if kernel is not None:
        called = kernel.__name__
        native = Source(lambda call: f"{called}({call.double(0)})", (kernel,))
    return Scalar(signature, plain, native, {"postgresql": DIGITS})


CBRT = _math("cbrt", "the cube root", ieee(lambda np: np.cbrt))
EXP = _math("exp", "e to the power of x", ieee(lambda np: np.exp))
LN = _math("ln", "the natural logarithm", ieee(lambda np: np.log))
LOG = _math("log", "the logarithm to a base", ieee(_logarithm), Parameter("base", NUMBER))
LOG2 = _math("log2", "the logarithm to base 2", ieee(lambda np: np.log2))
LOG10 = _math("log10", "the logarithm to base 10", ieee(lambda np: np.log10))
POWER = _math("power", "x to the power of y", ieee(lambda np: np.power), Y)
SIN = _math("sin", "the sine of an angle in radians", ieee(lambda np: np.sin), kernel=sine)
COS = _math("cos", "the cosine of an angle in radians", ieee(lambda np: np.cos), kernel=cosine)
TAN = _math("tan", "the tangent of an angle in radians", ieee(lambda np: np.tan))
ASIN = _math("asin", "the angle of a sine", ieee(lambda np: np.arcsin))
ACOS = _math("acos", "the angle of a cosine", ieee(lambda np: np.arccos))
ATAN = _math("atan", "the angle of a tangent", ieee(lambda np: np.arctan))
