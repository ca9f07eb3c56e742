"""Functions and indicators of your own: decorators that make Python known to rules, and files of them."""

from __future__ import annotations

from cep.functions.declare import function
from cep.functions.files import FunctionFile, load_functions, load_texts, loaded_files
from cep.functions.indicators import indicator
from cep.plan.functions import FunctionError

__all__ = [
    "FunctionError",
    "FunctionFile",
    "function",
    "indicator",
    "load_functions",
    "load_texts",
    "loaded_files",
]
