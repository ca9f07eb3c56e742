"""A pytest plugin: rules run as plain Python, or each fault of a kernel would be compiled first."""

from __future__ import annotations

from typing import Any

from cep.engine.native import Compiled
from cep.plan.nodes import Plan

_compile = Compiled.__init__


def _plainly(self: Compiled, plan: Plan, **options: Any) -> None:
    _compile(self, plan, **options | {"jit": False})


def pytest_configure() -> None:
    """Whoever only imports this changes nothing."""
    Compiled.__init__ = _plainly  # type: ignore[method-assign]
