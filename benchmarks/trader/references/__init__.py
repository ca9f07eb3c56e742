"""Each rule file's output, computed from the same frames by pandas and NumPy alone.

A function's name is that of its rule file. Nothing here uses the engine.
"""

from __future__ import annotations

from benchmarks.trader.references import bars, days, deals, indicators, spreads, ticks

__all__ = ["bars", "days", "deals", "indicators", "spreads", "ticks"]
