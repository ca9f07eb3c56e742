"""Rules in a Python program: `App`, and the decorators that give rules your own functions."""

from __future__ import annotations

from cep.app.app import App
from cep.app.errors import ArgumentError
from cep.functions import function, indicator

__all__ = ["App", "ArgumentError", "function", "indicator"]
