"""Import statements of generated modules: kernels by name."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from types import ModuleType

from numba.core.registry import CPUDispatcher

from cep.engine.kernels import called


def imports(module: ModuleType) -> str:
    """The statement that imports all kernels a module defines."""
    return _statement(
        module,
        (
            name
            for name, value in vars(module).items()
            if isinstance(value, CPUDispatcher) and value.py_func.__module__ == module.__name__
        ),
    )


def kernels_called(text: str) -> str:
    """The statement that imports the kernels of functions that a text calls; empty without any."""
    names = set(re.findall(r"\b(\w+)\(", text)) & called.KERNELS.keys()
    return _statement(called, names) if names else ""


def _statement(module: ModuleType, names: Iterable[str]) -> str:
    listed = textwrap.fill(
        ", ".join(sorted(names)), 96, initial_indent="    ", subsequent_indent="    "
    )
    return f"from {module.__name__} import (\n{listed},\n)"
