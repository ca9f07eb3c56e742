"""Arrays at an address: how a kernel gets at a state it was not handed over.

Only what a kernel was given may be returned by it, as nobody counts references. So these are no
kernels but what Numba puts into the kernel that calls them.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from cep.engine.kernels.state import State

# A table of arrays: where to start and where to stop among the rows; the address and the length of
# the clocks of a row that has not been given its own (`cep.engine.kernels.clocks`), or 0; then of
# each array its address and up to three dimensions, those of the rows first.
START, STOP, CLOCKS, CLOCKS_LENGTH, ARRAYS, ARRAY_WORDS = 0, 1, 2, 3, 4, 4
ROW_INTS, ROW_FLOATS, OTHERS = 0, 1, 2
TABLE = ARRAYS + (OTHERS + len(State._fields)) * ARRAY_WORDS

INTS_1, INTS_2, INTS_3 = (types.Array(types.int64, n, "C") for n in (1, 2, 3))
FLOATS_1, FLOATS_2 = (types.Array(types.float64, n, "C") for n in (1, 2))
STATE = types.NamedTuple(
    (
        INTS_2, FLOATS_2, INTS_2, FLOATS_2, INTS_2, FLOATS_2, INTS_1, FLOATS_1, INTS_2, INTS_2,
        INTS_2, INTS_1, INTS_1, INTS_3, INTS_2, INTS_2, INTS_2, FLOATS_2, INTS_1,
    ),
    State,
)  # fmt: skip
"""As the kernels of a stage have it."""


def _made(target: Any, builder: Any, type_: Any, address: Any, shape: list[Any]) -> Any:
    """The C-ordered array at an address."""
    array = target.make_array(type_)(target, builder)
    size = target.get_constant(types.intp, type_.dtype.bitwidth // 8)
    strides = [size]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    data = builder.inttoptr(address, array.data.type)
    populate_array(array, data, shape, strides, size, None)
    return array._getvalue()


def _named(target: Any, builder: Any, type_: Any, table: Any, number: int) -> Any:
    """The array of a number in the table at an address."""
    word = target.get_value_type(types.int64)
    words = builder.inttoptr(table, word.as_pointer())
    first = ARRAYS + number * ARRAY_WORDS
    address, *shape = (
        builder.load(cgutils.gep_inbounds(builder, words, first + place))
        for place in range(1 + type_.ndim)
    )
    return _made(target, builder, type_, address, shape)


def _array(type_: Any, number: int) -> Any:
    """The array of that number, of the table at an address."""

    @intrinsic
    def array_of(context: Any, address: Any) -> Any:
        def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _named(target, builder, type_, arguments[0], number)

        return type_(types.int64), build

    return array_of


def _flat(type_: Any) -> Any:
    """So many numbers at an address."""

    @intrinsic
    def flat(context: Any, address: Any, length: Any) -> Any:
        def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _made(target, builder, type_, arguments[0], [arguments[1]])

        return type_(types.int64, types.int64), build

    return flat


def _rows(type_: Any) -> Any:
    """So many rows at an address, of so many cells."""

    @intrinsic
    def rows(context: Any, address: Any, length: Any, width: Any) -> Any:
        def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _made(target, builder, type_, arguments[0], list(arguments[1:]))

        return type_(types.int64, types.int64, types.int64), build

    return rows


words, floats_at, places_at = map(_flat, (INTS_1, FLOATS_1, types.Array(types.int32, 1, "C")))
ints_2, floats_2 = map(_rows, (INTS_2, FLOATS_2))


def _one(type_: Any) -> Any:
    """The number at an address, wherever that is."""

    @intrinsic
    def one(context: Any, address: Any) -> Any:
        def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = builder.inttoptr(arguments[0], target.get_value_type(type_).as_pointer())
            found = builder.load(place)
            found.align = 1
            return builder.zext(found, target.get_value_type(types.int64))

        return types.int64(types.int64), build

    return one


word_at, byte_at = map(_one, (types.int64, types.uint8))


@intrinsic
def state_of(context: Any, address: Any) -> Any:
    """The arrays of a stage, of the table at an address."""

    def build(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        arrays = [
            _named(target, builder, type_, arguments[0], number)
            for number, type_ in enumerate(STATE, OTHERS)
        ]
        return target.make_tuple(builder, STATE, arrays)

    return STATE(types.int64), build


row_ints, row_floats = _array(INTS_2, ROW_INTS), _array(FLOATS_2, ROW_FLOATS)
memory_ints, memory_floats = _array(INTS_2, OTHERS), _array(FLOATS_2, OTHERS)
"""Of a program: the same words."""
program = _array(INTS_1, OTHERS + 1)
