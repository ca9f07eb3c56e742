"""Constants of a family as arrays of the generated module."""

from __future__ import annotations

from collections.abc import Sequence

from cep.engine.codegen.constants import Constants
from cep.engine.codegen.writer import Writer
from cep.engine.layout import is_float
from cep.plan.families import PARAMETER, Family


class Tables:
    """Constants of a family as arrays of the module; those of a family of one are in the state."""

    def __init__(self, stem: str, constants: Constants) -> None:
        self.stem = stem
        self.code_of = constants.code_of
        self._constants = constants
        self._arrays: dict[str, tuple[list[object], bool]] = {}

    def array(self, suffix: str, values: Sequence[object], as_float: bool = False) -> str:
        """Keep numbers (or rows of numbers) as an array; its name in the source."""
        name = f"{self.stem}{suffix}"
        self._arrays[name] = ([self._stored(value) for value in values], as_float)
        return name

    def parameters(self, family: Family, row: str, suffix: str = "") -> dict[tuple[int, int], str]:
        """The source of each parameter of the member number `row`."""
        cells = {}
        for index, type_ in enumerate(family.types):
            values = [constants[index] for constants in family.constants]
            if len(values) == 1:
                cells[PARAMETER, index] = self._constants.source(values[0], type_)
                continue
            name = self.array(f"C{suffix}{index}", values, is_float(type_))
            cells[PARAMETER, index] = f"{name}[{row}]"
        return cells

    def _stored(self, value: object) -> object:
        return self.code_of(value) if isinstance(value, str) else value

    def write(self, w: Writer) -> None:
        """The arrays as constants of the module."""
        for name, (values, as_float) in self._arrays.items():
            w(f"{name} = np.array({values}, np.{'float64' if as_float else 'int64'})")
