"""Requests on their way to terminals: sent at once, or when the disk has them, or asked about."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from mt5bridge.orders.book import Book, Entry, Fate
from mt5bridge.orders.guards import Guards
from mt5bridge.orders.journal import OrderJournal
from mt5bridge.orders.records import Record, Sent, Told
from mt5bridge.orders.request import not_sent
from mt5bridge.server import Request
from mt5bridge.wire import SignalResult


class Post(Protocol):
    """Who carries requests to terminals: the server."""

    def traders(self, symbol: str, identity: str | None = None) -> Sequence[str]:
        """Who trades a symbol, connected now or not."""

    def owner(self, identity: str) -> str:
        """Names the account behind a terminal."""

    def send_now(self, identity: str, request: Request) -> str:
        """Send, now or when it is back; why it is not, if not."""

    def ask(self, identity: str, ids: Iterable[int], account: str = "") -> None:
        """Ask on an account (empty: on any) what became of requests, which are never sent again."""

    def halt(self, halted: bool, reason: str) -> None:
        """Tell all that trade."""


@dataclass(frozen=True, slots=True)
class News:
    """Something new about a request: a terminal's result, or the daemon's refusal without one."""

    entry: Entry
    terminal: str | None = None
    result: SignalResult | None = None


class Ledger(Protocol):
    """What is known and decided, and who writes it down: the desk."""

    journal: OrderJournal
    book: Book
    guard: Guards
    on_news: Callable[[News], None]

    def note(self, record: Record) -> None:
        """Take a record, and write it down."""

    def turn_down(self, entry: Entry, text: str, now_msc: int) -> None:
        """Refuse a request."""


class Dispatch:
    """Belongs to the server's thread. Whatever leaves is noted before."""

    def __init__(self, ledger: Ledger, post: Post) -> None:
        self.post = post
        self._ledger = ledger
        self._held: deque[tuple[int, Entry, int]] = deque()

    def send(self, entry: Entry, terminals: list[str], now_msc: int, *, durable: bool) -> None:
        """Send as soon as the journal's file has it; with `durable`, as soon as the disk does."""
        journal = self._ledger.journal
        self._ledger.note(self._sent(entry.request.id, now_msc, terminals))
        if durable or not journal.has_written():
            self._held.append((journal.last, entry, now_msc))
            journal.awaited.set()
        else:
            self._send(entry, now_msc)

    def deliver(self, entry: Entry, identity: str) -> str:
        """Send it to one terminal; why it is not, if not."""
        fate = entry.fates[identity]
        if self.has_changed(fate, identity):
            return f"meant for account {fate.account}, which was changed since"
        return self.post.send_now(identity, entry.request)

    def release(self) -> None:
        """Send what has waited for the disk and is there now, unless it was taken back since."""
        ledger = self._ledger
        while self._held and self._held[0][0] <= ledger.journal.durable:
            _, entry, now_msc = self._held.popleft()
            if (halt := ledger.guard.halt_of(entry.request)) is not None:
                ledger.turn_down(entry, halt, now_msc)
            else:
                self._send(entry, now_msc)

    def question(self, entry: Entry, terminals: list[str], now_msc: int) -> None:
        """Ask terminals what became of it, which takes it back where it was not executed."""
        unasked = [name for name in terminals if not _is_asked(entry, name)]
        if unasked:
            self._note_question(entry, unasked, now_msc)
        for identity in terminals:
            self.post.ask(identity, [entry.request.id], entry.fates[identity].account)

    def note_question(self, identifier: int, identity: str, now_msc: int) -> None:
        """Who carries requests has asked by itself, as where an account was changed."""
        entry = self._ledger.book.get(identifier)
        fate = entry.fates.get(identity) if entry is not None else None
        if entry is not None and fate is not None and fate.final is None and not fate.is_asked:
            self._note_question(entry, [identity], now_msc)

    def has_changed(self, fate: Fate, identity: str) -> bool:
        """Whether a terminal has another account now than the one that a request was meant for."""
        known = self._ledger.book.terminals.get(identity)
        return known is not None and "" != fate.account != known.owner != ""

    def _send(self, entry: Entry, now_msc: int) -> None:
        ledger = self._ledger
        wanted = [who for who, fate in entry.fates.items() if not fate.is_asked]  # else: answered
        refusals = {identity: self.deliver(entry, identity) for identity in wanted}
        if len(wanted) == len(entry.fates) and all(refusals.values()):
            ledger.turn_down(entry, "; ".join(dict.fromkeys(refusals.values())), now_msc)
            return
        for identity, refusal in refusals.items():
            if refusal:
                result = not_sent(entry.request, now_msc, refusal)
                ledger.note(Told(now_msc, identity, result, entry.fates[identity].account))
                ledger.on_news(News(entry, identity, result))

    def _note_question(self, entry: Entry, terminals: list[str], now_msc: int) -> None:
        record = self._sent(entry.request.id, now_msc, terminals, is_question=True)
        self._ledger.note(record)

    def _sent(
        self, identifier: int, now_msc: int, terminals: list[str], *, is_question: bool = False
    ) -> Sent:
        accounts = [self.post.owner(identity) for identity in terminals]
        return Sent(identifier, now_msc, terminals, is_question, accounts)


def _is_asked(entry: Entry, identity: str) -> bool:
    return identity in entry.fates and entry.fates[identity].is_asked
