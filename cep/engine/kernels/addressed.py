"""Arrays at an address: how a kernel gets at a state it was not handed over."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array


def _array_at(dtype: Any, dimensions: int) -> Any:
    """A kernel function: the C-ordered array at an address, of the shape given."""
    array_type = types.Array(dtype, dimensions, "C")

    @intrinsic
    def array_at(context: Any, address: Any, shape: Any) -> Any:
        def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = target.make_array(array_type)(target, builder)
            shape = cgutils.unpack_tuple(builder, arguments[1], dimensions)
            size = target.get_constant(types.intp, 8)
            strides = [size]
            for length in reversed(shape[1:]):
                strides.insert(0, builder.mul(strides[0], length))
            data = builder.inttoptr(arguments[0], array.data.type)
            populate_array(array, data, shape, strides, size, None)
            return array._getvalue()

        return array_type(types.int64, types.UniTuple(types.int64, dimensions)), build

    return array_at


ints_1, ints_2, ints_3 = (_array_at(types.int64, n) for n in (1, 2, 3))
floats_1, floats_2 = (_array_at(types.float64, n) for n in (1, 2))
