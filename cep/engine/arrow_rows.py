"""Output rows as columns of Arrow, which no value of theirs becomes a Python object for.

Only texts are, once each, and what Arrow has no column of numbers for: lists and objects.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.engine.kernels.scalar import NULL
from cep.engine.kernels.state import OUT_ATTRIBUTES, OUT_KEY, Ints
from cep.engine.layout import attribute_cells, is_float
from cep.engine.rows import Decoder, Rows
from cep.plan.nodes import Origin, Stream
from cep.plan.types import Type


def arrow_columns(rows: Rows, stream: Stream, places: Ints, schema: pa.Schema) -> list[pa.Array]:
    """The attributes of a stream's rows at `places`, of the types that `schema` has by their names.

    Null is what `Rows.dicts` has None for. O(rows).
    """
    types = [schema.field(name).type for name in stream.schema.names]
    decoder = rows.decoder
    if stream.origin is Origin.EVENT:
        codes = np.array(decoder.key_codes)[rows.ints[places, OUT_KEY]]
        numbers = [rows.ints[places, OUT_ATTRIBUTES + place] for place in range(2)]
        values = [_texts(decoder, codes), *map(pa.array, numbers)]
        return [value.cast(type_) for value, type_ in zip(values, types, strict=True)]
    if stream.origin is Origin.COMPLEX:
        columns = decoder.columns(stream, rows, places)
        return [pa.array(column, type_) for column, type_ in zip(columns, types, strict=True)]
    found = []
    for (attribute, cell), type_ in zip(attribute_cells(stream.schema), types, strict=True):
        cells = (rows.floats if cell.is_float else rows.ints)[places, cell.column]
        found.append(_column(rows, attribute.type, cells, type_))
    return found


def _column(rows: Rows, type_: Type, cells: NDArray[Any], arrow: pa.DataType) -> pa.Array:
    if type_ is Type.STRING:
        return _texts(rows.decoder, cells)
    if type_ in (Type.OBJECT, Type.LIST):
        return pa.array(rows.decoder.decoded(type_, cells, rows.objects), arrow)
    if is_float(type_):
        return pa.array(cells, mask=~np.isfinite(cells)).cast(arrow, safe=False)
    values = cells != 0 if type_ is Type.BOOL else cells
    return pa.array(values, mask=cells == NULL).cast(arrow, safe=False)


def _texts(decoder: Decoder, codes: Ints) -> pa.Array:
    """Each text is looked up once."""
    if len(codes) and codes.min() >= 0 and codes.max() < 4 * len(codes):  # no need to sort them
        is_known = np.bincount(codes) > 0
        known, places = np.flatnonzero(is_known), (np.cumsum(is_known) - 1)[codes]
    else:
        known, places = np.unique(codes, return_inverse=True)
    return pa.array(decoder.strings.texts(known.tolist()), pa.string()).take(pa.array(places))
