"""What a subscription can be about, and what comes of it as dictionaries."""

from __future__ import annotations

from typing import Any

from mt5bridge import wire
from mt5bridge.wire import Bound, Entry, Event, Wanted


def named(name: str) -> Entry:
    """Wish for the complex event of this name."""
    return Entry(Wanted.NAMED, 0, name)


def of_engine(name: str) -> Entry:
    """Wish for all complex events of an engine."""
    return Entry(Wanted.ENGINE, 0, name)


ROWS = named(wire.ROWS)
"""Wish for the rows of all output streams, which come from disk, however long one was away."""
ORDERS = named(wire.ORDERS)
"""Wish for signals, orders, and what becomes of them, from disk, too."""
ACCOUNTS = named(wire.ACCOUNTS)
"""Wish for how each account stands now, and whenever that changes."""


def row_of(event: Event) -> dict[str, Any]:
    """A row of `ROWS` as the daemon writes it down: `stream`, `time_msc`, `kind`, its attributes.

    Objects in it are None, and texts of more than 1,024 bytes are cut. ValueError: it is none.
    """
    row = _entry(event, wire.ROWS)
    head = {"stream": row.stream, "time_msc": row.time_msc, "kind": row.name}
    return head | _values(row)


def order_of(event: Event) -> dict[str, Any]:
    """What has become of a signal or order: `what`, `id`, `time_msc`, `account`, and the rest.

    `what` is `asked`, `refused`, `dry run`, `sent`, `question`, `result`, `halted` or `released`.
    ValueError: it is none of `ORDERS`.
    """
    entry = _entry(event, wire.ORDERS)
    head = {"what": entry.name, "id": event.key, "time_msc": entry.time_msc, "account": entry.key}
    return head | _values(entry)


def account_of(event: Event) -> dict[str, Any]:
    """How an account stands: `account`, `terminal`, `time_msc`, `balance`, `equity` and so on.

    ValueError: it is none of `ACCOUNTS`.
    """
    entry = _entry(event, wire.ACCOUNTS)
    head = {"account": entry.key, "terminal": entry.name, "time_msc": entry.time_msc}
    return head | _values(entry)


def _entry(event: Event, name: str) -> Bound:
    if event.name != name or not event.bound:
        raise ValueError(f"{event.name} is not of {name}")
    return event.bound[0]


def _values(entry: Bound) -> dict[str, Any]:
    return {field.name: field.value for field in entry.fields}
