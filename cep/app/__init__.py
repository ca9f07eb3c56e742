"""Rules in a Python program: `App`, and the decorators that give rules your own functions."""

from __future__ import annotations

from cep.app.app import App
from cep.app.errors import ArgumentError
from cep.engine.encode import InputError
from cep.engine.snapshot import SnapshotError
from cep.functions import function, indicator
from cep.lang import ParameterError, RuleError

__all__ = [
    "App", "ArgumentError", "InputError", "ParameterError", "RuleError", "SnapshotError",
    "function", "indicator",
]  # fmt: skip
