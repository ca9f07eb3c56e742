"""Calls of functions that only Python has, from machine code."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from cep.engine.machine.jit import inner
from cep.engine.machine.kernels.words import HOST, Ints

ARITY_BITS = 6
"""The number of a call stands above the number of its arguments."""


@intrinsic
def _called(typing: Any, address: Any, call: Any, top: Any) -> Any:
    """Call a function of C by its address, which another process would have elsewhere.

    A pointer among a kernel's globals would be kept with its machine code on disk.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer, *values = arguments
        word = ir.IntType(64)
        function = ir.FunctionType(ir.VoidType(), [word, word]).as_pointer()
        builder.call(builder.inttoptr(pointer, function), values)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@inner
def call_host(i: Ints, call: int, top: int) -> None:
    """The values from the word `top` on go to a call of the rules; its value comes there.

    Uncompiled runs have another function in its place (`cep.engine.jit.plain`).
    """
    _called(i[0, HOST], call, top)
