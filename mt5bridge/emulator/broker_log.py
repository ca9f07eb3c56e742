"""Reads the emulated broker's log: what the trade server has really done, request by request.

The layout is that of shim/broker/log.hpp and records.hpp. Tests compare what a daemon has received
with this, the only account of the truth.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from mt5bridge.records import (
    COMMENT_BYTES,
    DEAL,
    EXTERNAL_ID_BYTES,
    SYMBOL_BYTES,
    Records,
    fixed_text,
)

_HEADER = struct.Struct("<II")
_BATCH = struct.Struct("<qH")
_SIZE = struct.Struct("<H")


class BrokerLogError(ValueError):
    """The log holds something that its writer never writes."""


class OrderState(IntEnum):
    """MetaTrader's ENUM_ORDER_STATE."""

    STARTED = 0
    PLACED = 1
    CANCELED = 2
    PARTIAL = 3
    FILLED = 4
    REJECTED = 5
    EXPIRED = 6


class Outcome(IntEnum):
    """What has become of a request."""

    SENT = 0
    ANSWERED = 1
    LOST = 2


@dataclass(frozen=True)
class Order:
    """A state of an order; `place` is 0 while it works, 1 in history."""

    layout: ClassVar[str] = "Qqqq qQQ dddddd iiiii HH B B sss"
    ticket: int
    time_setup_msc: int
    time_done_msc: int
    expiration_s: int
    magic: int
    position_id: int
    position_by: int
    volume_initial: float
    volume_current: float
    price_open: float
    price_stoplimit: float
    sl: float
    tp: float
    type: int
    state: int
    filling: int
    time_type: int
    reason: int
    parts: int
    parts_done: int
    triggered: int
    place: int
    symbol: str
    comment: str
    external_id: str


@dataclass(frozen=True)
class Deal:
    """A revision of a deal, with the fields and names of `mt5bridge.records.DEAL`."""

    layout: ClassVar[str] = "QQqqQ dddddddd IIIII sss"
    ticket: int
    order: int
    time_msc: int
    magic: int
    position_id: int
    volume: float
    price: float
    commission: float
    swap: float
    profit: float
    fee: float
    sl: float
    tp: float
    type: int
    entry: int
    reason: int
    revision: int
    kind: int
    symbol: str
    comment: str
    external_id: str


@dataclass(frozen=True)
class Position:
    """A state of a position; closed when `volume` is 0."""

    layout: ClassVar[str] = "QQqqq ddddd ii sss"
    ticket: int
    identifier: int
    time_msc: int
    time_update_msc: int
    magic: int
    volume: float
    price_open: float
    sl: float
    tp: float
    swap: float
    type: int
    reason: int
    symbol: str
    comment: str
    external_id: str


@dataclass(frozen=True)
class Money:
    """The account's balance and credit."""

    layout: ClassVar[str] = "dd"
    balance: float
    credit: float


@dataclass(frozen=True)
class Request:
    """A state of a program's request; the server has worked it once `outcome` is ANSWERED."""

    layout: ClassVar[str] = "QqIIB Q iiii qq QQQQ ddddd ss"
    serial: int
    sent_msc: int
    request_id: int
    retcode: int
    outcome: int
    made_order: int
    action: int
    type: int
    filling: int
    time_type: int
    magic: int
    expiration_s: int
    order: int
    position: int
    position_by: int
    deviation: int
    volume: float
    price: float
    stoplimit: float
    sl: float
    tp: float
    symbol: str
    comment: str


Change = Order | Deal | Position | Money | Request
_KINDS: tuple[type[Change], ...] = (Order, Deal, Position, Money, Request)
_Record = TypeVar("_Record", Order, Deal, Position, Money, Request)


