"""The other end of the wire: terminals that are not MetaTrader, and programs that only read."""

from __future__ import annotations

from mt5bridge.client.client import Client, ClientState
from mt5bridge.client.connection import Connection, introduce
from mt5bridge.client.listener import SubscriptionError
from mt5bridge.client.mailbox import ClosedError
from mt5bridge.client.mark import Mark, Missed
from mt5bridge.client.outbox import Outbox
from mt5bridge.client.subscription import Subscription, subscribe
from mt5bridge.client.wishes import (
    ACCOUNTS,
    ORDERS,
    ROWS,
    account_of,
    named,
    of_engine,
    order_of,
    row_of,
)

__all__ = [
    "ACCOUNTS",
    "Client",
    "ClientState",
    "ClosedError",
    "Connection",
    "Mark",
    "Missed",
    "ORDERS",
    "Outbox",
    "ROWS",
    "Subscription",
    "SubscriptionError",
    "account_of",
    "introduce",
    "named",
    "of_engine",
    "order_of",
    "row_of",
    "subscribe",
]
