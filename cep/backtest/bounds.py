"""What options of a backtest may be, for commands and programs; light, so that `--help` is fast."""

from __future__ import annotations

from typing import Literal

Fills = Literal["next-tick", "none"]
Deals = Literal["simulated", "recorded"]
LATENCY_MS_MAX = 86_400_000
"""A day: more is another unit."""
VALID_SECONDS_MAX = 10 * 366 * 86_400
MAGIC_MAX = (1 << 63) - 1
"""Deals have it with a sign."""
POINT_MIN, POINT_MAX = 1e-12, 1e9
SPREAD_MIN, SPREAD_MAX = 1e-3, 1e3
"""Factors of recorded spreads: a share of a spread of nothing is none."""
ADDED_MAX = 1e6
"""Points that come to spreads and fills."""
