"""What became of every signal and order, by id: folds the journal's records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from mt5bridge.orders.journal import read_journal
from mt5bridge.orders.records import (
    Dealt,
    Halted,
    Record,
    Refused,
    Requested,
    RulesHalted,
    Sent,
    Terminal,
    Told,
)
from mt5bridge.server import Request, Trader
from mt5bridge.wire import SignalResult, SignalStatus, TradeMode


@dataclass(slots=True)
class Fate:
    """What one terminal has reported about one request."""

    results: list[SignalResult] = field(default_factory=list)
    account: str = ""  # that it was meant for; empty in journals of earlier versions
    is_asked: bool = False  # it shall not execute it any more, only say what became of it
    final: SignalResult | None = None

    def take(self, result: SignalResult) -> bool:
        """Whether this is news: a result told twice is one result, and nothing follows the last."""
        if self.final is not None or self.knows(result):
            return False
        is_last = result.status.final or (self.is_asked and result.status is SignalStatus.UNKNOWN)
        if result.status is SignalStatus.UNKNOWN and not is_last:
            return False
        self.results.append(result)
        if is_last:
            self.final = result
        return True

    def knows(self, result: SignalResult) -> bool:
        """Whether it has been told before."""
        return any(_is_same(result, known) for known in self.results)

    def is_of_another(self, told: Told) -> bool:
        """Whether a terminal on another account says that it does not know it, as it would."""
        is_unknown = told.result.status is SignalStatus.UNKNOWN
        return is_unknown and "" != self.account != told.account != ""

    @property
    def state(self) -> str:
        """The newest status in words.

        Before the first, `queued` for a terminal that may be away, or `asked` what became of it.
        """
        if not self.results:
            return "asked" if self.is_asked else "queued"
        return self.results[-1].status.name.lower().replace("_", " ")

    @property
    def lots(self) -> float:
        """Lots executed so far."""
        return sum(result.lots for result in self.results if result.status.is_fill)


@dataclass(slots=True)
class Entry:
    """One request: what was asked, what the daemon decided, what terminals reported."""

    asked: Requested
    refusal: Refused | None = None
    fates: dict[str, Fate] = field(default_factory=dict)
    changed_msc: int = 0

    @property
    def request(self) -> Request:
        """The signal or order."""
        return self.asked.request

    @property
    def is_decided(self) -> bool:
        """Whether the daemon has refused or sent it."""
        return self.refusal is not None or bool(self.fates)

    @property
    def is_open(self) -> bool:
        """Whether something is still to come."""
        if self.refusal is not None:
            return False
        return not self.fates or any(fate.final is None for fate in self.fates.values())

    @property
    def state(self) -> str:
        """In words: what the daemon refused, or the state at each terminal."""
        if self.refusal is not None:
            return "dry run" if self.refusal.is_dry else "refused"
        return ", ".join(sorted({fate.state for fate in self.fates.values()})) or "waiting"

    @property
    def text(self) -> str:
        """The newest explanation, if there is one."""
        if self.refusal is not None:
            return self.refusal.text
        texts = [result.text for fate in self.fates.values() for result in fate.results]
        return next((text for text in reversed(texts) if text), "")


class Book:
    """Entries by id, in the order in which they were asked; terminals and the kill switch too.

    `lost` are ids of which a damaged journal has not kept what was asked, with the terminals it
    names: they may have been sent. `unremembered` are ids of which a deal or a report tells, and
    of which the journal does not know what was asked.
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._entries: dict[int, Entry] = {}
        self.lost: dict[int, list[str]] = {}
        self.unremembered: dict[int, Dealt | Told] = {}
        self.terminals: dict[str, Terminal] = {}
        self.halted: Halted | None = None
        self.rules_halted: dict[str, RulesHalted] = {}  # by the rule file's name
        for record in records:
            self.apply(record)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def get(self, identifier: int) -> Entry | None:
        """What is known of an id."""
        return self._entries.get(identifier)

    def accounts_for(self, identifier: int) -> bool:
        """Whether it is known what was asked, or what has come of it. Of `lost` it is not."""
        return identifier in self._entries or identifier in self.unremembered

    def apply(self, record: Record) -> None:
        """Take one record."""
        match record:
            case Requested():
                self._entries.setdefault(record.id, Entry(record, changed_msc=record.time_msc))
                self.lost.pop(record.id, None)
                self.unremembered.pop(record.id, None)
            case Refused() | Sent():
                self._decide(record)
            case Told():
                self.tell(record)
            case Dealt():
                if record.unremembered and not self.accounts_for(record.unremembered):
                    self.unremembered[record.unremembered] = record
            case Terminal():
                self.terminals[record.identity] = record
            case Halted():
                self.halted = record
            case RulesHalted():
                self.rules_halted[record.name] = record

    def tell(self, record: Told) -> Entry | None:
        """Take a terminal's report; the entry that it is news of.

        Only who was sent the request, or asked about it, has anything to tell of it.
        """
        entry = self._entries.get(record.result.id)
        if entry is None and record.unremembered:
            self.unremembered.setdefault(record.result.id, record)
            return None
        if entry is None:
            self._lose(record.result.id, [record.terminal])
            return None
        fate = entry.fates.get(record.terminal)
        if fate is None or fate.is_of_another(record) or not fate.take(record.result):
            return None
        entry.changed_msc = record.time_msc
        return entry

    @property
    def traders(self) -> list[Trader]:
        """The terminals that trade or did, for a server that has not heard them yet."""
        return [
            Trader(known.identity, known.owner, TradeMode(known.trades), tuple(known.symbols))
            for known in self.terminals.values()
        ]

    def _decide(self, record: Refused | Sent) -> None:
        entry = self._entries.get(record.id)
        if entry is None:
            self._lose(record.id, record.terminals if isinstance(record, Sent) else [])
            return
        entry.changed_msc = record.time_msc
        if isinstance(record, Refused):
            entry.refusal = record
            return
        for identity, account in zip_longest(record.terminals, record.accounts, fillvalue=""):
            fate = entry.fates.setdefault(identity, Fate(account=account))
            fate.is_asked |= record.is_question

    def _lose(self, identifier: int, terminals: Iterable[str]) -> None:
        known = self.lost.setdefault(identifier, [])
        known += [identity for identity in terminals if identity not in known]


def read_book(path: Path) -> Book:
    """The book of a journal on disk, whether a daemon writes it or not."""
    return Book(read_journal(path).records)


def _is_same(one: SignalResult, other: SignalResult) -> bool:
    """Fills are told apart by their deals, everything else by its status."""
    return (one.status, one.deal, one.order) == (other.status, other.deal, other.order)
