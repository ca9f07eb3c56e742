"""Sweeps: the same records through rules with many values of their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cep.sweep.api import run, walkforward
    from cep.sweep.found import Found

__all__ = ["Found", "run", "walkforward"]


def __getattr__(name: str) -> Any:
    """What programs use is imported when it is asked for: it brings Numba and Arrow."""
    if name not in __all__:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    from cep.sweep import api

    return getattr(api, name)
