"""What a simulated terminal tells of a symbol besides SYMBOLS: what its broker is told."""

from __future__ import annotations

from collections.abc import Iterable

from mt5bridge.broker import Specification, codes
from mt5bridge.wire import SESSIONS_MAX, Properties, SwapMode, TradeSession

MINUTE_MS = 60_000
_MODES = {
    codes.NO_SWAP: SwapMode.NONE,
    codes.SWAP_POINTS: SwapMode.POINTS,
    codes.SWAP_MONEY: SwapMode.MONEY,
    codes.SWAP_PERCENT: SwapMode.PERCENT,
}


def properties(known: Specification) -> Properties:
    """Of a symbol that is traded so; its stream is set when it is published.

    The value of a tick is that of an account in the currency of the symbol's profits.
    """
    return Properties(
        stream=1,
        stops_level_points=round(known.stops_level_points),
        freeze_level_points=round(known.freeze_level_points),
        swap_mode=_MODES[known.swap_mode],
        swap_triple_day=known.swap_triple_day,
        swap_long=known.swap_long,
        swap_short=known.swap_short,
        tick_value=known.tick_size * known.contract_size,
        profit_currency=known.profit_currency,
        sessions=_sessions(known.sessions),
    )


def _sessions(spans: Iterable[tuple[int, int]]) -> tuple[TradeSession, ...]:
    """In their order, those that overlap as one; none if there are more than can be told."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if found and first < found[-1][1]:
            first, last = found[-1][0], max(last, found.pop()[1])
        found.append((first, last))
    if len(found) > SESSIONS_MAX:
        return ()
    return tuple(TradeSession(first // MINUTE_MS, last // MINUTE_MS) for first, last in found)
