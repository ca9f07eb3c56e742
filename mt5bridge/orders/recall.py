"""What a halted strategy has open at terminals, and the orders that take it back."""

from __future__ import annotations

from collections.abc import Iterator

from mt5bridge.orders.book import Book, Entry, Fate
from mt5bridge.orders.records import RulesHalted
from mt5bridge.orders.request import opens, order_id
from mt5bridge.wire import Order, OrderKind, OrderSide, SignalStatus

VALID_MS = 30 * 86_400_000
"""So long a terminal tries to cancel: an order may stand over the days that a market is closed."""


def outstanding(book: Book, magic: int) -> Iterator[tuple[Entry, str]]:
    """What may still open a position for this magic number, and the terminals that have it."""
    for entry in book:
        if entry.request.magic == magic and entry.is_open and opens(entry.request):
            for identity, fate in entry.fates.items():
                if fate.final is None:
                    yield entry, identity


def standing(fate: Fate) -> int:
    """The ticket of the pending order that a terminal has told of; 0 when none stands."""
    if fate.final is not None:
        return 0
    told = [one.order for one in fate.results if one.status is SignalStatus.PLACED]
    return told[-1] if told else 0


def cancelling(halted: RulesHalted, entry: Entry, ticket: int, now_msc: int) -> Order:
    """Cancels a pending order, once for each halt, over restarts too."""
    request = entry.request
    name = f"halt {halted.time_msc} {request.id:016x}"
    return Order(
        id=order_id(name),
        time_msc=now_msc,
        valid_until_msc=now_msc + VALID_MS,
        magic=request.magic,
        ticket=ticket,
        lots=0.0,
        price=0.0,
        sl=0.0,
        tp=0.0,
        deviation_points=0,
        kind=OrderKind.CANCEL,
        side=OrderSide.NONE,
        name=name,
        symbol=request.symbol,
    )
