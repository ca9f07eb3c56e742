"""Signals and orders on their way out: risk guard, durable journal, and what became of each."""

from __future__ import annotations

from mt5bridge.orders.book import Book, Entry, Fate, read_book
from mt5bridge.orders.desk import Desk
from mt5bridge.orders.dispatch import News
from mt5bridge.orders.guard import Guard
from mt5bridge.orders.inbox import (
    ConfirmAccount,
    ForgetTerminal,
    HaltRules,
    Inbox,
    SendOrder,
    TurnHalt,
    TurnRules,
)
from mt5bridge.orders.journal import OrderJournal, read_journal
from mt5bridge.orders.limits import Limits, NamedLimits
from mt5bridge.orders.request import (
    Defaults,
    OrderError,
    OrderRequest,
    as_order,
    described,
    differs,
    order_id,
)
from mt5bridge.orders.syncer import Syncer
from mt5bridge.orders.unremembered import witnessed

__all__ = [
    "Book",
    "Defaults",
    "Desk",
    "Entry",
    "Fate",
    "ConfirmAccount",
    "ForgetTerminal",
    "Guard",
    "HaltRules",
    "Inbox",
    "Limits",
    "NamedLimits",
    "News",
    "OrderError",
    "OrderJournal",
    "OrderRequest",
    "SendOrder",
    "Syncer",
    "TurnHalt",
    "TurnRules",
    "as_order",
    "described",
    "differs",
    "order_id",
    "read_book",
    "read_journal",
    "witnessed",
]
