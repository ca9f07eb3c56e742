"""Import statements of generated modules: every kernel of a module, by name."""

from __future__ import annotations

import textwrap
from types import ModuleType

from numba.core.registry import CPUDispatcher


def imports(module: ModuleType) -> str:
    """The statement that imports all kernels a module defines."""
    names = sorted(
        name
        for name, value in vars(module).items()
        if isinstance(value, CPUDispatcher) and value.py_func.__module__ == module.__name__
    )
    listed = textwrap.fill(", ".join(names), 96, initial_indent="    ", subsequent_indent="    ")
    return f"from {module.__name__} import (\n{listed},\n)"
