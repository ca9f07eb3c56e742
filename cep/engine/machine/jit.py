"""The decorators of the library's kernels, which become machine code only as a whole.

Numba makes machine code of each function that it compiles, optimised with all that it calls. Of
kernels that nobody calls but other kernels that is thrown away: what calls them links their
intermediate code and is optimised again. Here only that code is made, and the library is compiled
in less than half of the time. With what is done to calls and to indices it is 1.5 to 2 times as
fast as kernels that Numba compiles one by one.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

import numba
from llvmlite.binding import Linkage
from numba import _dynfunc
from numba.core import config, types
from numba.core.callconv import CPUCallConv
from numba.core.codegen import JITCPUCodegen
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.registry import cpu_target
from numba.core.typed_passes import NativeLowering
from numba.np import arrayobj

from cep.engine.jit import Addressed, without_literals

F = TypeVar("F", bound=Callable[..., Any])
OF_NUMBA = "_ZN5numba"
"""How the names of Numba's own functions begin, as of `min`, which are shorter than their calls."""
PROGRAM = "arg.p.4"
"""How Numba names the address of the words of a program, which all kernels call `p`."""


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(NativeLowering):
    """Lowers a function into a library that others link, and that is not made machine code."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
        library._optimize_final_module = lambda: None
        library._finalize_final_module = lambda: setattr(library, "_finalized", True)
        state.library = library
        state.flags.no_compile = True
        with _unwrapped(), _apart():
            super().run_pass(state)
        made = state["cr"]
        described, environment = made.fndesc, made.env
        name = described.qualname.split(".")[-1]
        module = described.lookup_module()
        entry = _dynfunc.make_function(module, name, "a part", 0, environment, (library,))
        state.targetctx.insert_user_function(entry, described, [library])
        state["cr"] = _LowerResult(described, made.call_helper, cfunc=entry, env=environment)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _WholeLowering(NativeLowering):
    """Lowers the function that calls all others, which nobody else will call.

    As they are internal to it, LLVM drops the arguments that they have no use for: of the three
    arrays, 25 words each time, the three addresses are left. Functions that are called once would
    all be inlined then, one into the other, which takes tens of minutes: so none is that need not.
    """

    _name = "whole_lowering"

    def run_pass(self, state: Any) -> bool:
        library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
        library.enable_object_caching()
        optimize = library._optimize_final_module

        def optimize_alone() -> None:
            for function in library._final_module.functions:
                if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                    function.linkage = "internal"
                    is_inline = any(b"alwaysinline" in one for one in function.attributes)
                    if not is_inline and not function.name.startswith(OF_NUMBA):
                        function.add_function_attribute("noinline")
            optimize()

        library._optimize_final_module = optimize_alone
        state.library = library
        with _unwrapped(), _apart():
            super().run_pass(state)
        return True


@contextmanager
def _unwrapped() -> Iterator[None]:
    """Meanwhile an index below 0 is not taken to count from the end: no address is.

    Other versions of Numba may not have what is replaced: they are slower, then.
    """
    before = getattr(arrayobj, "fix_integer_index", None)

    def as_it_is(context: Any, builder: Any, type_: Any, index: Any, size: Any) -> Any:
        return context.cast(builder, index, type_, types.intp)

    arrayobj.fix_integer_index = as_it_is
    try:
        yield
    finally:
        arrayobj.fix_integer_index = before


@contextmanager
def _apart() -> Iterator[None]:
    """Meanwhile LLVM is told that the words of a program lie apart from all that is written: so it
    need not read them anew behind each word.
    """
    before = CPUCallConv.decorate_function

    def decorated(self: Any, function: Any, *described: Any, **options: Any) -> None:
        before(self, function, *described, **options)
        for argument in self.get_arguments(function):
            if argument.name == PROGRAM:
                argument.add_attribute("noalias")

    CPUCallConv.decorate_function = decorated
    try:
        yield
    finally:
        CPUCallConv.decorate_function = before


def _compiler(lowering: type[NativeLowering]) -> type[CompilerBase]:
    class Compiler(CompilerBase):
        def define_pipelines(self) -> list[Any]:
            passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes.passes = [
                (lowering if one is NativeLowering else one, why) for one, why in passes.passes
            ]
            passes.finalize()
            return [passes]

    return Compiler


class _NearCodegen(JITCPUCodegen):
    """Machine code that lies in one piece, constants and all, so that a call is a distance. That of
    Numba may lie anywhere: a call is a whole address there, and goes through a register.
    """

    def _init(self, module: Any) -> None:
        before = config.USE_LLVMLITE_MEMORY_MANAGER
        config.USE_LLVMLITE_MEMORY_MANAGER = 1  # which asks for all of the room at once
        try:
            super()._init(module)
        finally:
            config.USE_LLVMLITE_MEMORY_MANAGER = before

    def _customize_tm_options(self, options: dict[str, Any]) -> None:
        super()._customize_tm_options(options)
        options["reloc"], options["codemodel"] = "pic", "small"


@contextmanager
def _near() -> Iterator[None]:
    """Meanwhile machine code is made and loaded in one piece, where it can be."""
    context = cpu_target.target_context
    with global_compiler_lock:  # what other threads compile shall not become a part of it
        before = context._internal_codegen
        if sys.platform == "linux" and platform.machine() == "x86_64":
            context._internal_codegen = _NearCodegen("near")
        try:
            yield
        finally:
            context._internal_codegen = before


class _Whole(Addressed):
    """The function that Python enters, with all that it calls."""

    @cached_property
    def code(self) -> Any:
        """As Numba has it: from the disk, or compiled now, which takes minutes."""
        with _near():
            return super().code


def whole(function: Callable[[int], int]) -> Addressed:
    """Compile the function that Python enters, when it is needed, with all that it calls as
    functions of its own: which arguments they need, and how they get them, is nobody else's
    business.
    """
    return _Whole(function, pipeline_class=_compiler(_WholeLowering))


def inner(function: F) -> F:
    """Compile a kernel that only kernels of the library call.

    Where an inlined one is the first to call it, Numba has it inlined, too, with all that it calls.
    That pays for `evaluate`, whose steps are guessed better where each place has its own.
    """
    return _part(function)


def inline(function: F) -> F:
    """The same, always inlined: a few lines, or called from few places."""
    return _part(function, forceinline=True)


def _part(function: F, **options: bool) -> F:
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "nogil": True, "_nrt": False}
    compile_ = numba.njit(error_model="numpy", pipeline_class=_compiler(_PartLowering), **options)
    compiled: F = without_literals(compile_(function))
    return compiled
