"""Which strategy, by its magic number, has what; netting: how much of a position they share."""

from __future__ import annotations

from mt5bridge.broker.money import tidy
from mt5bridge.broker.state import Record, State


def held(state: State, identifier: int, magic: int) -> float:
    """Lots of a position that deals with this magic number have made; short ones negative."""
    for row in range(state.account[0]["holdings"]):
        holding = state.holdings[row]
        if holding["identifier"] == identifier and holding["magic"] == magic:
            return float(holding["lots"])
    return 0.0


def hold(state: State, identifier: int, magic: int, lots: float) -> None:
    """Add a deal's lots."""
    account = state.account[0]
    for row in range(account["holdings"]):
        holding = state.holdings[row]
        if holding["identifier"] == identifier and holding["magic"] == magic:
            holding["lots"] = tidy(holding["lots"] + lots)
            return
    holding = state.holdings[account["holdings"]]
    account["holdings"] += 1
    holding["identifier"] = identifier
    holding["magic"] = magic
    holding["lots"] = lots


def let_go(state: State, identifier: int) -> None:
    """Forget a position that is closed."""
    account = state.account[0]
    kept = 0
    for row in range(account["holdings"]):
        if state.holdings[row]["identifier"] != identifier:
            state.holdings[kept] = state.holdings[row]
            kept += 1
    account["holdings"] = kept


def closable(state: State, request: Record, position: Record) -> float:
    """How much of a position a request may close."""
    if request["position"] != 0:
        return float(position["lots"]) if position["ticket"] == request["position"] else 0.0
    if position["symbol"] != request["symbol"]:
        return 0.0
    if state.account[0]["hedging"] == 1:
        return float(position["lots"]) if position["magic"] == request["magic"] else 0.0
    share = held(state, position["identifier"], request["magic"]) * position["side"]
    return float(min(position["lots"], max(0.0, share)))
