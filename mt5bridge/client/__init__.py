"""The terminal's end of the wire, for programs that are terminals without being MetaTrader."""

from __future__ import annotations

from mt5bridge.client.client import Client, ClientState
from mt5bridge.client.connection import Connection, introduce
from mt5bridge.client.outbox import Outbox

__all__ = ["Client", "Connection", "Outbox", "ClientState", "introduce"]
