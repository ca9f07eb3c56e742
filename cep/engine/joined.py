"""Raw output in several pieces as one, with one list of values for all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cep.engine.kernels.state import OUT_ATTRIBUTES, OUT_STREAM
from cep.engine.layout import StreamIds
from cep.engine.output_rows import OutputRows
from cep.plan.nodes import Plan

Masks = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""By stream id: whether rows are complex events, and whether they are wide ones."""


def with_lists(plan: Plan, ids: StreamIds) -> Masks:
    """Which rows have a place in the lists among their attributes."""
    complex_, wide = np.zeros((2, len(ids)), np.bool_)
    complexes = {found.name for found in plan.complexes}
    for number, name in ids.names(turns=True).items():
        complex_[number] = name in complexes
    wide[list(ids.wide)] = True
    return complex_, wide


def joined(masks: Masks, parts: Sequence[OutputRows]) -> OutputRows:
    """Parts, at least one, one behind the other; places in the lists are those in all of them."""
    offset, moved = 0, []
    for part in parts:
        ints = part.ints
        if offset and len(ints):
            ints = ints.copy()
            for mask, column in zip(masks, (OUT_ATTRIBUTES + 2, OUT_ATTRIBUTES), strict=True):
                rows = mask[ints[:, OUT_STREAM]]
                if rows.any():  # else there may be no such column
                    ints[rows, column] += offset
        moved.append(ints)
        offset += len(part.lists)
    return OutputRows(
        np.concatenate(moved),
        np.concatenate([part.floats for part in parts]),
        np.concatenate([part.lists for part in parts]),
    )
