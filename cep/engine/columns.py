"""Values of a column, however it is given, as an array of what cells hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set, Sized
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cep.engine.kernels.scalar import NULL
from cep.engine.strings import one_chunk
from cep.interpreter.arrow import inferred
from cep.plan.types import Type

Column: TypeAlias = pa.Array | pa.ChunkedArray | NDArray[Any] | Sequence[Any]
ARRAYS = (pa.ChunkedArray, pa.Array, np.ndarray)
REALS, WHOLES = (Type.FLOAT, Type.DOUBLE), (Type.INT, Type.LONG)


def is_column(column: Any) -> bool:
    """Whether it has one value for each row."""
    if isinstance(column, ARRAYS):  # the usual ones, found in a tenth of the time
        return True
    is_one_value = isinstance(column, str | bytes | Mapping | Set)
    return not is_one_value and isinstance(column, Sized) and isinstance(column, Iterable)


def numbers(type_: Type, column: Column) -> NDArray[Any]:
    """Numbers, times or truths: int64 with `NULL`, or float64, of which some may not be finite.

    ValueError, TypeError, OverflowError or one of Arrow's for a column of another type.
    """
    if isinstance(column, np.ndarray) and column.ndim != 1:
        raise ValueError(f"an array of {column.ndim} dimensions")
    if isinstance(column, np.ndarray) and column.dtype.kind in "iufb":
        return np.ascontiguousarray(_from_numpy(type_, column))
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return _from_arrow(type_, column)
    return _from_arrow(type_, inferred(type_, column))


def texts(column: Column) -> pa.Array | pa.ChunkedArray:
    """A column of texts as Arrow has it; ValueError for another."""
    array = column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(column)
    if not _is_text(array.type):
        raise ValueError(f"a column of {array.type}")
    return array


def finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same with nothing for what is not finite."""
    is_finite = np.isfinite(values)
    return values if is_finite.all() else np.where(is_finite, values, np.nan)


def _is_text(type_: pa.DataType) -> bool:
    if pa.types.is_dictionary(type_):
        return _is_text(type_.value_type)
    text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return pa.types.is_null(type_) or any(is_text(type_) for is_text in text)


def _from_numpy(type_: Type, column: NDArray[Any]) -> NDArray[Any]:
    if type_ in REALS:
        if type_ is Type.FLOAT:
            with np.errstate(over="ignore"):  # what is beyond its largest is not finite, then
                column = column.astype(np.float32)
        return column.astype(np.float64, copy=False)
    if column.dtype.kind == "f":
        raise ValueError("a fractional column")
    if type_ is Type.BOOL:
        return (column != 0).astype(np.int64)
    _need_bits(column, 32 if type_ is Type.INT else 64)
    return column.astype(np.int64, copy=False)


def _need_bits(column: NDArray[Any], bits: int) -> None:
    largest = 2 ** (bits - 1) - 1
    if column.dtype.kind == "i" and 8 * column.dtype.itemsize <= bits:
        return
    if len(column) and not -largest - 1 <= int(column.min()) <= int(column.max()) <= largest:
        raise ValueError(f"a value beyond {bits} bits")


def _is_plain(type_: Type, column: pa.Array) -> bool:
    """Whether the very memory of a column has its numbers as NumPy reads them."""
    if column.null_count:
        return False
    is_real = type_ in REALS and pa.types.is_float64(column.type)
    return is_real or (type_ in WHOLES and pa.types.is_signed_integer(column.type))


def _from_arrow(type_: Type, column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    column = one_chunk(column)
    if _is_plain(type_, column):
        return _from_numpy(type_, column.to_numpy())
    if _is_text(column.type) and not pa.types.is_null(column.type):  # Arrow would read them
        wanted = "True and False" if type_ is Type.BOOL else "numbers"
        raise ValueError(f"a column of texts; give {wanted}")
    if pa.types.is_temporal(column.type) and column.type != pa.timestamp("ms", column.type.tz):
        raise ValueError(f"a column of {column.type}; give times as ms UTC, whole numbers")
    if type_ in REALS:
        return _from_numpy(type_, column.cast(pa.float64()).to_numpy(zero_copy_only=False))
    null = column.is_null().to_numpy(zero_copy_only=False)
    whole = column.cast(pa.bool_() if type_ is Type.BOOL else pa.int64()).cast(pa.int64())
    filled = whole.fill_null(NULL).to_numpy(zero_copy_only=False).astype(np.int64)
    if type_ is Type.INT:
        _need_bits(filled[~null], 32)
    return filled
