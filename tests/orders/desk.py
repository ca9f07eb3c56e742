"""A desk with a post that remembers, and the requests and results that tests need."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from loguru import logger

from mt5bridge.orders import Desk, Limits, News, OrderJournal
from mt5bridge.server import Outcome, Request, Trader
from mt5bridge.wire import Order, Signal, SignalResult, SignalStatus, TradeMode
from tests.wire.samples import FRAMES

NOON_MSC = 1_704_110_400_000  # 2024-01-01 12:00 UTC
DAY_MS = 86_400_000

_SIGNAL = FRAMES["signal"][1]
_ORDER = FRAMES["order"][1]
_RESULT = FRAMES["signal_result"][1]
assert isinstance(_SIGNAL, Signal)
assert isinstance(_ORDER, Order)
assert isinstance(_RESULT, SignalResult)


def signal(number: int, **changes: object) -> Signal:
    """A sell of 0.1 lots of EURUSD that is good for ever."""
    usual = replace(_SIGNAL, id=number, time_msc=NOON_MSC, valid_until_msc=0)
    return replace(usual, **changes)  # type: ignore[arg-type]


def order(number: int, **changes: object) -> Order:
    """A buy limit of 0.3 lots of EURUSD that is good for ever."""
    usual = replace(_ORDER, id=number, time_msc=NOON_MSC, valid_until_msc=0)
    return replace(usual, **changes)  # type: ignore[arg-type]


def result(number: int, status: SignalStatus, **changes: object) -> SignalResult:
    """A result without fills."""
    usual = replace(_RESULT, id=number, status=status, lots=0.0, deal=0, order=0)
    return replace(usual, **changes)  # type: ignore[arg-type]


class Memory:
    """A post: who trades what, and what was handed to it."""

    def __init__(self, traders: dict[str, tuple[str, ...]]) -> None:
        self.symbols = traders
        self.sent: list[tuple[str, int]] = []
        self.asked: list[tuple[str, int]] = []
        self.asked_at: list[str] = []
        self.halts: list[tuple[bool, str]] = []
        self.refusal = ""
        self.owners: dict[str, str] = {}

    def traders(self, symbol: str, identity: str | None = None) -> tuple[str, ...]:
        return tuple(
            name
            for name, symbols in self.symbols.items()
            if identity in (None, name) and (not symbol or symbol in symbols)
        )

    def owner(self, identity: str) -> str:
        return self.owners.get(identity, f"account of {identity}")

    def send_now(self, identity: str, request: Request) -> str:
        if self.refusal:
            return self.refusal
        self.sent.append((identity, request.id))
        return ""

    def ask(self, identity: str, ids: Iterable[int], account: str = "") -> None:
        self.asked_at += [account] * len(list(ids))
        self.asked += [(identity, number) for number in ids]

    def halt(self, halted: bool, reason: str) -> None:
        self.halts.append((halted, reason))


class Office:
    """A desk on a journal file; `again` is what a restart finds."""

    living: ClassVar[list[Office]] = []

    def __init__(
        self,
        path: Path,
        limits: Limits | None = None,
        traders: dict[str, tuple[str, ...]] | None = None,
        market_msc: int = 0,
        now_msc: int = NOON_MSC,
    ) -> None:
        self.path = path
        self.limits = limits or Limits()
        self.post = Memory({"one": ("EURUSD",)} if traders is None else traders)
        self.news: list[News] = []
        self.now_msc = now_msc
        self.journal = OrderJournal(path)
        self.complaints: list[tuple[str, str]] = []
        self.desk = Desk(
            self.journal,
            self.limits,
            self.news.append,
            complain=lambda name, text: self.complaints.append((name, text)),
        )
        self.desk.open(self.post, market_msc, now_msc)
        self.living.append(self)

    def kill(self) -> None:
        """The process is gone, with all that was added and not written."""
        file, self.journal._file = self.journal._file, None
        self.journal._waiting.clear()
        if file is not None:
            os.close(file)

    def again(self, market_msc: int = 0) -> Office:
        """Another process on the same file; this one is killed."""
        self.kill()
        return Office(self.path, self.limits, self.post.symbols, market_msc, self.now_msc)

    def ask(self, request: Request, **how: object) -> None:
        self.desk.ask(request, self.now_msc, **how)  # type: ignore[arg-type]

    def tell(self, found: SignalResult, identity: str = "one") -> None:
        self.desk.on_outcome(Outcome(identity, found), self.now_msc)

    def fill(self, number: int, lots: float, deal: int, *, last: bool = True) -> None:
        status = SignalStatus.EXECUTED if last else SignalStatus.PARTIAL
        self.tell(result(number, status, lots=lots, deal=deal))

    def state(self, number: int) -> str:
        entry = self.desk.book.get(number)
        assert entry is not None
        return entry.state

    def text(self, number: int) -> str:
        entry = self.desk.book.get(number)
        assert entry is not None
        return entry.text


@contextmanager
def warnings() -> Iterator[list[str]]:
    """What is logged meanwhile as a warning or worse."""
    found: list[str] = []
    sink = logger.add(lambda line: found.append(line.record["message"]), level="WARNING")
    try:
        yield found
    finally:
        logger.remove(sink)


def trader(identity: str, *symbols: str) -> Trader:
    return Trader(identity, f"account of {identity}", TradeMode.LIVE, symbols)