@dataclass(frozen=True)
class Batch:
    """Changes that were made together, at `server_msc` by the trade server's clock."""

    server_msc: int
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class BrokerLog:
    """Everything a broker has done, in its order."""

    batches: tuple[Batch, ...]

    def changes(self, kind: type[_Record]) -> list[_Record]:
        """Every change of one kind of record, in the order they were made."""
        return [
            change for batch in self.batches for change in batch.changes if isinstance(change, kind)
        ]

    @property
    def revisions(self) -> Records:
        """Every deal revision as a DEAL record, in the order they were made."""
        return deal_records(self.changes(Deal))

    @cached_property
    def deals(self) -> dict[int, Deal]:
        """The newest revision of each deal that still exists, by ticket."""
        newest = {deal.ticket: deal for deal in self.changes(Deal)}
        return {ticket: deal for ticket, deal in newest.items() if deal.kind != 2}

    @cached_property
    def orders(self) -> dict[int, Order]:
        """The newest state of each order, by ticket."""
        return {order.ticket: order for order in self.changes(Order)}

    @cached_property
    def positions(self) -> dict[int, Position]:
        """The open positions, by ticket."""
        newest = {position.ticket: position for position in self.changes(Position)}
        return {ticket: each for ticket, each in newest.items() if each.volume > 0}

    @cached_property
    def requests(self) -> dict[int, Request]:
        """The newest state of each request, by serial number."""
        return {request.serial: request for request in self.changes(Request)}

    @property
    def balance(self) -> float:
        """The account's balance."""
        return self.changes(Money)[-1].balance

    def orders_of(self, *, comment: str | None = None, magic: int | None = None) -> list[Order]:
        """The orders that programs' requests have made, asked for by what the *request* carried.

        The request's comment counts, not the order's, which the broker may have rewritten.
        """
        return [
            self.orders[request.made_order]
            for request in self.requests.values()
            if request.made_order
            and (comment is None or request.comment == comment)
            and (magic is None or request.magic == magic)
        ]

    def deals_of(self, order: Order) -> list[Deal]:
        """The fills of an order, in their order."""
        return self._fills.get(order.ticket, [])

    @cached_property
    def _fills(self) -> dict[int, list[Deal]]:
        fills: dict[int, list[Deal]] = {}
        for _, deal in sorted(self.deals.items()):
            fills.setdefault(deal.order, []).append(deal)
        return fills


def read_broker_log(path: Path) -> BrokerLog:
    """The whole batches of a log; a torn tail, left by a kill, is not read.

    Raises BrokerLogError if a whole batch is not what the broker writes.
    """
    return BrokerLog(tuple(_batch(body) for body in _bodies(path.read_bytes())))


def deal_records(deals: list[Deal]) -> Records:
    """Deals as an array of DEAL records."""
    records = np.zeros(len(deals), DEAL)
    widths = {"symbol": SYMBOL_BYTES, "comment": COMMENT_BYTES, "external_id": EXTERNAL_ID_BYTES}
    for name in DEAL.names or ():
        values: list[Any] = [getattr(deal, name) for deal in deals]
        if name in widths:
            values = [fixed_text(value, widths[name]) for value in values]
        records[name] = values
    return records


def _bodies(content: bytes) -> Iterator[bytes]:
    at = 0
    while at + _HEADER.size <= len(content):
        size, checksum = _HEADER.unpack_from(content, at)
        body = content[at + _HEADER.size : at + _HEADER.size + size]
        if len(body) < size or zlib.crc32(body) != checksum:
            return
        yield body
        at += _HEADER.size + size


def _batch(body: bytes) -> Batch:
    server_msc, count = _BATCH.unpack_from(body)
    at = _BATCH.size
    changes: list[Change] = []
    for _ in range(count):
        kind = body[at]
        if kind >= len(_KINDS):
            raise BrokerLogError(f"a broker log has no record of kind {kind}")
        change, at = _record(_KINDS[kind], body, at + 1)
        changes.append(change)
    if at != len(body):
        raise BrokerLogError(f"{len(body) - at} bytes are left behind a batch's last record")
    return Batch(server_msc, tuple(changes))


def _record(kind: type[Change], body: bytes, at: int) -> tuple[Change, int]:
    codes = kind.layout.replace(" ", "")
    plain = struct.Struct("<" + codes.rstrip("s"))
    values: list[Any] = list(plain.unpack_from(body, at))
    at += plain.size
    for _ in range(len(fields(kind)) - len(values)):
        (size,) = _SIZE.unpack_from(body, at)
        at += _SIZE.size
        values.append(body[at : at + size].decode("utf-8", errors="replace"))
        at += size
    return kind(*values), at
