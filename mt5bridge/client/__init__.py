"""The other end of the wire: terminals that are not MetaTrader, and programs that only read."""

from __future__ import annotations

from mt5bridge.client.client import Client, ClientState
from mt5bridge.client.connection import Connection, introduce
from mt5bridge.client.listener import SubscriptionError
from mt5bridge.client.mailbox import ClosedError
from mt5bridge.client.mark import Mark, Missed
from mt5bridge.client.outbox import Outbox
from mt5bridge.client.subscription import ROWS, Subscription, named, of_engine, row_of, subscribe

__all__ = [
    "ROWS",
    "Client",
    "ClientState",
    "ClosedError",
    "Connection",
    "Mark",
    "Missed",
    "Outbox",
    "Subscription",
    "SubscriptionError",
    "introduce",
    "named",
    "of_engine",
    "row_of",
    "subscribe",
]
