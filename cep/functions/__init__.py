"""Functions and indicators of your own: decorators, and files that hold what they decorate."""

from __future__ import annotations

from cep.functions.declare import function
from cep.functions.files import (
    FunctionFile,
    changed_files,
    load_functions,
    load_texts,
    loaded_files,
)
from cep.functions.indicators import indicator
from cep.plan.functions import FunctionError

__all__ = [
    "FunctionError",
    "FunctionFile",
    "changed_files",
    "function",
    "indicator",
    "load_functions",
    "load_texts",
    "loaded_files",
]
