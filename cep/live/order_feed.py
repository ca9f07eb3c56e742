"""Signals, orders and what becomes of them for programs that read along, from the order journal."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from typing import Any

from cep.live.complex_events import field_of, fitting, text_of, time_of
from mt5bridge.orders.journal import OrderJournal, read_lines
from mt5bridge.orders.records import Halted, Record, Refused, Requested, Sent, Told
from mt5bridge.server.feeds import Reading
from mt5bridge.wire import ORDERS, Bound, Event, Order, Signal, SignalResult

READ_BYTES = 1 << 20


class OrderFeed:
    """Entries have the numbers of the journal's records; others than of orders are left out."""

    name = ORDERS

    def __init__(self, journal: OrderJournal) -> None:
        self._journal = journal

    @property
    def newest(self) -> int:
        """What a loss of power would undo is not handed out."""
        return self._journal.durable_number

    @property
    def first(self) -> int:
        """What has come before is asked for expressly."""
        return self.newest

    def reading(self, number: int) -> Reading:
        """From behind this record on."""
        return _Reading(self, self._journal, number)


class _Reading:
    def __init__(self, feed: OrderFeed, journal: OrderJournal, number: int) -> None:
        self._feed = feed
        self._path = journal.path
        self._number = number  # what was handed out last
        self._before = 0  # of the line that was read last
        self._place = 0
        self._left: list[Event] = []

    def read(self, most: int) -> list[Event]:
        if not self._left:
            self._left = self._next()
        found, self._left = self._left[:most], self._left[most:]
        return found

    def _next(self) -> list[Event]:
        """What the next lines hold, up to the newest record that is on disk."""
        newest, found = self._feed.newest, list[Event]()
        while not found and (lines := self._lines()):
            for line, (number, record) in zip(lines, read_lines(lines, self._before), strict=True):
                if number > newest:
                    return found
                self._place += len(line) + 1
                self._before = number or self._before
                event = order_event(record, number) if record and number > self._number else None
                if event is not None:
                    self._number = number
                    found.append(event)
        return found

    def _lines(self) -> list[bytes]:
        """Whole lines from the place on."""
        if not self._path.exists():
            return []
        with self._path.open("rb") as file:
            file.seek(self._place)
            return file.read(READ_BYTES).split(b"\n")[:-1]


def order_event(record: Record, number: int) -> Event | None:
    """A record as programs get it; None when it is of no order."""
    match record:
        case Requested():
            values = {**_values(record.request), "client_id": record.client_id}
            what, account, id_ = "asked", "", record.id
            values["terminal"] = record.terminal or ""
        case Refused():
            what, account, id_ = "dry run" if record.is_dry else "refused", "", record.id
            values = {"text": record.text}
        case Sent():
            what, id_ = "question" if record.is_question else "sent", record.id
            account, values = ",".join(record.accounts), {"terminals": ",".join(record.terminals)}
        case Told():
            what, account, id_ = "result", record.account, record.result.id
            values = {"terminal": record.terminal, **_values(record.result)}
        case Halted():
            what, account, id_ = "halted" if record.halted else "released", "", 0
            values = {"reason": record.reason}
        case _:
            return None
    time_msc, key = time_of(record.time_msc), f"{id_:016x}" if id_ else ""
    told = tuple(field_of(*item) for item in values.items())
    bound = Bound(0, time_msc, what, ORDERS, text_of(account), told)
    return fitting(Event(number, time_msc, time_msc, ORDERS, "", key, (bound,)))


def _values(frame: Signal | Order | SignalResult) -> dict[str, Any]:
    """The fields of a frame but its id and the time it was made; codes by their names."""
    found = {one.name: getattr(frame, one.name) for one in fields(frame)}
    del found["id"], found["time_msc"]
    kind = {} if isinstance(frame, SignalResult) else {"is_signal": isinstance(frame, Signal)}
    return kind | {
        name: value.name.lower() if isinstance(value, Enum) else value
        for name, value in found.items()
    }
