"""Constants of the rules as cells of the state: rules that differ in numbers alone are one module.

A changed threshold compiles nothing then. What stays in the source is null, true and false, and the
codes of texts, which number the texts of a file in order.
"""

from __future__ import annotations

from collections.abc import Callable

from cep.engine.layout import Layout


class Constants:
    """Hands out a cell for each number, anew at each place: equal ones may differ tomorrow."""

    def __init__(self, layout: Layout, code_of: Callable[[str], int]) -> None:
        self.code_of = code_of
        self._layout = layout

    def whole(self, value: int) -> str:
        """Source that reads a whole number of 64 bits."""
        with self._layout.owned(form="constant"):  # nobody's: other rules have their own
            column = self._layout.int_columns("global", 1)
        self._layout.constants[False, column] = value
        return f"gi[0, {column}]"

    def real(self, value: float) -> str:
        """Source that reads a double."""
        with self._layout.owned(form="constant"):
            column = self._layout.float_columns("global", 1)
        self._layout.constants[True, column] = value
        return f"gf[0, {column}]"
