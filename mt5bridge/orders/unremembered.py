"""Requests that deals and terminals tell of, and that the order journal does not know.

What is sent is in the journal's file before; of what was not on disk yet, a loss of power may leave
nothing. What was done of it is adopted: the journal has it as what it is, so that people are told.
That changes nothing of what is sent. If its cause comes again, it is a request like any other.
"""

from __future__ import annotations

from collections.abc import Container
from typing import TypeAlias

from msgspec.structs import replace

from mt5bridge.orders.book import Book
from mt5bridge.orders.records import Dealt, Told
from mt5bridge.wire import SignalStatus

Witness: TypeAlias = Dealt | Told
MOST = 1_000
"""So many are adopted: a peer may tell of ever new ones."""


def of_deal(deal: Dealt, book: Book, magics: Container[int], since_msc: int) -> Dealt:
    """The deal, which names its request only where that is one of ours that nobody remembers.

    Deals of before `since_msc` are those of an account's past, which a new journal does not know.
    """
    is_ours = deal.magic in magics and deal.time_msc >= since_msc and not deal.revision
    is_lost = deal.unremembered and not book.accounts_for(deal.unremembered)
    return deal if is_ours and is_lost and _has_room(book) else replace(deal, unremembered=0)


def of_result(told: Told, book: Book) -> Told | None:
    """The report as the journal is to have it, if it is one of a terminal that trades, of something
    done, and by a request that nobody remembers.
    """
    known, status = book.terminals.get(told.terminal), told.result.status
    is_done = status.is_fill or status is SignalStatus.PLACED
    if known is None or not known.trades or not is_done or book.accounts_for(told.result.id):
        return None
    return replace(told, unremembered=True) if _has_room(book) else None


def witnessed(witness: Witness) -> str:
    """What is known of such a request, in words."""
    if isinstance(witness, Told):
        return witness.said
    what = f"deal {witness.ticket}: {witness.lots or 0.0:g} lots {witness.symbol}"
    return f"{witness.owner}: {what} of {witness.unremembered:016x}"


def _has_room(book: Book) -> bool:
    return len(book.unremembered) < MOST
