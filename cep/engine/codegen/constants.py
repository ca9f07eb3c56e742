"""Constants of the rules as cells of the state: rules that differ in numbers alone are one module.

A changed threshold compiles nothing then. What stays in the source is null, true and false, and the
codes of texts, which number the texts of a file in order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cep.engine.layout import Layout, is_float
from cep.plan.types import Type


class Constants:
    """Hands out a cell for each number, anew at each place: equal ones may differ tomorrow."""

    def __init__(self, layout: Layout, code_of: Callable[[str], int]) -> None:
        self.code_of = code_of
        self._layout = layout

    def source(self, value: str | float, type_: Type) -> str:
        """Source of a constant of this type that is not null."""
        if isinstance(value, str):
            return str(self.code_of(value))
        if type_ is Type.BOOL:
            return str(int(value))
        if not is_float(type_):
            return self.whole(int(value))
        return self._real(float(np.float32(value) if type_ is Type.FLOAT else value))

    def whole(self, value: int) -> str:
        """Source that reads a whole number of 64 bits."""
        with self._layout.owned(form="constant"):  # nobody's: other rules have their own
            column = self._layout.int_columns("global", 1)
        self._layout.constants[False, column] = value
        return f"gi[0, {column}]"

    def _real(self, value: float) -> str:
        """Source that reads a double."""
        with self._layout.owned(form="constant"):
            column = self._layout.float_columns("global", 1)
        self._layout.constants[True, column] = value
        return f"gf[0, {column}]"
