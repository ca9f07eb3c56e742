"""Values of Python into the cells of rows: what `cep.engine.rows.Decoder` reads, written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import Ints
from cep.engine.layout import Cell
from cep.engine.strings import Strings
from cep.plan.types import Attribute, Type


def write_cells(
    cells: Iterable[tuple[Attribute, Cell]],
    columns: Sequence[Sequence[Any]],
    places: Ints,
    ints: Ints,
    floats: NDArray[np.float64],
    strings: Strings,
    objects: list[Any],
) -> None:
    """Put columns of rows of one stream into their cells; objects go behind `objects`."""
    for (attribute, cell), column in zip(cells, columns, strict=True):
        if cell.is_float:
            floats[places, cell.column] = [_number(value, np.nan) for value in column]
        elif attribute.type is Type.STRING:
            ints[places, cell.column] = [
                strings.code(value if isinstance(value, str) else None) for value in column
            ]
        elif attribute.type in (Type.OBJECT, Type.LIST):
            first = len(objects)
            objects.extend(column)
            ints[places, cell.column] = np.arange(first, len(objects))
        else:
            ints[places, cell.column] = [_number(value, NULL) for value in column]


def _number(value: Any, null: float) -> float:
    """A value's cell; null too for what `cast` only says is a number."""
    return value if isinstance(value, int | float) else null
