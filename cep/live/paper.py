"""`daemon --paper`: the one broker, in the daemon, in place of terminals that trade.

The account is made of the spool's ticks and of the log of what it was asked, and of nothing else:
a restart makes it again from them. A request is executed by the first tick of its symbol behind the
record that has caused it, and a symbol's ticks count from its first request on: as in a backtest.
Its deals are records of the spool right behind that tick, as those of terminals are, and what
became of it is told when they are on disk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from cep.account.market import Market, market_of
from cep.account.rates import RateError
from cep.live.config import OnPaper
from cep.live.paper_log import (
    Asked,
    Entry,
    Opened,
    PaperError,
    PaperLog,
    Traded,
    Turned,
    asked,
    differences,
    opened,
)
from cep.live.paper_symbols import PaperSymbols
from cep.market import shown_ticks
from mt5bridge.broker import Terms
from mt5bridge.records import Records, utc_msc
from mt5bridge.server import DEALS, Batch, Funds, Outcome, Request, Specified, Trader
from mt5bridge.simulator.account import DEPOSIT, Account
from mt5bridge.spool import Group, RecordKind, Spool
from mt5bridge.validate import ALL_GOOD
from mt5bridge.wire import Account as AccountFrame
from mt5bridge.wire import Halt, Signal, SignalResult, Symbol, TradeMode

PAPER = "paper"
"""Names the account, and who trades on it."""
LOG = ".paper"
"""Of an account without a file."""
REMEDY = "give paper trading folders of its own: [state] folder and [spool] folder"


def check_apart(spool: Spool, traders: Iterable[Trader], *, is_paper: bool) -> None:
    """PaperError when paper trading and trading would share a spool or an order journal."""
    dealt = {source for source, stream in spool.recovered.streams if stream == DEALS}
    names = dealt | {trader.identity for trader in traders}
    others = names - {PAPER} if is_paper else names & {PAPER}
    if others and is_paper:
        raise PaperError(f"--paper: {', '.join(sorted(others))} has traded here; {REMEDY}")
    if others:
        raise PaperError(f"these folders are of paper trading: start with --paper, or {REMEDY}")


def path_of(folder: Path, spool: str) -> Path:
    """The log of the account of a spool: another spool is another account."""
    return folder / f"{spool}{LOG}"


def market_on(wanted: OnPaper) -> Market:
    """How paper orders are filled. AccountFileError, SlippageError, OSError."""
    plain = Terms(wanted.hedging, DEPOSIT, money_digits=2)
    return market_of(wanted.account, plain, wanted.latency_ms, wanted.slippage_points)


def market_begun(begun: Opened) -> Market:
    """How the orders of an account are filled that was begun so."""
    account = begun.account
    plain = Terms(begun.hedging, DEPOSIT, money_digits=2)
    terms = plain if account is None else account.terms(plain)
    return Market(
        terms, begun.latency_ms, begun.slippage_points, account=account, slippage=begun.slippage
    )


class Paper:
    """Belongs to the server's thread. Takes the place of the server for the desk (`Post`).

    `store` takes batches of deals, False while there is no room; `tell` what became of requests,
    when that is on disk, and `hear` at once. Times are UTC.
    """

    def __init__(self, folder: Path, spool: Spool, market: Market) -> None:
        """PaperError when the log is damaged, or of another account than that of `market`."""
        self.log = PaperLog(path_of(folder, spool.recovered.spool), spool.next_ingest - 1)
        self._described = PaperSymbols(self._open(market, spool.next_ingest - 1))
        self.account = Account(terms=self._market.terms)
        self.time_msc = 0
        """The newest tick's; 0 before the first."""
        self.is_open = False
        """Whether what was asked before a crash was asked again."""
        self.store: Callable[[Batch], bool] = lambda _batch: False
        self.tell: Callable[[Outcome], None] = lambda _outcome: None
        self.hear: Callable[[SignalResult], None] = lambda _result: None
        self.on_trader: Callable[[Trader], None] = lambda _trader: None
        self._spool = spool
        self._pairs: set[str] = set()
        """Symbols whose quotes are rates of the account from their first tick on."""
        self._waiting: dict[str, deque[Asked]] = {}  # by symbol that the account trades
        self._ids: set[int] = set()
        self._stored = 0  # deals in the spool
        self._news: deque[tuple[int | None, SignalResult]] = deque()
        self._halt = Halt(0, "")
        self._is_between = False  # a tick is stored, and has not passed
        self._deferred: list[Entry] = []

    # -- what the account is made of -------------------------------------------------------------

    def _open(self, market: Market, newest: int) -> Market:
        """Begin an account, or go on with the one that was begun here, as it was."""
        wanted = opened(market, newest)
        begun = [entry for entry in self.log.entries if isinstance(entry, Opened)]
        differing = differences(begun[-1], wanted) if begun else []
        is_used = len(begun) < len(self.log.entries)
        if is_used and not begun:
            raise PaperError(f"{self.log.path}: of an earlier version; {REMEDY}")
        if is_used and differing:
            raise PaperError(
                f"{self.log.path}: the paper account was begun otherwise: {'; '.join(differing)}; "
                f"make it as it was, or {REMEDY}"
            )
        if is_used:
            return market_begun(begun[-1])
        if differing or not begun:
            self.log.add(wanted)
        return market

    @property
    def _market(self) -> Market:
        return self._described.market

    @property
    def _symbols(self) -> dict[str, Symbol]:
        return self._described.symbols

    def recover(self, groups: Iterable[Group]) -> None:
        """Make the account again. PaperError when the spool has not kept all of it."""
        due, is_first, stored = deque(self.log.entries), True, [self.account.deals]
        for group in groups:
            if is_first and due and group.ingest > due[0].after + 1:
                raise PaperError(
                    f"{self.log.path}: the spool has not kept the records that the paper account "
                    f"began with; raise [spool] max_mib, or {REMEDY}"
                )
            is_first = False
            while due and due[0].after < group.ingest:
                self._known(due.popleft())
            if group.kind is RecordKind.DEALS:
                stored.append(group.records)
            if group.kind is RecordKind.TICKS:
                self._pass(group.stream[1], _in_utc(group.records, group.utc_offset_ms, group))
        for entry in due:
            self._known(entry)
        told = np.concatenate(stored)
        if told.tobytes() != self.account.deals[: len(told)].tobytes():
            raise PaperError(
                f"{self.log.path} and the spool disagree about the paper account's deals: was one "
                f"of them changed? Bring it back, or {REMEDY}"
            )
        self._stored = len(told)
        self._news.clear()  # what was told is asked for again

    def _known(self, entry: Entry) -> None:
        """What the log holds; it was decided behind record `after`, whatever came before it."""
        if isinstance(entry, Asked):
            self._ids.add(entry.request.id)
        if self._is_between:
            self._deferred.append(entry)
        else:
            self._follow(entry)

    def _follow(self, entry: Entry) -> None:
        match entry:
            case Traded():
                self._described.follow(entry)
                self._pairs |= self._market.pairs(self._symbols, self._symbols)
            case Asked():
                self._queue(entry)
            case Turned():
                self._turn(entry.halted, entry.reason)

    def _add(self, entry: Entry) -> None:
        self.log.add(entry)
        self._known(entry)

    def begin(self, name: str, ingest: int, symbols: Mapping[str, Symbol | None]) -> None:
        """A tick of a symbol was stored, and the rules are about to see it: whatever they ask for
        comes behind it. `symbols` are those that its terminal has described.
        """
        if entries := list(self._described.news(name, symbols, ingest - 1, self.time_msc)):
            for entry in entries:
                self._add(entry)
            self.introduce()
        self._is_between = True

    def take(self, batch: Batch) -> None:
        """The tick that was begun with."""
        self._pass(batch.stream[1], _in_utc(batch.records, batch.utc_offset_ms, batch))
        self._is_between = False
        deferred, self._deferred = self._deferred, []
        for entry in deferred:
            self._follow(entry)

    def learn(self, parts: Iterable[Specified]) -> None:
        """What terminals tell of symbols."""
        self._described.hear(parts)

    def introduce(self) -> None:
        """Tell who trades what."""
        if self._symbols:
            names = tuple(sorted(self._symbols))
            self.on_trader(Trader(PAPER, PAPER, TradeMode.LIVE, names))

    def _pass(self, name: str, ticks: Records) -> None:
        """The market goes on, and requests that wait for its next tick are executed there."""
        if not len(ticks):
            return
        for part, changed in self._described.parts(ticks):
            self._run(name, part)
            for other in changed:
                if other in self._waiting:
                    self.account.change(other, self._described.specification(other))

    def _run(self, name: str, ticks: Records) -> None:
        self.time_msc = max(self.time_msc, int(ticks["time_msc"].max(initial=0)))
        waiting = self._waiting.get(name)
        if waiting is None and name in self._pairs and len(ticks):
            self.account.quote(self._symbols[name])
            self._note(self.account.take_ticks({name: ticks}))
        while waiting is not None and len(ticks):
            count = 1 if waiting else len(ticks)
            self._note(self.account.take_ticks({name: ticks[:count]}))
            while waiting and waiting[0].earliest_msc <= ticks["time_msc"][0]:
                request = waiting.popleft().request
                self._note(self.account.execute(request, halt=self._halt))
            ticks = ticks[count:]

    def _queue(self, entry: Asked) -> None:
        request = entry.request
        name = request.symbol or self.account.symbol_of(getattr(request, "ticket", 0))
        if name not in self._symbols:
            self._note(self.account.execute(request, halt=self._halt))
            return
        if name not in self._waiting and not self._begin(name, request):
            return
        self._waiting[name].append(entry)

    def _begin(self, name: str, request: Request) -> bool:
        """Trade a symbol from now on; False, with the request refused, where its profits cannot be
        converted.
        """
        symbol = self._symbols[name]
        try:
            route = self._market.route(name, self._symbols)
        except RateError as problem:
            self._note(self.account.reject(request, f"{problem}; {problem.hint}"))
            return False
        self.account.add(symbol, self._described.specification(name))
        for pair, _ in route:
            self.account.quote(self._symbols[pair])
        self.account.convert(name, route)
        self._waiting[name] = deque()
        return True

    def _turn(self, halted: bool, reason: str) -> None:
        self._halt = Halt(int(halted), reason)
        if halted:
            self._note(self.account.halt(reason))

    # -- deals and results -----------------------------------------------------------------------

    def store_deals(self) -> bool:
        """Hand over new deals, before anything else is stored; False: there is no room for them.

        Results wait until these are on disk.
        """
        fresh = self.account.deals[self._stored :]
        if len(fresh):
            batch = Batch(PAPER, DEALS, self._stored + 1, fresh, ALL_GOOD, 0, self.time_msc)
            if not self.store(batch):
                return False
            self._stored += len(fresh)
        if self._news and self._news[-1][0] is None:
            newest = self._spool.next_ingest - 1
            self._news = deque((newest if at is None else at, one) for at, one in self._news)
        return True

    def look(self) -> None:
        """To be called often."""
        if not self.store_deals():
            return
        durable = self._spool.durable_ingest
        while self._news and (self._news[0][0] or 0) <= durable:
            self.tell(Outcome(PAPER, self._news.popleft()[1], PAPER))

    def _note(self, results: Sequence[SignalResult]) -> None:
        for result in results:
            self._news.append((None, result))
            self.hear(result)

    def funds(self) -> Funds:
        """How the account stands."""
        account = self.account
        balance, floating = account.balance, account.floating
        equity, margin = balance + floating, account.margin
        state = AccountFrame(
            self.time_msc, balance, 0.0, floating, equity, margin, equity - margin,
            account.positions, account.orders, 0,
        )  # fmt: skip
        return Funds(PAPER, PAPER, state)

    # -- for the desk ----------------------------------------------------------------------------

    def traders(self, symbol: str, identity: str | None = None) -> Sequence[str]:
        """The paper account trades what ticks have come of."""
        is_known = symbol in self._symbols or (not symbol and bool(self._symbols))
        return (PAPER,) if is_known and identity in (None, PAPER) else ()

    def owner(self, identity: str) -> str:
        """There is one account."""
        return PAPER

    def knows(self, identifier: int) -> bool:
        """Whether a request has come."""
        return identifier in self._ids

    def send_now(self, identity: str, request: Request) -> str:
        """Let a request wait for its tick; one that is known is answered again.

        A signal whose cause a crash has undone is not asked for again: the rules will find it.
        """
        if request.id in self._ids:
            self.ask(identity, (request.id,))
        elif self.is_open or not isinstance(request, Signal):
            caused_msc = request.time_msc if isinstance(request, Signal) else self.time_msc
            earliest_msc = caused_msc + self._market.latency_ms
            self._add(asked(request, self._spool.next_ingest - 1, earliest_msc))
        return ""

    def ask(self, identity: str, ids: Iterable[int], account: str = "") -> None:
        """Tell again what became of requests; of one that waits it is told in time."""
        for identifier in ids:
            if identifier not in self._ids or identifier in self.account.executed:
                self._note(self.account.answer(identifier))

    def halt(self, halted: bool, reason: str) -> None:
        """Turn the kill switch, which takes pending orders back."""
        if (halted, reason) != (bool(self._halt.halted), self._halt.reason):
            self._add(Turned(after=self._spool.next_ingest - 1, halted=halted, reason=reason))


def _in_utc(records: Records, offset_ms: int, of: Group | Batch) -> Records:
    """The ticks that rules see, at their UTC times."""
    kept = records[shown_ticks(of.quality)] if len(of.quality) else records
    ticks = kept.copy()
    ticks["time_msc"] = utc_msc(kept, offset_ms)
    return np.ascontiguousarray(ticks)
