"""What a simulated fill takes for granted, said wherever results are shown."""

from __future__ import annotations

from collections.abc import Mapping

from cep.backtest.orders import LOTS_DEFAULT


def assumptions(
    points: Mapping[str, float], valid_seconds: int, why_points: Mapping[str, str] | None = None
) -> list[str]:
    """One sentence each; `points` are the sizes that were used, `why_points` how they are known."""
    why = {symbol: f" ({reason})" for symbol, reason in (why_points or {}).items()}
    sizes = ", ".join(f"{s} {point:g}{why.get(s, '')}" for s, point in sorted(points.items()))
    return [
        "Market orders fill at the first tick after the record that caused the signal: "
        "buys at ask, sells at bid. The spread is that of the ticks.",
        "Stops fill at the price of the tick that reached them, targets at their own price; "
        "longs are watched at bid, shorts at ask.",
        "A signal has at most one position on a symbol; while it is open, it opens no other. "
        "`close` closes all positions on its symbol.",
        f"Signals without `for` TIME are good for {valid_seconds} seconds; "
        f"those without lots trade {LOTS_DEFAULT:g}.",
        "No commission, swap, slippage beyond the ticks, latency, margin or partial fills.",
        "Drawdown and Sharpe (mean by deviation of a trade) are those of closed trades' points; "
        "profit is price difference times lots, without contract size or currency.",
        f"Size of a point: {sizes or 'not needed'}.",
    ]
