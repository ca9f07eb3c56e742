"""Another specification for a symbol that is traded already."""

from __future__ import annotations

from mt5bridge.broker import Broker, Specification


def respecify(broker: Broker, row: int, symbol: Specification) -> None:
    """What trading the symbol of a row depends on from here on; the range that its bids had stays,
    and so does what its profits are in.
    """
    sessions, before = broker.state.sessions, broker.state.symbols[row].copy()
    broker.state = broker.state._replace(sessions=sessions[sessions["symbol"] != row])
    broker.change(row, symbol)
    if symbol.slippage_range_ms == before["slippage_range_ms"]:
        broker.state.symbols[row]["range_period"] = before["range_period"]
