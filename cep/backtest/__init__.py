"""Backtests: archived records through the rules, fills for the signals, and what came of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cep.backtest.api import Backtest, run

__all__ = ["Backtest", "run"]


def __getattr__(name: str) -> Any:
    """What programs use is imported when it is asked for: the parts need not all be here."""
    if name not in __all__:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    from cep.backtest import api

    return getattr(api, name)
