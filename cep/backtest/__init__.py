"""Backtests: archived records through the rules, fills for the signals, and what came of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cep.backtest.api import Backtest, run
    from cep.backtest.cutting import Lookahead, lookahead
    from cep.backtest.grid import Stress, stress

__all__ = ["Backtest", "Lookahead", "Stress", "lookahead", "run", "stress"]
_MODULES = {
    "Backtest": "api", "run": "api", "Lookahead": "cutting", "lookahead": "cutting",
    "Stress": "grid", "stress": "grid",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """What programs use is imported when it is asked for: the parts need not all be here."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
