"""The decorators of the library's kernels, which become machine code only as a whole.

Numba makes machine code of each function that it compiles, optimised with all that it calls. Of
kernels that nobody calls but other kernels that is thrown away: what calls them links their
intermediate code and is optimised again. Here only that code is made, and the library is compiled
in less than half of the time. Where Numba's inside has changed they are compiled as others are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba import _dynfunc
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from cep.engine.jit import without_literals

F = TypeVar("F", bound=Callable[..., Any])


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
        super().run_pass(state)
        made = state["cr"]
        described, environment = made.fndesc, made.env
        name = described.qualname.split(".")[-1]
        module = described.lookup_module()
        entry = _dynfunc.make_function(module, name, "a part", 0, environment, (library,))
        state.targetctx.insert_user_function(entry, described, [library])
        state["cr"] = _LowerResult(described, made.call_helper, cfunc=entry, env=environment)
        return True


class _PartCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (_PartLowering if one is NativeLowering else one, why) for one, why in passes.passes
        ]
        passes.finalize()
        return [passes]


def inner(function: F) -> F:
    """Compile a kernel that only kernels of the library call."""
    return _part(function)


def inline(function: F) -> F:
    """The same, always inlined: a few lines, or called from few places."""
    return _part(function, forceinline=True)


def _part(function: F, **options: bool) -> F:
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "nogil": True, "_nrt": False}
    compile_ = numba.njit(error_model="numpy", pipeline_class=_PartCompiler, **options)
    compiled: F = without_literals(compile_(function))
    return compiled
