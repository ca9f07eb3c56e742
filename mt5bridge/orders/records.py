"""What the order journal holds: facts, each complete in itself, in the order they happened."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from mt5bridge.server import Request
from mt5bridge.wire import Order, Signal, SignalOrder, SignalResult, TradeMode


class Requested(msgspec.Struct, frozen=True, tag="asked", kw_only=True, omit_defaults=True):
    """A signal was found, or an order asked for; nothing is decided yet."""

    id: int
    time_msc: int
    signal: Signal | None = None
    order: Order | None = None
    terminal: str | None = None  # only this one; else all that trade the symbol
    client_id: str = ""
    signal_order: SignalOrder | None = None  # a signal, too

    def __post_init__(self) -> None:
        """ValueError for a record without the one thing it is about."""
        if [self.signal, self.order, self.signal_order].count(None) != 2:
            raise ValueError("either a signal or an order")

    @property
    def request(self) -> Request:
        """The signal or the order."""
        found = self.signal or self.order or self.signal_order
        assert found is not None
        return found


def requested(
    request: Request, time_msc: int, terminal: str | None = None, client_id: str = ""
) -> Requested:
    """The record of a request."""
    return Requested(
        id=request.id,
        time_msc=time_msc,
        terminal=terminal,
        client_id=client_id,
        **named(request),
    )


def named(request: Request) -> dict[str, Any]:
    """A request under the name of its kind, as journals have it."""
    if isinstance(request, Order):
        return {"order": request}
    return {"signal_order" if isinstance(request, SignalOrder) else "signal": request}


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """The daemon has not sent it and never will; `is_dry` when it only says what it would do."""

    id: int
    time_msc: int
    text: str
    is_dry: bool = False


class Sent(msgspec.Struct, frozen=True, tag="sent"):
    """On its way to these terminals; `is_question` when it only asks what became of it.

    `accounts` are those of the terminals, one each; none in journals of earlier versions.
    """

    id: int
    time_msc: int
    terminals: list[str]
    is_question: bool = False
    accounts: list[str] = []

    def __post_init__(self) -> None:
        """ValueError for accounts that are not one for each terminal."""
        if self.accounts and len(self.accounts) != len(self.terminals):
            raise ValueError("as many accounts as terminals, or none")


class Told(msgspec.Struct, frozen=True, tag="result"):
    """What a terminal has reported."""

    time_msc: int
    terminal: str
    result: SignalResult
    account: str = ""  # not in journals of earlier versions
    unremembered: bool = False  # the journal does not know what was asked; nor is this there

    @property
    def said(self) -> str:
        """In words."""
        result = self.result
        what = f"{result.status.name.lower()} {result.lots:g} lots"
        return f"{self.terminal}: {what} of {result.id:016x}"


class Halted(msgspec.Struct, frozen=True, tag="halt"):
    """The kill switch was turned."""

    time_msc: int
    halted: bool
    reason: str


class RulesHalted(msgspec.Struct, frozen=True, tag="rules_halt"):
    """The kill switch of one rule file was turned."""

    time_msc: int
    name: str
    halted: bool
    reason: str


class Terminal(msgspec.Struct, frozen=True, tag="terminal"):
    """A terminal that trades, or did; the newest record of an identity counts.

    `owner` names the account that it may trade on; empty when the terminal was let go.
    """

    identity: str
    owner: str
    trades: int
    symbols: list[str]

    def __post_init__(self) -> None:
        """ValueError for a mode of trading that there is not."""
        TradeMode(self.trades)


class Dealt(msgspec.Struct, frozen=True, tag="deal"):
    """A deal as far as risk is concerned; the newest revision of a ticket counts.

    `lots` are negative for sells, `profit` has all costs in it, `time_msc` is UTC. None: what the
    terminal told is no number.
    """

    owner: str
    ticket: int
    revision: int
    time_msc: int
    position: int
    symbol: str
    lots: float | None
    profit: float | None
    is_exit: bool
    magic: int = 0  # not in journals of earlier versions
    by_broker: bool = False  # a stop, a target or a stop-out has closed; neither there
    unremembered: int = 0  # id of its request, if the journal does not know that; neither there


Record: TypeAlias = Requested | Refused | Sent | Told | Halted | RulesHalted | Terminal | Dealt
