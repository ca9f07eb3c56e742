"""Functions of doubles as IEEE has them: infinities instead of errors, null instead of NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cep.plan.expressions import Call
from cep.plan.functions.base import Evaluate, Make, Setting, strict
from cep.plan.numbers import real


def ieee(choose: Callable[[Any], Callable[..., Any]]) -> Make:
    """The function of doubles that is chosen from NumPy, which is told when it is needed."""

    def make(node: Call, arguments: list[Evaluate], setting: Setting) -> Evaluate:
        import numpy as np  # only what is evaluated needs it, and it takes long

        function = choose(np)

        def apply(*values: float) -> float | None:
            with np.errstate(all="ignore"):
                return real(float(function(*[np.float64(value) for value in values])))

        return strict(apply)(node, arguments, setting)

    return make
