"""Rules in a Python program: `App`, and the decorator that gives rules a Python function."""

from __future__ import annotations

from cep.app.app import App
from cep.app.errors import ArgumentError
from cep.app.functions import function

__all__ = ["App", "ArgumentError", "function"]
