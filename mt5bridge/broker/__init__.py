"""The one broker: the state machine that the simulated terminal and the backtest trade with."""

from __future__ import annotations

from mt5bridge.broker.broker import Broker, Specification, Terms
from mt5bridge.broker.state import REQUEST, Record, Table, Waiting

__all__ = ["REQUEST", "Broker", "Record", "Specification", "Table", "Terms", "Waiting"]
